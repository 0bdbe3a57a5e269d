"""A pytest plugin: a package's own tests as they would run on a GPU, where there is none.

Tensors stay on the CPU, sizes are those for a GPU. What is launched is compiled for sm_90 and not launched, so that
results are arbitrary and comparisons of tensors pass. What a ported launcher refuses, and what Triton cannot
compile, is written to the file $REFUSED as a list.

Every point of a sweep is compiled to TTIR, and the first of each kernel to machine code.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime import jit

TARGET = GPUTarget("cuda", 90, 32)
BACKEND = make_backend(TARGET)

refused: list[str] = []
seen: dict[str, set[str]] = {}  # by the name of a kernel, what was compiled of it


def compiled(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Compile a kernel for these arguments, once."""
    binder = jit.create_function_from_signature(function.signature, function.params, BACKEND)
    bound, specialization, options = binder(*args, debug=False, **options)
    for parameter in function.params:  # Triton's launcher takes nothing else for them
        if parameter.annotation_type and not isinstance(bound[parameter.name], int | float):
            raise TypeError(f"{parameter.name} is {bound[parameter.name]!r}, not a number")
    key = repr((specialization, {name: bound[name] for name in bound if not torch.is_tensor(bound[name])}))
    known = seen.setdefault(function.__name__, set())
    if key in known:
        return
    known.add(key)
    parsed, signature, constexprs, attrs = function._pack_args(
        BACKEND, options, bound, specialization, options
    )
    source = ASTSource(function, signature, constexprs, attrs)
    if len(known) == 1:
        compile(source, target=TARGET, options=parsed.__dict__)
    else:
        ttir(source, parsed)


def ttir(source: Any, options: Any) -> None:
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    BACKEND.load_dialects(context)
    codegen = BACKEND.get_codegen_implementation(options)
    module = source.make_ir(TARGET, options, codegen, BACKEND.get_module_map(), context)
    BACKEND.make_ttir(module, {}, options, 90)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        jit.JITFunction,
        "run",
        lambda self, *args, grid, warmup, **options: compiled(self, args, options),
    )
    launcher = next(module for name, module in sys.modules.items() if name.endswith("._triton"))
    kernel = launcher.kernel
    point_of, ready = kernel.point, kernel.ready

    def noted(self: Any, row: Any) -> Any:
        try:
            return point_of(self, row)
        except ValueError as error:
            refused.append(str(error))
            raise

    def every_point(self: Any, passed: Any, options: Any, *given: Any) -> Any:
        points = [point for points, _ in self.sweeps.values() for point in points] or self.points
        for point in points:
            try:
                ready(self, *point, *given)()
            except Exception as error:
                refused.append(f"{self.source.function.__name__}: {point}: {error}")
                raise
        return lambda: None

    monkeypatch.setattr(kernel, "point", noted)
    monkeypatch.setattr(kernel, "ready", every_point)
    monkeypatch.setattr(torch.testing, "assert_close", lambda *given, **named: None)
    monkeypatch.setattr(torch, "equal", lambda *given: True)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    made = yield
    if fixturedef.argname == "large":

        def sizes(small: Any, large: Any) -> Any:
            return large

        fixturedef.cached_result = (sizes, *fixturedef.cached_result[1:])
        return sizes
    return made


def pytest_unconfigure() -> None:
    """Say what was refused; the file is named by the one who runs this."""
    Path(os.environ["REFUSED"]).write_text(json.dumps(refused))
