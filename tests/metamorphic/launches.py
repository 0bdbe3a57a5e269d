"""What the programs in examples/ launch: their wrappers are run on the CPU at small sizes, and each launch is kept.

A ``Taken`` launch holds the text, its defines, the grid, the memory before and the memory after; ``again`` runs
another text on the memory before. The sizes give loops of no, one and several turns, and ragged ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch

import pytriton
from pytriton.runtime.options.defines import Options

__all__ = ["PROGRAMS", "Taken", "launches"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A tensor argument: a storage, and how it is seen."""

    storage: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """One launch."""

    text: str
    kernel: str | None
    defines: dict[str, object]
    arguments: tuple[Any, ...]
    grid: tuple[int, ...]
    before: tuple[torch.Tensor, ...]
    after: tuple[torch.Tensor, ...]

    def again(self, text: str, defines: Mapping[str, object], kernel: str | None) -> tuple[torch.Tensor, ...]:
        """The bytes that another text leaves."""
        raws = [raw.clone() for raw in self.before]
        passed = [
            raws[a.storage].view(a.dtype).as_strided(a.shape, a.strides, a.offset)
            if isinstance(a, View)
            else a
            for a in self.arguments
        ]
        pytriton.kernel(text, defines=dict(defines), kernel=kernel)(*passed, grid=self.grid)
        return tuple(raws)


@contextmanager
def _recorded(into: list[Taken]) -> Iterator[None]:
    """Inside, launches are kept."""
    real = pytriton.Kernel.__call__

    def call(self: pytriton.Kernel, *arguments: Any, grid: Any, **keywords: Any) -> Any:
        raws: dict[int, torch.Tensor] = {}
        passed = []
        for argument in arguments:
            if not isinstance(argument, torch.Tensor) or not argument.numel():
                passed.append(None if isinstance(argument, torch.Tensor) else argument)
                continue
            storage = argument.untyped_storage()
            raws.setdefault(storage.data_ptr(), torch.tensor([], dtype=torch.uint8).set_(storage))
            place = list(raws).index(storage.data_ptr())
            shape, strides = tuple(argument.shape), tuple(argument.stride())
            passed.append(View(place, argument.dtype, shape, strides, argument.storage_offset()))
        before = tuple(raw.clone() for raw in raws.values())
        result = real(self, *arguments, grid=grid, **keywords)
        config = self.best_config
        assert config is not None
        extent = grid(Options(config)) if callable(grid) else grid
        after = tuple(raw.clone() for raw in raws.values())
        text, name = self._definition.text.source.text, self._definition.text.settings.kernel
        into.append(Taken(text, name, dict(config.defines), tuple(passed), tuple(extent), before, after))
        return result

    pytriton.Kernel.__call__ = call  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        pytriton.Kernel.__call__ = real  # type: ignore[method-assign]


def launches(program: str) -> list[Taken]:
    """The launches of one program in examples/."""
    for name in PROGRAMS:  # kernels that another test launched are run as they were there, in C or not
        sys.modules.pop(name, None)
    torch.manual_seed(3)
    into: list[Taken] = []
    with _recorded(into):
        PROGRAMS[program](import_module(program))
    return into


def _leaf(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype).requires_grad_()


def _attention(m: Any) -> None:
    tiles = {"TM": 16, "TN": 16}
    for queries, keys, causal in ((20, 20, True), (7, 40, False), (16, 16, False)):
        q, k, v = (torch.randn(1, n, 16).half() for n in (queries, keys, keys))
        m.attention(q, k, v, causal, tiles=tiles)


def _batch_norm(m: Any) -> None:
    for shape in ((2, 2, 3, 5), (3, 2, 30, 23)):
        x, gamma, beta = _leaf(*shape), _leaf(shape[1]), _leaf(shape[1])
        m.batch_norm(x, gamma, beta).sum().backward()


def _bias_relu(m: Any) -> None:
    m.bias_relu(_leaf(2, 3, 5, 7), _leaf(3)).sum().backward()


def _blocksparse_matmul(m: Any) -> None:
    layout = torch.tensor([[[1, 0, 1], [0, 0, 0]]])  # a row without a block: no turn
    for mode, at, bt in (
        ("sdd", False, True),
        ("dsd", True, False),
        ("dds", False, False),
        ("dsd", False, True),
    ):
        sparse = m.BlockSparse(layout, 16, per_segment=1, slices=2)
        rows, columns, free = 32, 48, 24
        blocks = torch.randn(1, 2, 16, 16)
        if mode == "sdd":
            a, b = torch.randn(1, 1, rows, free), torch.randn(1, 1, columns, free)
        elif mode == "dsd":
            inner = rows if at else columns
            a, b = blocks, torch.randn(1, 1, *((free, inner) if bt else (inner, free)))
        else:
            a, b = torch.randn(1, 1, free, rows), blocks
        sparse.matmul(mode, a, b, at, bt)


