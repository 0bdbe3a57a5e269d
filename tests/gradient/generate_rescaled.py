"""Random kernels whose loop carries an exponent ``m`` and sums that are rescaled by it, as a running softmax.

A program is written once, as Python: torch runs it in double and differentiates it by autograd (``reference``), and
its syntax tree is printed as Triton-C (``text``). So the two share nothing but the tree. The loop of most is

    q = max(m, f);  s = s * exp(c * (m - q)) + g * exp(c * (f - q));  m = q

where all is drawn: the update and start of m, number, start and rank of the sums, f and g, masks, bounds, how each
statement is written and what is stored in the end. ``change`` names what makes others of some: they look like the
rule and are none of it, so that their states must be kept.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["Rescaled", "reference", "rescaled_kernel", "written"]

TYPES = {"T": "T {} = {};", "row": "T {}[4] = {};", "tile": "T {}[4, 4] = {};"}
FORMS = {
    "load": "*({0} + {1})",
    "under": "({0} ? *({1} + {2}) : {3})",
    "choose": "({0} ? {1} : {2})",
    "spread": "{0}[:, newaxis]",
    "across": "{0}[newaxis, :]",
    "turned": "^{0}",
    "all_sum": "{0}[+]",
    "row_sum": "{0}[:, +]",
    **{f"all_{name}": f"{{0}}[{name}]" for name in ("max", "min")},
    **{f"row_{name}": f"{{0}}[:, {name}]" for name in ("max", "min")},
}
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "/",
    ast.Mod: "%",
}
SIGNS |= {ast.MatMult: "@", ast.Lt: "<", ast.LtE: "<=", ast.NotEq: "!=", ast.Eq: "=="}
# of rank: the types of f and m, and how f is reduced to m's
RANKS = {
    "scalar": ("T", "T", ""),
    "block": ("row", "T", "all_"),
    "row": ("row", "row", ""),
    "square": ("tile", "row", "row_"),
    "product": ("tile", "row", "row_"),
}
OTHER_UPDATES = ("({m} + {f}) / 2", "{m} + {f} * 0.25", "{f}", "{max} + 0.1", "{m} + 0.3", "{m} * 0.5 + {f}")
CHANGES = (
    *("two factors", "another exponent", "stored in each iteration", "the sum is read", "twice"),
    *("the exponent counts", "no exponent comes back", "not one at rest", "by the old exponent"),
    *("the new exponent counts", "added before", "the square", "an addend without", "another base"),
    *("rows mixed", "two exponents", "scaled again", "scaled again", "twice the old exponent"),
    *("the old exponent counts", "the sum is an addend", "rows summed"),
)


DOUBLE: dict[str | None, str] = {None: "2", "3": "6", "0.5": "1"}


@dataclass
class Rescaled:
    """A program in both languages, its tensors, its numbers and its grid. ``change``: what breaks the rule;
    ``expected``: nothing does, and c is a number, so that no state is kept.
    """

    python: str
    text: str
    tensors: dict[str, torch.Tensor]
    numbers: dict[str, float]
    programs: int
    change: str | None
    expected: bool


def _expression(node: ast.expr) -> str:
    match node:
        case ast.Name("inf"):
            return "INFINITY"
        case ast.Name(name):
            return name
        case ast.Constant(value):
            return repr(value)
        case ast.UnaryOp(ast.USub(), operand):
            return f"-{_expression(operand)}"
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            return f"({_expression(left)} {SIGNS[type(sign)]} {_expression(right)})"
        case ast.Call(ast.Name(name), arguments):
            given = [_expression(argument) for argument in arguments]
            return FORMS[name].format(*given) if name in FORMS else f"{name}({', '.join(given)})"
    raise AssertionError(ast.dump(node))


def _statement(node: ast.stmt) -> str:
    match node:
        case ast.AnnAssign(ast.Name(name), ast.Name(kind), ast.expr() as value):
            return TYPES[kind].format(name, _expression(value))
        case ast.Assign([ast.Name(name)], value):
            return f"{name} = {_expression(value)};"
        case ast.AugAssign(ast.Name(name), sign, value):
            return f"{name} {SIGNS[type(sign)]}= {_expression(value)};"
        case ast.For(ast.Name(name), ast.Call(_, bounds), body):
            first, last, step = map(_expression, bounds)
            inner = "\n    ".join(map(_statement, body))
            return f"for (int {name} = {first}; {name} < {last}; {name} += {step}) {{\n    {inner}\n  }}"
        case ast.Expr(ast.Call(_, [place, index, value, *mask])):
            guard = f"?({_expression(mask[0])}) " if mask else ""
            return f"*{guard}({_expression(place)} + {_expression(index)}) = {_expression(value)};"
    raise AssertionError(ast.dump(node))


def _of_tensors(name: str) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        if name in ("maximum", "minimum") and all(isinstance(value, int) for value in given):
            return max(given) if name == "maximum" else min(given)
        return getattr(torch, name)(*(torch.as_tensor(value, dtype=torch.double) for value in given))

    return call


def _wide(value: Any, at: int) -> Any:
    return value if not isinstance(value, torch.Tensor) or value.dim() != 1 else value.unsqueeze(at)


def _under(mask: Any, place: torch.Tensor, index: Any, other: Any) -> torch.Tensor:
    index = torch.as_tensor(index).clamp(max=len(place) - 1)
    return torch.where(torch.as_tensor(mask), place[index], torch.as_tensor(other, dtype=torch.double))


def reference(program: Rescaled, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What torch computes: the outputs, of tensors that autograd may follow."""
    outputs = {name: torch.zeros_like(tensors[name]) for name in ("y", "z")}

    def store(place: str, index: Any, value: torch.Tensor, mask: Any = True) -> None:
        shape = (value + index).shape
        index, mask = (torch.as_tensor(given).expand(shape) for given in (index, mask))
        outputs[place] = outputs[place].index_put((index[mask],), value.expand(shape)[mask])

    values: dict[str, Any] = {
        **{name: _of_tensors(name) for name in ("exp", "exp2", "log", "log2", "sin")},
        **{"max": _of_tensors("maximum"), "min": _of_tensors("minimum")},
        **{"inf": torch.inf, "o": torch.arange(4), "load": lambda place, index: place[index]},
        **{"under": _under, "spread": lambda value: _wide(value, 1), "across": lambda value: _wide(value, 0)},
        **{"turned": lambda value: value.mT, "all_sum": torch.sum, "row_sum": lambda value: value.sum(1)},
        **{"all_max": torch.amax, "all_min": torch.amin, "row_max": lambda value: value.amax(1)},
        **{"row_min": lambda value: value.amin(1), "store": store, "y": "y", "z": "z"},
        "choose": lambda mask, one, other: torch.where(
            torch.as_tensor(mask), one, torch.as_tensor(other, dtype=torch.double)
        ),
    }
    code = re.sub(
        r"(\w+) ([*+-])= ([^;\n]*)", r"\1 = \1 \2 (\3)", program.python
    )  # not in place, for autograd
    inputs = {name: tensor for name, tensor in tensors.items() if name not in outputs}
    for r in range(program.programs):
        exec(code, {**values, **inputs, **program.numbers, "r": r})
    return outputs


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = pick = random.Random(seed)
        self.rank = pick.choice([*RANKS, "block", "product"])
        self.type, self.row, self.by = RANKS[self.rank]
        self.programs, self.n = pick.randint(1, 4), pick.randint(1, 4)
        self.change = pick.choice(CHANGES) if pick.random() < 0.25 else None
        if self.rank != "row" and self.change == "rows mixed":
            self.change = "twice the old exponent"
        if self.type != "tile" and self.change == "rows summed":
            self.change = "the old exponent counts"
        self.double: str | None = None  # the sum whose c is twice that of others
        self.update = pick.choice(["max"] * 5 + ["min", *OTHER_UPDATES])
        self.least = self.update == "min"
        self.base = pick.choice(["exp", "exp", "exp2"])
        self.scale = pick.choice(
            [*[None] * 8, "3", "3", "0.5", "0.5", *["scale", "weight"] * (self.change is None)]
        )
        self.expected = self.change is None and self.scale not in ("scale", "weight")
        self.bounds, self.at = self._bounds()
        self.old, self.new = pick.choice([("m", "q"), ("m", "q"), ("old", "m")])
        self.named = pick.random() < 0.5  # the factor
        self.lines = ["weight: T = load(v, 3)"] * (self.scale == "weight")
        self.body: list[str] = []
        self.ends: list[str] = []
        self.values = ["b", "h"]  # of an iteration, finite, of f's type

    def _bounds(self) -> tuple[tuple[str, str, str], str]:
        """Of the loop, and which element an iteration begins with."""
        full = (("0", "n", "1"), "t * 4")
        causal = [(("0", "min(n, r + 1)", "1"), "t * 4"), (("0", "min(N, (r + 1) * 4)", "4"), "t")]
        window = [(("max(0, r - 1)", "min(n, r + 2)", "1"), "t * 4")] if self.programs <= self.n else []
        known = self.expected  # else the states have no size
        return self.random.choice([full, full, full, (("0", "N", "4"), "t"), *(window + causal) * known])

    def place(self) -> str:
        """Where an iteration reads: of its own, of all programs, of two programs."""
        start = self.random.choice(["r * n * 4 + ", "r * n * 4 + ", "", "r // 2 * n * 4 + "]) + self.at
        if self.type == "tile":
            return f"({start} + spread(o)) * 4 + across(o)"
        return start + " + o" * (self.type == "row")

    def of_row(self, value: str) -> str:
        """Spread over the row of an f."""
        return f"spread({value})" if self.by == "row_" else value

    def power(self, value: str, last: str, scale: str | None, rest: str = "") -> str:
        """``exp(scale * (value - last))``."""
        one, two = (last, value) if self.least else (value, last)
        forms = ["({0} - {1}) * {2}", "{2} * ({0} - {1})", "{0} * {2} - {1} * {2}", "{2} * {0} - {1} * {2}"]
        form = "{0} - {1}" if scale is None else self.random.choice(forms)
        return f"{self.base}({form.format(one, two, scale)}{rest})"

    def read(self) -> str:
        """Statements that compute f, whose masked lanes are infinite."""
        pick, infinite = self.random, "inf" if self.least else "-inf"
        column = f"{self.at} + across(o)" if self.type == "tile" else self.at + " + o" * (self.type == "row")
        masks, steady = [f"{column} < N", f"{column} != 5"], self.update in ("max", "min")
        if self.type == "tile" and steady:
            masks.append(f"{column} <= r * 4 + spread(o)")
        if not self.by:  # an iteration may be masked off as a whole: not the first, whose m would be infinite
            masks = (
                [f"{column} != {4 if self.type == 'T' else 5}"] if steady and self.bounds[0] == "0" else []
            )
        mask = pick.choice(masks) if masks and pick.random() < 0.5 else None
        if self.scale == "weight":  # its derivative would be 0 * infinity
            mask = None
        names = zip("abh", "xwu", strict=True)
        self.body += [f"{name}: {self.type} = load({of}, {self.place()})" for name, of in names]
        if mask and pick.random() < 0.3:
            self.body[1] = f"b: {self.type} = under({mask}, w, {self.place()}, 0)"
        product = self.rank == "product"
        self.lines += [f"k: {self.type} = load(v, 8 + spread(o) * 4 + across(o))"] * product
        score = "k @ turned(a)" + pick.choice(["", " * 0.5"]) if product else "a"
        values = ("{0}", "{0}", "{0} + b", "b + {0}", "{0} * b", "{0} * 0.5 - h", "sin({0})")
        value = pick.choice(values).format(score)
        if pick.random() < 0.1:
            value = f"choose(t % 2 == 0, {value}, {score} * 0.7)"
        if mask and value == "a" and pick.random() < 0.4:
            return f"under({mask}, x, {self.place()}, {infinite})"
        self.values.append("a")
        return f"choose({mask}, {value}, {infinite})" if mask else value

    def exponent(self) -> None:
        """The start of m, its update, and the factor."""
        pick = self.random
        start = {"max": ["-9", "-1", "0.5", "-inf", "-inf"], "min": ["9", "1", "inf"]}.get(self.update, ["1"])
        if self.change in ("by the old exponent", "added before", "the exponent counts", "two exponents"):
            start = ["0.5"]
        if self.scale == "weight":
            start = [value for value in start if "inf" not in value]
        loaded = "load(v, r)" if self.row == "T" else "load(v, r * 4 + o)"
        self.lines.append(f"m: {self.row} = {pick.choice([*start, loaded])}")
        f = self.read()
        self.body.append(f"f: {self.type} = {f}")
        best = "min" if self.least else "max"
        reduced = f"{self.by}{best}(f)" if self.by else "f"
        largest = pick.choice([f"{best}(m, {reduced})", f"{best}({reduced}, m)"])
        if self.by and pick.random() < 0.2:
            largest = f"{self.by}{best}({best}(f, {self.of_row('m')}))"
        after = largest
        if self.update not in ("max", "min"):
            after = self.update.format(m="m", f=reduced, max=largest)
        if self.old == "old":
            self.body += [f"old: {self.row} = m", f"m = {after}"]
        else:
            self.body.append(f"q: {self.row} = {after}")
        old, new = self.old, self.new
        if self.change in ("another exponent", "two exponents"):
            self.lines.append(f"g: {self.row} = 0.5")
            other = f"{self.by}{best}(h)" if self.by else "h"
            self.body.append(f"d: {self.row} = {best}(g, {other})")
            old, new = "g", "d"
            self.ends.append("g = d")
        scale = {"two exponents": "1.7", "two factors": "2" if self.scale is None else None}.get(
            self.change or "", self.scale
        )
        rest = " + 0.1" if self.change == "not one at rest" else ""
        if self.change == "twice the old exponent":
            old = f"({old} * 2)"
        self.factor = self.scaling(old, new, scale, rest)
        if self.update == "{f}" and not self.by:
            self.expected = False  # f is the exponent itself
        if self.change == "another base":
            self.factor = ("exp" if self.base == "exp2" else "exp2") + self.factor.removeprefix(self.base)
        if self.named:
            self.body.append(f"e: {self.row} = {self.factor}")
            self.factor = "e"
        if pick.random() < 0.5:
            self.body.append(f"p: {self.type} = {self.power('f', self.of_row(self.new), self.scale)}")

    def scaling(self, old: str, new: str, scale: str | None, rest: str = "") -> str:
        factor = self.power(old, new, scale, rest)
        if re.match(r"exp2?\([\d.]+ \* \w+ -", factor) and factor[-2].isdigit():
            self.expected = False  # 3 * m - q * 3 is not seen to be 0 where m is q
        return factor

    def addend(self, wide: bool, plain: bool, changed: str | None, scale: str | None) -> str:
        """Of a sum: ``g`` times the power of f, reduced to the rank of the sum."""
        pick = self.random
        last = self.old if changed in ("by the old exponent", "added before") else self.new
        power = self.power("f", self.of_row(last), scale)
        if scale == self.scale and last == self.new and any(line.startswith("p: ") for line in self.body):
            power = "p"
        if self.by and pick.random() < 0.1:
            power = f"choose({'across(o)' if self.type == 'tile' else 'o'} != 2, {power}, 0)"
        g = pick.choice(self.values)
        g = pick.choice([g, g, f"({g} * {pick.choice(self.values)})"])
        if changed in ("the new exponent counts", "the old exponent counts"):
            counts = self.of_row(self.new if changed == "the new exponent counts" else self.old)
            power = f"{power} * {counts} * {counts}"
        if changed == "an addend without":
            power = f"({g} * {g})"
        if changed == "rows summed" and wide:
            return f"{g} @ ({power})"
        if wide and self.rank == "row":
            return f"spread({power}) * across({g})"
        if wide and self.type == "tile" and (self.rank == "product" or pick.random() < 0.5):
            return f"({power}) @ {g}"
        value = power if plain or pick.random() < 0.2 else pick.choice([f"{power} * {g}", f"{g} * {power}"])
        if changed == "rows mixed":
            return f"all_sum({value})"
        return value if wide or not self.by else f"{self.by}sum({value})"

    def sum(self, name: str, wide: bool, plain: bool, changed: str | None) -> None:
        pick, kind = self.random, self.kind(wide)
        starts = ["0", "0", "0", "1", "2", {"T": "load(v, r + 4)", "row": "load(v, r + o)"}.get(kind, "0.5")]
        starts = ["0"] if changed in ("two factors", "an addend without") else starts
        starts = ["1"] if changed == "the sum is an addend" else starts
        self.lines.append(f"{name}: {kind} = {pick.choice(starts)}")
        scale = DOUBLE[self.scale] if name == self.double else self.scale
        factor = self.scaling(self.old, self.new, scale) if name == self.double else self.factor
        factor = f"spread({factor})" if kind == "tile" else factor
        old, added = name, self.addend(wide, plain, changed, scale)
        if changed == "the sum is an addend":
            reduced = f"{self.by}sum({self.base}(h))" if self.by else f"{self.base}(h)"
            added = f"{name} * {self.of_row(reduced) if kind == 'tile' else reduced}"
        if changed is None and pick.random() < 0.15:
            added = f"{added} + {self.addend(wide, plain, None, scale)}"
        if changed in ("the square", "twice"):
            old = f"{name} * {name if changed == 'the square' else factor}"
        if changed == "scaled again":
            again = pick.choice([factor, "0.9", "load(v, 5)", "load(v, r + 7)"])
            self.body += [f"{name} *= {factor}", f"{name} *= {again}", f"{name} += {added}"]
            return
        if changed == "added before":
            self.body.append(f"{name} = ({name} + {added}) * {factor}")
            return
        sign = "+" if plain else pick.choice("++-")
        product = pick.choice([f"{old} * {factor}", f"{factor} * {old}"])
        if pick.random() < 0.25 and changed not in ("the square", "twice"):
            self.body.append(pick.choice([f"{name} *= {factor}", f"{name} = {product}"]))
            self.body.append(pick.choice([f"{name} {sign}= {added}", f"{name} = {name} {sign} ({added})"]))
        elif sign == "-":
            self.body.append(f"{name} = {product} - ({added})")
        else:
            self.body.append(f"{name} = " + pick.choice([f"{product} + {added}", f"{added} + {product}"]))

    def kind(self, wide: bool) -> str:
        return self.row if not wide or self.rank == "scalar" else "row" if self.rank == "block" else "tile"

    def result(self, sums: dict[str, bool], normal: bool) -> tuple[str, str]:
        """What is stored after the loop, and its type."""
        pick, minus, change = self.random, "-" if self.least else "", self.change
        first, *others = sums
        ratio = [name for name in others if normal]
        form = pick.choice(["log"] * normal + ["ratio"] * 2 * bool(ratio) + ["grown"])
        if change == "the exponent counts":
            return f"{first} + m", self.kind(sums[first])
        scale = self.scale or "1"
        if form == "log" or (change in ("no exponent comes back", "an addend without") and normal):
            log = f"{'log' if self.base == 'exp' else 'log2'}({first})"
            back = pick.choice([f"{log} / {scale} {minus or '+'} m", f"{log} {minus or '+'} m * {scale}"])
            return log if change in ("no exponent comes back", "an addend without") else back, self.kind(
                sums[first]
            )
        name = pick.choice(ratio if form == "ratio" else [first] * 2 if change else [first, *others])
        kind = self.kind(sums[name])
        if form == "grown":
            scale = DOUBLE[self.scale] if name == self.double else scale
            m = "spread(m)" if kind == "tile" else "m"
            back = (
                ""
                if change in ("no exponent comes back", "an addend without")
                else f" * {self.base}({minus}{m} * {scale})"
            )
            return f"{name}{back}", kind
        divisor = f"spread({first})" if kind == "tile" else first
        both = [f"({name} / {divisor})", f"({name} / {divisor})", f"{name} * (1 / {divisor})"]
        if name == self.double:
            return f"{name} / ({divisor} * {divisor})", kind
        if self.double is None and len(ratio) > 1 and self.kind(sums[ratio[0]]) == self.kind(sums[ratio[1]]):
            one, two = ratio
            both += [f"({one} + {two}) / {divisor}", f"{one} * {two} / ({divisor} * {divisor})"]
        return pick.choice(both), kind

    def stores(self, sums: dict[str, bool], normal: bool) -> list[str]:
        lines = []
        for place in "yz"[: self.random.choice([1, 1, 2])]:
            value, kind = self.result(sums, normal)
            index = {"T": "r * 16", "row": "r * 16 + o", "tile": "r * 16 + spread(o) * 4 + across(o)"}[kind]
            if self.change == "the sum is read":
                value += " + spread(l)" if kind == "tile" else " + l"
            if self.random.random() < 0.25:
                value = f"({value}) * load(v, {index})"
            masks = {"T": "r < 9", "row": "o != 1", "tile": "across(o) < 3"}
            masked = f", {masks[kind]}" if self.random.random() < 0.25 else ""
            lines.append(f"store({place}, {index}, {value}{masked})")
        return lines

    def program(self) -> str:
        pick = self.random
        self.exponent()
        normal = pick.random() < 0.8
        sums = {name: bool(at) and pick.random() < 0.6 for at, name in enumerate("scj"[: pick.randint(1, 3)])}
        if self.rank not in ("scalar", "row") and not normal and pick.random() < 0.5:
            sums["s"] = True
        if self.change == "rows summed":
            sums, normal = {"s": True}, False
        if self.change is None and len(sums) > 1 and self.scale in DOUBLE and pick.random() < 0.25:
            self.double = "c"
        if self.change == "the sum is read":
            self.lines.append(f"l: {self.row} = 0")
            self.body.append("l = l + sin(s)" if not sums["s"] else "l = l + 0.1")
        for name in pick.sample(list(sums), len(sums)):
            self.sum(name, sums[name], normal and name == "s", self.change if name == "s" else None)
        if self.change == "stored in each iteration" and not sums["s"]:
            index = f"(r * n * 4 + {self.at}) * 4" + " + o" * (self.row == "row")
            self.body.append(f"store(z, {index}, s)")
        ends = self.ends + ["m = q"] * (self.new == "q")
        stores = self.stores(sums, normal)
        if self.change == "stored in each iteration":
            stores = [line for line in stores if not line.startswith("store(z")]
        first, last, step = self.bounds
        body = [*self.body, *ends]
        loop = f"for t in range({first}, {last}, {step}):\n" + "\n".join(f"    {line}" for line in body)
        return "\n".join([*self.lines, loop, *stores])


