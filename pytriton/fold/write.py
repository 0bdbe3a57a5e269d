"""Statements -> the text of a module, the lines broken where ``ruff format`` breaks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytriton.emit.layout import INDENT, WIDTH, layout
from pytriton.fold.read import Block, Kernel, Simple, Statement

__all__ = ["body", "module", "printed"]

Line = tuple[str, int]  # the line of the source that it came from; 0 where there is none


def module(lines: Iterable[Line]) -> str:
    """The text of a module."""
    return "".join(f"{text}\n" for text, _ in lines)


def printed(kernel: Kernel) -> list[Line]:
    """The module of one kernel, with the imports and helper functions that it needs."""
    lines = ["# Translated from Triton-C by pytriton.", *kernel.imports, "", ""]
    for helper in kernel.helpers:
        lines += [*helper.splitlines(), "", ""]
    lines += [f"# {comment}".rstrip() for comment in kernel.above]
    lines += ["@triton.jit", f"def {kernel.function}("]
    for parameter in kernel.parameters:
        lines += [f"    # {comment}".rstrip() for comment in parameter.above]
        annotation = f": {parameter.annotation}" if parameter.annotation else ""
        note = f"  # {parameter.note}" if parameter.note else ""
        lines.append(f"    {parameter.name}{annotation},{note}")
    return [*((line, 0) for line in [*lines, "):"]), *body(kernel.body, INDENT)]


def body(statements: Sequence[Statement], indent: int) -> list[Line]:
    """The lines of one block; ``pass`` where nothing but comments is in it."""
    lines = [line for statement in statements for line in _statement(statement, indent)]
    if all(text.lstrip().startswith("#") for text, _ in lines):
        lines.append((f"{' ' * indent}pass", 0))
    return lines


def _statement(statement: Statement, indent: int) -> Iterator[Line]:
    pad = " " * indent
    after = ":" if isinstance(statement, Block) else ""
    if statement.node is not None:
        lines = layout(statement.before, statement.node, after, indent)
    else:
        lines = [pad + statement.before] if statement.before else []
    above, beside = statement.above, statement.beside
    if beside and (len(lines) != 1 or len(lines[-1]) + len(f"  # {beside}".encode()) > WIDTH):
        above, beside = (*above, beside), ""
    yield from ((f"{pad}# {comment}".rstrip(), 0) for comment in above)
    if beside:
        lines[-1] += f"  # {beside}"
    yield from ((line, statement.line) for line in lines)
    if isinstance(statement, Block):
        yield from body(statement.body, indent + INDENT)
        yield from _otherwise(statement.otherwise, indent)


def _otherwise(statements: Sequence[Statement], indent: int) -> Iterator[Line]:
    """``elif`` where nothing but another ``if`` is in it."""
    match statements:
        case ():
            return
        case (Block(before="if ") as chained,) if not chained.above:
            lines = layout("elif ", chained.node, ":", indent)
            if chained.beside:
                lines[-1] += f"  # {chained.beside}"
            yield from ((line, chained.line) for line in lines)
            yield from body(chained.body, indent + INDENT)
            yield from _otherwise(chained.otherwise, indent)
        case _:
            yield f"{' ' * indent}else:", 0
            yield from body(statements, indent + INDENT)


def shown(statement: Simple | Block) -> str:
    """A statement as one text without its comments, to tell statements apart."""
    if isinstance(statement, Simple):
        return (
            "\n".join(layout(statement.before, statement.node, "", 0)) if statement.node else statement.before
        )
    parts = [*layout(statement.before, statement.node, ":", 0)]
    parts += [f" {line}" for inner in statement.body for line in shown(inner).splitlines()]
    parts += [f"|{line}" for inner in statement.otherwise for line in shown(inner).splitlines()]
    return "\n".join(parts)
