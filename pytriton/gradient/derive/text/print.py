"""Names and layout: lines of a program -> the text of a kernel.

A variable gets the name that it hints at, or that with a number where another one in scope has it. The
statements of the forward keep their comments; before the adjoint of a statement stands what it is the adjoint
of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from pytriton.gradient.derive.text.formula import UNARY, Formula, sizes
from pytriton.gradient.derive.text.program import Choose, Declare, Line, Put, Repeat, Update, Variable

__all__ = ["printed"]

MAX_WIDTH = 110


class _Printer:
    def __init__(self, variables: Sequence[Variable], names: dict[int, str]) -> None:
        self.variables, self.names = variables, names
        self.out: list[str] = []
        self.about: str | None = None

    def text(self, formula: Formula) -> str:
        return re.sub("\x01(\\d+)\x02", lambda mark: self.names[int(mark[1])], formula.text)

    def block(self, lines: Iterable[Line], indent: str, taken: set[str]) -> None:
        for line in lines:
            self.comments(line, indent)
            self.line(line, indent, taken)
            if line.beside and self.out:
                self.out[-1] += "  // " + " ".join(" ".join(line.beside).split())

    def comments(self, line: Line, indent: str) -> None:
        self.out += [f"{indent}// {text}".rstrip() for comment in line.above for text in comment.splitlines()]
        if line.about is not None and line.about != self.about:
            self.out.append(f"{indent}// adjoint of: {line.about}")
        self.about = line.about

    def line(self, line: Line, indent: str, taken: set[str]) -> None:
        match line:
            case Declare():
                self.out.append(f"{indent}{self.declared(line, taken)};")
            case Update():
                self.out.append(f"{indent}{self.updated(line)};")
            case Put(pointer=pointer, value=value, mask=mask, atomic=atomic):
                where = self.text(pointer)
                if atomic:
                    masked = f", {self.text(mask)}" if mask is not None else ""
                    self.out.append(f"{indent}atomic_add({where}, {self.text(value)}{masked});")
                else:
                    where = where if pointer.binds >= UNARY else f"({where})"
                    masked = f"?({self.text(mask)}) " if mask is not None else ""
                    self.out.append(f"{indent}*{masked}{where} = {self.text(value)};")
            case Repeat():
                self.loop(line, indent, taken)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                self.out.append(f"{indent}if ({self.text(condition)}) {{")
                self.block(then, indent + "  ", set(taken))
                if otherwise:
                    self.out.append(f"{indent}}} else {{")
                    self.block(otherwise, indent + "  ", set(taken))
                self.out.append(f"{indent}}}")

    def loop(self, line: Repeat, indent: str, taken: set[str]) -> None:
        inner = set(taken)
        heads = [self.declared(head, inner) for head in line.heads]
        words = {head.variable.word for head in line.heads}
        if len(words) > 1 or any(head.variable.shape for head in line.heads):
            self.out += [f"{indent}{head};" for head in heads]
            taken |= inner
            heads = []
        first = ", ".join([*heads[:1], *(head.partition(" ")[2] for head in heads[1:])])
        condition = "" if line.condition is None else self.text(line.condition)
        start = len(self.out)
        self.block(line.body, indent + "  ", inner)
        steps = ", ".join(map(self.updated, line.steps))
        if not first and not steps and condition:
            head = f"while ({condition})"
        else:
            head = f"for ({first};{' ' * bool(condition)}{condition};{' ' * bool(steps)}{steps})"
        self.out.insert(start, f"{indent}{head} {{")
        self.out.append(f"{indent}}}")

    def declared(self, line: Declare, taken: set[str]) -> str:
        variable = line.variable
        name, count = variable.hint, 1
        while name in taken:
            count += 1
            name = f"{variable.hint}_{count}"
        value = "" if line.value is None else f" = {self.text(line.value)}"
        taken.add(name)
        self.names[variable.number] = name
        shape = f"[{sizes(variable.shape)}]" if variable.shape else ""
        return f"{variable.word} {variable.stars}{name}{shape}{value}"

    def updated(self, line: Update) -> str:
        name, value = self.names[line.number], line.value
        if line.adds:
            if value.folded is not None and value.text.startswith("-"):
                return f"{name} -= {self.text(value.folded)}"
            return f"{name} += {self.text(value)}"
        if value.parts is not None and value.parts[1].is_name and self.text(value.parts[1]) == name:
            operator, _, right = value.parts
            if operator in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"):
                return f"{name} {operator}= {self.text(right)}"
        return f"{name} = {self.text(value)}"


def printed(
    name: str,
    declarations: Sequence[str],
    lines: Sequence[Line],
    variables: Sequence[Variable],
    names: dict[int, str],
    taken: Collection[str],
    head: Sequence[str] = (),
) -> str:
    """The kernel as text. ``names``: of the parameters; ``taken``: not for variables; ``head``: comments."""
    printer = _Printer(variables, names)
    printer.block(lines, "  ", set(taken))
    start = f"__global__ void {name}("
    joined = start + ", ".join(declarations) + ") {"
    if len(joined) > MAX_WIDTH:
        joined = start + f",\n{' ' * len(start)}".join(declarations) + ") {"
    comments = [f"// {line}".rstrip() for line in head]
    return "\n".join([*comments, joined, *printer.out, "}", ""])
