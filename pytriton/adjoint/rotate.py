"""Loads that a loop makes ahead, for its next iteration, back at the top of its body.

``a = *pa; for (...) { c += a @ b; pa += TK; a = *pa; }`` carries a, which is no sum. But in every iteration a is
what ``*pa`` is at its start: the load before the loop is the one in it, with what the loop starts from in place of
what it carries. So a is loaded at the start, and the loads before the loop and at its end go. Nothing that is read
is written in a kernel that has a derivative, so the load may move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytriton.adjoint.active import every, expressions_of
from pytriton.adjoint.graph import Branch, Carried, Define, Item, Loop, defined_in
from pytriton.lang.tree.typed import Expr, Name, Symbol
from pytriton.lang.tree.walk import has_memory, names, rebuild, same

__all__ = ["rotate"]


def rotate(items: list[Item]) -> None:
    """Move the loads of all loops, in place."""
    _rotate(items, items)


def _rotate(block: list[Item], whole: list[Item]) -> None:
    for item in list(block):
        if isinstance(item, Loop):
            _rotate(item.body, whole)
            for each in item.carried[::-1]:
                _rotate_value(item, each, block, whole)
        elif isinstance(item, Branch):
            _rotate(item.then, whole)
            _rotate(item.otherwise, whole)


def _rotate_value(loop: Loop, each: Carried, block: list[Item], whole: list[Item]) -> None:
    tail = _definition(each.last, loop.body)
    first = _definition(each.before.symbol, block) if isinstance(each.before, Name) else None
    if tail is None or first is None or tail.value is None or first.value is None:
        return
    others = [other for other in loop.carried if other is not each and other.last is not other.inside]
    if not has_memory(tail.value) or not names(tail.value).isdisjoint(o.inside for o in loop.carried):
        return
    now: dict[Symbol, Expr] = {o.last: Name(tail.value.span, o.inside.type, o.inside) for o in others}
    value = rebuild(tail.value, now)
    inner = [inner for item in every(loop.body) for inner in defined_in([item])]
    if not names(value).isdisjoint(inner):
        return
    if not same(rebuild(value, {o.inside: o.before for o in others}), first.value):
        return
    used = _used(whole)
    if used[each.after] or used[each.last] > 1 or used[first.symbol] > 1:  # by what is carried, each once
        return
    loop.carried.remove(each)
    loop.body.remove(tail)
    loop.body.insert(0, Define(each.inside, value, first.statement))
    block.remove(first)


def _definition(symbol: Symbol, items: Sequence[Item]) -> Define | None:
    return next((item for item in items if isinstance(item, Define) and item.symbol is symbol), None)


def _used(items: list[Item]) -> Counter[Symbol]:
    """How often each variable is read."""
    count: Counter[Symbol] = Counter()
    for item in every(items):
        for expr in expressions_of(item):
            count.update(names(expr))
        if isinstance(item, Loop):
            count.update(each.last for each in item.carried)
        elif isinstance(item, Branch):
            for merge in item.merges:
                count.update((merge.yes, merge.no))
    return count
