"""Statements -> the text of a module, the lines broken where ``ruff format`` breaks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytriton.emit.document import INDENT, WIDTH
from pytriton.emit.layout import layout
from pytriton.fold.read import Block, Kernel, Simple, Statement

__all__ = ["body", "module"]


def module(kernel: Kernel) -> str:
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
    lines += ["):", *body(kernel.body, INDENT)]
    return "\n".join(lines) + "\n"


def body(statements: Sequence[Statement], indent: int) -> list[str]:
    """The lines of one block; ``pass`` where nothing but comments is in it."""
    lines = [line for statement in statements for line in _statement(statement, indent)]
    if all(line.lstrip().startswith("#") for line in lines):
        lines.append(f"{' ' * indent}pass")
    return lines


def _statement(statement: Statement, indent: int) -> Iterator[str]:
    pad = " " * indent
    after = ":" if isinstance(statement, Block) else ""
    if statement.node is not None:
        lines = layout(statement.before, statement.node, after, indent)
    else:
        lines = [pad + statement.before] if statement.before else []
    above, beside = statement.above, statement.beside
    if beside and (len(lines) != 1 or len(lines[-1]) + len(f"  # {beside}".encode()) > WIDTH):
        above, beside = (*above, beside), ""
    yield from (f"{pad}# {comment}".rstrip() for comment in above)
    if beside:
        lines[-1] += f"  # {beside}"
    yield from lines
    if isinstance(statement, Block):
        yield from body(statement.body, indent + INDENT)
        yield from _otherwise(statement.otherwise, indent)


def _otherwise(statements: Sequence[Statement], indent: int) -> Iterator[str]:
    """``elif`` where nothing but another ``if`` is in it."""
    match statements:
        case ():
            return
        case (Block(before="if ") as chained,) if not chained.above:
            lines = layout("elif ", chained.node, ":", indent)
            if chained.beside:
                lines[-1] += f"  # {chained.beside}"
            yield from lines
            yield from body(chained.body, indent + INDENT)
            yield from _otherwise(chained.otherwise, indent)
        case _:
            yield f"{' ' * indent}else:"
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
