"""Random kernels that have a derivative, for comparison with numerical differences in double.

Each reads some tensors under masks, by strides that may overlap or leave gaps, once or several times, computes with
every operator that is smooth, shapes, reduces, branches and sums in loops, and stores under a mask. Lanes that are
masked off may hold NaN: values pass through ``log`` of negative numbers before a ``?:`` drops them. Kinks and ties
are kept away: conditions depend on indices, and on inputs that nothing flows into: these are compared, rounded, or
converted to integers, and their elements are away from where that jumps. Some kernels return early, some store at
several places, and some inputs are expanded.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import torch

__all__ = ["Made", "kernel"]


@dataclass
class Made:
    """A text, its tensors by name, its integers and its grid."""

    text: str
    tensors: dict[str, torch.Tensor]
    numbers: dict[str, int]
    grid: tuple[int, ...]
    names: list[str] = field(default_factory=list)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.blocks: list[str] = []  # names of type double[B]
        self.scalars: list[str] = []
        self.tests: list[str] = []  # conditions that depend on inputs
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def value(self, depth: int = 2) -> str:
        """An expression of a block, of moderate size and with moderate derivatives."""
        pick = self.random.random()
        if depth == 0 or pick < 0.15:
            leaves = self.blocks * 2 + self.scalars
            return self.random.choice(leaves)
        a = self.value(depth - 1)
        if pick < 0.45:
            b = self.value(depth - 1)
            return f"({a} {self.random.choice('+-*')} {b})"
        if pick < 0.55:
            return f"({a} / (2 + {self.value(depth - 1)} * {self.random.choice(self.blocks)} / 8))".replace(
                "(2 +", "(3 +"
            )
        if pick < 0.85:
            function = self.random.choice(
                "sin(@) cos(@) tanh(@) sigmoid(@) erf(@) exp(tanh(@)) log(3+sin(@)) sqrt(3+cos(@)) rsqrt(3+sin(@)) "
                "exp2(sin(@)) log2(3+cos(@)) pow(3+sin(@),cos(@)) fma(@,@,@) -(@) (double)(float)(2)*(@)".split()
            )
            return "(" + function.replace("@", a) + ")"
        test = self.random.choice(["r % 2 == 0", "r < 5", "inside", "pid == 0", "!(r == 3)", *self.tests])
        b = self.value(depth - 1)
        return self.random.choice(
            [
                f"({test} ? {a} : {b})",
                f"select({test}, {a}, {b})",
                f"(inside ? log({a} + 5 - 10 * (r >= n)) : {b})",
            ]
        )

    def _total(self, name: str) -> str:
        """A scalar from before the loop, changed in it."""
        if not self.scalars:
            return ""
        old = self.random.choice(self.scalars)
        return f"{old} = tanh({old} + {name}[+] / B);"

    def statement(self) -> None:
        kind = self.random.random()
        name = self.name()
        if kind < 0.45:
            self.lines.append(f"double {name}[B] = tanh({self.value(3)});")
            self.blocks.append(name)
        elif kind < 0.55:
            old = self.random.choice(self.blocks)
            self.lines.append(f"{old} = sin({old}) {self.random.choice('+*')} {self.value(1)};")
        elif kind < 0.7:
            total = f"(inside ? {self.value(2)} : 0)[+]"
            self.lines.append(f"double {name} = tanh({total});")
            self.scalars.append(name)
        elif kind < 0.8:
            a, b = self.random.choice(self.blocks), self.random.choice(self.blocks)
            other = self.random.choice(["[:, +]", "[+, :]"])
            self.lines.append(f"double {name}[B] = tanh(({a}[:, newaxis] * {b}[newaxis, :]){other} / B);")
            self.blocks.append(name)
        elif kind < 0.9:
            self.lines.append(f"double {name}[B] = 0;")
            bound = self.random.choice(["2", "m", "0", "n / 4"])
            body = self.random.choice(
                [f"{name} += sin({self.value(2)} + k) / 4;"] * 3
                + [
                    f"{name} = sin({name} * {self.value(1)} + k) + {self.value(1)} / 4;",
                    f"{name} = {name} * 0.5 + tanh({self.value(2)});",
                    f"double old[B] = {name}; {name} = cos({self.value(2)}) * k - old; {self._total(name)}",
                ]
            )
            self.lines.append(f"for (int k = 0; k < {bound}; k += 1) {{ {body} }}")
            self.blocks.append(name)
        else:
            old = self.random.choice(self.blocks)
            unread = f"double {name}[B] = {old};"  # merged, and not needed afterwards
            change = f"{name} = {self.value(1)}; {old} = tanh({self.value(2)});"
            self.lines.append(f"{unread} if (pid == {self.random.choice('01')}) {{ {change} }}")

    def flat(self, name: str) -> None:
        """An input that nothing flows into: shared by all programs, or not."""
        where = self.random.choice([f"{name} + (0 ... B)", f"{name} + r % 8", name, f"{name} + pid % 3"])
        shape = "[B]" if "r" in where.partition("+")[2] or "B" in where else ""
        self.lines.append(f"double {name}_v{shape} = *({where});")
        used = self.random.choice(["test", "test", "floor", "int", "if"])
        if used == "test":
            self.tests.append(f"{name}_v > 0.5")
        elif used == "if" and not shape:
            old = self.random.choice(self.blocks)
            self.lines.append(f"if ({name}_v > 0) {{ {old} = cos({self.value(2)}); }}")
        else:
            call = "floor(2 * @)" if used == "floor" else "(double)(int)(3 * @)"
            self.lines.append(f"double {name}_w{shape} = {call.replace('@', name + '_v')} / 4;")
            (self.blocks if shape else self.scalars).append(f"{name}_w")

    def stores(self, step: int) -> list[str]:
        """Where the result goes: one place, or several that are disjoint."""
        one, two = self.value(3), self.value(2)
        return self.random.choice(
            [
                [f"*?(inside) (y + r * {step}) = {one};"],
                [f"atomic_add(y + r / 2, {one}, inside);"],
                [f"*?(inside) (y + r * 2 + 1) = {one};", f"*?(inside) (y + 2 * r) = {two};"],
                [f"*?(inside) (y + r) = {one};", f"*?(r < 37) (y + 40 + r) = {two};"],
                [f"if (pid == 0) {{ *(y + r) = {one}; }}", f"else {{ *?(inside) (y + r) = {two}; }}"],
                [f"if (pid * B + B <= n) {{ *(y + r) = {one}; }}", f"else {{ *?(inside) (y + r) = {two}; }}"],
            ]
        )


def kernel(seed: int) -> Made:
    """The kernel of a seed."""
    writer = _Writer(seed)
    pick = writer.random
    n, m, programs = pick.choice([3, 7, 8, 11, 30]), pick.choice([1, 2, 3]), pick.choice([2, 2, 5])
    tensors = {"y": torch.zeros(5 * 16, dtype=torch.double)}
    generator = torch.Generator().manual_seed(seed)
    numbers = {"n": n, "m": m}
    for at in range(pick.choice([1, 2, 3])):
        name, step = f"x{at}", pick.choice([0, 1, 1, 1, 2, 3])
        tensors[name] = torch.randn(1 + step * 15 + 2, generator=generator, dtype=torch.double)
        numbers[f"s{at}"] = step
        index = pick.choice([f"r * s{at}", f"r * s{at}", "(r % 3)", "0 ... B", f"r * s{at} + 1"])
        if step == 0 and index == f"r * s{at}" and pick.random() < 0.8:
            tensors[name] = tensors[name][:1].expand(6)
        mask = pick.choice(["inside", "inside", "inside && r > 1"])
        load = pick.choice(["{m} ? *({p}) : 0", "*?({m}) ({p})", "{m} ? *({p}) : 0.5"])
        limit = len(tensors[name])
        safe = f"{mask} && {index} < {limit}"
        writer.lines.append(f"double a{at}[B] = {load.format(m=safe, p=f'{name} + {index}')};")
        writer.blocks.append(f"a{at}")
        if pick.random() < 0.3:
            writer.lines.append(f"double b{at}[B] = {load.format(m=safe, p=f'{name} + {index}')};")
            writer.blocks.append(f"b{at}")
    for at in range(pick.choice([0, 1, 1, 2])):
        places = torch.randint(-3, 4, (8,), generator=generator)
        tensors[f"z{at}"] = places.double() * 0.5 + 0.1
        writer.flat(f"z{at}")
    early = pick.randint(0, len(writer.lines))
    for _ in range(pick.randint(1, 5)):
        writer.statement()
    if pick.random() < 0.3:
        test = pick.choice(["pid * B >= n", "pid == 1", "pid > m", "!(pid < 2)"])
        writer.lines.insert(pick.choice([0, early, len(writer.lines)]), f"if ({test}) return;")
    writer.lines += writer.stores(pick.choice([1, 1, 2]))
    parameters = ", ".join([*(f"double *{name}" for name in tensors), *(f"int {name}" for name in numbers)])
    body = "\n  ".join(
        [
            "int pid = get_program_id(0);",
            "int r[B] = pid * B + 0 ... B;",
            "bool inside[B] = r < n;",
            *writer.lines,
        ]
    )
    text = f"__global__ void f({parameters}) {{\n  {body}\n}}\n"
    return Made(text, tensors, numbers, (programs,), [*tensors, *numbers])
