"""Random kernels full of #if, folded from a few of their define sets and asked for all of them.

Each set must be refused, by its leaves and by the launcher or the assertions of the kernel alike, with a message
that names it, or computed as its own translation computes it. What Triton refuses, such as a size that is no power
of two, neither need refuse. Kernels of one number run in Python, against the translation; kernels of blocks are
compared by TTIR.
``FOLD_SEED`` is the first seed, ``FOLD_KERNELS`` the count.
"""

from __future__ import annotations

import ast
import itertools
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest
import triton

from pytriton.errors import CompileError
from pytriton.fold.variants import Variant
from pytriton.pipeline import Translation, translate
from pytriton.port.jobs.folds import Unportable
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.package.edits import Uses
from pytriton.port.package.launcher import launcher
from pytriton.port.package.modules import ModuleKernel, module
from pytriton.port.prove import differences, prove_kernel, ttir
from pytriton.runtime.compare import Case, compare, load_ported
from pytriton.settings import Settings
from pytriton.source import Source

SEED = int(os.environ.get("FOLD_SEED", "0"))
COUNT = int(os.environ.get("FOLD_KERNELS", "8"))
SLOW_COUNT = int(os.environ.get("FOLD_KERNELS", "200"))
MAX_ASKED = 160  # define sets of one kernel
MIN_ACCEPTED = 0.4  # of the sets that can be translated

SWITCHES = ("A", "B", "C", "D", "E")
VALUES: Mapping[str, tuple[object, ...]] = {
    "TRUTH": (None, True, False, 1, 0, 2),
    "MODE": (None, 0, 1, 2, "3", -1),
    "STEP": (None, 1, 4, "0x10", True, 2.5),
    "WORD": (None, "n", "3", "STEP", "(n + 1)"),
    "x": (None, None, None, 5),  # the name of a variable
}
GIVEN = (True, "", 1, 0, False, "7", None)


