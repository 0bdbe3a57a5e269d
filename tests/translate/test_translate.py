"""Each translation compiles for all targets, and computes what its case says (``cases.py``)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import pytriton
from pytriton.lang.tree.types import INT
from pytriton.runtime.compile.load import load as loaded
from pytriton.runtime.compile.specialize import common_specialization, specialize
from pytriton.runtime.interpret.interpreter import Interpreted
from tests.conversions.c_types import TORCH
from tests.translate.cases import CASES, load, runs, text, translated

TRITON = ".".join(version("triton").split(".")[:2])


def kernel_of(case: str) -> pytriton.Kernel:
    """The kernel object of a case."""
    data = load(case)
    return pytriton.kernel(
        text(case),
        name="kernel.c",
        kernel=data.get("kernel"),
        strict_literals=data.get("strict_literals", False),
        fast_math=data.get("fast_math", False),
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(12)
def test_compiles(case: str, compile_targets: tuple[str, ...]) -> None:
    data = load(case)
    kernel = kernel_of(case)
    for target in compile_targets:
        if {target, f"{target} {TRITON}"} & set(data.get("not_on", ())):
            continue
        mode = "amdgcn" if target.startswith("hip") else "ptx"
        assert kernel.asm(mode, target=target, defines=data.get("defines"))


def namespace() -> dict[str, Any]:
    """What the expressions of a case may use."""
    generator = torch.Generator().manual_seed(20)
    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def ints(low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=generator, dtype=torch.int32)

    def special(*shape: int) -> torch.Tensor:
        values = normal(*shape).flatten()
        for index, value in enumerate((float("nan"), float("inf"), -float("inf"), 0.0, -0.0)):
            values[index :: max(7, values.numel() // 5)] = value
        return values.reshape(*shape)

    return names | {"normal": normal, "ints": ints, "special": special, "torch": torch}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.sampled(3)
def test_computes(case: str, device: str) -> None:
    data = load(case)
    if f"{device} {TRITON}" in data.get("not_on", ()):
        pytest.skip(f"Triton {TRITON}'s interpreter stops: case.toml says at what")
    for run in runs(data):
        compute(case, data, run, device)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(9)
def test_ones_are_constants(case: str) -> None:
    """The same where the caller is ``@triton.jit``, which makes a constant of an int that is 1."""
    data, translation = load(case), translated(case)
    if translation.buffers or f"cpu {TRITON}" in data.get("not_on", ()):
        return
    module = loaded(translation.function, translation.text)
    kernel = Interpreted(module, translation.parameters, translation.constexprs, ones=True)
    for run in runs(data):
        arguments, expected = evaluated(run)
        values = [one.data_ptr() if isinstance(one, torch.Tensor) else one or 0 for one in arguments.values()]
        pairs = zip(translation.parameters, values, strict=True)
        ones = [place for place, (one, value) in enumerate(pairs) if one.type == INT and value == 1]
        if not ones:
            continue
        x, y, z = (*run["grid"], 1, 1)[:3]
        kernel.run((x, y, z), values)
        equal(case, run, arguments, expected)
        assert compiled_with_ones(module.compiled, translation, ones)


def compiled_with_ones(function: Any, translation: pytriton.Translation, ones: list[int]) -> Any:
    """What Triton makes of a kernel with the constant 1 for those parameters."""
    specialization = common_specialization(translation.parameters)
    known = specialize(translation.parameters, translation.constexprs, specialization, function.arg_names)
    names = [function.arg_names[place] for place in ones]
    source = ASTSource(
        fn=function,
        signature=known["signature"] | dict.fromkeys(names, "constexpr"),
        constexprs=known["constexprs"] | {(place,): 1 for place in ones},
        attrs={place: found for place, found in known["attrs"].items() if place[0] not in ones},
    )
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


class Moved:
    """Tensors on a device; those that share memory share it there."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.bytes: dict[int, torch.Tensor] = {}

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.bytes:
            whole = torch.empty(0, dtype=torch.uint8).set_(storage)
            self.bytes[storage.data_ptr()] = whole.to(self.device)
        there = torch.empty(0, dtype=tensor.dtype, device=self.device)
        memory = self.bytes[storage.data_ptr()].untyped_storage()
        return there.set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())


def compute(case: str, data: dict[str, Any], run: dict[str, Any], device: str) -> None:
    """Run a case once and compare what it wrote."""
    arguments, expected = evaluated(run)
    moved = Moved(device)
    passed = {
        name: moved(value) if isinstance(value, torch.Tensor) else value for name, value in arguments.items()
    }
    kernel = kernel_of(case)
    kernel(*passed.values(), grid=tuple(run["grid"]), defines=data.get("defines", {}))
    equal(case, run, passed, expected)


def evaluated(run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The arguments of a run, and what is expected of them."""
    names = namespace() | {name: TORCH.get(value, value) for name, value in run.get("defines", {}).items()}
    arguments: dict[str, Any] = {}
    for name, expression in run["args"].items():
        arguments[name] = eval(expression, names | arguments)
    return arguments, {name: eval(text, names | arguments) for name, text in run["expect"].items()}


def equal(case: str, run: dict[str, Any], passed: dict[str, Any], expected: dict[str, torch.Tensor]) -> None:
    """Compare what a run wrote."""
    for name, value in expected.items():
        got = passed[name].cpu()
        want = value.to(got.dtype) if value.dtype != got.dtype else value
        torch.testing.assert_close(
            got,
            want.expand_as(got),
            rtol=run.get("rtol", 0),
            atol=run.get("atol", 0),
            equal_nan=True,
            msg=lambda text, name=name: f"{case}: {name}: {text}",
        )
