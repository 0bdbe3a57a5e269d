"""The conditions of a translation: for which other defines it is right (pytriton/lang/conditions.py).

``CONDITION_SOURCES=3000 CONDITION_SEED=1 pytest --slow tests/lang/test_conditions.py`` checks so many generated
sources, from this seed on.
"""

from __future__ import annotations

import ast
import itertools
import os
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from examples import dot
from pytriton import pipeline
from pytriton.errors import CompileError
from pytriton.pipeline import Translation, translate_as
from pytriton.reuse import Templates
from pytriton.runtime.compile.load import load as loaded
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.settings import Settings
from tests.lang.defined_sources import generated
from tests.lang.recorded import Outcome, checked, launched, recorded
from tests.translate import test_parameters
from tests.translate.cases import load, runs, text

COUNT = int(os.environ.get("CONDITION_SOURCES", "3000"))
SEED = int(os.environ.get("CONDITION_SEED", "0"))
BATCHES = 30
FAST = 12  # generated sources without --slow

pytestmark = pytest.mark.filterwarnings("ignore")


# ---------------------------------------------------------------- all sources


def right(outcome: Outcome) -> None:
    assert not outcome.leaks, outcome.leaks[0]
    assert not outcome.wrong, outcome.wrong[0]


@pytest.mark.parametrize("case", test_parameters.WITH_DEFINES)
@pytest.mark.sampled(24)
def test_translations(case: str) -> None:
    """Other defines of each case with the same outcomes, inside the conditions, and just outside."""
    right(of_case(case))


def of_case(case: str, *, launches: bool = True) -> Outcome:
    data, source = load(case), text(case).decode()
    settings = Settings(
        data.get("kernel"), (), data.get("strict_literals", False), fast_math=data.get("fast_math", False)
    )
    run = runs(data)[0]
    stores_addresses = "**" in source or any(
        isinstance(value, str) and "data_ptr" in value for value in run["args"].values()
    )

    def launch(made: Translation, constexprs: Mapping[str, int | float]) -> list[torch.Tensor]:
        return test_parameters.launched(made, dict(constexprs), run)

    is_launched = launches and not stores_addresses and "constant_buffer" not in case
    return checked(
        source, data["defines"], random.Random(case), launch if is_launched else None, settings, reach=48
    )


def of_generated(seeds: range) -> Outcome:
    outcome = Outcome()
    for seed in seeds:
        source, defines = generated(seed)
        outcome.add(checked(source, defines, random.Random(seed), launched))
    return outcome