def _blocksparse_softmax(m: Any) -> None:
    layout = torch.tensor([[[1, 0, 1], [0, 1, 0], [1, 1, 1]]])[:, :2]
    softmax = m.BlockSparseSoftmax(layout, 4)
    x = _leaf(1, 3, 4, 4)
    softmax(x, 0.5, key_mask=torch.randn(1, 12)).sum().backward()
    softmax(x, 0.5, attention_mask=(torch.rand(8, 12) < 0.7).float(), attention_mask_mode="mul")


def _conv2d(m: Any) -> None:
    tiles = {"TM": 16, "TN": 16, "TK": 16}
    for channels, window in ((5, 3), (1, 3), (16, 1)):
        x, w = torch.randn(1, channels, 5, 6).half(), torch.randn(3, channels, window, window).half()
        m.conv2d(x, w, padding=(1, 0), tiles=tiles)


def _copy_transpose(m: Any) -> None:
    x = torch.randn(9, 21)[:, 2:19]
    m.copy(x, {"TM": 8, "TN": 16})
    m.transpose(x, {"TM": 8, "TN": 16})


def _cross_entropy(m: Any) -> None:
    m.cross_entropy(_leaf(3, 70), torch.tensor([0, 69, 5])).sum().backward()


def _dot(m: Any) -> None:
    for at, bt, k in ((False, False, 16), (True, False, 48), (False, True, 32)):
        a, b = torch.randn((k, 32) if at else (32, k)).half(), torch.randn((16, k) if bt else (k, 16)).half()
        m.launch(a, b, at, bt, {"TM": 16, "TN": 16, "TK": 16})


def _layer_norm(m: Any) -> None:
    x, gamma, beta = _leaf(3, 70), _leaf(70), _leaf(70)
    m.layer_norm(x, gamma, beta).sum().backward()


def _linear_layer(m: Any) -> None:
    for k in (0, 20, 70):
        m.matmul(torch.randn(5, k), torch.randn(k, 9))


def _matmul_grouped(m: Any) -> None:
    for k in (0, 5, 40):
        m.matmul(torch.randn(35, k).half(), torch.randn(k, 20).half())


def _permute(m: Any) -> None:
    for dims in ((1, 0, 3, 2), (3, 2, 1, 0)):
        m.permute(torch.randn(2, 3, 5, 7), dims)


def _sin(m: Any) -> None:
    m.scaled_sin(_leaf(700), 0.5).sum().backward()


def _softmax(m: Any) -> None:
    m.softmax(_leaf(2, 3, dtype=torch.float16)).sum().backward()
    m.softmax(_leaf(3, 200)).sum().backward()


def _split_k(m: Any) -> None:
    for k in (24, 8, 100):
        m.matmul(
            torch.randn(20, k).half(), torch.randn(k, 17).half(), {"TM": 16, "TN": 16, "TK": 16, "TZ": 3}
        )


def _vector_add(m: Any) -> None:
    m.add_one_block(torch.randn(48), torch.randn(48))
    m.add(torch.randn(70), torch.randn(70), 32)


PROGRAMS: dict[str, Callable[[Any], None]] = {
    "attention": _attention,
    "batch_norm": _batch_norm,
    "bias_relu": _bias_relu,
    "blocksparse_matmul": _blocksparse_matmul,
    "blocksparse_softmax": _blocksparse_softmax,
    "conv2d": _conv2d,
    "copy_transpose": _copy_transpose,
    "cross_entropy": _cross_entropy,
    "cross_entropy_logsum": _cross_entropy,
    "derived_gradients": lambda m: m.gelu("cpu", 3, 70, torch.float).by_hand(),
    "dot": _dot,
    "dot_op": lambda m: m.dot(torch.randn(32, 16), torch.randn(16, 32)),
    "dot_ranks": lambda m: m.launch(torch.randn(32, 16), torch.randn(16, 32), at=False, bt=False),
    "gelu_gradient": lambda m: m.gelu(torch.randn(3, 70), torch.randn(70)),
    "layer_norm": _layer_norm,
    "linear_layer": _linear_layer,
    "matmul_grouped": _matmul_grouped,
    "permute": _permute,
    "sin": _sin,
    "sin_override": lambda m: m.sin(torch.randn(600)),
    "softmax": _softmax,
    "split_k": _split_k,
    "vector_add": _vector_add,
}
