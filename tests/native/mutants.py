"""The C printer with a mutant in it, and the test that must notice: in a process of its own, which may die of it.

A mutant of a module is put into fresh modules of ``pytriton.native``; one of a template into what jinja2 loads. All
who print C get that printer. The process is a fork, which has torch already, so that a mutant costs what its test
does. Tests are named ``cases NAME``, a golden case computed in C, or by their module in tests/native without
``test_native_``, their name without ``test_`` and, each after a bar, what a parametrised one is given.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import inspect
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch
from jinja2 import ChoiceLoader, DictLoader

from pytriton.emit import templates
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.native import native_kernel
from tests.mutation.mutant import ROOT, Mutant, mutated
from tests.native import test_native_cases, test_native_launches, test_native_semantics
from tests.translate.cases import CASES

TESTS = (test_native_cases, test_native_launches, test_native_semantics)
PACKAGE = "pytriton.native"
NO_ANSWER = "no answer"
SECONDS = 20  # for a test, until it counts as hung


def caught(mutant: Mutant, test: str) -> str:
    """How a test notices a mutant; empty if it passes."""
    call = resolved(test)
    return _forked(lambda: _failure(mutant, call))


def passes(test: str) -> bool:
    """Whether a test passes without any mutant, run in the same way."""
    call = resolved(test)
    return not _forked(lambda: _failure(None, call))


def _failure(mutant: Mutant | None, call: Callable[[], object]) -> str:
    if mutant is not None:
        install(mutant)
    os.environ.update(PYTRITON_CC="cc", PYTRITON_THREADS="4")
    torch.set_num_threads(1)  # a fork has not the threads that torch started: it would wait for them
    Interpreted.run = None  # type: ignore[assignment, method-assign]
    try:
        call()
    except BaseException as error:  # pytest raises BaseException
        return f"{type(error).__name__}: {error}"
    return ""


def resolved(test: str) -> Callable[[], object]:
    """The call of a test of this folder; LookupError here, not in the fork, where there is no such test."""
    named, *rest = test.split("|")
    folder, name = named.split()
    values = [{"True": True, "False": False}.get(value, value) for value in rest]
    if folder == "cases":
        if name not in CASES:
            raise LookupError(f"no golden case is called {name}")
        return partial(test_native_cases.computed, name, levels=((),))
    module = importlib.import_module(f"tests.native.test_native_{folder}")
    function = getattr(module, f"test_{name}", None)
    if function is None:
        raise LookupError(f"{module.__name__} has no test_{name}")
    patches = [pytest.MonkeyPatch()] if "monkeypatch" in inspect.signature(function).parameters else []
    inspect.signature(function).bind(*patches, *values)
    return partial(function, *patches, *values)


def install(mutant: Mutant) -> None:
    """Put a mutant in place, for the rest of this process."""
    text = mutated(mutant)
    loaded = [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]
    for name in loaded:
        del sys.modules[name]
        delattr(sys.modules[PACKAGE], name.rpartition(".")[2])
    if mutant.is_template:
        environment = templates._environment()
        name = mutant.path.removeprefix("templates/")
        environment.loader = ChoiceLoader([DictLoader({name: text}), environment.loader])  # type: ignore[list-item]
        environment.cache.clear()  # type: ignore[union-attr]
    else:
        name = mutant.path.removesuffix(".py").replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, ROOT / mutant.path)
        assert spec is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        exec(compile(text, mutant.path, "exec"), module.__dict__)
        setattr(sys.modules[PACKAGE], name.rpartition(".")[2], module)
    printer = importlib.import_module(f"{PACKAGE}.c_module")
    for user in (native_kernel, *TESTS):
        user.to_c = printer.to_c  # type: ignore[attr-defined]


def _forked(call: Callable[[], str]) -> str:
    """What a call gives in a process of its own; how that ended if it gave nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(SECONDS)
        faulthandler.disable()  # a mutant may well die
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        said = NO_ANSWER
        try:
            said = call()
        finally:
            os.write(writing, said.encode()[:4000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if said == NO_ANSWER:
        raise RuntimeError("the mutant cannot be put in place")
    ended = os.waitstatus_to_exitcode(status)
    return said if ended == 0 else f"ended with {ended}"
