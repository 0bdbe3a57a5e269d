"""A tree -> the text of its module, the lines broken where ``ruff format`` breaks them.

Output: the text, and the line of the source for each of its lines that came from one. The skeleton of a module is
``templates/kernel.py.j2``; the body is printed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytriton.emit.layout import INDENT, WIDTH, layout
from pytriton.emit.python import Block, Kernel, Statement
from pytriton.emit.templates import render

__all__ = ["Line", "body", "printed"]

Line = tuple[str, int]  # and the line of the source that it came from


def printed(kernel: Kernel) -> tuple[str, dict[int, int]]:
    """The module of one kernel, with the imports and helper functions that it needs."""
    lines = body(kernel.body, INDENT)
    text = render(
        "kernel.py.j2",
        kernel=kernel,
        helpers=kernel.helpers,
        checked_accesses=any(name.startswith("checked_") for name in kernel.helpers),
        body="\n".join(line for line, _ in lines),
    )
    first = text.count("\n") - len(lines) + 1
    head = text.count("\n", 0, text.index(f"\ndef {kernel.function}(") + 1) + 1
    return text, {head: kernel.line, **{first + row: line for row, (_, line) in enumerate(lines)}}


def body(statements: Sequence[Statement], indent: int) -> list[Line]:
    """The lines of one block; ``pass`` where only comments are in it."""
    lines = [line for statement in statements for line in _statement(statement, indent)]
    if all(text.lstrip().startswith("#") for text, _ in lines):
        lines.append((f"{' ' * indent}pass", statements[0].line if statements else 0))
    return lines


def _statement(statement: Statement, indent: int, word: str = "") -> Iterator[Line]:
    """A statement with its comments; ``word``: ``elif`` in the place of ``if``."""
    pad = " " * indent
    after = ":" if isinstance(statement, Block) else ""
    if statement.node is not None:
        lines = layout(word or statement.before, statement.node, after, indent)
    else:
        lines = [pad + statement.before] if statement.before else []
    above, beside = statement.above, statement.beside
    # The bytes of a comment are at least the columns that it takes on a screen.
    if beside and (len(lines) != 1 or len(lines[-1]) + len(f"  # {beside}".encode()) > WIDTH):
        above, beside = (*above, beside), ""
    yield from ((f"{pad}# {comment}".rstrip(), statement.line) for comment in above)
    if beside:
        lines[-1] += f"  # {beside}"
    yield from ((line, statement.line) for line in lines)
    if isinstance(statement, Block):
        yield from body(statement.body, indent + INDENT)
        yield from _otherwise(statement.otherwise, indent)


def _otherwise(statements: Sequence[Statement], indent: int) -> Iterator[Line]:
    """``elif`` where one ``if`` is all that is in it."""
    match statements:
        case ():
            return
        case (Block(before="if ") as chained,):
            yield from _statement(chained, indent, "elif ")
        case _:
            yield f"{' ' * indent}else:", statements[0].line
            yield from body(statements, indent + INDENT)
