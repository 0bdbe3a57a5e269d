"""Generated kernel sources over defines, for the conditions of their translations.

``generated(seed)``: a source, and the defines to translate it with. What a kernel stores stays inside the first
``REACH`` elements of its tensors for all defines, so that it can be launched with any.
"""

from __future__ import annotations

import random
from typing import Any

REACH = 256
INTEGERS = ("A", "B", "C")
SIZES = ("S", "T")
FLOATS = ("F", "G")
WORD = "TYPE"
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 32767, 65535, 65536)
LARGE = (1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 3, (1 << 63) - 1)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0.1, 3.0, -2.5, 1e-40, 1e30, 65520.0, 16777217.0, 1e-8)
TYPES = (
    "int",
    "char",
    "short",
    "unsigned",
    "long",
    "unsigned char",
    "unsigned short",
    "half",
    "float",
    "double",
)
HEAD = "{promises}void f(int *o, long *l, float *x, double *d, half *h, {word} *w, int *p, int n{parameters}) {{\n"


class _Source:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.directives: list[str] = []
        self.parameters = ""
        self.fresh = 0

    # ------------------------------------------------------------ expressions

    def pick(self, options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def name(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def leaf(self) -> str:
        kind = self.random.randrange(10)
        if kind < 6:
            return str(self.pick(INTEGERS))
        if kind < 7:
            return str(self.pick(SIZES))
        if kind < 8:
            return f"sizeof({self.pick((WORD, 'int', 'long'))})"
        number = str(self.pick(NUMBERS))
        return number + str(self.pick(("", "", "", "u", "l")))

    def integer(self, depth: int = 2) -> str:
        """A constant expression of integers."""
        if depth == 0 or self.chance(6):
            return self.leaf()
        kind = self.random.randrange(14)
        inner = depth - 1
        if kind < 7:
            operator = self.pick(("+", "-", "*", "*", "+", "/", "%", "<<", ">>", "&", "|", "^"))
            right = self.integer(inner)
            if operator in ("<<", ">>"):
                right = self.pick((str(self.pick((1, 2, 3, 8))), self.pick(INTEGERS), f"({right} & 15)"))
            if operator in ("/", "%") and self.chance(2):
                right = str(self.pick((2, 3, 8, 10, 32)))
            return f"({self.integer(inner)} {operator} {right})"
        if kind == 7:
            return f"(~{self.integer(inner)})"
        if kind == 8:
            return f"(-{self.integer(inner)})"
        if kind == 9:
            return f"(({self.pick(TYPES[:7])}){self.integer(inner)})"
        if kind == 10:
            return f"({self.truth(inner)} ? {self.integer(inner)} : {self.integer(inner)})"
        if kind == 11:
            return f"({self.truth(inner)})"
        if kind == 12:
            return f"{self.pick(('min', 'max'))}({self.integer(inner)}, {self.integer(inner)})"
        return f"((int){self.real(inner)})"

    def truth(self, depth: int = 1) -> str:
        kind = self.random.randrange(6)
        if kind == 0:
            return (
                f"({self.truth(depth - 1)} {self.pick(('&&', '||'))} {self.truth(depth - 1)})"
                if depth
                else "A"
            )
        if kind == 1:
            return f"!{self.integer(depth)}"
        if kind == 2:
            return f"({self.real(0)} {self.pick(('<', '>', '==', '>='))} {self.real(0)})"
        sign = self.pick(("<", ">", "<=", ">=", "==", "!="))
        return f"({self.integer(depth)} {sign} {self.integer(depth and depth - 1)})"

    def real(self, depth: int = 2) -> str:
        """A constant expression of floating numbers."""
        if depth == 0 or self.chance(5):
            return str(self.pick((*FLOATS, *FLOATS, "0.5f", "3.0", "1e-3f", "2")))
        kind = self.random.randrange(7)
        if kind < 4:
            return f"({self.real(depth - 1)} {self.pick('+-*/')} {self.real(depth - 1)})"
        if kind == 4:
            return f"(-{self.real(depth - 1)})"
        if kind == 5:
            return f"(({self.pick(TYPES[7:])}){self.pick((self.real, self.integer))(depth - 1)})"
        return f"({self.truth(depth - 1)} ? {self.real(depth - 1)} : {self.real(depth - 1)})"

    def mixed(self) -> str:
        """An expression with a value that only the launch knows."""
        constant = self.integer(1)
        kind = self.random.randrange(7)
        if kind == 0:
            return f"n {self.pick(('<<', '>>'))} {constant}"
        if kind == 1:
            return f"({constant} {self.pick('+-*/%&|^')} n)"
        if kind == 2:
            return f"(n {self.pick(('<', '>', '==', '<='))} {constant})"
        if kind == 3:
            return f"(*(p + ({constant} & 15)) + {self.integer(1)})"
        if kind == 4:
            return f"{self.pick(('min', 'max'))}(n, {constant})"
        return f"(n {self.pick('+-*/%&|^')} {constant})"

    def size(self) -> str:
        """The size of a block."""
        kind = self.random.randrange(8)
        if kind < 4:
            return str(self.pick(SIZES))
        return str(
            self.pick(("2 * S", "S / 2", "(S + T)", "S * T", "(A + 1)", "(A + 7) / 8 * 8", "(S << 1)", "B"))
        )

    # ------------------------------------------------------------ statements

    def place(self) -> int:
        return self.random.randrange(64)

    def body(self, depth: int) -> list[str]:
        return [line for _ in range(1 + self.random.randrange(2)) for line in self.statement(depth)]

    def statement(self, depth: int = 2) -> list[str]:
        kinds = [
            *(self.stores,) * 4,
            self.floats,
            *(self.launches,) * 2,
            *(self.blocks,) * 3,
            self.matrices,
            self.products,
            *(self.loops,) * 2,
            self.tiles,
            self.constants,
            self.names,
            self.atomics,
            self.prints,
            self.reductions,
        ]
        if depth:
            kinds += [self.branches, self.directive, self.directive]
        return list(self.pick(kinds)(depth))

    def stores(self, _: int) -> list[str]:
        return [f"*({self.pick('oolw')} + {self.place()}) = {self.integer()};"]

    def floats(self, _: int) -> list[str]:
        return [f"*({self.pick('xdhwo')} + {self.place()}) = {self.real()};"]

    def launches(self, _: int) -> list[str]:
        if self.chance(3):
            operator = self.pick("+-*/")
            return [
                f"*({self.pick('xdh')} + {self.place()}) = *({self.pick('xdh')} + 7) {operator} {self.real(1)};"
            ]
        return [f"*({self.pick('ol')} + {self.place()}) = {self.mixed()};"]

    def blocks(self, _: int) -> list[str]:
        size, range_ = self.size(), self.name("r")
        value = self.pick(
            (f"{range_} * {self.integer(1)}", f"*?({range_} < 30)(p + {range_})", self.integer(1))
        )
        reach = self.pick(("32", "32", f"min(32, {self.integer(1)})"))
        start = self.pick((f"0 ... {size}", f"0 ... {size}", f"({self.integer(1)} & 3) + 0 ... {size}"))
        return [
            f"int {range_}[{size}] = {start};",
            f"*?({range_} < {reach} && {range_} >= 0)({self.pick('olxw')} + 64 + {range_}) = {value};",
        ]

    def matrices(self, _: int) -> list[str]:
        first, second, block = self.size(), self.pick((*SIZES, "2", "A")), self.name("q")
        stride = self.pick((second, second, self.pick(INTEGERS)))
        rows, columns = f"(0 ... {first})[:, newaxis]", f"(0 ... {second})[newaxis, :]"
        return [
            f"int {block}[{first}, {second}] = {rows} * {stride} + {columns};",
            f"*?({block} < 60 && {block} >= 0)(o + 128 + {block}) = {block} * {self.integer(1)} + n;",
        ]

    def products(self, _: int) -> list[str]:
        a, b, c, r, k = (self.name(letter) for letter in "abcrk")
        depth, type_ = self.pick(("S", "T", "A", "2 * S")), self.pick(("half", "half", "float"))
        return [
            f"int {r}[16] = 0 ... 16;",
            f"int {k}[{depth}] = 0 ... {depth};",
            f"{type_} {a}[16, {depth}] = *?({k}[newaxis, :] < 60 && {r}[:, newaxis] < 16)"
            f"({'h' if type_ == 'half' else 'x'} + ({r}[:, newaxis] + {k}[newaxis, :]) % 64);",
            f"float {c}[16, 16] = {a} @ ^{a};",
            f"int {b}[16, 16] = {r}[:, newaxis] * 2 + {r}[newaxis, :];",
            f"*?({b} < 9)(d + 128 + {b}) = {c};",
        ]

    def loops(self, depth: int) -> list[str]:
        i = self.name("i")
        first = self.pick(("0", "0", str(self.pick(INTEGERS)), self.integer(1)))
        last = self.pick(
            (f"{first} + {self.pick((1, 5, 6))}", "n", str(self.pick(INTEGERS)), self.integer(1))
        )
        step = self.pick(("1", str(self.pick((*INTEGERS, *SIZES))), self.integer(1)))
        sign, change = self.pick((("<", "+="), ("<", "+="), ("<=", "+="), (">", "-=")))
        if sign == ">":
            first, last = last, first
        type_ = self.pick(("int", "int", "long", "unsigned"))
        inner = [line for line in self.statement(0) if depth] if self.chance(3) else []
        return [
            f"for ({type_} {i} = {first}; {i} {sign} {last}; {i} {change} {step}) {{",
            f"  *(o + ({i} & 63)) += {self.pick((i, '1', self.integer(1)))};",
            *inner,
            "}",
        ]

    def tiles(self, _: int) -> list[str]:
        k, r, sums = self.name("k"), self.name("r"), self.name("v")
        size = self.pick((*SIZES, "2 * S", "A"))
        bound = self.pick(("n", "32", str(self.pick(INTEGERS))))
        return [
            f"int {r}[{size}] = 0 ... {size};",
            f"float {sums}[{size}] = 0;",
            f"for (int {k} = {bound}; {k} > 0; {k} -= {size})",
            f"  {sums} += *?({r} < {k} && {r} + {bound} - {k} < 60 && {k} < 200)(x + ({r} + {bound} - {k}) % 64);",
            f"*?({r} < 32)(d + 64 + {r}) = {sums};",
        ]

    def constants(self, _: int) -> list[str]:
        c, type_ = self.name("c"), self.pick(TYPES[:5])
        use = self.pick((c, f"{c} * {self.integer(1)}", f"n + {c}"))
        if self.chance(3):
            return [f"enum {{ {c} = {self.integer(1)} }};", f"*(o + {self.place()}) = {use};"]
        prefix = self.pick(("static const ", "const ", ""))
        return [
            f"{prefix}{type_} {c} = {self.integer(1)};",
            f"*({self.pick('ol')} + {self.place()}) = {use};",
        ]

    def names(self, _: int) -> list[str]:
        v, name = self.name("v"), self.pick(INTEGERS)
        if self.chance(2):
            return [
                f"int JOINED({v}, {name}) = {self.integer(1)};",
                f"*(o + {self.place()}) = JOINED({v}, {name});",
            ]
        return [f"typedef {WORD} {v};", f"*(l + {self.place()}) = ({v}){self.integer(1)};"]

    def atomics(self, _: int) -> list[str]:
        function = self.pick(("atomic_add", "atomic_xchg"))
        r = self.name("r")
        if self.chance(3):
            return [f"int {r}[S] = 0 ... S;", f"atomic_add(p + {r} % 16, {self.integer(1)}, {r} < 32);"]
        return [f"{function}(p + ({self.integer(1)} & 15), {self.integer(1)});"]

    def prints(self, _: int) -> list[str]:
        return [
            self.pick((
                f'printf("%d of %d\\n", n, {self.integer(1)});',
                f'printf(SPELLED({self.pick((*INTEGERS, "A + B"))}));',
                f'printf("%ld %f\\n", (long){self.integer(1)}, (double){self.real(1)});',
                f'printf("%x\\n", (unsigned){self.integer(1)});',
            ))
        ]  # fmt: skip

    def reductions(self, _: int) -> list[str]:
        r, size = self.name("r"), self.size()
        return [
            f"int {r}[{size}] = 0 ... {size};",
            f"*(o + {self.place()}) = ({r} * {self.integer(1)})[{self.pick(('+', 'max', 'min'))}];",
        ]

    def branches(self, depth: int) -> list[str]:
        test = self.pick((self.truth(), self.truth(), f"n > {self.integer(1)}"))
        return [f"if ({test}) {{", *self.body(depth - 1), "} else {", *self.body(depth - 1), "}"]

    def directive(self, depth: int) -> list[str]:
        test = self.pick((
            str(self.pick(INTEGERS)),
            f"{self.pick(INTEGERS)} {self.pick(('<', '>', '==', '!=', '>='))} {self.pick((0, 1, 4, 7, 'B', 'C'))}",
            f"{self.pick(INTEGERS)} {self.pick('+-*/%&|^')} {self.pick(INTEGERS)} > {self.pick((0, 7, 'A'))}",
            f"defined(A) && !({self.pick(INTEGERS)} & {self.pick((1, 3, 8))})",
            f"S {self.pick(('<<', '>>'))} {self.pick(INTEGERS)} < 100",
            f"({self.pick(INTEGERS)} ? B : ~C) == {self.pick((3, -1))}",
        ))  # fmt: skip
        return [f"#if {test}", *self.body(depth - 1), "#else", *self.body(depth - 1), "#endif"]

    # ------------------------------------------------------------ all

    def text(self) -> str:
        lines = [line for _ in range(1 + self.random.randrange(4)) for line in self.statement()]
        promises, parameters = "", ""
        if self.chance(6):
            promises = f'_Static_assert({self.truth()}, "asserted");\n'
        if self.chance(6):
            parameters = f", int m __multipleof({self.pick(('A', 'S', 'B * 4', '8'))})"
            lines.append(
                self.pick(("*(o + 3) = m / 8;", "*(o + (m & 63)) = m % 4;", "*?(m > 0)(o + 3) = m;"))
            )
        macros = "#define SPELLED(x) WRITTEN(x)\n#define WRITTEN(x) #x\n#define JOINED(a, b) PASTED(a, b)\n"
        macros += "#define PASTED(a, b) a##b\n"
        head = HEAD.format(promises=promises, word=WORD, parameters=parameters)
        return (
            macros + head + "".join(f"{line if line[0] == '#' else '  ' + line}\n" for line in lines) + "}\n"
        )

    def number(self) -> int:
        if self.chance(12):
            return int(self.pick(LARGE)) * (1 if self.chance(2) else -1)
        number = int(self.pick(NUMBERS[:14] if self.chance(2) else NUMBERS))
        return -number if self.chance(6) else number

    def defines(self) -> dict[str, Any]:
        numbers: dict[str, Any] = {name: self.number() for name in INTEGERS}
        sizes = {name: self.pick((1, 2, 4, 8, 16, 16, 32, 64, 3, 12, 48)) for name in SIZES}
        floats = {name: self.pick(REALS) for name in FLOATS}
        return numbers | sizes | floats | {WORD: self.pick(("int", "float", "half", "long", "unsigned"))}


def generated(seed: int) -> tuple[str, dict[str, Any]]:
    """A source, and the defines to translate it with."""
    made = _Source(seed)
    return made.text(), made.defines()
