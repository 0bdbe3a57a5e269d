"""One rank of a test: ``python -m tests.tuning.ranks WHAT RANK RANKS DIRECTORY``; prints what it found as
JSON. WHAT is one program or several.

Each rank has a cache directory of its own, as on machines of their own, with times by which it would choose
another point than the others. Where there is no GPU the device is made up, but not the compiler: kernels are
compiled for sm_90 and never launched.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed

import pytriton
from pytriton.runtime.compile.compiler import parse_target
from pytriton.runtime.options.defines import Config
from pytriton.tuning.measure import TunedCall
from pytriton.tuning.record import Question, Timing, agreed, code_of, keep
from pytriton.tuning.translated_config import TranslatedConfig
from pytriton.tuning.tuner import Tuner

SCALE = """\
__global__ void scale(float *y, float *x, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n) (y + i) = 2 * *?(i < n) (x + i);
}
"""
Report = dict[str, Any]


def blocks(n: int) -> Callable[[Any], tuple[int]]:
    return lambda opt: (pytriton.cdiv(n, opt.TILE),)


def on_no_gpu() -> None:
    """A device 0 as far as choosing goes."""
    properties = SimpleNamespace(name=f"GPU of rank {torch.distributed.get_rank()}", multi_processor_count=1)
    torch.cuda.get_device_properties = lambda _: properties  # type: ignore[assignment]
    torch.cuda.is_current_stream_capturing = lambda: False
    TranslatedConfig.kernel_on = lambda self, device, specialization: self.compile_for(  # type: ignore[method-assign]
        specialization, parse_target("cuda:90")
    )


def tuner_of(kernel: Any) -> Tuner:
    tuner: Tuner = kernel._plan((), None, None, None)._tuner
    return tuner


def question_of(tuner: Tuner, n: int, arguments: Sequence[Any]) -> Question:
    question = tuner._question((0, n), TunedCall(0, arguments, None, tuner._constants, tuner._bind))
    assert question is not None
    return question


def record(tuner: Tuner, question: Question, times: Mapping[Config, float]) -> Config:
    """Leave these times for this rank alone; gives its choice."""
    code = {config: code_of(tuner._sweep.candidate(config).translation.text) for config in times}
    best = min(times, key=times.__getitem__)
    found = {config: Timing(time, code[config]) for config, time in times.items()}
    keep(question, found, tuner._sweep.configs, [best])
    return best


def from_records(rank: int) -> Report:
    """Every rank finds times on its disk, of another order than those of the others."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        on_no_gpu()
    kernel = pytriton.kernel(SCALE, {"TILE": [32, 64, 128]}, [1, 2])
    tuner = tuner_of(kernel)
    found: Report = {"local": [], "records": []}
    for n in (100, 200):
        arguments = [torch.ones(n, device=device), torch.ones(n, device=device), n]
        points = tuner._sweep.every_point()
        times = {point: 1.0 + (at * 5 + rank * 3 + n) % len(points) for at, point in enumerate(points)}
        local = record(tuner, question_of(tuner, n, arguments), times)
        torch.distributed.barrier()
        if device == "cuda":
            kernel(*arguments, grid=blocks(n))
            assert torch.equal(arguments[0], 2 * arguments[1])
            chosen = kernel.best_config
        else:
            candidate = tuner.choose((0, n), 0, arguments, (1,))
            assert candidate is not None
            chosen = candidate.config
        found["local"].append(repr(local))
        found["records"].append(repr(chosen))
    return found


def late(rank: int) -> Report:
    """A rank that comes when others have chosen measures nothing: it could not, without a GPU."""
    if rank == 0:
        return from_records(rank) | dict.fromkeys(["waited"], torch.distributed.barrier() is None)
    torch.distributed.barrier()
    torch.distributed.barrier()
    torch.distributed.barrier()
    on_no_gpu()
    tuner = tuner_of(pytriton.kernel(SCALE, {"TILE": [32, 64, 128]}, [1, 2]))
    chosen = [tuner.choose((0, n), 0, [torch.ones(n), torch.ones(n), n], (1,)) for n in (100, 200)]
    return {"late": [repr(one.config) for one in chosen if one is not None]}


def by_store(rank: int) -> Report:
    """The agreement itself, for many questions, every rank with a choice of its own."""
    points = [Config({"TILE": 32 * (at + 1)}, 4) for at in range(8)]
    asked = [Question("k", "text", {}, f"GPU {rank}", {"n": n}, "abc"[rank % 3]) for n in range(50)]
    before = [repr(agreed(question, points)) for question in asked[:1]]
    torch.distributed.barrier()
    chosen = [repr(agreed(question, points, points[(at + rank) % 8])) for at, question in enumerate(asked)]
    torch.distributed.barrier()
    again = [repr(agreed(question, points)) for question in asked]
    other = repr(agreed(asked[0], points[1:]))  # another sweep of the same kernel
    return {"before": before, "chosen": chosen, "again": again, "other": other}


def measured(rank: int) -> Report:
    """On a GPU, with nothing known: both ranks measure points that are nearly tied."""
    torch.cuda.set_device(rank % torch.cuda.device_count())
    kernel = pytriton.kernel(SCALE, {"TILE": [128, 256, 512, 1024]}, [1, 2, 4])
    chosen = []
    for n in (1000, 5000, 70_000):
        x = torch.randn(n, device="cuda")
        y = torch.empty_like(x)
        torch.distributed.barrier()
        kernel(y, x, n, grid=blocks(n))
        assert torch.equal(y, 2 * x)
        chosen.append(repr(kernel.best_config))
    compiled = torch.compile(lambda x: doubled(kernel, x), fullgraph=True)
    x = torch.randn(300, device="cuda")
    torch.testing.assert_close(compiled(x), 2 * x)
    return {
        "chosen": [*chosen, repr(kernel.traced_plan(kernel._definition.configs({}, None, None)).best_config)]
    }


def doubled(kernel: Any, x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    n = x.numel()
    kernel(y, x, n, grid=blocks(n))
    return y


PROGRAMS: dict[str, Callable[[int], Report]] = {
    "from_records": from_records,
    "late": late,
    "by_store": by_store,
    "measured": measured,
}


def join(rank: int, ranks: int, directory: Path) -> None:
    """A process group whose store is a server in rank 0, as usual; the port goes through a file."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    place = directory / "port"
    if rank == 0:
        store = torch.distributed.TCPStore("127.0.0.1", 0, ranks, True, wait_for_workers=False)
        place.with_suffix(".part").write_text(str(store.port))
        place.with_suffix(".part").rename(place)
    else:
        while not place.exists():
            time.sleep(0.05)
        store = torch.distributed.TCPStore("127.0.0.1", int(place.read_text()), ranks, False)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=ranks)


def main(program: str, rank: str, ranks: str, directory: str) -> None:
    join(int(rank), int(ranks), Path(directory))
    found: Report = {}
    for name in program.split():
        found |= PROGRAMS[name](int(rank))
    print(json.dumps(found), flush=True)
    torch.distributed.barrier()  # rank 0 keeps the store, so it ends last
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
