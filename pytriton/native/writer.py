"""Lines of C with their indentation, and loops over the elements of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Writer:
    """Lines with their indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.bytes = 0  # of the arrays

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """``head {``, what is written inside, ``tail``."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    @contextmanager
    def loops(self, shape: Sequence[int], order: Sequence[int] | None = None) -> Iterator[list[str]]:
        """Loops over all elements; the indices. ``order``: the axes from the outermost loop."""
        indices = ["0"] * len(shape)
        depth = self.depth
        for axis in range(len(shape)) if order is None else order:
            if shape[axis] != 1:
                indices[axis] = f"i{axis}"
                self.line(f"for (int i{axis} = 0; i{axis} < {int(shape[axis])}; i{axis}++) {{")
                self.depth += 1
        yield indices
        while self.depth > depth:
            self.depth -= 1
            self.line("}")
