"""Asks the translator what an expression, a few statements or a whole text computes.

A sentence of the specification becomes a :class:`Row`: what it says, a piece of Triton-C, the numbers that
piece sees, and the numbers that the sentence, worked out by hand or with NumPy, makes of them. ``row.hold()``
wraps the piece in a kernel, runs it on CPU tensors (Triton's interpreter) and compares bit for bit, NaN equal
to NaN.

How given names reach the text, by their Python value:

- a Python or NumPy number: a scalar parameter of that type (``int``, ``float``, ``bool`` for Python's own);
- an array whose name starts with a lower-case letter: a block variable of that name, loaded ahead of the piece;
- an array whose name starts with an upper-case letter: a pointer parameter.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

import pytriton
from tests.conversions.c_types import TORCH

DTYPES = {word.replace("unsigned int", "unsigned"): dtype for word, dtype in TORCH.items()}
WORDS = {dtype: word for word, dtype in DTYPES.items()}

nan, inf = math.nan, math.inf


def tensor(value: Any) -> torch.Tensor:
    """A tensor of its own memory; a list of floats is float32, of ints int32."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    array = np.array(value)
    if not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    return torch.from_numpy(array.copy())


def same(got: torch.Tensor, want: Any, tolerance: float = 0.0) -> None:
    """As many numbers, and equal bit for bit (NaN equals NaN) unless a tolerance is given."""
    expected = want if isinstance(want, torch.Tensor) else torch.from_numpy(np.array(want))
    assert got.numel() == expected.numel(), f"{got.shape} for {expected.shape}"
    expected = expected.reshape(got.shape)
    if got.dtype.is_floating_point:
        torch.testing.assert_close(
            got.double(), expected.double(), rtol=tolerance, atol=tolerance, equal_nan=True
        )
    else:
        left, right = got.cpu().numpy(), expected.cpu().numpy()
        assert [int(x) for x in left.flat] == [int(x) for x in right.flat], f"{left} is not {right}"


def index(shape: tuple[int, ...]) -> str:
    """The row-major index block of a shape, in Triton-C."""
    if len(shape) == 1:
        return f"(0 ... {shape[0]})"
    terms = []
    for axis, size in enumerate(shape):
        places = ", ".join(":" if other == axis else "newaxis" for other in range(len(shape)))
        terms.append(f"(0 ... {size})[{places}] * {math.prod(shape[axis + 1 :])}")
    return " + ".join(terms)


def _split(type_: str) -> tuple[str, tuple[int, ...]]:
    word, _, sizes = type_.partition("[")
    return word.strip(), tuple(int(size) for size in sizes.rstrip("]").split(",")) if sizes else ()


def _scalar_word(value: Any) -> str:
    if isinstance(value, np.generic):
        return WORDS[torch.from_numpy(np.array([value])).dtype]
    return {bool: "bool", int: "int", float: "float"}[type(value)]


@dataclass
class Row:
    """One sentence, the piece of text that would come out wrong without it, and the right numbers."""

    says: str
    type: str  # of the result: ``int``, ``float[4, 8]``
    piece: str  # an expression, or statements that end in ``result = ...;``
    want: Any
    given: dict[str, Any] = field(default_factory=dict)
    before: str = ""  # statements ahead of an expression
    top: str = ""  # text ahead of the kernel
    defines: dict[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    programs: int = 1
    strict: bool = False

    def __str__(self) -> str:
        return self.says

    def text(self) -> str:
        word, shape = _split(self.type)
        parameters, loads = [f"{word}* out"], []
        for name, value in self.given.items():
            if isinstance(value, int | float | np.generic):
                parameters.append(f"{_scalar_word(value)} {name}")
                continue
            array = tensor(value)
            element = WORDS[array.dtype]
            if name[0].isupper():
                parameters.append(f"{element}* {name}")
            else:
                parameters.append(f"{element}* {name}_")
                sizes = ", ".join(map(str, array.shape))
                loads.append(f"{element} {name}[{sizes}] = *({name}_ + {index(tuple(array.shape))});")
        suffix = f"[{', '.join(map(str, shape))}]" if shape else ""
        body = self.piece if "result" in self.piece else f"{word} result{suffix} = {self.piece};"
        target = f"out + {index(shape)}" if shape else "out"
        if self.programs > 1:
            target = f"out + get_program_id(0) * {math.prod(shape)}" + (f" + {index(shape)}" if shape else "")
        lines = [*loads, self.before, body, f"*({target}) = result;"]
        return f"{self.top}\n__global__ void f({', '.join(parameters)}) {{\n" + "\n".join(lines) + "\n}\n"

    def value(self) -> torch.Tensor:
        word, shape = _split(self.type)
        out = torch.zeros(self.programs * math.prod(shape), dtype=DTYPES[word])
        arguments = [
            value if isinstance(value, int | float | np.generic) else tensor(value)
            for value in self.given.values()
        ]
        run(self.text(), out, *arguments, grid=self.programs, defines=self.defines, strict=self.strict)
        return out

    def hold(self) -> None:
        same(self.value(), self.want, self.tolerance)


def row(says: str, type_: str, piece: str, want: Any, **given: Any) -> Row:
    """A Row; ``before, top, defines, tolerance, programs, strict`` are its fields, other keywords are given."""
    fields = {"before", "top", "defines", "tolerance", "programs", "strict"}
    return Row(
        says,
        type_,
        piece,
        want,
        {name: value for name, value in given.items() if name not in fields},
        **{name: value for name, value in given.items() if name in fields},
    )


def run(text: str, *arguments: Any, grid: Any = 1, strict: bool = False, **keywords: Any) -> Any:
    """Launches a source, without the notice that the interpreter runs it."""
    with warnings.catch_warnings(action="ignore"):
        kernel = pytriton.kernel(text, strict_literals=strict)
        return kernel(*arguments, grid=grid if isinstance(grid, tuple) else (grid,), **keywords)


def refused(text: str, *words: str, defines: dict[str, Any] | None = None) -> str:
    """The refusal of a text, which must show a line, a caret and the words."""
    with pytest.raises(pytriton.CompileError) as caught:
        pytriton.translate(text, defines or {}, name="kernel.c")
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert "^" in message, message
    return message


def kernel_of(body: str, parameters: str = "int* out, int a, int b, float* X") -> str:
    """A kernel around statements."""
    return f"__global__ void f({parameters}) {{\n{body}\n}}\n"


def warned(text: str, defines: dict[str, Any] | None = None) -> list[str]:
    """The warnings of a translation, as text."""
    return [str(warning) for warning in pytriton.translate(text, defines or {}, name="kernel.c").warnings]


def ptx(text: str, **keywords: Any) -> str:
    """Machine code for sm_90, no GPU needed."""
    code: str = pytriton.kernel(text).asm("ptx", target="cuda:90", **keywords)
    return code
