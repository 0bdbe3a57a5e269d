"""``python -m tests.hostile.guided --seconds 3600``: texts that coverage leads to, for as long as one likes.

atheris (``pip install atheris``; Python 3.11) keeps the texts that reach new code of pytriton and edits them
further: its edits are those of test_random.py, on tokens. The first line of an input is its defines, as JSON. The
run ends at the first text that gives anything but a translation or a ``CompileError``, that opens a file, starts a
process or compiles code, or that takes too much memory. Instrumented code is slow, so the slowest texts are
translated again afterwards in a fresh process, where their steps are counted.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["pytriton"]):
    import pytriton
    from pytriton.errors import CompileError
    from tests.hostile.attempts import GIVEN, TEXTS, attempt
    from tests.hostile.test_random import mutated

MOST_MEGABYTES = 200  # beyond what the process has when it starts
SLOWEST = 30
FORBIDDEN = (
    "open",
    "exec",
    "compile",
    "import",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "ctypes.",
    "pty.",
)


class _Watch:
    """Raises at whatever reaches out of the process while a text is translated."""

    def __init__(self) -> None:
        self.on = False
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event.startswith(FORBIDDEN):
            self.on = False
            raise RuntimeError(f"a text made pytriton do this: {event} {arguments!r:.200}")


class _Run:
    """The inputs of one run, and what is remembered of them."""

    def __init__(self, slow: Path) -> None:
        self.watch = _Watch()
        self.count = self.translated = 0
        self.before = _peak()
        self.slow = slow
        self.slowest: list[tuple[float, bytes]] = []

    def __call__(self, data: bytes) -> None:
        text, defines = decoded(data)
        start = time.process_time()
        self.watch.on = True
        try:
            pytriton.translate(text, defines, name="k.c")
            self.translated += 1
        except CompileError:
            pass
        finally:
            self.watch.on = False
        self._remember(time.process_time() - start, data)
        grown = _peak() - self.before
        assert grown < MOST_MEGABYTES, f"{grown} MB"
        self.count += 1
        if self.count % 2000 == 0:
            print(
                f"{self.count} texts, {self.translated} translated, {grown} MB more than at the start",
                flush=True,
            )

    def _remember(self, seconds: float, data: bytes) -> None:
        if len(self.slowest) < SLOWEST:
            heapq.heappush(self.slowest, (seconds, data))
        elif seconds > self.slowest[0][0]:
            heapq.heapreplace(self.slowest, (seconds, data))
        else:
            return
        for place, (_, slow) in enumerate(self.slowest):
            (self.slow / str(place)).write_bytes(slow)


def decoded(data: bytes) -> tuple[bytes, dict[str, object]]:
    """The text and the defines of an input; a first line that is not a JSON object belongs to the source."""
    first, _, rest = data.partition(b"\n")
    try:
        defines = json.loads(first)
    except (ValueError, RecursionError):
        return data, {}
    return (rest, defines) if isinstance(defines, dict) else (data, {})


def edited(data: bytes, most: int, seed: int) -> bytes:
    """An input after some edits, for libFuzzer."""
    first, _, rest = data.partition(b"\n")
    source = random.Random(seed)
    text = mutated(rest.decode("utf-8", "replace") or " ", source, source.randrange(1, 6))
    if source.randrange(20) == 0:
        first = mutated(first.decode("utf-8", "replace") or " ", source, 1).encode("utf-8", "replace")
    return (first + b"\n" + text.encode("utf-8", "surrogatepass"))[:most]


def seeds(folder: Path) -> None:
    """The golden kernels as inputs."""
    for place, (text, given) in enumerate(zip(TEXTS, GIVEN, strict=True)):
        (folder / str(place)).write_bytes(json.dumps(given).encode() + b"\n" + text.encode())


def retimed(folder: Path) -> float:
    """Translate each text of a folder, without instruments; the seconds of the slowest."""
    slowest = 0.0
    for path in sorted(folder.iterdir()):
        text, defines = decoded(path.read_bytes())
        start = time.process_time()
        with suppress(CompileError):
            pytriton.translate(text, defines, name="k.c")
        slowest = max(slowest, time.process_time() - start)
        attempt(text, defines)
    return slowest


def main() -> None:
    """Fuzz, then time the slowest texts again."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.guided", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.slow is None:
        raise SystemExit(_outer(arguments.seconds, arguments.seed))
    for text, given in zip(TEXTS, GIVEN, strict=True):  # builds what is built once a process
        attempt(text.encode(), given)
    options = {
        "max_total_time": arguments.seconds,
        "seed": arguments.seed,
        "max_len": 4000,
        "timeout": 30,
        "artifact_prefix": f"{tempfile.gettempdir()}/pytriton-",
    }
    spelled = [f"-{name}={value}" for name, value in options.items()]
    atheris.Setup([sys.argv[0], str(arguments.corpus), *spelled], _Run(arguments.slow), custom_mutator=edited)
    atheris.Fuzz()


def _outer(seconds: int, seed: int) -> int:
    """Run libFuzzer, which ends its process, and then look at what it left."""
    with tempfile.TemporaryDirectory() as folder:
        slow, corpus = Path(folder) / "slow", Path(folder) / "corpus"
        slow.mkdir()
        corpus.mkdir()
        seeds(corpus)
        places = [f"--seconds={seconds}", f"--seed={seed}", f"--slow={slow}", f"--corpus={corpus}"]
        done = subprocess.run([sys.executable, "-m", "tests.hostile.guided", *places], check=False)
        print(f"{len(list(corpus.iterdir())) - len(TEXTS)} texts reached code that no golden kernel reaches")
        print(f"the slowest text, without instruments: {retimed(slow):.2f} s")
    return done.returncode


def _peak() -> int:
    """Megabytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
