"""Kernels whose backward is derived, small ones: at least one for each rule.

``T`` is the element type, so that each runs in double (against numerical differences) and in float and half
(against double). Tensors are given by name and shape, filled with numbers from ``low`` to ``high`` that are
apart from each other, so that no kink or tie is near. What is made of a call is ``Launch``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

import pytriton

__all__ = ["PROGRAMS", "Launch", "Program", "elementwise"]


@dataclass(frozen=True)
class Program:
    """``shapes``: of the tensors, in the order of the parameters; ``numbers``: of the other parameters.
    ``atomic``: the inputs that are added up by atomics; ``summed``: those whose programs are walked.
    """

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    numbers: Mapping[str, Any]
    grid: tuple[int, ...]
    outputs: tuple[str, ...] = ("y",)
    defines: Mapping[str, Any] = field(default_factory=dict)
    low: float = -1.0
    high: float = 1.0
    integers: Mapping[str, Callable[[], torch.Tensor]] = field(default_factory=dict)
    atomic: tuple[str, ...] = ()
    summed: tuple[str, ...] = ()
    rule: str = ""
    checkpoints: bool = False

    def kernel(self, dtype: torch.dtype) -> Any:
        return pytriton.kernel(self.text, defines={**self.defines, "T": dtype}, name=self.name)

    def tensors(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """All tensors; the same numbers for every dtype, up to rounding."""
        generator = torch.Generator().manual_seed(len(self.text))
        made: dict[str, torch.Tensor] = {}
        for name, shape in self.shapes.items():
            if name in self.integers:
                made[name] = self.integers[name]()
                continue
            count = torch.Size(shape).numel()
            places = torch.randperm(max(count, 1), generator=generator)[:count] + 0.1 + 0.17 * len(made)
            values = self.low + (self.high - self.low) * places / max(count, 1)
            made[name] = values.to(torch.half).to(dtype).reshape(shape)
        return made


@dataclass
class Launch:
    """A kernel and its gradient as a function of its inputs, for ``torch.autograd``."""

    program: Program
    dtype: torch.dtype
    derive: Callable[..., Any] = pytriton.gradient

    def __post_init__(self) -> None:
        self.kernel = self.program.kernel(self.dtype)
        more = {"checkpoints": True} if self.program.checkpoints else {}
        self.gradient = self.derive(self.kernel, **more)
        self.names = re.findall(r"(\w+)\s*(?:__\w+(?:\(\w+\))?\s*)*[,)]", self.program.text.partition("{")[0])

    def arguments(self, tensors: Mapping[str, torch.Tensor]) -> list[Any]:
        return [tensors[n] if n in tensors else self.program.numbers[n] for n in self.names]

    def forward(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The outputs."""
        given = {
            n: t.detach().clone() if n in self.program.outputs else t.detach() for n, t in tensors.items()
        }
        self.kernel(*self.arguments(given), grid=self.program.grid)
        return {name: given[name] for name in self.program.outputs}

    def backward(
        self, tensors: Mapping[str, torch.Tensor], flowing: Mapping[str, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        given = {n: t.detach() for n, t in tensors.items()} | self.forward(tensors)
        result: dict[str, torch.Tensor] = self.gradient(
            *self.arguments(given), grid=self.program.grid, d_outputs=flowing
        )
        return result

    def ways(self) -> dict[str, set[str]]:
        """How gradients got to memory in the only launch so far."""
        (facts,) = self.gradient._facts.values()
        forward = self.gradient._forward
        found: dict[str, set[str]] = {}
        for each in facts.backward.passes:
            for number, way in each.at.ways:
                found.setdefault(forward.input_of(forward.loads[number]).name, set()).add(way)
        return found

    def as_expected(self) -> bool:
        """Whether these are the ways that the program names."""
        ways = self.ways().items()
        atomic, summed = ({name for name, each in ways if way in each} for way in ("atomic", "sum"))
        return (atomic, summed) == ({*self.program.atomic}, {*self.program.summed})

    def function(self, tensors: Mapping[str, torch.Tensor]) -> Callable[..., Any]:
        """Of its floating inputs, differentiable by the derived backward."""
        launch, names = self, self.gradient.inputs

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: torch.Tensor) -> Any:
                ctx.save_for_backward(*inputs)
                given = {**tensors, **dict(zip(names, inputs, strict=True))}
                return tuple(launch.forward(given).values())

            @staticmethod
            def backward(ctx: Any, *flowing: torch.Tensor) -> Any:
                given = {**tensors, **dict(zip(names, ctx.saved_tensors, strict=True))}
                made = launch.backward(given, dict(zip(launch.program.outputs, flowing, strict=True)))
                return tuple(made[name] for name in names)

        return Function.apply  # type: ignore[no-any-return]


BLOCK = 8
COUNT = 13  # two blocks, the second of them masked


def elementwise(
    name: str, expression: str, inputs: str = "x", low: float = -1.0, high: float = 1.0, rule: str = ""
) -> Program:
    """``y = expression`` of blocks x, w and v."""
    loads = "".join(f"  T {each}[B] = inside ? *(p{each} + r) : 1;\n" for each in inputs.split())
    pointers = ", ".join(f"T *p{each}" for each in inputs.split())
    text = (
        f"__global__ void f({pointers}, T *y, int n) {{\n"
        "  int r[B] = get_program_id(0) * B + 0 ... B;\n"
        "  bool inside[B] = r < n;\n"
        f"{loads}"
        f"  *?(inside) (y + r) = {expression};\n"
        "}\n"
    )
    shapes = {**{f"p{each}": (COUNT,) for each in inputs.split()}, "y": (COUNT,)}
    return Program(
        name, text, shapes, {"n": COUNT}, (2,), defines={"B": BLOCK}, low=low, high=high, rule=rule or name
    )


_ELEMENTWISE = [
    elementwise("negation", "-x"),
    elementwise("sum", "x + w", "x w"),
    elementwise("difference", "x - w", "x w"),
    elementwise("product", "x * w", "x w"),
    elementwise("square", "x * x"),
    elementwise("quotient", "x / w", "x w", 0.5, 2.0),
    elementwise("exp", "exp(x)"),
    elementwise("log", "log(x)", low=0.25, high=2.0),
    elementwise("sqrt", "sqrt(x)", low=0.25, high=2.0),
    elementwise("rsqrt", "rsqrt(x)", low=0.25, high=2.0),
    elementwise("sin", "sin(x)"),
    elementwise("cos", "cos(x)"),
    elementwise("tanh", "tanh(x)"),
    elementwise("sigmoid", "sigmoid(x)"),
    elementwise("erf", "erf(x)"),
    elementwise("log2", "log2(x)", low=0.25, high=2.0),
    elementwise("exp2", "exp2(x)"),
    elementwise("pow", "pow(x, w)", "x w", 0.5, 2.0),
    elementwise("pow_constant", "pow(x, 3)"),
    elementwise("floor", "x * floor(3 * x)"),
    elementwise("ceil", "x * ceil(3 * x)"),
    elementwise("fma", "fma(x, w, v)", "x w v"),
    elementwise("min", "min(x, w)", "x w"),
    elementwise("max", "max(x, w)", "x w"),
    elementwise("abs", "abs(x)"),
    elementwise("ternary", "x > 0 ? x * x : 3 * x"),
    elementwise("select", "select(x < w, x * w, w)", "x w"),
    elementwise("comparison", "x * (x > w)", "x w"),
    elementwise("conversion", "(T)x * (int)(4 * x)"),
    elementwise("gelu", "0.5 * x * (1 + erf(x * 0.70710678118654752))"),
    elementwise("deep", "exp(sin(x) * cos(w)) / (1 + x * x) - log(2 + w * x)", "x w"),
    elementwise("repeated", "(x + w) * (x - w) + x * exp(x)", "x w"),
]

_MASKED_NAN = Program(
    "masked_log",
    """__global__ void f(T *x, T *w, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  bool inside[B] = r < n;
  T v[B] = (inside ? *(x + r) : 0) * *w;
  T u[B] = log(v);
  T s = (inside ? u : 0)[+];
  *?(inside) (y + r) = s * v;
}
""",
    {"x": (COUNT,), "w": (1,), "y": (COUNT,)},
    {"n": COUNT},
    (2,),
    defines={"B": BLOCK},
    low=0.5,
    high=2.0,
    summed=("w",),
    rule="masks are applied after the local derivative",
)

_SOFTMAX = Program(
    "softmax",
    """__global__ void softmax(T *y, T *x, int n, int ldx) {
  int row = get_program_id(0);
  int rn[B] = 0 ... B;
  bool inside[B] = rn < n;
  T *px[B] = x + row * ldx + rn;
  // nothing overflows
  T v[B] = inside ? *px : -F32_INFINITY;
  T e[B] = exp(v - v[max]);
  *?(inside) (y + row * n + rn) = e / e[+];
}
""",
    {"y": (3, 5), "x": (3, 5)},
    {"n": 5, "ldx": 5},
    (3,),
    defines={"B": 8},
    rule="reductions and masks of rows",
)

_REDUCTIONS = [
    Program(
        f"reduce_{name}",
        f"""__global__ void f(T *x, T *y, int n) {{
  int row = get_program_id(0);
  int rn[B] = 0 ... B;
  T v[B] = rn < n ? *(x + row * n + rn) : {other};
  *(y + row) = (v * v * v)[{operator}];
}}
""",
        {"x": (3, 6), "y": (3,)},
        {"n": 6},
        (3,),
        defines={"B": 8},
        rule=f"[{operator}]",
    )
    for name, operator, other in (("sum", "+", "0"), ("max", "max", "-10"), ("min", "min", "10"))
]

_TWO_D = [
    Program(
        "rows_and_columns",
        """__global__ void f(T *x, T *w, T *y, int M, int N) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  bool inside[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
  T a[TM, TN] = inside ? *(x + rm[:, newaxis] * N + rn[newaxis, :]) : 0;
  T b[TN] = rn < N ? *(w + rn) : 0;
  T s[TM] = (a * a)[:, +];
  T m[TN] = a[max, :];
  *?(inside) (y + rm[:, newaxis] * N + rn[newaxis, :]) = a * b[newaxis, :] + s[:, newaxis] - m[newaxis, :];
}
""",
        {"x": (5, 6), "w": (6,), "y": (5, 6)},
        {"M": 5, "N": 6},
        (2, 2),
        defines={"TM": 4, "TN": 4},
        summed=("w",),
        rule="[:, newaxis], reductions of one axis, an input that many programs read",
    ),
    Program(
        "transposed",
        """__global__ void f(T *x, T *y) {
  int rm[4] = 0 ... 4;
  int rn[8] = 0 ... 8;
  T a[4, 8] = *(x + rm[:, newaxis] * 8 + rn[newaxis, :]);
  T b[8, 4] = ^a;
  T c[8, 4] = exp(b) * trans(a);
  *(y + rn[:, newaxis] * 4 + rm[newaxis, :]) = c;
}
""",
        {"x": (4, 8), "y": (8, 4)},
        {},
        (1,),
        rule="transposition",
    ),
    Program(
        "permuted",
        """__global__ void f(T *x, T *y) {
  int r[32] = 0 ... 32;
  T a[2, 4, 4] = *(x + r);
  T b[4, 2, 4] = a[^1, ^0, ^2];
  T c[4, 4, 2] = b[^0, ^2, ^1] * a[^1, ^2, ^0];
  T d[32] = c;
  *(y + r) = d * d;
}
""",
        {"x": (32,), "y": (32,)},
        {},
        (1,),
        rule="permutation and reshape",
    ),
    Program(
        "scalars",
        """__global__ void f(T *x, T *w, T *y) {
  int row = get_program_id(0);
  T a = *(x + row);
  T b = *w;
  int r[4] = 0 ... 4;
  T c[4] = a * b;
  T d[4] = c + a * r;
  *(y + row * 4 + r) = exp(d) * b;
}
""",
        {"x": (3,), "w": (1,), "y": (3, 4)},
        {},
        (3,),
        summed=("w",),
        rule="a scalar that fills a block",
    ),
    Program(
        "broadcast_sum",
        """__global__ void f(T *x, T *y) {
  int r[4] = 0 ... 4;
  T a[4] = *(x + r);
  T s = a[+];
  T b[8, 4] = s + a;
  T c = b[+, +];
  *(y + r) = c * a;
}
""",
        {"x": (4,), "y": (4,)},
        {},
        (1,),
        rule="a sum over what was repeated counts each repetition",
    ),
    Program(
        "repeated",
        """__global__ void f(T *x, T *y) {
  int r[4] = 0 ... 4;
  T a[1, 4] = (*(x + r))[newaxis, :];
  T b[4] = ((T[8, 4])a)[+, :];
  *(y + r) = b * b;
}
""",
        {"x": (4,), "y": (4,)},
        {},
        (1,),
    ),
    Program(
        "matrix_product",
        """__global__ void f(T *a, T *b, T *c) {
  int r[16] = 0 ... 16;
  T x[16, 16] = *(a + r[:, newaxis] * 16 + r[newaxis, :]);
  T w[16, 16] = *(b + r[:, newaxis] * 16 + r[newaxis, :]);
  *(c + r[:, newaxis] * 16 + r[newaxis, :]) = x @ w + ^x @ w;
}
""",
        {"a": (16, 16), "b": (16, 16), "c": (16, 16)},
        {},
        (1,),
        outputs=("c",),
        rule="@ and its transpositions",
    ),
]

_MEMORY = [
    Program(
        "several_reads",
        """__global__ void f(T *x, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  bool inside[B] = r < n;
  bool more[B] = r + 1 < n;
  T a[B] = inside ? *(x + r) : 0;
  T b[B] = more ? *(x + r + 1) : 0;
  *?(inside) (y + r) = a * b + a;
}
""",
        {"x": (COUNT,), "y": (COUNT,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="several reads of one element",
    ),
    Program(
        "gather",
        """__global__ void f(T *x, int *index, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  bool inside[B] = r < n;
  int at[B] = inside ? *(index + r) : 0;
  T a[B] = inside ? *(x + at) : 0;
  *?(inside) (y + r) = a * a;
}
""",
        {"x": (5,), "index": (COUNT,), "y": (COUNT,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        integers={"index": lambda: torch.arange(COUNT, dtype=torch.int32) % 3},
        atomic=("x",),
        rule="reads at indices from memory",
    ),
    Program(
        "added_output",
        """__global__ void f(T *x, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  bool inside[B] = r < n;
  T a[B] = inside ? *(x + r) : 0;
  atomic_add(y + r % 4, a * a, inside);
}
""",
        {"x": (COUNT,), "y": (4,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="atomic_add outputs",
    ),
    Program(
        "two_outputs",
        """__global__ void f(T *x, T *y, T *z, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  T a[B] = *?(r < n) (x + r);
  *?(r < n) (y + r) = a * a;
  *?(r < n) (z + r) = exp(a);
}
""",
        {"x": (COUNT,), "y": (COUNT,), "z": (COUNT,)},
        {"n": COUNT},
        (2,),
        outputs=("y", "z"),
        defines={"B": BLOCK},
        rule="several outputs",
    ),
    Program(
        "partial",
        """__global__ void f(T *x, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  bool some[B] = r < n && r > 2;
  T a[B] = some ? *(x + r) : 0;
  *?(some) (y + r) = a * a;
}
""",
        {"x": (COUNT,), "y": (COUNT,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="what is never read has gradient zero",
    ),
    Program(
        "reassigned",
        """__global__ void f(T *x, T *y, int n) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  T *p[B] = x + r;
  T a[B] = r < n ? *p : 0;
  a = a * a;
  a += exp(a);
  T b[B] = a;
  a *= b;
  T *q[B] = y;
  q += r;
  *?(r < n) q = a;
}
""",
        {"x": (COUNT,), "y": (COUNT,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="variables that are assigned again",
    ),
]

_SHARED = [
    Program(
        "windows",
        """__global__ void f(T *x, T *w, T *y, int n) {
  int row = get_program_id(0);
  int at = get_program_id(1) * 4;
  int r[8] = 0 ... 8;
  T a[8] = *(w + at + r) * *(x + row * n + at + r % 4);
  *(y + (row * 2 + get_program_id(1)) * 8 + r) = a;
}
""",
        {"x": (2, 8), "w": (12,), "y": (2, 2, 8)},
        {"n": 8},
        (2, 2),
        atomic=("w", "x"),
        rule="windows that overlap, and that many programs read",
    ),
    Program(
        "channels",
        """__global__ void f(T *x, T *b, T *y, int n) {
  int c = get_program_id(1);
  int row = get_program_id(2) * get_num_programs(1) + c;
  int r[B] = get_program_id(0) * B + 0 ... B;
  T v[B] = (r < n ? *(x + row * n + r) : 0) + *(b + c);
  *?(r < n) (y + row * n + r) = v * v * get_num_programs(0);
}
""",
        {"x": (2, 2, 11), "b": (2,), "y": (2, 2, 11)},
        {"n": 11},
        (3, 2, 2),
        defines={"B": 4},
        summed=("b",),
        rule="an input that the programs along two axes read",
    ),
    Program(
        "dropped",
        """__global__ void f(T *x, T *w, int *kept, T *y, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  bool some[B] = r < n && *(kept + r) != 0;
  T a[B] = some ? *(x + row * n + r) : 0;
  T b[B] = r < n && !(r == 1) ? *(w + r) : 1;
  *?(r < n) (y + row * n + r) = a * b;
}
""",
        {"x": (3, 8), "w": (8,), "kept": (8,), "y": (3, 8)},
        {"n": 8},
        (3,),
        defines={"B": 8},
        integers={"kept": lambda: torch.tensor([1, 0, 1, 1, 0, 1, 1, 0], dtype=torch.int32)},
        summed=("w",),
        rule="masks that are known when the kernel runs",
    ),
    Program(
        "optional",
        """__global__ void f(T *x, T *w, T *y, int k) {
  int row = get_program_id(0);
  int r[4] = 0 ... 4;
  T b[4] = 1;
  if (k > 1)
    b = *(w + r);
  *(y + row * 4 + r) = *(x + row * 4 + r) * b;
}
""",
        {"x": (3, 4), "w": (4,), "y": (3, 4)},
        {"k": 2},
        (3,),
        atomic=("w",),
        rule="an input that is read in a branch, by all programs",
    ),
    Program(
        "epilogue",
        """__global__ void f(T *A, T *B, T *C, int K) {
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  int rn[16] = get_program_id(1) * 16 + 0 ... 16;
  int rk[16] = 0 ... 16;
  T c[16, 16] = 0;
  for (int k = 0; k < K; k += 16) {
    T a[16, 16] = *(A + rm[:, newaxis] * K + (k + rk)[newaxis, :]);
    T b[16, 16] = *(B + (k + rk)[:, newaxis] * 32 + rn[newaxis, :]);
    c += a @ b;
  }
  *(C + rm[:, newaxis] * 32 + rn[newaxis, :]) = tanh(c);
}
""",
        {"A": (32, 32), "B": (32, 32), "C": (32, 32)},
        {"K": 32},
        (2, 2),
        outputs=("C",),
        atomic=("A", "B"),
        rule="a product whose backward needs what the forward summed up",
    ),
]

_BRANCHES = [
    Program(
        "branch",
        """__global__ void f(T *x, T *y, int n, int k) {
  int pid = get_program_id(0);
  int r[B] = pid * B + 0 ... B;
  T a[B] = r < n ? *(x + r) : 0;
  T b[B] = a * a;
  if (pid == k) {
    T c[B] = exp(a);
    b = c * b;
  } else {
    b += a;
  }
  if (k > 5) {
    b = 0;
  }
  *?(r < n) (y + r) = b * a;
}
""",
        {"x": (COUNT,), "y": (COUNT,)},
        {"n": COUNT, "k": 1},
        (2,),
        defines={"B": BLOCK},
        rule="if",
    ),
]

_LOOPS = [
    Program(
        "row_sum",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T *p[B] = x + row * n + r;
  T s[B] = 0;
  for (int k = n; k > 0; k -= B) {
    T a[B] = r < k ? *p : 0;
    s += a * a;
    p += B;
  }
  *(y + row) = exp(s[+]);
}
""",
        {"x": (2, 11), "y": (2,)},
        {"n": 11},
        (2,),
        defines={"B": 4},
        rule="sums in counted loops",
    ),
    Program(
        "zero_iterations",
        """__global__ void f(T *x, T *w, T *y, int n) {
  int r[B] = 0 ... B;
  T s[B] = *(w + r);
  for (int k = 0; k < n; k += B)
    s += *(x + k + r);
  *(y + r) = s * s;
}
""",
        {"x": (8,), "w": (4,), "y": (4,)},
        {"n": 0},
        (1,),
        defines={"B": 4},
        rule="zero iterations give zero",
    ),
    Program(
        "outer_value",
        """__global__ void f(T *x, T *w, T *y, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T scale = exp(*(w + row));
  T s = 0;
  for (int k = 0; k < n; k += B) {
    T a[B] = r + k < n ? *(x + row * n + k + r) : 0;
    s += (a * scale)[+] + scale * k;
  }
  *(y + row) = s * scale;
}
""",
        {"x": (2, 7), "w": (2,), "y": (2,)},
        {"n": 7},
        (2,),
        defines={"B": 4},
        rule="values from before a loop, used in it",
    ),
    Program(
        "layer_norm",
        """__global__ void f(T *x, T *gamma, T *beta, T *y, int n, float eps) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T sum[B] = 0;
  for (int k = 0; k < n; k += B)
    sum += r + k < n ? *(x + row * n + k + r) : 0;
  T mean = sum[+] / n;
  T squares[B] = 0;
  for (int k = 0; k < n; k += B) {
    T d[B] = r + k < n ? *(x + row * n + k + r) - mean : 0;
    squares += d * d;
  }
  T scale = rsqrt(squares[+] / n + eps);
  for (int k = 0; k < n; k += B) {
    bool inside[B] = r + k < n;
    T v[B] = inside ? *(x + row * n + k + r) : 0;
    T g[B] = inside ? *(gamma + k + r) : 0;
    T b[B] = inside ? *(beta + k + r) : 0;
    *?(inside) (y + row * n + k + r) = (v - mean) * scale * g + b;
  }
}
""",
        {"x": (3, 7), "gamma": (7,), "beta": (7,), "y": (3, 7)},
        {"n": 7, "eps": 1e-3},
        (3,),
        defines={"B": 4},
        atomic=("gamma", "beta"),
        rule="row statistics in loops, output in another",
    ),
    Program(
        "held_statistics",
        """__global__ void f(T *x, T *y, T *MEAN, T *SCALE, int n, float eps) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T sum[B] = 0;
  for (int k = 0; k < n; k += B)
    sum += r + k < n ? *(x + row * n + k + r) : 0;
  T mean = sum[+] / n;
  T squares[B] = 0;
  for (int k = 0; k < n; k += B) {
    T d[B] = r + k < n ? *(x + row * n + k + r) - mean : 0;
    squares += d * d;
  }
  T scale = rsqrt(squares[+] / n + eps);
  *(MEAN + row) = mean;
  *(SCALE + row) = scale;
  for (int k = 0; k < n; k += B) {
    bool inside[B] = r + k < n;
    T v[B] = inside ? *(x + row * n + k + r) : 0;
    *?(inside) (y + row * n + k + r) = (v - mean) * scale;
  }
}
""",
        {"x": (3, 7), "y": (3, 7), "MEAN": (3,), "SCALE": (3,)},
        {"n": 7, "eps": 1e-3},
        (3,),
        outputs=("y", "MEAN", "SCALE"),
        defines={"B": 4},
        rule="values from loops that an output holds",
    ),
    Program(
        "held_after_loop",
        """__global__ void f(T *x, T *y, T *total, int n) {
  int r[4] = 0 ... 4;
  T s[4] = 0;
  for (int k = 0; k < n; k += 1)
    s += *(x + k * 4 + r);
  *(total + r) = s;
  T t[4] = 0;
  for (int k = 0; k < n; k += 1)
    t += s * *(x + k * 4 + r);
  *(y + r) = exp(t);
}
""",
        {"x": (3, 4), "y": (4,), "total": (4,)},
        {"n": 3},
        (1,),
        outputs=("y", "total"),
        rule="a sum of a loop that an output holds",
    ),
    Program(
        "not_held",
        """__global__ void f(T *x, T *y, T *some, T *late, T *added, int n) {
  int r[4] = 0 ... 4;
  T s[4] = 0;
  T t[4] = 0;
  T u[4] = 0;
  for (int k = 0; k < n; k += 1)
    s += *(x + k * 4 + r);
  for (int k = 0; k < n; k += 1)
    t += k * *(x + k * 4 + r);
  for (int k = 0; k < n; k += 1)
    u += 0.5 * *(x + k * 4 + r);
  *?(r < 3) (some + r) = s;
  int back[4] = 3 - r;
  *(late + back) = t;
  atomic_add(added + r, u);
  *(y + r) = exp(s) * exp(t) * exp(u);
}
""",
        {"x": (3, 4), "y": (4,), "some": (4,), "late": (4,), "added": (4,)},
        {"n": 3},
        (1,),
        outputs=("y", "some", "late", "added"),
        rule="values that an output holds in part, at a place that is known later, or with others",
    ),
    Program(
        "nested_loops",
        """__global__ void f(T *x, T *y, int n, int m) {
  int r[4] = 0 ... 4;
  T s[4] = 0;
  for (int i = 0; i < n; i += 1) {
    T t[4] = 0;
    for (int j = 0; j < m; j += 1)
      t += *(x + (i * m + j) * 4 + r) * j;
    s += exp(t);
  }
  *(y + r) = s;
}
""",
        {"x": (2, 3, 4), "y": (4,)},
        {"n": 2, "m": 3},
        (1,),
        rule="nested loops",
    ),
    Program(
        "matmul",
        """__global__ void dot(T *A, T *B, T *C, int M, int N, int K) {
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  int rn[16] = get_program_id(1) * 16 + 0 ... 16;
  int rk[16] = 0 ... 16;
  T *pa[16, 16] = A + rm[:, newaxis] * K + rk[newaxis, :];
  T *pb[16, 16] = B + rk[:, newaxis] * N + rn[newaxis, :];
  T c[16, 16] = 0;
  for (int k = K; k > 0; k -= 16) {
    T a[16, 16] = (rm < M)[:, newaxis] && (rk < k)[newaxis, :] ? *pa : 0;
    T b[16, 16] = (rk < k)[:, newaxis] && (rn < N)[newaxis, :] ? *pb : 0;
    c += a @ b;
    pa += 16;
    pb += 16 * N;
  }
  *?((rm < M)[:, newaxis] && (rn < N)[newaxis, :]) (C + rm[:, newaxis] * N + rn[newaxis, :]) = c;
}
""",
        {"A": (17, 18), "B": (18, 9), "C": (17, 9)},
        {"M": 17, "N": 9, "K": 18},
        (2, 1),
        outputs=("C",),
        summed=("B",),
        rule="c += a @ b",
    ),
]

_LOOPS += [
    Program(
        f"carried_{name}",
        f"""__global__ void f(T *x, T *y, int n) {{
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T *p[B] = x + row * n * B + r;
  T s[B] = *(x + row * n * B + r);
  T t = 0;
  for (int k = 1; k < n; k += 1) {{
    p += B;
    T v[B] = *p;
    {statement}
  }}
  *(y + row * B + r) = s * s + t;
}}
""",
        {"x": (2, 5, 4), "y": (2, 4)},
        {"n": 5},
        (2,),
        defines={"B": 4},
        low=0.5,
        high=1.5,
        rule=rule,
    )
    for name, statement, rule in (
        ("scaled", "s = s * 0.5 + v * k; t += s[+];", "a carry that is scaled"),
        ("product", "s *= v;", "a product"),
        ("maximum", "s = max(s, v * (k - 2));", "a running maximum"),
        ("last", "T old[B] = s; s = v * old; t = old[+] - t * 0.5;", "the iteration before"),
        ("unused", "s += v; t = t + 1;", "sums beside it"),
    )
]
_LOOPS += [
    Program(
        "online",
        """__global__ void f(T *x, T *v, T *y, T *z, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T m = -F32_INFINITY;
  T l = 0;
  T acc = 0;
  for (int k = n; k > 0; k -= B) {
    T s[B] = r < k ? *(x + row * n + n - k + r) : -F32_INFINITY;
    T m_new = max(m, s[max]);
    T scale = exp(m - m_new);
    T p[B] = exp(s - m_new);
    l = l * scale + p[+];
    acc = acc * scale + (r < k ? p * *(v + n - k + r) : 0)[+];
    m = m_new;
  }
  *(y + row) = acc / l;
  *(z + row) = m + log(l);
}
""",
        {"x": (2, 7), "v": (7,), "y": (2,), "z": (2,)},
        {"n": 7},
        (2,),
        outputs=("y", "z"),
        defines={"B": 4},
        summed=("v",),
        rule="an online softmax",
    ),
    Program(
        "state_in_loop",
        """__global__ void f(T *x, T *y, int n, int m) {
  int r[4] = 0 ... 4;
  T total[4] = 0;
  for (int i = 0; i < n; i += 1) {
    T s[2, 4] = 1;
    for (int j = 0; j < m; j += 1) {
      T v[4] = *(x + (i * m + j) * 4 + r);
      s = sin(s) * v[newaxis, :] + s * (0 ... 2)[:, newaxis];
    }
    total += s[+, :] * (i + 1);
  }
  *(y + r) = total;
}
""",
        {"x": (2, 4, 4), "y": (4,)},
        {"n": 2, "m": 4},
        (1,),
        rule="a state of two axes, in a loop",
    ),
    Program(
        "carried_dropped",
        """__global__ void f(T *x, T *y, T *z, int n) {
  int row = get_program_id(0);
  T s = 1;
  T factor = 0.5;
  T dropped = 1;
  T total = 0;
  T alone = 1;
  for (int k = 0; k < n; k += 1) {
    T v = *(x + row * n + k);
    s = sin(s) + s * v * factor;
    factor = cos(factor * v);
    dropped = dropped * log(v - 5);
    total += v * v;
  }
  for (int k = 0; k < n; k += 1)
    alone = alone / (*(x + row * n + k) * 0);
  *(y + row) = s;
  *(z + row) = total;
}
""",
        {"x": (2, 14), "y": (2,), "z": (2,)},
        {"n": 14},
        (2,),
        outputs=("y", "z"),
        rule="what is no number in a loop, where nothing flows into it",
    ),
    Program(
        "checkpoints",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  int r[2] = 0 ... 2;
  T s[2] = 1;
  for (int k = 0; k < n; k += 1)
    s = sin(s) + s * *(x + row * n + k) * (r + 1);
  *(y + row * 2 + r) = s;
}
""",
        {"x": (2, 14), "y": (2, 2)},
        {"n": 14},
        (2,),
        rule="what a loop carries, kept for segments of its iterations, the last one shorter",
        checkpoints=True,
    ),
    Program(
        "cancelled",
        """__global__ void f(T *x, T *y, T *z, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  bool inside[B] = r < n;
  T v[B] = inside ? *(x + row * n + r) : -F32_INFINITY;
  T m = v[max];
  T s = 0;
  for (int k = 0; k < 2; k += 1)
    s += (inside ? exp(v - m) : 0)[+];
  *?(inside) (y + row * n + r) = exp2((v - m) * 1.4426950408889634) / (s + exp(v - v[max])[+]);
  *(z + row) = m + log(s) * 1;
}
""",
        {"x": (3, 5), "y": (3, 5), "z": (3,)},
        {"n": 5},
        (3,),
        outputs=("y", "z"),
        defines={"B": 8},
        rule="what is subtracted so that nothing overflows cancels out",
    ),
    Program(
        "not_cancelled",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  T v[B] = r < n ? *(x + row * n + r) : -10;
  T e[B] = exp(v - v[max]);
  *?(r < n) (y + row * n + r) = e / (1 + e[+]);
}
""",
        {"x": (3, 5), "y": (3, 5)},
        {"n": 5},
        (3,),
        defines={"B": 8},
        rule="what does not",
    ),
    Program(
        "tiles",
        """__global__ void f(T *A, T *B, T *C, T *bias, int N, int K, int ldb) {
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  T *pa[TM, TK] = A + rm[:, newaxis] * K + rk[newaxis, :];
  T *pb[TN, TK] = B + rn[:, newaxis] * ldb + rk[newaxis, :];
  T c[TM, TN] = 0;
  for (int k = 0; k < K; k += TK) {
    bool checka[TM, TK] = (rk < K - k)[newaxis, :];
    T a[TM, TK] = checka ? *pa : 0;
    T b[TN, TK] = (rn < N)[:, newaxis] && (rk < K - k)[newaxis, :] ? *pb : 0;
    c += a @ ^b;
    pa += TK;
    pb += TK;
  }
  T d[TN] = rn < N ? *(bias + rn) : 0;
  *?((rn < N)[newaxis, :]) (C + rm[:, newaxis] * N + rn[newaxis, :]) = c * 2 + d[newaxis, :];
}
""",
        {"A": (32, 40), "B": (40, 45), "C": (32, 40), "bias": (40,)},
        {"N": 40, "K": 40, "ldb": 45},
        (2, 3),
        outputs=("C",),
        defines={"TM": 16, "TN": 16, "TK": 32},
        summed=("A", "B", "bias"),
        rule="a product with two axes of programs, ragged",
    ),
    Program(
        "picked",
        """__global__ void f(T *x, int *label, T *y, int n) {
  int row = get_program_id(0);
  int r[8] = 0 ... 8;
  T v[8] = r < n ? *(x + row * n + r) : -10;
  T at = *(x + row * n + *(label + row));
  *(y + row) = log(exp(v)[+]) - at;
}
""",
        {"x": (3, 5), "label": (3,), "y": (3,)},
        {"n": 5},
        (3,),
        integers={"label": lambda: torch.tensor([4, 0, 2], dtype=torch.int32)},
        atomic=("x",),
        rule="cross-entropy, out of place",
    ),
    Program(
        "prefetched",
        """__global__ void dot(T *A, T *B, T *C, int K) {
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  int rn[32] = 0 ... 32;
  int rk[8] = 0 ... 8;
  T *pa[16, 8] = A + rm[:, newaxis] * K + rk[newaxis, :];
  T *pb[8, 32] = B + rk[:, newaxis] * 32 + rn[newaxis, :];
  T c[16, 32] = 0;
  // prefetches operands
  T a[16, 8] = *pa;
  T b[8, 32] = *pb;
  for (int k = K; k > 0; k -= 8) {
    c += a @ b;
    pa += 8;
    pb += 8 * 32;
    a = *pa;
    b = *pb;
  }
  *(C + rm[:, newaxis] * 32 + rn[newaxis, :]) = c;
}
""",
        {"A": (32, 16), "B": (16, 32), "C": (32, 32)},
        {"K": 16},
        (2,),
        outputs=("C",),
        summed=("B",),
        rule="loads made ahead",
    ),
    Program(
        "prefetched_by_table",
        """__global__ void f(T *x, int *steps, T *y, int n) {
  int r[8] = 0 ... 8;
  T *p[8] = x + r;
  int *ps = steps;
  int at[8] = r;
  bool inside[8] = at < n;
  T a[8] = inside ? *p : 0;
  T s[8] = 0;
  for (int k = 0; k < n; k += 8) {
    s += a * a;
    p += *ps;
    ps += 1;
    at += 8;
    bool inside[8] = at < n;
    a = inside ? *p : 0;
  }
  *(y + r) = s;
}
""",
        {"x": (20,), "steps": (3,), "y": (8,)},
        {"n": 20},
        (1,),
        integers={"steps": lambda: torch.tensor([8, 8, 8], dtype=torch.int32)},
        atomic=("x",),
        rule="loads made ahead, under masks that are carried, too",
    ),
    Program(
        "first_load_apart",
        """__global__ void f(T *x, T *y, int n) {
  int r[8] = 0 ... 8;
  T *p[8] = x + r;
  int at[8] = r;
  bool inside[8] = at < 5;
  T a[8] = inside ? *p : 0;
  T s[8] = 0;
  for (int k = 0; k < n; k += 8) {
    s += a * a;
    p += 8;
    at += 8;
    bool inside[8] = at < n;
    a = inside ? *p : 0;
  }
  *(y + r) = s;
}
""",
        {"x": (20,), "y": (8,)},
        {"n": 20},
        (1,),
        rule="loads made ahead, the first of which is another: carried",
    ),
]

_LOOPS += [
    Program(
        "sum_that_is_read",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  T s = 0, t = 0;
  for (int k = 0; k < n; k += 1) {
    T v = *(x + row * n + k);
    t += s * v;
    s += v;
  }
  *(y + row) = t + s;
}
""",
        {"x": (2, 5), "y": (2,)},
        {"n": 5},
        (2,),
        rule="a sum that iterations read, too",
    ),
    Program(
        "carried_chain",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  T s = 1, factor = 0.5, inner = 0.25;
  for (int k = 0; k < n; k += 1) {
    T v = *(x + row * n + k);
    s = sin(s) + s * v * factor;
    factor = cos(factor * v + inner);
    inner = sin(inner + v);
  }
  *(y + row) = s;
}
""",
        {"x": (2, 5), "y": (2,)},
        {"n": 5},
        (2,),
        rule="what a loop carries that flows into another thing that it carries",
    ),
    Program(
        "first_load_elsewhere",
        """__global__ void f(T *x, T *y, int n) {
  int r[8] = 0 ... 8;
  T *p[8] = x + r;
  T a[8] = *(x + 4 + r);
  T s[8] = 0;
  for (int k = 0; k < n; k += 8) {
    s += a * a;
    p += 8;
    a = *p;
  }
  *(y + r) = s;
}
""",
        {"x": (24,), "y": (8,)},
        {"n": 16},
        (1,),
        atomic=("x",),
        rule="loads made ahead, the first of which is at another place: its address is carried",
    ),
    Program(
        "skipped",
        """__global__ void f(T *x, T *y, int n) {
  int row = get_program_id(0);
  T s = 0, t = 1;
  for (int k = 0; k < n; k += 1) {
    T v = *(x + row * n + k);
    if (v < 0) continue;
    s += v * v;
    if (k > 2) continue;
    t = t * v;
  }
  *(y + row) = s + t;
}
""",
        {"x": (2, 6), "y": (2,)},
        {"n": 6},
        (2,),
        rule="iterations that end early",
    ),
]

_FLAT = [
    Program(
        "compared",
        """__global__ void f(T *x, T *w, T *v, T *y, int n) {
  int pid = get_program_id(0);
  int r[B] = 0 ... B;
  T a[B] = *(x + r);
  T b[B] = *(w + r);
  T c = *(v + pid);
  *(y + pid * B + r) = (b > 0 ? a : 2 * a) * (int)(4 * c);
}
""",
        {"x": (BLOCK,), "w": (BLOCK,), "v": (3,), "y": (3, BLOCK)},
        {"n": 1},
        (3,),
        defines={"B": BLOCK},
        summed=("x", "w"),
        rule="inputs, shared by all programs or not, that nothing flows into",
    ),
    Program(
        "only_rounded",
        """__global__ void f(T *x, T *y) {
  int r[B] = 0 ... B;
  *(y + get_program_id(0) * B + r) = floor(3 * *(x + r));
}
""",
        {"x": (BLOCK,), "y": (2, BLOCK)},
        {},
        (2,),
        defines={"B": BLOCK},
        rule="no gradient at all",
    ),
    Program(
        "tested",
        """__global__ void f(T *x, T *t, T *y) {
  int pid = get_program_id(0);
  T a = *(x + pid);
  if (*t > 0) {
    a = a * a;
  }
  *(y + pid) = a;
}
""",
        {"x": (4,), "t": (1,), "y": (4,)},
        {},
        (4,),
        summed=("t",),
        rule="an input that a condition reads",
    ),
]
_STORES = [
    Program(
        "early_return",
        """__global__ void f(T *x, T *y, int n, int k) {
  int i = get_program_id(0) * 2;
  // beyond the end
  if (i >= n) return;
  T a = *(x + i);
  if (i == k) {
    *(y + i) = 3 * a;
    return;
  }
  *(y + i) = a * a;
}
""",
        {"x": (8,), "y": (8,)},
        {"n": 5, "k": 2},
        (4,),
        rule="return before the end",
    ),
    Program(
        "return_beyond_a_row",
        """__global__ void f(T *x, T *y, int n) {
  int j = get_program_id(1);
  if (j >= n) return;
  int at = get_program_id(0) * n + j;
  *(y + at) = sin(*(x + at));
}
""",
        {"x": (3, 5), "y": (3, 5)},
        {"n": 5},
        (3, 8),
        rule="single stores by the condition of a return",
    ),
    Program(
        "interleaved",
        """__global__ void f(T *x, T *y, int n) {
  int o[B] = get_program_id(0) * B + 0 ... B;
  T a[B] = *?(o < n)(x + o);
  *?(o < n) (y + 2 * o) = a * a;
  *?(o < n) (y + 2 * o + 1) = cos(a);
  *?(o < n) (y + 2 * n + n - 1 - o) = exp(a);
}
""",
        {"x": (COUNT,), "y": (3 * COUNT,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="stores to disjoint elements",
    ),
    Program(
        "stored_in_arms",
        """__global__ void f(T *x, T *y, int n) {
  int pid = get_program_id(0);
  int r[B] = pid * B + 0 ... B;
  if (pid * B + B <= n) {
    *(y + r) = sin(*(x + r));
    for (int k = 0; k < 2; k += 1) *(y + n + pid * 2 + k) = *(x + pid * B + k);
  } else {
    T a[B] = *?(r < n)(x + r);
    *?(r < n) (y + r) = a * a;
    for (int k = 0; k < 2; k += 1) *(y + n + pid * 2 + k) = 3 * *(x + pid * B + k);
  }
}
""",
        {"x": (COUNT,), "y": (COUNT + 4,)},
        {"n": COUNT},
        (2,),
        defines={"B": BLOCK},
        rule="stores in the arms of an if",
    ),
    Program(
        "merged_and_unread",
        """__global__ void f(T *x, T *w, T *y, int n) {
  int pid = get_program_id(0);
  int r[B] = 0 ... B;
  T a[B] = *(w + r);
  T b[B] = pid;
  if (n > 3) {
    b = 2 * a;
  }
  T c[B] = *(x + pid * B + r);
  T d[B] = c;
  if (n > 4) {
    d = a;
  }
  *(y + pid * B + r) = a * c * b;
}
""",
        {"x": (2, BLOCK), "w": (BLOCK,), "y": (2, BLOCK)},
        {"n": 5},
        (2,),
        defines={"B": BLOCK},
        summed=("w",),
        rule="a branch that merges what one program has and all have",
    ),
]

PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in [
        *_ELEMENTWISE,
        _MASKED_NAN,
        _SOFTMAX,
        *_REDUCTIONS,
        *_TWO_D,
        *_MEMORY,
        *_SHARED,
        *_BRANCHES,
        *_LOOPS,
        *_FLAT,
        *_STORES,
    ]
}
