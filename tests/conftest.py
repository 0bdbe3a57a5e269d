"""What all tests share: the golden switch, the gpu marker, private caches, hypothesis profiles."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

from tests import leaks
from tests.oracle.effects import watched

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


# What the user of this shell wants of kernels is no test's concern. Triton reads the first of these when it is
# imported, which the next conftest.py may do.
FOREIGN = ("TRITON_INTERPRET", "TRITON_DEBUG", "TRITON_DEFAULT_FP_FUSION", "TRITON_KERNEL_OVERRIDE")
for name in list(os.environ):
    if name in FOREIGN or (name.startswith("PYTRITON_") and name != "PYTRITON_MATRIX"):
        del os.environ[name]


TESTS = Path(__file__).parent
OF_MODULES = frozenset(
    "compatibility conversions emit errors fold fuzz hostile metamorphic oracle passes port translate".split()
)


@pytest.fixture(autouse=True)
def _runner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs launches on CPU tensors: C, as for users; where translated modules are judged, those."""
    if request.path.relative_to(TESTS).parts[0] in OF_MODULES:
        monkeypatch.setenv("PYTRITON_CC", "none")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    leaks.note()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """What a test leaves replaced fails that test, not the hundreds after it in the same process."""
    try:
        return (yield)
    finally:
        if left := leaks.undone():
            pytest.fail(f"left replaced: {', '.join(left)}", pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite expected outputs (not with CI set)"
    )
    parser.addoption("--slow", action="store_true", help="also run what takes minutes, and whole matrices")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused while CI is set")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What torch and thousands of tests are made of stays to the end: the garbage collector need not look at it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # what tests leave behind is small beside what they allocate
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # libraries complain of what is not freed in the end


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _mark_beyond_samples(items)
    if not config.getoption("--slow"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _cuda_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def _mark_beyond_samples(items: list[pytest.Item]) -> None:
    """``sampled(n)``: the first case and one in 3 n of the others, by their names, run without --slow.

    Nine in 3 n in ``make matrix``, whose question is what another Triton makes of many kernels.
    """
    density = 9 if os.environ.get("PYTRITON_MATRIX") else 1
    seen = set()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is None:
            continue
        function = item.nodeid.partition("[")[0], item.get_closest_marker("gpu") is None
        if function in seen and crc32(item.nodeid.encode()) % -(-3 * mark.args[0] // density):
            item.add_marker("slow")
        seen.add(function)


def _cuda_available() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Each test that takes it runs on the CPU, and where there is a GPU on that too."""
    return str(request.param)


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def compile_targets() -> tuple[str, ...]:
    """What goldens are compiled for: one target in a usual run, all in ``make matrix``."""
    if os.environ.get("PYTRITON_MATRIX"):
        return ("cuda:80", "cuda:90", "hip:gfx942")
    return ("cuda:90",)


@pytest.fixture(scope="session", autouse=True)
def _private_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the caches of the user who runs it, neither ours nor Triton's nor Inductor's.

    All workers share Inductor's, which is made for that: what it finds out about the C++ compiler takes seconds.
    """
    root: Path = tmp_path_factory.mktemp("caches")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTRITON_CACHE_DIR", str(root / "pytriton"))
        patch.setenv("TRITON_CACHE_DIR", str(root / "triton"))
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(shared / "inductor"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _objects_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the C compiler made stays in pytest's cache, for the next runs; ``--cache-clear`` empties it."""
    cache = getattr(request.config, "cache", None)
    if cache is None or find_spec("torch") is None:
        yield
        return
    with import_module("tests.objects").kept_in(cache.mkdir("c")):
        yield


@pytest.fixture(scope="session", autouse=True)
def _effects_once() -> Iterator[None]:
    """Every translation keeps its effects, each once on every path."""
    with watched():
        yield


@pytest.fixture(scope="session", autouse=True)
def _read_once() -> Iterator[None]:
    """Triton asks ``inspect`` for the lines of each kernel, twice; it tokenizes what thousands of modules share."""
    seen = lru_cache(maxsize=4096)(lambda *lines: tuple(getblock(lines)))
    getblock = inspect.getblock
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "getblock", lambda lines: list(seen(*lines)))
        yield
