"""What all tests of the runtime share: silence, and a translator that can be replaced."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pytriton.pipeline import Translation
from pytriton.runtime.options import definition as text_module
from tests.runtime.stand_in import StandIn, standing_in, without_c


@pytest.fixture(autouse=True)
def _no_notice() -> Iterator[None]:
    """The notice about the interpreter has a test of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        yield


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the driver that stands in for CUDA's is built (stand_in.py)."""
    return tmp_path_factory.mktemp("driver")


@pytest.fixture(
    params=[(1, "fast"), (2, "fast"), (1, "slow")], ids=lambda param: f"{param[0]} GPU, {param[1]} path"
)
def stand_in(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, built: Path
) -> Iterator[StandIn]:
    """Machines with one GPU and with more have other launchers; a machine without a C compiler has none."""
    devices, path = request.param
    if path == "slow":
        without_c(monkeypatch)
    with standing_in(monkeypatch, built, devices) as made:
        made.has_fast_path = path == "fast"
        yield made


Translate = Callable[[Mapping[str, object]], Translation]


@pytest.fixture
def translated_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Translate], None]:
    """Replace the translator: kernels made afterwards get what the given function makes of defines."""

    def use(translate: Translate) -> None:
        monkeypatch.setattr(text_module, "translate_as", lambda source, defines, _: translate(defines))

    return use