def written(
    python: str,
    tensors: dict[str, torch.Tensor],
    numbers: dict[str, float],
    programs: int,
    change: str | None = None,
    expected: bool = True,
) -> Rescaled:
    """The program that this is, in both languages."""
    parameters = ", ".join([*(f"T *{name}" for name in tensors), "int n", "int N", "T scale"])
    lines = "\n  ".join(map(_statement, ast.parse(python).body))
    head = "int r = get_program_id(0);\n  int o[4] = 0 ... 4;"
    text = f"__global__ void f({parameters}) {{\n  {head}\n  {lines}\n}}\n"
    return Rescaled(python, text, tensors, numbers, programs, change, expected)


def rescaled_kernel(seed: int) -> Rescaled:
    """The program of a seed."""
    writer = _Writer(seed)
    python = writer.program()
    generator = torch.Generator().manual_seed(seed)
    size = writer.programs * writer.n * 16
    draw = {name: torch.randn(size, generator=generator).double() * 0.7 + 0.3 for name in "xwu"}
    draw["v"] = torch.rand(80, generator=generator).double() + 0.5
    tensors = {name: torch.zeros(size).double() for name in "yz"} | draw
    numbers = {"n": writer.n, "N": writer.n * 4 - writer.random.randint(0, 3), "scale": 1.25}
    return written(python, tensors, numbers, writer.programs, writer.change, writer.expected)
