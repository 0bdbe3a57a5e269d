"""What a piece of syntax means, kept with it for the next point of a sweep.

The points of a sweep share one syntax tree (front.py). What a statement or a parameter means rests on what the
names in it mean where it stands, and on nothing else: where each means the same again (the same symbol, an equal
type, the same number), so does the statement, and its typed tree is taken over. As its symbols are taken over with
it, so are the statements that read only those. Not kept: what drew an error or a warning, and what declares a type
or a constant. A ``Meaning`` never changes, so threads may share it; it goes where the syntax goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from pytriton.errors import Report
from pytriton.lang.comments import CommentCursor
from pytriton.lang.expressions import Expressions
from pytriton.lang.scope import Question
from pytriton.lang.syntax import Checked
from pytriton.lang.typed import Symbol

__all__ = ["Keeping"]

_MOST_MEANINGS: Final = 9  # of one node, the latest: three sizes of each of two axes
_Result = TypeVar("_Result")
_set_meanings = vars(Checked)["meanings"].__set__


class Meaning(NamedTuple):
    """What was found for a node, and on what that rests."""

    result: Any
    questions: tuple[Question, ...]  # what was asked of the scope around it
    declared: tuple[Symbol, ...]  # in the block where it stands
    comments: tuple[int, int]  # how many were taken before it, and with it
    branches: int  # nodes in branches of `?:`
    returns: int
    strict_literals: bool


class Keeping(Expressions):
    """The part of the checker that finds again what it found before."""

    report: Report
    comments: CommentCursor
    keep = False  # whether the tree is for further points
    lasting = 0  # how often something was declared that is no symbol of a kernel

    def kept(self, node: Checked, check: Callable[[], _Result]) -> _Result:
        """What ``check`` gives for a node, or gave where everything that it asked for was the same."""
        if not self.keep:
            return check()
        known: tuple[Meaning, ...] = getattr(node, "meanings", ())
        for meaning in known:
            if self._holds(meaning):
                self._take_over(meaning)
                result: _Result = meaning.result
                return result
        scope, comments = self.scope, self.comments
        asked, declared, depth = len(scope.asked), len(scope.declared), scope.depth
        before, first, branches = self._untold(), comments.taken, self.branches
        unsure = self.unsure
        result = check()
        new = dict(scope.declared[declared:])
        questions = tuple(dict.fromkeys(one for one in scope.asked[asked:] if one[2] not in new))
        scope.asked[asked:] = questions  # all that whoever stands around it needs to know
        if self._untold() == before:
            own = tuple(symbol for symbol, at in new.items() if at == depth)
            taken, more = (first, comments.taken), self.branches - branches
            meaning = Meaning(result, questions, own, taken, more, self.unsure - unsure, self.strict_literals)
            _set_meanings(node, (meaning, *known[: _MOST_MEANINGS - 1]))
        return result

    def _untold(self) -> tuple[int, int]:
        """What happened so far that no ``Meaning`` tells of."""
        return self.report.said, self.lasting

    def _holds(self, meaning: Meaning) -> bool:
        if meaning.strict_literals != self.strict_literals or meaning.comments[0] != self.comments.taken:
            return False
        if meaning.branches and not self.has_room(meaning.branches):
            return False
        return self.scope.answers_alike(meaning.questions)

    def _take_over(self, meaning: Meaning) -> None:
        self.scope.asked += meaning.questions
        for symbol in meaning.declared:
            self.scope.declare(symbol, self.report)
        self.comments.taken = meaning.comments[1]
        self.branches += meaning.branches
        self.unsure += meaning.returns
