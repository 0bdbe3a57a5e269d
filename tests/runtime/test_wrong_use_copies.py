"""Kernels copied and pickled: they work, and a pickle of another version is read or refused, never misread."""

from __future__ import annotations

import base64
import copy
import math
import pickle
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime import pickled
from pytriton.runtime.kernel import unpickled
from pytriton.runtime.options.defines import Config

TEXT = """\
__global__ void first(float* z, int n) { *z = n; }
__global__ void scale(TYPE* z, TYPE* x, int n __retune) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(x + r) * FACTOR;
}
"""
TABLE = """\
char __constant__* table = calloc(64);
__global__ void look(int* z, int* x) { *z = *((int*)table + *x); }
"""


def triple(arguments: dict[str, Any]) -> int:
    return 3 if arguments["n"] > 2 else 1


def scaling() -> Any:
    """A kernel with all that a constructor can be given."""
    return pytriton.kernel(
        TEXT,
        "cpu",
        {"TYPE": torch.float32, "TILE": [16, 32], "UNUSED": [True, 1, 1.0, "1"]},
        autotune_configs=[pytriton.config({"TILE": "16"}, 2), ({"TILE": 32}, 8)],
        autotune_key=["n"],
        outputs=["z"],
        kernel="scale",
        name="scale.c",
        heuristics={"FACTOR": triple},
        tune_budget=2.5,
        precision=["ieee", "bf16x6"],
    )


def works(kernel: Any, factor: int = 3) -> None:
    x, z = torch.tensor([1.0, -2.5, math.inf, 4.0, 9.0]), torch.full((5,), 7.0)
    kernel(z, x, 4, grid=lambda opt: (pytriton.cdiv(4, opt.TILE),))
    assert z.tolist() == [factor, -2.5 * factor, math.inf, 4 * factor, 7]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled(protocol: int) -> None:
    kernel = scaling()
    assert repr(kernel).startswith("<pytriton.kernel scale(...), TYPE=torch.float32, TILE=[16, 32], ")
    works(kernel)
    other = pickle.loads(pickle.dumps(kernel, protocol))
    works(other)
    assert other is not kernel
    assert other.source({"FACTOR": 2}) == kernel.source({"FACTOR": 2})
    assert repr(other) == repr(kernel)
    assert other._definition.configs({}, None, None) == kernel._definition.configs({}, None, None)
    assert other._definition.settings == kernel._definition.settings
    assert pickle.dumps(other, protocol) == pickle.dumps(kernel, protocol)


def test_pickled_before_all_defines_are_known() -> None:
    works(
        pickle.loads(
            pickle.dumps(pytriton.kernel(TEXT, {"TYPE": "float", "TILE": 8, "FACTOR": 3}, kernel="scale"))
        )
    )
    bare = pickle.loads(pickle.dumps(pytriton.kernel(TEXT, kernel="scale")))
    with pytest.raises(pytriton.CompileError, match="TYPE"):
        bare(None, None, 4, grid=1)
    x, z = torch.arange(4.0), torch.zeros(4)
    bare(z, x, 4, grid=1, defines={"TYPE": torch.float32, "TILE": 4, "FACTOR": 2})
    assert torch.equal(z, 2 * x)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_share_the_kernel(duplicate: Any) -> None:
    """As copies of a module share a function: what was translated and tuned stays known."""

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kernel = scaling()
            self.weight = torch.nn.Parameter(torch.ones(2))

    layer = Layer()
    other = duplicate(layer)
    assert other.kernel is layer.kernel
    works(other.kernel)
    works(pickle.loads(pickle.dumps(layer.kernel)))


def test_constant_buffers_travel() -> None:
    kernel = pytriton.kernel(TABLE)
    kernel.set_constant("table", numpy.arange(16, dtype=numpy.int32) * 11)
    kernel.set_constant("cpu", "table", numpy.array([5], dtype=numpy.int32))
    other = pickle.loads(pickle.dumps(kernel))
    kernel.set_constant("table", numpy.zeros(16, dtype=numpy.int32))
    for at, wanted in ((0, 5), (1, 11), (15, 165)):
        z = torch.zeros(1, dtype=torch.int32)
        other(z, torch.tensor([at], dtype=torch.int32), grid=1)
        assert z.item() == wanted
    other.set_constant("table", numpy.array([7, 8], dtype=numpy.int32))
    for at, wanted in ((0, 7), (1, 8), (15, 165)):
        other(z, torch.tensor([at], dtype=torch.int32), grid=1)
        assert z.item() == wanted


def test_a_buffer_of_a_gpu_that_is_not_here() -> None:
    """It waits for a call on that GPU, and does not stop the others."""
    kernel = pytriton.kernel(TABLE)
    state = kernel.__reduce__()[1][0]
    state["constants"] = {"everywhere": {}, "on": [("table", 7, bytes([1, 0, 0, 0] * 16))]}
    other = pickle.loads(pickle.dumps(unpickled(state)))
    other.set_constant("table", numpy.array([3], dtype=numpy.int32))
    z = torch.zeros(1, dtype=torch.int32)
    other(z, torch.zeros(1, dtype=torch.int32), grid=1)
    assert z.item() == 3
    (entry,) = other.__reduce__()[1][0]["constants"]["on"][:1]
    assert entry == ("table", 7, bytes([3, 0, 0, 0] + [1, 0, 0, 0] * 15))


