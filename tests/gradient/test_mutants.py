# ruff: noqa: E501
"""Rules of the derivation, each with a mistake in it: the programs of this folder notice.

A mutant is a module of ``pytriton/gradient/derive`` with one piece of its text replaced. The package is loaded again with it,
and the programs that are named run against numerical differences; at least one must be wrong, or refused.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

import pytriton
from tests.gradient.programs import PROGRAMS, Launch
from tests.gradient.test_precision import gradient_of_shifted_log

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

gradcheck_module = sys.modules["torch.autograd.gradcheck"]

# name: module, what stands there, what stands there instead, programs that notice
MUTANTS = {
    "what is stored under a mask is read": ("forward", " and item.mask is None", "", ["not_held"]),
    "what is added up by atomics is read": ("forward", "not item.atomic and ", "", ["not_held"]),
    "read at a place that is not known yet": (
        "forward",
        "if kept and all(place < known[symbol] for place in before):",
        "if kept:",
        ["not_held"],
    ),
    "read from another output": (
        "forward",
        "found[symbol] = pointer",
        "found[symbol] = next(iter(found.values()), pointer)",
        ["held_statistics"],
    ),
    "negation keeps the sign": (
        "rules",
        'case Unary(operator="-", operand=operand):\n            back(operand, replace(seed, value=f.negated(seed.value)), at)',
        'case Unary(operator="-", operand=operand):\n            back(operand, seed, at)',
        ["negation"],
    ),
    "a difference is a sum": (
        "rules",
        "back(left, seed, at)\n            back(right, replace(seed, value=f.negated(seed.value)), at)",
        "back(left, seed, at)\n            back(right, seed, at)",
        ["difference"],
    ),
    "a sum forgets its left operand": (
        "rules",
        'case "+":\n            back(left, seed, at)\n            back(right, seed, at)',
        'case "+":\n            back(right, seed, at)',
        ["sum"],
    ),
    "factors swapped": (
        "rules",
        "_times(seed, at.value(right)), at)",
        "_times(seed, at.value(left)), at)",
        ["product"],
    ),
    "a square counted once": ("rules", "f.multiply(f.number(2), seed.value)", "seed.value", ["square"]),
    "a quotient loses its divisor": (
        "rules",
        "back(left, quotient, at)",
        "back(left, seed, at)",
        ["quotient"],
    ),
    "a quotient's divisor with the wrong sign": (
        "rules",
        "back(right, replace(times, value=f.negated(times.value)), at)",
        "back(right, times, at)",
        ["quotient"],
    ),
    "exp": (
        "rules",
        '"exp": _one(lambda e, s, at: _times(s, at.value(e)))',
        '"exp": _one(lambda e, s, at: s)',
        ["exp"],
    ),
    "exp2": ("rules", "_LN2: Final = 0.6931", "_LN2: Final = 0.7931", ["exp2", "log2"]),
    "log": (
        "rules",
        '"log": _one(lambda e, s, at: _over(s,',
        '"log": _one(lambda e, s, at: _times(s,',
        ["log"],
    ),
    "sqrt": ("rules", "f.multiply(f.number(2), at.value(e))", "at.value(e)", ["sqrt"]),
    "rsqrt": ("rules", "_scaled(s, 0.5, at)", "_scaled(s, 1.5, at)", ["rsqrt"]),
    "sin": ("rules", '_call("cos", e, at)', '_call("sin", e, at)', ["sin"]),
    "cos": ("rules", '_minus(s, _call("sin", e, at))', '_times(s, _call("sin", e, at))', ["cos"]),
    "tanh": ("rules", '_times(s, f.binary("-", _ONE, _square(at.value(e))))', "s", ["tanh"]),
    "sigmoid": ("rules", 'f.binary("-", _ONE, at.value(e))', 'f.binary("+", _ONE, at.value(e))', ["sigmoid"]),
    "erf": ("rules", "1.1283791670955126", "1.1183791670955126", ["erf", "gelu"]),
    "pow of the base": (
        "rules",
        'f.call("pow", element, x, f.binary("-", y, _ONE))',
        'f.call("pow", element, x, y)',
        ["pow"],
    ),
    "pow of the exponent": ("rules", 'f.call("log", element, x)', "x", ["pow"]),
    "fma": ("rules", "    back(c, seed, at)\n", "", ["fma"]),
    "min takes the other": ("rules", '"min": _picked("<")', '"min": _picked(">")', ["min"]),
    "max takes the other": ("rules", '"max": _picked(">")', '"max": _picked("<")', ["max"]),
    "abs": (
        "rules",
        "f.select(down, f.negated(seed.value), _ZERO)",
        "f.select(down, seed.value, _ZERO)",
        ["abs"],
    ),
    "a branch not taken flows": (
        "rules",
        "back(no, _masked(seed, f.inverted(mask)), at)",
        "back(no, seed, at)",
        ["ternary", "select"],
    ),
    "the taken branch is stopped": ("rules", "back(yes, _masked(seed, mask), at)", "", ["ternary", "select"]),
    "masks before the local derivative": (
        "rules",
        'return replace(seed, value=f.binary("/", value, divisor), clean=False)',
        'return replace(seed, value=f.binary("/", settled(seed), divisor), clean=True)',
        ["masked_log"],
    ),
    "equal elements all get everything": (
        "rules",
        'share = f.binary("/", _spread(settled(seed), seed.shape, expr.axis), count)',
        "share = _spread(settled(seed), seed.shape, expr.axis)",
        [],
    ),
    "an extreme flows everywhere": (
        "rules",
        "back(operand, Seed(share, shape, equal, clean=False), at)",
        "back(operand, Seed(share, shape), at)",
        ["reduce_max"],
    ),
    "repetitions counted once": (
        "rules",
        "summed = f.reduced(_full(seed), gone)",
        "summed = f.reduced(_full(seed), gone) if len(seed.value.shape) == len(seed.shape) else seed.value",
        ["broadcast_sum"],
    ),
    "a permutation instead of its inverse": (
        "rules",
        "inverse = [order.index(axis) for axis in range(len(order))]",
        "inverse = list(order)",
        ["permuted"],
    ),
    "factors of a product not transposed": (
        "rules",
        "turned = f.permuted(beside, swapped)",
        "turned = beside",
        ["matrix_product"],
    ),
    "factors of a product in the wrong order": (
        "rules",
        'if operand is expr.left else f.binary("@", turned, coming)',
        'if operand is not expr.left else f.binary("@", turned, coming)',
        ["matrix_product"],
    ),
    "floor has a derivative": ("active", '"floor", "ceil", ', "", ["floor", "ceil"]),
    "sums in inner blocks are stored": (
        "reverse",
        "self.emit(f.increase(adjoint.variable, formula))",
        "self.emit(f.assign(adjoint.variable, formula))",
        ["outer_value", "layer_norm"],
    ),
    "what a loop started from is forgotten": (
        "reverse",
        "back(each.before, Seed(into, shape_of(each.before.type)), self)",
        "pass",
        ["zero_iterations"],
    ),
    "any carried value is a sum": (
        "loops",
        "return not used[each.inside]",
        "return True",
        ["sum_that_is_read"],
    ),
    "what a continue skips is not skipped": (
        "forward",
        "return prefetch(jumps(kernel, Context()), Context())",
        "return prefetch(kernel, Context())",
        ["skipped"],
    ),
    "states are kept after the iteration": (
        "states",
        "body, step = (*self._saves[::-1], *repeat.body)",
        "body, step = (*repeat.body, *self._saves[::-1])",
        ["online"],
    ),
    "states are never kept": (
        "program",
        "for symbol in names(pointer) - needed):",
        "for symbol in names(pointer)):",
        ["online", "carried_last"],
    ),
    "states of iterations lie on each other": (
        "states",
        'there = f.binary("+", f.named(pointer), offset)',
        "there = f.named(pointer)",
        ["online", "state_in_loop"],
    ),
    "elements of a state lie on each other": (
        "states",
        "terms.append(f.multiply(term, _size(inner)) if inner else term)",
        "terms.append(term)",
        ["state_in_loop"],
    ),
    "something flows into all that a loop carries": (
        "reverse",
        "reached = {each.after for each in loop.carried if each.after in self._adjoints}",
        "reached = {each.after for each in loop.carried}",
        ["carried_dropped"],
    ),
    "what flows through a loop is not followed": (
        "reverse",
        "if not reached.isdisjoint((each.inside, each.after)):",
        "if each.after in reached:",
        ["carried_chain"],
    ),
    "checkpoints are an iteration late": (
        "states",
        'f.binary("%", self.count, self.room), _ZERO)',
        'f.binary("%", self.count, self.room), _ONE)',
        ["checkpoints"],
    ),
    "checkpoints of programs lie on each other": (
        "states",
        "f.multiply(f.multiply(self.of.program(), f.number(2)), self.room)",
        "f.multiply(self.of.program(), self.room)",
        ["checkpoints"],
    ),
    "segments lie on their checkpoints": (
        "states",
        "self._points(pointer, each, f.named(start), self.room)",
        "self._points(pointer, each, f.named(start), _ZERO)",
        ["checkpoints"],
    ),
    "the first iteration of a segment is left out": (
        "states",
        "return first, f.named(end)",
        'return f.binary("+", first, _ONE), f.named(end)',
        ["checkpoints"],
    ),
    "the last segment is taken for a whole one": (
        "states",
        'f.call("min", INT, f.binary("+", first, self.room), self.count)',
        'f.binary("+", first, self.room)',
        ["checkpoints"],
    ),
    "a segment that is not whole is left out": (
        "states",
        'rounded = f.binary("-", f.binary("+", self.count, self.room), _ONE)',
        "rounded = self.count",
        ["checkpoints"],
    ),
    "what an iteration makes of a state is added to it": (
        "reverse",
        "self.emit(f.assign(variable, value))",
        "self.emit(f.increase(variable, value))",
        ["carried_scaled"],
    ),
    "what a state began with is forgotten": (
        "reverse",
        "back(each.before, Seed(f.named(variable), shape_of(variable.type)), self)",
        "pass",
        ["carried_product", "carried_scaled"],
    ),
    "the last iteration is left out": (
        "reverse",
        'f.declare(turn, f.binary("-", end, _ONE))',
        'f.declare(turn, f.binary("-", end, f.number(2)))',
        ["carried_product"],
    ),
    "a second part overwrites the first": (
        "reverse",
        'elif way == "add" or (way == "store" and root in self._stored):',
        "elif False:",
        ["layer_norm"],
    ),
    "repeated reads are stored": (
        "plan",
        'way: Way = "atomic" if at == len(groups) else "store" if at == 0 else "add"',
        'way: Way = "atomic" if at == len(groups) else "store"',
        ["several_reads"],
    ),
    "windows are walked": (
        "plan",
        "if not absent or not all(launch.once(number, absent) for launch in launches):",
        "if not absent:",
        ["windows"],
    ),
    "parts lie on each other": (
        "kernel",
        "f.multiply(offset, self.reversed.name_of(size))",
        "offset",
        ["channels"],
    ),
    "one axis of parts": (
        "kernel",
        'number = f.add(number, f.multiply(many, _of_grid("get_program_id", other)))',
        "pass",
        ["channels"],
    ),
    "each program walks all programs": (
        "walk",
        'many = Call(place, INT, "num_programs", (Literal(place, INT, axis),))',
        "pass",
        ["channels", "scalars"],
    ),
    "what is read in a branch is stored": (
        "reverse",
        'if way == "sum" and self.level is not self.top:',
        "if False:",
        ["optional"],
    ),
    "sums have values in an iteration": (
        "kernel",
        "if again or not unknown.isdisjoint(reads(lines)):",
        "if again:",
        ["epilogue"],
    ),
    "indices begin at the number of the iteration": (
        "loops",
        'first = Binary(step.span, INT, "*", step, tile)',
        'first = Binary(step.span, INT, "+", step, tile)',
        ["tiles", "matmul"],
    ),
    "counters do not move": (
        "loops",
        "product = _times(right, step, wide)",
        "product = right",
        ["tiles"],
    ),
    "pointers move by a row too much": (
        "loops",
        "return None if shape_of(factor.type) or step != 1 else factor",
        "return step",
        ["tiles"],
    ),
    "what is stored is never zeroed": (
        "affine",
        "return None if bounds else extent",
        "return extent",
        ["partial"],
    ),
    "all masks are known": ("access", "or not touched.exact:", "or False:", ["dropped"]),
    "extremes always cancel out": (
        "active",
        "if all(shift.written.get(write) == _FIXED for write in writes):",
        "if True:",
        ["reduce_max", "not_cancelled"],
    ),
    "a sum of exponentials stays": (
        "active",
        'case "exp", "+":\n            return "*", by',
        'case "exp", "+":\n            return _FIXED',
        ["not_cancelled"],
    ),
    "factors of a transposed product in order": (
        "formula",
        'return binary("@", right, left).of(formula.element, shape)',
        'return binary("@", left, right).of(formula.element, shape)',
        ["tiles"],
    ),
    "all reads are single": ("affine", "all(step > extent for", "all(True for", ["rows"]),
    "programs do not count": (
        "access",
        'ranges["program", axis] = count',
        "pass",
        ["rows_and_columns", "scalars"],
    ),
    "copies joined though they are read": (
        "program",
        "alike and source not in reads(tuple(body[at + 1 :]))",
        "alike",
        ["row_sum"],
    ),
    "ends of iterations out of order": (
        "program",
        "and not _moves_past(every[: every.index(end)], declared.value)",
        "",
        [],
    ),
    "all memory counts as stored": (
        "points",
        "for number in each.stores:",
        'for number in (n for n, way in at.ways if way in ("store", "sum")):',
        ["compared", "tested"],
    ),
    "merged values are not read": (
        "active",
        "for each in (symbol for merge in merges for symbol in (merge.yes, merge.no)):",
        "for each in ():",
        ["merged_and_unread"],
    ),
    "returns are forgotten": (
        "graph",
        "builder.items(without_returns(kernel.body))",
        "builder.items(tuple(s for s in without_returns(kernel.body) if not isinstance(s, If)))",
        ["early_return"],
    ),
    "live variables dropped": (
        "program",
        "needed = needed | _reads(statement)\n            case typed.Evaluate():",
        "needed = needed | names(pointer)\n            case typed.Evaluate():",
        ["exp"],
    ),
}

# name: module, what stands there, what stands there instead; a kernel of y and x that is refused then no more, its
# numbers and its grid
GUARDS = {
    "bits count as zero": (
        "derive",
        "if isinstance(node, Bitcast) and",
        "if False and",
        "*y = bitcast<float>(bitcast<int>(*x) + 1);",
        {},
        (1,),
    ),
    "distances between stores are not looked at": (
        "access",
        "terms, ranges = {**terms, _SHIFTED: shift}, {**ranges, _SHIFTED: 2}",
        "pass",
        "int p = get_program_id(0); for (int k = 0; k < 2; k += 1) { *(y + p * 2 + k) = *x; *(y + p * 2 + k + n) = *x; }",
        {"n": 3},
        (4,),
    ),
    "arms need no proof": (
        "access",
        "(shift == 0 and self._in_arms(one, other))",
        "self._in_arms(one, other)",
        "int p = get_program_id(0); if (p < n) *(y + p) = *x; else *(y + 7 - p) = 2 * *x;",
        {"n": 4},
        (8,),
    ),
    "what begins inside is behind": (
        "access",
        "end <= second.offset.low",
        "end > second.offset.low",
        "int p = get_program_id(0); *(y + p) = *x; *(y + n + 2 * p) = *x;",
        {"n": 3},
        (4,),
    ),
    "an arm is every arm": (
        "access",
        "any((at, not arm) in self._paths[one] for at, arm in self._paths[other])",
        "any(at in {branch for branch, _ in self._paths[one]} for at, arm in self._paths[other])",
        "int p = get_program_id(0); if (p < n) { *(y + p) = *x; *(y + p) = 2 * *x; }",
        {"n": 4},
        (8,),
    ),
    "a condition holds in the other arm": (
        "access",
        "*self._bounds(branch.condition, taken))",
        "*self._bounds(branch.condition, True))",
        "int p = get_program_id(0), j = get_program_id(1); if (j < n) {} else { *(y + p * 2 + j) = *x; }",
        {"n": 2},
        (3, 4),
    ),
    "an inverted comparison loses its end": (
        "access",
        '">": "<="',
        '">": "<"',
        "int p = get_program_id(0), j = get_program_id(1); if (j > n) return; *(y + p * 2 + j) = *x;",
        {"n": 2},
        (2, 4),
    ),
}
LAUNCHED = ("backward", "enumerated", "points", "steps")
RELOADED = (
    "pytriton.passes.analysis.affine",
    "pytriton.gradient.derive",
    *(f"pytriton.gradient.{name}" for name in LAUNCHED),
)
SAMPLE = ("a sum forgets its left operand",)
NOT_HERE = {  # what notices them instead
    "equal elements all get everything": "test_precision.py: test_equal_elements_share",
    "masks before the local derivative": "test_masks",
    "ends of iterations out of order": "test_derived.py: test_order_of_carried_values",
    "checkpoints of programs lie on each other": "test_derived.py: test_checkpoints",
    "all reads are single": "test_refused.py: test_facts_of_a_launch",
}


@contextmanager
def loaded(module: str, old: str, new: str) -> Iterator[Callable[..., Any]]:
    """``pytriton.gradient`` with a mistake in one module."""
    place = {"affine": "passes/analysis", **dict.fromkeys(LAUNCHED, "gradient")}.get(
        module, "gradient/derive"
    )
    path = Path(pytriton.__file__).parent / place / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{module}: {old}"
    names = [n for n in sys.modules if n.startswith(RELOADED)]
    kept = {name: sys.modules.pop(name) for name in names}

    class Finder:
        @staticmethod
        def find_spec(name: str, path_: Any = None, target: Any = None) -> Any:
            if name != f"pytriton.{place}.{module}".replace("/", "."):
                return None
            return importlib.util.spec_from_loader(name, Loader())

    class Loader:
        def create_module(self, spec: Any) -> None:
            return None

        def exec_module(self, made: Any) -> None:
            exec(compile(text.replace(old, new), str(path), "exec"), made.__dict__)

    finder: Any = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("pytriton.gradient.backward").gradient
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n in kept or n.startswith(RELOADED)]:
            del sys.modules[name]
        sys.modules.update(kept)


def right(name: str, derive: Callable[..., Any]) -> bool:
    """Whether a program's gradients are those of numerical differences."""
    program = PROGRAMS[name]
    try:
        launch = Launch(program, torch.double, derive)
        tensors = program.tensors(torch.double)
        inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
        with patch.object(gradcheck_module, "_run_slow_mode_and_get_error", lambda *given: ""):
            same = torch.autograd.gradcheck(
                launch.function(tensors), inputs, fast_mode=True, atol=1e-6, raise_exception=False
            )
        return same and launch.as_expected()
    except Exception:  # refused, or no text at all
        return False


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.slow) for n in MUTANTS if n not in NOT_HERE],
)
def test_mutant(name: str) -> None:
    module, old, new, programs = MUTANTS[name]
    with loaded(module, old, new) as derive:
        assert not all(right(program, derive) for program in programs)


@pytest.mark.parametrize("name", ["online", "compared", "stored_in_arms"])
def test_no_mutant(name: str) -> None:
    """Without a mistake the same way of loading gives what is right."""
    with loaded("rules", "_LN2: Final", "_LN2: Final") as derive:
        assert right(name, derive)


def test_masks() -> None:
    module, old, new, _ = MUTANTS["masks before the local derivative"]
    with loaded(module, old, new) as derive:
        assert gradient_of_shifted_log(derive).isnan().item()


@pytest.mark.parametrize("name", GUARDS)
def test_guard(name: str) -> None:
    """A refusal, and the mistake without which there is none."""
    module, old, new, body, numbers, grid = GUARDS[name]
    parameters = ", ".join(["float *y", "float *x", *(f"int {each}" for each in numbers)])
    text = f"__global__ void f({parameters}) {{ {body} }}"

    def launch(derive: Callable[..., Any]) -> None:
        y, x = torch.zeros(64), torch.ones(64)
        derive(text)(y, x, *numbers.values(), grid=grid, d_outputs={"y": y})

    with pytest.raises((pytriton.UnsupportedError, pytriton.LaunchError)):
        launch(pytriton.gradient)
    with loaded(module, old, new) as derive:
        launch(derive)
