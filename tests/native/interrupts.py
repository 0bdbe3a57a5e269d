"""An interrupt while a launch runs."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from pytriton.collecting import not_collecting


@contextmanager
def interrupted(z: torch.Tensor) -> Iterator[None]:
    """Ctrl-C as soon as the first element is set; the launch inside must end by it."""

    def interrupt() -> None:
        while z.item() == 0:
            time.sleep(0.001)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with (
            not_collecting()
        ):  # an interrupt inside a callback of the collector, such as Hypothesis's, is lost
            threading.Thread(target=interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                yield
    finally:
        signal.signal(signal.SIGINT, before)
