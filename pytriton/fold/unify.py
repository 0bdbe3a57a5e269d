"""One question for what several defines decide together.

A layout is often given as several texts: STRIDE_AK is "lda" wherever OF_ROWS_A is "newaxis, :". Input: a folded
body and its variants. Output: the body in which each such partition of the variants is asked for in one way, that
with the shortest text. A choice that only writes a define down, ``lda if STRIDE_AK == "lda" else 1``, keeps its
define, and that one is preferred. Invariant: each condition holds for the same variants as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytriton.emit.python import Atom, BinOp, Block, Conditional, Node, Statement
from pytriton.fold.variants import Set, Variants
from pytriton.fold.walk import children, expressions, rebuilt, with_bodies
from pytriton.frozen import replace


def unified(body: Sequence[Statement], variants: Variants) -> tuple[Statement, ...]:
    """The body with one spelling for all questions about texts that have the same answers."""
    questions, written = set[BinOp](), set[Node]()
    for part in expressions(body):
        if isinstance(part, BinOp) and _is_question(part):
            questions.add(part)
        elif isinstance(part, Conditional) and _is_written(part):
            written.add(part.condition)
    spellings = _spellings(questions, written, variants)
    return tuple(_statements(body, spellings))


def _is_question(node: Node) -> bool:
    """Whether a condition is ``DEFINE == "text"``, or that it is not."""
    match node:
        case BinOp(operator="==" | "!=", left=Atom(), right=Atom(text=text)):
            return text.startswith('"')
    return False


def _is_written(node: Node) -> bool:
    """Whether a choice is ``text if DEFINE == "text" else other``."""
    match node:
        case Conditional(
            condition=BinOp(operator="==", left=Atom(), right=Atom(text=text)), then=Atom(text=then)
        ):
            return text == f'"{then}"'
    return False


def _spellings(questions: Iterable[BinOp], written: set[Node], variants: Variants) -> dict[Node, BinOp]:
    """For each question the one to ask instead; ``!=`` where that has the opposite answers."""
    holds = {question: _holds(question, variants) for question in questions}
    groups: dict[Set, list[BinOp]] = {}
    for question, where in holds.items():
        groups.setdefault(min(where, variants.all & ~where), []).append(question)
    spellings: dict[Node, BinOp] = {}
    for group in groups.values():
        best = min(group, key=lambda question: (question not in written, *_cost(question)))
        for question in group:
            same = holds[question] == holds[best]
            spellings[question] = best if same else BinOp(_opposite(best.operator), best.left, best.right)
    return spellings


def _cost(question: BinOp) -> tuple[bool, int, str]:
    spelled = "".join(part.text for part in (question.left, question.right) if isinstance(part, Atom))
    return question.operator != "==", len(spelled), spelled


def _holds(question: BinOp, variants: Variants) -> Set:
    assert isinstance(question.left, Atom)
    assert isinstance(question.right, Atom)
    values, text = variants.values.get(question.left.text, []), question.right.text.strip('"')
    equal = variants.where(lambda variant: str(values[variant]) == text) if values else 0
    return equal if question.operator == "==" else variants.all & ~equal


def _opposite(operator: str) -> str:
    return "!=" if operator == "==" else "=="


# ---------------------------------------------------------------- rewriting


def _statements(body: Iterable[Statement], spellings: Mapping[Node, BinOp]) -> Iterator[Statement]:
    for statement in body:
        if statement.node is not None:
            statement = replace(statement, node=_respelled(statement.node, spellings))
        statement = with_bodies(statement, lambda inner: _statements(inner, spellings))
        yield _turned(statement) if isinstance(statement, Block) else statement


def _respelled(node: Node, spellings: Mapping[Node, BinOp]) -> Node:
    """The expression with other questions; a choice asks for what holds."""
    if node in spellings:
        return spellings[node]
    if _is_written(node):
        return node
    node = rebuilt(node, [_respelled(child, spellings) for child in children(node)])
    match node:
        case Conditional(condition=BinOp(operator="!=") as condition) if _is_question(condition):
            return Conditional(replace(condition, operator="=="), node.otherwise, node.then)
    return node


def _turned(block: Block) -> Block:
    """``if X != "a": B else: A`` as ``if X == "a": A else: B``."""
    match block:
        case Block(before="if ", node=BinOp(operator="!=") as condition) if block.otherwise and _is_question(
            condition
        ):
            chained = len(block.otherwise) == 1 and isinstance(block.otherwise[0], Block)
            if not chained and not isinstance(block.body[0], Block):
                turned = replace(condition, operator="==")
                return replace(block, node=turned, body=block.otherwise, otherwise=block.body)
    return block
