"""The programs of this folder on a GPU: in float and half against double on the CPU.

Without pytest: ``PYTHONPATH=. python tests/gradient/test_gpu.py [all]``, else without functions of single elements.
"""

from __future__ import annotations

import sys

import pytest
import torch

import pytriton
from tests.gradient.programs import PROGRAMS, Launch
from tests.gradient.test_precision import NARROW, WIDE_ONLY

pytestmark = pytest.mark.gpu

_standardized = PROGRAMS["held_statistics"].kernel(torch.float)


@pytriton.op("gradient_gpu::standardized", gradient=True)
def standardized(x: torch.Tensor) -> torch.Tensor:
    y, mean, scale = torch.empty_like(x), x.new_empty(x.shape[0]), x.new_empty(x.shape[0])
    _standardized(x, y, mean, scale, x.shape[1], 1e-3, grid=(x.shape[0],))
    return y


CASES = [(n, d) for n in PROGRAMS for d in NARROW if not (d == torch.half and n in WIDE_ONLY)]


def difference(name: str, dtype: torch.dtype, device: str) -> float:
    """The largest error of a gradient, beside the largest element."""
    program = PROGRAMS[name]
    made = []
    for each, where in ((dtype, device), (torch.double, "cpu")):
        tensors = {key: tensor.to(where) for key, tensor in program.tensors(each).items()}
        generator = torch.Generator().manual_seed(1)
        flowing = {
            out: torch.randn(tensors[out].shape, generator=generator).half().to(where, each)
            for out in program.outputs
        }
        launch = Launch(program, each)
        made.append({key: value.cpu().double() for key, value in launch.backward(tensors, flowing).items()})
    return max(
        float((made[0][key] - wanted).abs().max()) / max(1.0, float(wanted.abs().max()))
        for key, wanted in made[1].items()
    )


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_against_double(name: str, dtype: torch.dtype) -> None:
    assert difference(name, dtype, "cuda") <= NARROW[dtype]


@pytest.mark.parametrize("name", ["online", "checkpoints", "channels", "matmul", "gather", "held_statistics"])
def test_in_a_cuda_graph(name: str) -> None:
    """A backward that was captured computes with what is in the tensors when it is replayed."""
    launch, program = Launch(PROGRAMS[name], torch.float), PROGRAMS[name]
    given = {key: tensor.cuda() for key, tensor in program.tensors(torch.float).items()}
    given |= launch.forward(given)
    flowing = {out: torch.randn_like(given[out]) for out in program.outputs}

    def backward() -> dict[str, torch.Tensor]:
        made: dict[str, torch.Tensor] = launch.gradient(
            *launch.arguments(given), grid=program.grid, d_outputs=flowing
        )
        return made

    backward()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = backward()
    for tensor in [*flowing.values(), *(given[key] for key in launch.gradient.inputs)]:
        tensor.copy_(torch.randn_like(tensor).abs() + 0.1)
    for key, tensor in launch.forward(given).items():
        given[key].copy_(tensor)
    graph.replay()
    for key, wanted in backward().items():
        torch.testing.assert_close(made[key], wanted)


def test_operators_in_a_cuda_graph() -> None:
    """Forward and derived backward of an operator, captured together."""
    x = torch.randn(4, 700, device="cuda", requires_grad=True)
    flow = torch.randn(4, 700, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch.autograd.grad(standardized(x), x, flow)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (made,) = torch.autograd.grad(standardized(x), x, flow)
    with torch.no_grad():
        x.normal_()
    graph.replay()
    wanted = torch.nn.functional.layer_norm(x, (700,), eps=1e-3)
    torch.testing.assert_close(made, torch.autograd.grad(wanted, x, flow)[0], atol=1e-5, rtol=1e-4)


if __name__ == "__main__":
    wrong = 0
    chosen = [case for case in CASES if "px" not in PROGRAMS[case[0]].shapes or "all" in sys.argv]
    for name, dtype in chosen:
        try:
            off = difference(name, dtype, "cuda")
            fine = off <= NARROW[dtype]
            said = f"{off:.1e}"
        except Exception as error:  # told, and the others run
            fine, said = False, f"{type(error).__name__}: {str(error)[:300]}"
        wrong += not fine
        if not fine:
            print(f"{name:20} {str(dtype)[6:]:8} {said}  <-- WRONG", flush=True)
    print(f"{len(chosen)} cases on a GPU, {wrong} wrong")
