"""The invariant of effects.py notices what it is for, at each stage; conftest.py has it watch every translation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pytriton
import pytriton.lang.check.checker
import pytriton.passes
import pytriton.pipeline
from pytriton.emit.module import emit
from pytriton.emit.python import Atom, Call, Simple
from pytriton.frozen import replace
from pytriton.lang.check import expressions
from pytriton.lang.tree import effects, typed
from pytriton.passes import Pass, PassContext
from tests.oracle.effects import Lost, watched

TEXT = (
    "void f(int *p, int n) { *p = atomic_add(p + 1, n) ? *(p + 2) : *(p + 4); if (n) atomic_add(p + 3, 1); }"
)


def _with_pass(patch: pytest.MonkeyPatch, change: Callable[[typed.Body], typed.Body]) -> None:
    def step(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
        return replace(kernel, body=change(kernel.body))

    first, *rest = pytriton.passes.PASSES
    patch.setattr(pytriton.passes, "PASSES", (first, Pass(step, "is wrong"), *rest))


def test_a_copy_in_the_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "evaluated_once", lambda expr, before: expr)
    with pytest.raises(Lost, match="not in the source"):
        pytriton.translate(TEXT)


def test_an_effect_that_is_left_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytriton.lang.check.checker, "in_order", lambda body: body)
    with watched(), pytest.raises(Lost, match="where none may be"):
        pytriton.translate(TEXT)


def test_an_effect_that_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "_without_unread", lambda group, own: group[-1:])
    with pytest.raises(Lost, match="changes effects"):
        pytriton.translate(TEXT)


@pytest.mark.parametrize(
    "change",
    [lambda body: body[:-1], lambda body: (*body, body[-1]), lambda body: (*body[:-1], *body[-1].then)],
    ids=["drops", "repeats", "does not ask"],
)
def test_a_pass(change: Callable[[typed.Body], typed.Body], monkeypatch: pytest.MonkeyPatch) -> None:
    _with_pass(monkeypatch, change)
    with pytest.raises(Lost, match="step changes"):
        pytriton.translate(TEXT)


def test_a_module_that_says_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(*given: object) -> object:
        module = emit(*given)
        again = Simple("", Call("tl.atomic_add", (Atom("p"), Atom("1"))))
        return module._replace(tree=module.tree._replace(body=(*module.tree.body, again)))

    monkeypatch.setattr(pytriton.pipeline, "emit", twice)
    with watched(), pytest.raises(Lost, match="the module has the calls"):
        pytriton.translate(TEXT)
