"""The constant buffers of a kernel object: ``char __constant__* tab = calloc(64);`` and ``set_constant``.

A buffer is memory that the text declares and the launcher supplies, as one more pointer after the user's
arguments. There is one copy a device, which lies on the host until it is needed, and is zero until it is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy
import torch

from pytriton.runtime.errors import refusal
from pytriton.runtime.locks import Lock

CPU: Final = -1  # the device index of the CPU, as torch.Tensor.get_device() returns it


_EMPTY: Final = torch.empty(0, dtype=torch.uint8)


class Constants:
    """Buffers by name and device index. What is set without a device reaches every device."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        """``state`` is what another one gave, perhaps in another process."""
        self._lock = Lock()
        self._everywhere: dict[str, torch.Tensor] = {}
        self._on: dict[tuple[str, int], torch.Tensor] = {}
        if state is not None:
            self._everywhere = {name: _bytes_of(name, data) for name, data in state["everywhere"].items()}
            self._on = {(name, device): _bytes_of(name, data) for name, device, data in state["on"]}

    def state(self) -> dict[str, Any]:
        """What the buffers hold, as bytes."""
        with self._lock:
            everywhere = {name: value.numpy().tobytes() for name, value in self._everywhere.items()}
            on = [(name, at, value.cpu().numpy().tobytes()) for (name, at), value in self._on.items()]
            return {"everywhere": everywhere, "on": on}

    def set(
        self,
        name: str,
        value: object,
        device: torch.device | None,
        sizes: Mapping[str, int] | None,
        kernel: str,
    ) -> None:
        """Copy the bytes of an array to the start of a buffer; what lies after them stays as it was.

        ``sizes`` are the buffers of the kernel, as far as they are known now. Raises LaunchError for a name
        that is not among them, for an array that is longer, and for what is not an array.
        """
        data = _bytes_of(name, value)
        if sizes is not None:
            _check_fit(sizes, kernel, name, data.numel())
        with self._lock:
            if device is not None:
                self._grown(name, _index(device), data.numel())[: data.numel()].copy_(data)
                return
            self._everywhere[name] = _at_least(self._everywhere.get(name, _EMPTY), data.numel())
            for key in [key for key in self._on if key[0] == name]:
                self._on[key] = _at_least(self._on[key], data.numel())
                self._on[key][: data.numel()].copy_(data)
            self._everywhere[name][: data.numel()].copy_(data)

    def on(self, device: int, name: str, size: int) -> torch.Tensor:
        """The buffer on a device, as bytes; it has at least ``size`` of them."""
        buffer = self._on.get((name, device))
        if buffer is not None and buffer.numel() >= size and buffer.get_device() == device:
            return buffer
        with self._lock:
            return self._grown(name, device, size)

    def check(self, sizes: Mapping[str, int], kernel: str) -> None:
        """Raise LaunchError if something was set before the buffers were known, and does not fit them."""
        lengths = {name: value.numel() for name, value in self._everywhere.items()}
        for (name, _), value in self._on.items():
            lengths[name] = max(lengths.get(name, 0), value.numel())
        for name, length in lengths.items():
            _check_fit(sizes, kernel, name, length)

    def _grown(self, name: str, device: int, size: int) -> torch.Tensor:
        place = "cpu" if device == CPU else f"cuda:{device}"
        earlier = self._on.get((name, device))
        if earlier is None:
            earlier = self._everywhere.get(name, _EMPTY).to(place, copy=True)
        buffer = self._on[name, device] = _at_least(earlier.to(place), size)
        return buffer


def _check_fit(sizes: Mapping[str, int], kernel: str, name: str, length: int) -> None:
    """Raise LaunchError unless there is a buffer of that name with room for so many bytes."""
    if name not in sizes:
        declared = ", ".join(sizes) or "none"
        raise refusal(
            f"{kernel}: the source declares no constant buffer '{name}'",
            "TC519",
            f"it has {declared}; write 'char __constant__* {name} = calloc({length});' outside kernels",
        )
    if length > sizes[name]:
        raise refusal(
            f"{kernel}: constant buffer '{name}' has {sizes[name]} bytes, not {length}",
            "TC519",
            f"write calloc({length}) in the source",
        )


def _at_least(buffer: torch.Tensor, size: int) -> torch.Tensor:
    """The same bytes; where they are fewer, a longer copy with zeros after."""
    if buffer.numel() >= size:
        return buffer
    longer = torch.zeros(size, dtype=torch.uint8, device=buffer.device)
    longer[: buffer.numel()].copy_(buffer)
    return longer


def _bytes_of(name: str, value: object) -> torch.Tensor:
    """What an array holds, as a CPU tensor of bytes."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta:
        flat = value.detach().cpu().resolve_conj().resolve_neg().reshape(-1).contiguous()
        return flat.view(torch.uint8) if flat.numel() else _EMPTY
    if isinstance(value, (numpy.ndarray, numpy.generic)) and _is_plain(value.dtype):
        value = value.tobytes()
    if isinstance(value, (bytes, bytearray)):
        return torch.frombuffer(bytearray(value), dtype=torch.uint8) if value else _EMPTY
    raise refusal(
        f"constant buffer '{name}' is set to a {type(value).__name__}, whose bytes are not known",
        "TC519",
        "give a tensor or a NumPy array of the type that the kernel reads",
    )


def _is_plain(dtype: Any) -> bool:
    """Whether the elements are numbers of the machine; V is the kind of a bfloat16 from a library."""
    return dtype.isnative and dtype.names is None and dtype.kind in "biufcV"


def _index(device: torch.device) -> int:
    if device.type == "cpu":
        return CPU
    return torch.cuda.current_device() if device.index is None else device.index


def constant_arguments(given: tuple[Any, ...]) -> tuple[Any, str, object]:
    """``(name, value)`` or ``(device, name, value)`` as device, name and value."""
    device, name, value = (None, *given) if len(given) == 2 else given if len(given) == 3 else (None,) * 3
    if not isinstance(name, str):
        raise refusal(
            f"set_constant got {len(given)} arguments, of which {name!r} is to be the name",
            "TC515",
            "call set_constant(name, array) or set_constant(device, name, array)",
        )
    return device, name, value