def test_generated() -> None:
    right(of_generated(range(FAST)))


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_generated_at_length(batch: int) -> None:
    size = -(-COUNT // BATCHES)
    right(of_generated(range(SEED + batch * size, SEED + (batch + 1) * size)))


MAX_CONSERVATIVE = 0.05  # of the steps out of a condition, those that give the same module


@pytest.mark.slow
def test_conservative() -> None:
    """Just outside each condition the module is another one; the cases are what people write."""
    outcome = Outcome()
    for case in test_parameters.WITH_DEFINES:
        outcome.add(of_case(case, launches=False))
    share = len(outcome.conservative) / outcome.counts["outside"]
    print(f"{len(outcome.conservative)} of {outcome.counts['outside']} steps give the same module")
    assert share <= MAX_CONSERVATIVE, "\n\n".join(outcome.conservative)


# ---------------------------------------------------------------- single features

FEATURES = [
    (feature["source"], feature["defines"])
    for feature in tomllib.loads((Path(__file__).parent / "conditions.toml").read_text())["feature"]
]


@pytest.mark.parametrize(("source", "defines"), FEATURES)
@pytest.mark.sampled(9)
def test_features(source: str, defines: dict[str, Any]) -> None:
    """More values for small sources."""
    right(checked(source, defines, random.Random(1), tries=400, wanted=30))


# ---------------------------------------------------------------- named programs

ASKED = sorted(
    {
        sign * number + near
        for number in (0, 1, 5, 31, 32, 70000, 2147483, 3000000, 1 << 31, 1 << 32, (1 << 40) + 3, 1 << 63)
        for near in (-1, 0, 1)
        for sign in (1, -1)
        if -(1 << 63) <= sign * number + near < 1 << 64
    }
    | {2147483547, 2147483548}
)


def stored(value: int) -> int:
    """What an int is that C computes without a sign."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def ran(made: Translation, constexprs: Mapping[str, int | float]) -> list[int]:
    memory = torch.zeros(64, dtype=torch.int32)
    values = [memory.data_ptr(), 40][: len(made.parameters)]
    Interpreted(loaded(made.function, made.text), made.parameters, constexprs).run((1, 1, 1), values)
    return list(memory.tolist())


LOOP = "void f(int* o, int n) { for (int i = X; i < n; i += 1) *(o + (i & 63)) += 1; }"


@pytest.mark.parametrize(
    ("source", "name", "first"),
    [
        ("void f(int* o) { *o = 1 << Y; }", "Y", 5),
        ("void f(int* o) { *o = 1 << Y; }", "Y", 0),
        ("void f(int* o) { *o = Y * 1000; }", "Y", 70000),
        ("void f(int* o) { *o = Y * 1000; }", "Y", -1),
        ("void f(int* o) { *o = Y * 1000; }", "Y", 1 << 40),
        ("void f(int* o) { *o = Y + 100; }", "Y", 0),
        ("void f(int* o) { *o = Y + 100; }", "Y", -(1 << 31)),
        (LOOP, "X", 3),
        (LOOP, "X", 0),
        (LOOP, "X", -1),
    ],
)
def test_asserted_or_right(source: str, name: str, first: int) -> None:
    """A printed module asserts, or is right, for every value; a number in it is not a parameter."""
    made = pytriton.translate(source, {name: first})
    for value in ASKED if name in made.constexprs else [first]:
        if name == "X" and value < -1000:
            continue  # it takes long
        try:
            found = ran(made, {name: value} if made.constexprs else {})
        except Exception as error:
            problem = repr(error)
        else:
            problem = ""
        if problem:
            assert re.search("static_assert|AssertionError|translated for", problem)
            continue
        wanted = [0] * 64
        if name == "Y":
            exact = {"1": 1 << value % 64, "Y": value * 1000 if "*" in source[20:] else value + 100}
            if "Y * " in source:
                exact["Y"] = value * 1000
            elif "Y + " in source:
                exact["Y"] = value + 100
            wanted[0] = stored(exact["1" if "<<" in source else "Y"])
            assert "<<" not in source or 0 <= value < 32, value
        else:
            for at in range(stored(value), 40):
                wanted[at & 63] += 1
        assert found == wanted, value


def test_conditions_read_as_python() -> None:
    made = translate_as("void f(int* o) { *o = Y * 1000; }", {"Y": 70000}, Settings())
    assert str(made.conditions) == "Y >= -2147483 and Y <= 2147483"
    assert all(condition.role == "required" and condition.span for condition in made.conditions)


@pytest.mark.parametrize(
    ("source", "defines", "others"),
    [
        ("void f(int* o) { *o = Y; }", {"Y": 1}, [{"Y": 1.0}, {"Y": "int"}, {}, {"Y": 1 << 31}]),
        ("void f(float* o) { *o = Y; }", {"Y": 0.0}, [{"Y": -0.0}, {"Y": 0}, {"Y": float("nan")}]),
        ("void f(T* o) { *o = 0; }", {"T": "int"}, [{"T": "long"}, {"T": "int "}, {"T": 1}, {}]),
        ("#if defined(A)\n#endif\nvoid f(int* o) { *o = 1; }", {}, [{"A": 1}, {"A": "x"}]),
        ("#ifdef A\n#endif\nvoid f(int* o) { *o = 1; }", {"A": 1}, [{}]),
        ('void f(int* o) { *o = 1; }\n#define W(x) #x\n#define V(x) W(x)\n_Static_assert(1, V(A));',
         {"A": 64}, [{"A": 65}]),
        ("#if A > 2\n#if B\n#endif\n#endif\nvoid f(int* o) { *o = 1; }", {"A": 3, "B": 0}, [{"A": 2, "B": 0},
                                                                                         {"A": 3, "B": 1}]),
    ],
)  # fmt: skip
def test_refused(source: str, defines: dict[str, Any], others: list[dict[str, Any]]) -> None:
    conditions = translate_as(source, defines, Settings()).conditions
    assert conditions.holds(defines)
    assert conditions.holds({**defines, "UNMENTIONED": 3})
    assert [other for other in others if conditions.holds(other)] == []


INT = "{0} >= -2147483647 and {0} <= 2147483647".format


@pytest.mark.parametrize(
    ("source", "defines", "conditions"),
    [
        ("void f(int* o) { *o = -Y; }", {"Y": 6}, INT("Y")),
        ("void f(int* o) { *o = ~Y; }", {"Y": 6}, INT("Y")),
        ("void f(int* o) { *o = 1 << (Y & 3); }", {"Y": 6}, f"{INT('Y')} and 1 << (Y & 3) <= 2147483647"),
        ("void f(int* o) { int r[S] = 0 ... S; *(o + r) = r; }", {"S": 1}, "is_power_of_2(S) and S <= 1048576"),
        ("#if S % B < 9\n#endif\nvoid f(int* o) { *o = 1; }", {"S": 2, "B": 4},
         "S >= 0 and S <= 9223372036854775807 and B >= 1 and B <= 9223372036854775807 and S % B <= 8"),
        ("#if X == 4 && X * Y == Y * 4\n#endif\nvoid f(int* o) { *o = 1; }", {"X": 4, "Y": 8},
         "X == 4 and Y >= -2305843009213693952 and Y <= 2305843009213693951"),
    ],
)  # fmt: skip
def test_weakest(source: str, defines: dict[str, Any], conditions: str) -> None:
    """A number that leaves the arithmetic leaves its defines open; what another condition implies is none."""
    assert str(translate_as(source, defines, Settings()).conditions) == conditions


def test_determined() -> None:
    """A define is a parameter unless it has one possible value."""
    made = pytriton.translate(
        "#if A == B * 2 / 4 + 8\n#endif\nvoid f(int* o) { *o = A + B; }", {"A": 16, "B": 16}
    )
    assert made.constexprs == {"A": 16, "B": 16}


def test_digits_leave_defines_open() -> None:
    conditions = translate_as("void f(int* o) { *o = F; }", {"F": -2.5}, Settings()).conditions
    assert [conditions.holds({"F": value}) for value in (-2.75, -3.0)] == [True, False]


@pytest.mark.parametrize("sizes", [(32, 64, 128), (16, 64, 256)])
def test_configs_of_a_sweep_share_translations(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """36 tile shapes of a matrix product: three translations at most."""
    translated: list[object] = []
    real = pipeline._translated

    def counted(*arguments: Any) -> Any:
        translated.append(arguments[1])
        return real(*arguments)

    monkeypatch.setattr(pipeline, "_translated", counted)
    monkeypatch.setattr(pipeline, "_templates", Templates(pipeline._plain))
    shapes = list(itertools.product(sizes, sizes, (16, 32, 64, 128)))
    texts = set()
    for tiles in shapes:
        defines = {
            **dot.text_defines(torch.float16, False, True),
            **dict(zip(("TM", "TN", "TK"), tiles, strict=True)),
        }
        translation = translate_as(dot.SOURCE, defines, Settings())
        assert {"TM": tiles[0], "TN": tiles[1], "TK": tiles[2]}.items() <= translation.constexprs.items()
        texts.add(translation.text)
    assert len(shapes) == 36
    assert len(texts) <= len(translated) <= 3


def test_refusals_have_logs() -> None:
    """What a source without a translation depends on."""
    found = recorded("_Static_assert(A % 32 == 0, ); void f(int* z) { *z = A; }", {"A": 48}, Settings())
    assert found.made is None
    with pytest.raises(CompileError):
        translate_as("void f(int* z) { int r[A] = 0 ... A; }", {"A": -1}, Settings())


# ---------------------------------------------------------------- what bypasses a record

PACKAGE = Path(pytriton.__file__).parent
FOLDERS = ("lang/check", "lang/tree", "passes", "emit")
FORBIDDEN = {
    *(f"math.{name}" for name in ("isfinite", "isinf", "isnan", "copysign", "log2", "frexp", "gcd", "lcm")),
    *("struct.pack", "int.__repr__", "float.__repr__", "operator.index", "bit_length"),
}
"""They read the value of a number without a record of it."""

_PLAIN = "it returned before where a number is recorded"
_PINNED = "the number was pinned before"
ALLOWED = {
    ("lang/tree/convert.py:round_to", "math.isfinite"): _PLAIN,
    ("lang/tree/convert.py:round_to", "math.copysign"): _PLAIN,
    ("lang/tree/convert.py:round_to", "math.frexp"): _PLAIN,
    ("lang/tree/convert.py:round_to", "struct.pack"): _PLAIN,
    ("lang/tree/convert.py:_rounded_to_odd", "bit_length"): _PLAIN,
    ("emit/element_types.py:number", "math.isnan"): _PINNED,
    ("emit/element_types.py:number", "math.isinf"): _PINNED,
}


def bypasses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The functions that use what is forbidden, each with that. ``pinned(x)`` and ``plain(x)`` may be read."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=arguments):
                    name = f"{ast.unparse(value)}.{attribute}"
                    used = attribute if attribute == "bit_length" else name
                    subjects = [value] if attribute == "bit_length" else arguments
                    if used in FORBIDDEN and not any(map(is_read, subjects)):
                        yield function.name, used


def is_read(node: ast.AST) -> bool:
    """Whether a number was pinned, or its record was taken off on purpose."""
    return any(
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Name)
        and inner.func.id in ("pinned", "plain")
        for inner in ast.walk(node)
    )


def test_nothing_bypasses_the_record() -> None:
    found = {
        (f"{path.relative_to(PACKAGE).as_posix()}:{function}", used)
        for folder in FOLDERS
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for function, used in bypasses(ast.parse(path.read_text()))
    }
    assert found == ALLOWED.keys()