def test_heuristics_that_cannot_be_pickled() -> None:
    """A lambda is the user's; pickle itself says so."""
    kernel = pytriton.kernel(
        TEXT, {"TYPE": "float", "TILE": 8}, kernel="scale", heuristics={"FACTOR": lambda a: 3}
    )
    works(kernel)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(kernel)


# What version 0.1.0 wrote on 2026-11-21 for the kernel of `recorded`, with protocol 4.
RECORDED = """\
gASV9gIAAAAAAACMF3B5dHJpdG9uLnJ1bnRpbWUua2VybmVslIwJdW5waWNrbGVklJOUfZQojAZmb3JtYXSUSwGMB3ZlcnNpb26UjAUwLjEu
MJSMBnNvdXJjZZRdlChYOwEAAGNoYXIgX19jb25zdGFudF9fKiB0YWJsZSA9IGNhbGxvYyg2NCk7Cl9fZ2xvYmFsX18gdm9pZCBsb29rKGlu
dCogeiwgaW50KiB4KSB7ICp6ID0gKigoaW50Kil0YWJsZSArICp4KTsgfQpfX2dsb2JhbF9fIHZvaWQgZmlyc3QoZmxvYXQqIHosIGludCBu
KSB7ICp6ID0gbjsgfQpfX2dsb2JhbF9fIHZvaWQgc2NhbGUoVFlQRSogeiwgVFlQRSogeCwgaW50IG4gX19yZXR1bmUpIHsKICBpbnQgcltU
SUxFXSA9IGdldF9wcm9ncmFtX2lkKDApICogVElMRSArIDAgLi4uIFRJTEU7CiAgKj8ociA8IG4pKHogKyByKSA9ICo/KHIgPCBuKSh4ICsg
cikgKiAzOwp9CpSMCDxrZXJuZWw+lIwcdGVzdF93cm9uZ191c2VfY29waWVzLnB5OjE0N5RljAR0ZXh0lF2UKIwFc2NhbGWUXZSJZYwHZGVm
aW5lc5R9lCiMBFRZUEWUjAV0b3JjaJSMB2Zsb2F0MzKUk5SMBE1PREWUjANhIGKUdYwJbnVtX3dhcnBzlE6MCm51bV9zdGFnZXOUTowGcG9p
bnRzlF2UKH2UKGgQfZSMBFRJTEWUSxBzaBhLAnV9lChoEH2UaB6MAjMylHNoGEsIaBlLA3VljAhzZXR0aW5nc5R9lCiMBmRldmljZZSMBmN1
ZGE6MZSMCXByZWNpc2lvbpSMBnRmMzJ4M5R1jAdvdXRwdXRzlF2UjApoZXVyaXN0aWNzlE6MCWNvbnN0YW50c5R9lCiMCmV2ZXJ5d2hlcmWU
fZSMBXRhYmxllEMMAAAAAAEAAAACAAAAlHOMAm9ulF2UdXWFlFKULg==
"""


def recorded() -> Any:
    points = [pytriton.config({"TILE": 16}, 2), Config({"TILE": "32"}, 8, 3)]
    kernel = pytriton.kernel(
        TABLE + TEXT.replace("FACTOR", "3"),
        "cuda:1",
        {"TYPE": torch.float32, "MODE": "a b"},
        autotune_configs=points,
        kernel="scale",
        precision="tf32x3",
    )
    kernel.set_constant("table", numpy.arange(3, dtype=numpy.int32))
    return kernel


def test_what_an_older_version_pickled_is_read() -> None:
    """If this fails, the form of the data has changed: read the old one too, or count FORMAT up."""
    kernel = pickle.loads(base64.b64decode(RECORDED))
    wanted = recorded()
    assert kernel._definition.settings == wanted._definition.settings
    assert kernel._definition.configs({}, None, None) == wanted._definition.configs({}, None, None)
    assert kernel._common.constants.state() == wanted._common.constants.state()
    assert kernel.source() == wanted.source()
    works(kernel)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "its format is 2"),
        ({"points": [{"cluster": 4}]}, "'cluster'"),
        ({"settings": {"unheard_of": 1}}, "'unheard_of'"),
        ({"source": ["one"], "text": []}, "unpack"),
    ],
)
def test_what_a_newer_version_pickled_is_refused(change: dict[str, Any], said: str) -> None:
    state = {**scaling().__reduce__()[1][0], "version": "99.1", **change}
    with pytest.raises(LaunchError) as caught:
        unpickled(state)
    first, help_ = str(caught.value).splitlines()
    assert first.startswith("a kernel that pytriton 99.1 pickled cannot be read: ")
    assert first.endswith("[TC522]")
    assert said in first
    assert help_.startswith(f"help: this is pytriton {pytriton.__version__}: ")


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda config: pickle.loads(pickle.dumps(config))]
)
def test_configs(again: Any) -> None:
    """What tuning chose can be kept by the user, too."""
    config = Config(
        {"TILE": 16, "TYPE": torch.half, "MODE": "a b"}, 8, 3, "tf32", swizzle=8, descriptors=True
    )
    other = again(config)
    assert other == config
    assert repr(other) == repr(config)


def test_more_than_is_known_is_no_harm() -> None:
    """A newer version may tell more, as long as it keeps the format."""
    state = {**scaling().__reduce__()[1][0], "remark": "hello"}
    works(unpickled(state))
    assert pickled.FORMAT == 1