class Text:
    """A random kernel: arms of #if around changes of x, some of them in macros."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.switches = chance.sample(SWITCHES, chance.randint(2, 4))
        self.others = chance.sample(["TRUTH", "MODE", "STEP", "WORD"], chance.choice([0, 0, 1, 2]))
        lines = [*self.lines(2), *self.lines(2)]
        body = "\n".join(["  int x = *X;", *lines, "  *Y = x;"])
        self.text = f"__global__ void f(int *X, int *Y, int n) {{\n{body}\n}}\n"

    def change(self) -> str:
        operand = str(self.chance.randint(1, 9))
        values = [name for name in self.others if name in ("STEP", "WORD")]
        if values and self.chance.random() < 0.4:
            operand = self.chance.choice(values)
        return f"  x {self.chance.choice(['+=', '-=', '*=', '^='])} {operand};"

    def question(self) -> str:
        chance = self.chance
        names = [name for name in self.others if name in ("TRUTH", "MODE")]
        if names and chance.random() < 0.5:
            name = chance.choice(names)
            return (
                name if name == "TRUTH" else f"MODE {chance.choice(['>', '==', '<='])} {chance.randint(0, 2)}"
            )
        name = chance.choice(self.switches)
        return chance.choice([f"defined({name})", f"!defined({name})", f"defined {name}"])

    def lines(self, depth: int) -> Iterator[str]:
        chance = self.chance
        if depth == 0 or chance.random() < 0.2:
            yield self.change()
            return
        first = chance.choice(["ifdef", "ifndef", "if", "if"])
        if first == "if":
            parts = [self.question() for _ in range(chance.randint(1, 3))]
            yield f"#if {chance.choice([' && ', ' || ']).join(parts)}"
        else:
            yield f"#{first} {chance.choice(self.switches)}"
        if chance.random() < 0.2:
            yield "#define TWICE"
        yield from self.lines(depth - 1)
        if chance.random() < 0.3:
            yield f"#elif {self.question()}"
            yield from self.lines(depth - 1)
        if chance.random() < 0.6:
            yield "#else"
            yield from self.lines(depth - 1)
        yield "#endif"
        if chance.random() < 0.3:
            yield "#ifdef TWICE\n  x *= 2;\n#endif"

    def sets(self) -> list[dict[str, object]]:
        """Every subset of the flags, each given in some way, with some values of the others."""
        chance, made = self.chance, []
        for flags in itertools.product((False, True), repeat=len(self.switches)):
            given = {
                name: chance.choice(GIVEN[:-1]) for name, on in zip(self.switches, flags, strict=True) if on
            }
            if not self.others:
                made.append(given)
            for _ in range(6 if self.others else 0):
                values = {name: chance.choice(VALUES[name]) for name in self.others}
                made.append(given | {name: value for name, value in values.items() if value is not None})
        made += [one | {"x": 5} for one in chance.sample(made, min(2, len(made)))]
        return made[:MAX_ASKED]


class Pointer(str):
    """What stands for a pointer there."""

    dtype = ANY


class Memory(SimpleNamespace):
    """What stands for triton.language where a kernel is of single numbers."""

    constexpr = triton.language.constexpr
    float32 = int32 = int64 = int

    def __init__(self) -> None:
        super().__init__(stored=None)

    def pointer_type(self, element: object) -> object:
        return element

    def load(self, _pointer: object) -> int:
        return 12345

    def store(self, _pointer: object, value: object) -> None:
        self.stored = value

    def debug_barrier(self) -> None:
        pass

    def static_assert(self, condition: bool, reason: str = "") -> None:
        assert condition, reason

    def full(self, _shape: object, value: object, _type: object) -> object:
        return value

    def where(self, condition: object, yes: object, no: object) -> object:
        return yes if condition else no

    def to_tensor(self, value: object) -> object:
        return value


def computed(text: str, function: str, *arguments: object, **constexprs: object) -> object:
    """What a generated function stores."""
    memory = Memory()
    values = [Pointer(value) if isinstance(value, str) else value for value in arguments]
    loaded(text, memory)[function](*values, **constexprs)
    return memory.stored


def loaded(text: str, memory: Memory) -> dict[str, Any]:
    functions = {name: lambda function: function for name in ("jit", "constexpr_function")}
    fake = SimpleNamespace(**functions, next_power_of_2=triton.next_power_of_2)
    space: dict[str, Any] = {"tl": memory, "triton": fake}
    run(text.replace("import triton.language as tl", "").replace("import triton", ""), space)
    return space


def run(text: str, space: dict[str, Any]) -> None:
    exec(compile(text, "<generated>", "exec", dont_inherit=True), space)


def launched(kernel: PortedKernel) -> Any:
    """What launches a kernel in a package."""
    space = ModuleType("launcher")
    run(launcher("kernels", Uses(), [kernel], (), True), vars(space))
    text = module("here", [ModuleKernel("SOURCE", kernel, kernel.function)])
    lines = [line for line in text.splitlines() if not line.startswith("from .")]
    functions = {kernel.function: function_of(kernel)}
    start = next(n for n, line in enumerate(lines) if line.startswith("SOURCE ="))
    helpers = {
        name: value for name, value in loaded(kernel.text, Memory()).items() if name.startswith("are_")
    }
    names = {**vars(space), **functions, **helpers, "triton": triton}
    run("\n".join(lines[start:]), names)
    return space.kernel(names["SOURCE"])  # type: ignore[attr-defined]


def function_of(kernel: PortedKernel) -> Any:
    """What the launcher looks at of a function of Triton."""
    function = loaded(kernel.text, Memory())[kernel.function]
    code = function.__code__
    return SimpleNamespace(fn=function, arg_names=list(code.co_varnames[: code.co_argcount]))


def options_of(kernel: PortedKernel, launcher: Any, defines: Mapping[str, object]) -> dict[str, Any] | str:
    """The constexprs with which a launcher calls a kernel, or why it does not, or what the kernel asserts."""
    try:
        passed, _ = launcher.point(defines.items())
    except ValueError as error:
        return str(error)
    return violated(kernel, passed) or passed


def violated(kernel: PortedKernel, constexprs: Mapping[str, object]) -> str:
    """The reason of the first assertion at the top of a kernel that these values violate."""
    tree = ast.parse(kernel.text)
    function = next(f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == kernel.function)
    asserted = itertools.takewhile(
        lambda statement: "tl.static_assert" in ast.unparse(statement), function.body
    )
    function.body = [*asserted, ast.Pass()]
    values = dict.fromkeys(argument.arg for argument in function.args.args)
    values |= {"X": Pointer("X"), "Y": Pointer("Y")} | dict(constexprs)
    try:
        loaded(ast.unparse(tree), Memory())[kernel.function](**values)
    except AssertionError as error:
        return str(error)
    return ""


def judged(seed: int) -> tuple[int, int, int]:
    """How many sets one kernel was asked for, accepted, and could have accepted."""
    chance = random.Random(seed)
    text = Text(chance)
    every = text.sets()
    try:
        sets = [DefineSet(defines) for defines in chance.sample(every, min(4, len(every)))]
        kernel = port_kernel(Translations(Source(text.text), Settings(None)), sets)
    except Unportable:
        return 0, 0, 0
    if seed % 4 == 0:
        kernel = prove_kernel(kernel, Translations(kernel.source, Settings(kernel.kernel)))
    written = launched(kernel)
    accepted = possible = 0
    for defines in every:
        try:
            translation = translate(text.text, defines)
        except CompileError:
            translation = None
        possible += translation is not None
        what = f"seed {seed}: {defines}\n{text.text}\n{kernel.text}\n{written.source}"
        refusal, options = kernel.refusal(defines), options_of(kernel, written, defines)
        if isinstance(options, str):
            assert refusal is not None, f"{options}: {what}"
            assert any(word in str(options) for word in ("=", "together", "-D")), what
            continue
        accepted += 1
        assert translation is not None, what
        if ".to(" in translation.text:  # of a float: Python's numbers lack it
            plain_set = {name: True if name in kernel.switches else v for name, v in defines.items()}
            assert list(differences(kernel.folded, [Variant(plain_set, translation)])) == [], what
            continue
        wanted = computed(translation.text, translation.function, "X", "Y", 17, **translation.constexprs)
        assert computed(kernel.text, kernel.function, "X", "Y", 17, **options) == wanted, what
    return len(every), accepted, possible


def judge_all(first: int, count: int) -> None:
    asked, accepted, possible = map(
        sum, zip(*(judged(seed) for seed in range(first, first + count)), strict=True)
    )
    print(f"seeds {first} to {first + count - 1}: {asked} sets, {accepted} accepted of {possible}")
    assert accepted >= MIN_ACCEPTED * possible


def test_every_subset_of_the_flags_is_right_or_refused() -> None:
    judge_all(SEED, COUNT)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_subset_of_many_kernels(part: int) -> None:
    judge_all(SEED + 1000 + part * SLOW_COUNT // 4, SLOW_COUNT // 4)


# ---------------------------------------------------------------- blocks

SIZES = (1, 2, 3, 4, 8, 16, 24, 32, 48, 64, 96, 128, 1024, 2048)
BLOCKS = """\
__global__ void f(float *X, float *Y, int n) {{
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  int j[TN] = 0 ... TN;
  float *px[TM, TN] = X + i[:, newaxis] {times} n + j[newaxis, :];
  bool in[TM, TN] = i[:, newaxis] < n && j[newaxis, :] < n;
  float x[TM, TN] = in ? *px : 0;
#ifdef A
  x = {change};
#endif
#if {question}
  x = x + TM;
#endif
#if defined(B) && !defined(A)
  *?(i < n) (Y + i) = x[:, +];
#else
  *?(in) {out} = x;
#endif
}}
"""


def block_text(chance: random.Random) -> str:
    return BLOCKS.format(
        times=chance.choice(["*", "* TN *"]),
        change=chance.choice(["x * 2", "x / TN", "x + i[:, newaxis] % TM", "exp(x - x[:, max][:, newaxis])"]),
        question=chance.choice(["TM > 16", "TN == 1", "defined(B)", "TM > TN"]),
        out=chance.choice(["px", "(Y + i[:, newaxis] * n + j[newaxis, :])"]),
    )


def compare_memory(kernel: PortedKernel, text: str, defines: Mapping[str, object], folder: Path) -> None:
    """Both in the interpreter, with the same memory."""
    path = folder / "folded.py"
    path.write_text(kernel.text)
    function = getattr(load_ported(path), kernel.function)

    def launch(*arguments: Any, config: Any, grid: Any) -> None:
        function[grid](*arguments, **config.kwargs)

    compare(text, "f", launch, Case(defines, kernel.bind(defines)), 3, (2,))


def judged_blocks(seed: int, folder: Path) -> tuple[int, int]:
    """How many sets a kernel of blocks was asked for, and accepted.

    A set of powers of two may have the text of padded blocks, which computes the same.
    """
    chance = random.Random(seed)
    text = block_text(chance)
    translations = Translations(Source(text), Settings())

    def drawn() -> dict[str, object]:
        sizes: dict[str, object] = {name: chance.choice(SIZES) for name in ("TM", "TN")}
        return sizes | {name: True for name in "AB" if chance.random() < 0.5}

    kernel = port_kernel(Translations(Source(text), Settings(None)), [DefineSet(drawn()) for _ in range(3)])
    written = launched(kernel)
    parameters = kernel.variants[0].translation.parameters
    accepted = 0
    every = [drawn() for _ in range(20)]
    for defines in every:
        options = options_of(kernel, written, defines)
        if kernel.refusal(defines) is not None:
            if not isinstance(options, str):
                with pytest.raises(triton.CompilationError):
                    ttir(kernel.function, kernel.text, parameters, options)
        else:
            assert not isinstance(options, str), f"seed {seed}: {defines}\n{text}\n{kernel.text}\n{options}"
            accepted += 1
            translation = translations(defines)
            assert isinstance(translation, Translation), f"seed {seed}: {defines}\n{text}\n{translation}"
            found = list(differences(kernel.folded, [Variant(defines, translation)]))
            if found and "_PADDED" in kernel.text and "_PADDED" not in translation.text:
                compare_memory(kernel, text, defines, folder)
                continue
            assert found == [], f"seed {seed}: {defines}\n{text}\n{kernel.text}\n{found}"
    return len(every), accepted


@pytest.mark.parametrize("count", [3, pytest.param(max(60, SLOW_COUNT // 4), marks=pytest.mark.slow)])
def test_every_size_is_right_or_refused(count: int, tmp_path: Path) -> None:
    asked, accepted = map(
        sum, zip(*(judged_blocks(SEED + seed, tmp_path) for seed in range(count)), strict=True)
    )
    print(f"{asked} sets of sizes, {accepted} accepted")
    assert accepted >= asked // 8
