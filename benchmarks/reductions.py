"""Rows: kernels that reduce. Softmax, layer norm, cross-entropy and batch norm of `examples/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks import handwritten
from benchmarks.measure import Contender, Result, Row, Settings, ours
from benchmarks.tuned import Tuned, by_hand, points

import batch_norm as norm_of_batch  # isort: skip  (examples/, on the path by measure.py)
import cross_entropy as entropy  # isort: skip
import cross_entropy_logsum as three_passes  # isort: skip
import layer_norm as norm_of_rows  # isort: skip
import softmax as rowwise  # isort: skip

import pytriton


def warps_for(settings: Settings, n: int) -> list[int]:
    """What both sides try for a row of n elements a program: at most 128 elements a thread."""
    return [4] if settings.smoke else [warps for warps in (1, 2, 4, 8, 16) if n <= warps * 4096]


def softmax(settings: Settings) -> Iterator[Row]:
    """4096 rows of float; one row a program."""
    rows = 8 if settings.smoke else 4096
    for n in settings.sizes([512, 1024, 2048, 4096, 8192, 16384], [1024, 4096, 16384], [48]):
        x = torch.randn(rows, n, device=settings.device)
        out, by = torch.empty_like(x), torch.empty_like(x)
        block, warps = pytriton.next_power_of_2(n), warps_for(settings, n)
        defines = {**rowwise.types(x.dtype), "TN": block}

        def call(out: Any = out, x: Any = x, n: int = n, defines: Any = defines, warps: Any = warps) -> None:
            rowwise.forward_kernel(out, x, n, n, grid=(len(x),), defines=defines, num_warps=warps)

        hand = Tuned(
            handwritten.softmax, points(TN=block, num_warps=warps), lambda _: (rows,), by, x, n, x.stride(0)
        )
        contenders = [
            ours(rowwise.forward_kernel, call, out),
            by_hand(hand, by, 0.97),
            Contender("torch.softmax", lambda x=x: torch.softmax(x, 1), 0.97),
        ]
        want = x.double().softmax(1).float()
        yield Row("softmax", f"{rows} x {n} float", contenders, want, 1e-6, 2 * x.nbytes, "GB/s")


def layer_norm(settings: Settings) -> Iterator[Row]:
    """Forward of half rows, as `LayerNorm.forward` launches it."""
    rows = 8 if settings.smoke else 4096
    compiled = settings.compiled(lambda x, gamma, beta: F.layer_norm(x, x.shape[1:], gamma, beta))
    for n in settings.sizes([1024, 4096, 8192], [4096], [200]):
        x = torch.randn(rows, n, device=settings.device).half()
        gamma, beta = torch.randn(2, n, device=settings.device).half()
        out = torch.empty_like(x)
        mean, rstd = torch.empty((2, rows), device=settings.device)

        def call(tensors: Any = (x, out, gamma, beta, mean, rstd), n: int = n) -> None:
            norm_of_rows.forward_kernel(
                *(*tensors, n, 1e-5),
                grid=(rows,),
                defines=norm_of_rows.defines(tensors[0]),
                num_warps=warps_for(settings, n),
            )

        operands = (x, gamma, beta)
        want = F.layer_norm(x.double(), (n,), gamma.double(), beta.double()).float()
        contenders = [
            ours(norm_of_rows.forward_kernel, call, out),
            Contender("torch eager", lambda o=operands, n=n: F.layer_norm(o[0], (n,), *o[1:])),
            Contender("torch.compile", lambda o=operands: compiled(*o)),
        ]
        yield Row("layer norm", f"{rows} x {n} half", contenders, want, 2e-3, 2 * x.nbytes, "GB/s")


def cross_entropy(settings: Settings) -> Iterator[Row]:
    """Forward and backward: that is how many passes over the scores a training step pays.

    Speeds count four passes for all, so that they compare; the texts of `cross_entropy_logsum` and torch.compile
    need three.
    """
    rows = 8 if settings.smoke else 4096
    launch: dict[str, Any] = {"num_warps": 8 if settings.smoke else [8, 16, 32]}
    for n in settings.sizes([8192, 30_000], [30_000], [300]):
        x = torch.randn(rows, n, device=settings.device, requires_grad=True)
        label = torch.randint(n, (rows,), device=settings.device)
        dloss, logsum = torch.randn(2, rows, device=settings.device)
        buffer, loss = torch.empty_like(x), torch.empty_like(dloss)

        def in_place(tensors: Any = (buffer, label, loss, dloss), n: int = n) -> None:
            # timing runs the same passes on what the last run left
            scores, label, loss, dloss = tensors
            defines = entropy.defines(scores)
            entropy.forward_kernel(scores, scores, label, loss, n, grid=(rows,), defines=defines, **launch)
            entropy.backward_kernel(scores, label, dloss, n, grid=(rows,), defines=defines, **launch)

        def out_of_place(tensors: Any = (x, label, loss, logsum, dloss, buffer), n: int = n) -> None:
            scores, label, loss, logsum, dloss, dx = tensors
            scores = scores.detach()
            defines, grid = three_passes.defines(scores), (rows,)
            three_passes.forward_kernel(scores, label, loss, logsum, n, grid=grid, defines=defines, **launch)
            three_passes.backward_kernel(
                scores, label, logsum, dloss, dx, n, grid=grid, defines=defines, **launch
            )

        results = (loss.detach(), buffer.detach())
        exact = x.detach().double().requires_grad_()
        want = _loss_and_gradient(_losses, exact, label, dloss.double())
        theirs = []
        for name, losses in (("torch eager", _losses), ("torch.compile", settings.compiled(_losses))):
            operands = (losses, x, label, dloss)
            theirs.append(Contender(name, lambda o=operands: _loss_and_gradient(*o)))
        case = f"{rows} x {n} float, with gradient"
        mine = ours(entropy.forward_kernel, in_place, results)
        mine.reset = lambda buffer=buffer, x=x: buffer.copy_(x.detach())
        yield Row("cross-entropy", f"{case}, in place", [mine, *theirs], want, 1e-5, 4 * x.nbytes, "GB/s")
        mine = ours(three_passes.forward_kernel, out_of_place, results)
        yield Row("cross-entropy", f"{case}, three passes", [mine, *theirs], want, 1e-5, 4 * x.nbytes, "GB/s")
        del x, buffer, exact, want, theirs, mine


def _losses(x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, label, reduction="none")


def _loss_and_gradient(losses: Any, x: torch.Tensor, label: torch.Tensor, dloss: torch.Tensor) -> Result:
    loss = losses(x, label)
    return loss.detach(), torch.autograd.grad(loss, x, dloss)[0]


def batch_norm(settings: Settings) -> Iterator[Row]:
    """Forward in training mode. A program has a whole channel, so long tiles keep more loads in flight."""
    shape = settings.sizes([(64, 128, 56, 56)], [(64, 128, 56, 56)], [(3, 4, 5, 6)])[0]
    launch: dict[str, Any] = {"num_warps": 4 if settings.smoke else [8, 16]}
    tiles = [256] if settings.smoke else [2048, 4096, 8192]
    x = torch.randn(shape, device=settings.device)
    gamma, beta = torch.randn(2, shape[1], device=settings.device)
    out = torch.empty_like(x)
    mean, rstd = torch.empty((2, shape[1]), device=settings.device)

    def call() -> None:
        norm_of_batch.forward_kernel(
            *(x, out, mean, rstd, gamma, beta, shape[0], shape[2] * shape[3], 1e-5),
            grid=(shape[1],),
            defines={"TYPE": x.dtype, "TM": tiles},
            **launch,
        )

    def theirs(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        return F.batch_norm(x, None, None, gamma, beta, training=True)

    compiled = settings.compiled(theirs)
    contenders = [
        ours(norm_of_batch.forward_kernel, call, out, ["TM"]),
        Contender("torch eager", lambda: theirs(x, gamma, beta)),
        Contender("torch.compile", lambda: compiled(x, gamma, beta)),
    ]
    want = theirs(x.double(), gamma.double(), beta.double()).float()
    # it must be read twice: the mean of a channel is known at its end
    yield Row("batch norm", f"{shape} float", contenders, want, 1e-5, 3 * x.nbytes, "GB/s")
