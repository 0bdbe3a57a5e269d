"""The cache under torture: ``python -m tests.torture.cache --processes 16 --rounds 50 --seed S``.

In each round that many processes run kernels, store times and pin choices in one directory, while errors are
injected into them (``faults.py``) and some are killed with SIGKILL at random moments. Two versions of pytriton,
imported from two places, run side by side. The rounds go through these scenes:

``shared``     one directory, used by all such rounds, errors injected, writes torn, clocks moved
``small``      a file system of 128 KiB: real ENOSPC (needs root, to mount it; else left out, and said)
``readonly``   the same, mounted read-only: real EROFS
``stranger``   another user, who may not write there: real EACCES
``homeless``   another user, without a home directory
``open``       a directory that everybody can write: refused
``link``       a link to a private directory: refused

Nothing may be raised but those refusals, no kernel may compute wrong numbers, no time and no choice may be recalled
that nobody stored. What killed writers leave must be gone after a process that writes a day later.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.torture.work import whole

ROOT = Path(__file__).resolve().parents[2]
STRANGER = 65534

# What ``--break`` replaces in one of the two versions.
IN_PLACE = ("            os.replace(temporary, path)", "            open(path, 'wb').write(content[:9])")

SCENES = ("shared", "small", "shared", "readonly", "shared", "stranger", "shared", "homeless", "open", "link")


class Zygote:
    """A running ``zygote.py`` that imports pytriton from a given place."""

    def __init__(self, place: Path) -> None:
        paths = [str(place), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.torture.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            cwd=place,
        )

    def version(self) -> str:
        """What it has imported; waits until that is done."""
        return str(self._answer()["version"])

    def ask(self, **plan: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(plan) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a zygote died")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        self._process.communicate()


class Torture:
    """``counts`` is what happened; ``failures`` what must not."""

    def __init__(self, root: Path, processes: int, seed: int, edit: tuple[str, str] = ("", "")) -> None:
        """``edit`` replaces a text in the second version's ``module_cache.py``, which breaks it on purpose."""
        self.root, self._processes, self._steps = root, processes, 6
        self._random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self._events = root / "events"
        self._mounted: list[Path] = []
        other = root / "other"
        shutil.copytree(ROOT / "pytriton", other / "pytriton", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("grammar", "templates"):
            shutil.copytree(ROOT / name, other / name)
        front = other / "pytriton" / "__init__.py"
        text = front.read_text()
        front.write_text(text.replace('__version__ = "', '__version__ = "9.'))
        files = other / "pytriton" / "runtime" / "compile" / "module_cache.py"
        assert edit[0] in files.read_text()
        files.write_text(files.read_text().replace(*edit) if edit[0] else files.read_text())
        (root / "temporary").mkdir()
        os.chmod(root / "temporary", 0o1777)
        os.chmod(root, 0o755)
        self._zygotes = [Zygote(ROOT), Zygote(other)]
        self.versions = [zygote.version() for zygote in self._zygotes]
        assert len(set(self.versions)) == 2, self.versions

    def round(self, number: int, scene: str) -> None:
        """One round of a scene; what happened is counted."""
        plan = self._set_up(scene)
        if plan is None:
            self.counts[f"scene {scene} left out"] += 1
            return
        self.counts[f"scene {scene}"] += 1
        running, doomed = [], []
        for _ in range(self._processes):
            zygote = self._random.choice(self._zygotes)
            seed = self._random.randrange(1 << 30)
            pid = zygote.ask(seed=seed, steps=self._steps, events=str(self._events), **plan)["pid"]
            running.append((zygote, pid))
            if self._random.random() < 0.4:
                doomed.append((time.monotonic() + self._random.random() * 0.2, pid))
            self._kill(doomed)
        while doomed:
            time.sleep(0.001)
            self._kill(doomed)
        for zygote, pid in running:
            status = zygote.ask(wait=pid)["status"]
            self.counts["processes"] += 1
            self.counts["killed"] += status == -signal.SIGKILL
            if status not in (0, -signal.SIGKILL):
                self.counts["failed"] += 1
        self._read_events()
        self._check(plan, scene, number)

    @staticmethod
    def _kill(doomed: list[tuple[float, int]]) -> None:
        """Kill whose time has come. They are not reaped yet, so the numbers are still their own."""
        for moment, pid in list(doomed):
            if time.monotonic() >= moment:
                os.kill(pid, signal.SIGKILL)
                doomed.remove((moment, pid))

    def _set_up(self, scene: str) -> dict[str, Any] | None:
        place = self.root / scene
        environment: dict[str, str | None] = {
            "PYTRITON_CACHE_DIR": str(place),
            "PYTRITON_REPLAY": str(self.root / "pinned.jsonl"),
            "PYTRITON_FORCE_TUNE": None,
            "XDG_CACHE_HOME": None,
            "PYTRITON_CC": self._random.choice(["none", None]),  # modules, or libraries of C
        }
        plan: dict[str, Any] = {"root": str(self.root), "rate": 0.08, "uid": 0, "refused": False}
        plan |= {"temporary": str(self.root / "temporary"), "environment": environment}
        if scene in ("small", "readonly"):
            plan["rate"] = 0.0
            if not self._mount(place, scene == "readonly"):
                return None
        elif scene in ("stranger", "homeless"):
            if os.geteuid():
                return None
            place.mkdir(mode=0o500, exist_ok=True)
            os.chown(place, STRANGER, STRANGER)
            plan |= {"uid": STRANGER, "rate": 0.02}
            environment["PYTRITON_REPLAY"] = None
            if scene == "homeless":
                environment |= {"PYTRITON_CACHE_DIR": None, "HOME": str(self.root / "nobody" / "home")}
        elif scene == "open":
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
            plan |= {"refused": True, "rate": 0.0}
        elif scene == "link":
            (self.root / "target").mkdir(mode=0o700, exist_ok=True)
            if not place.is_symlink():
                place.symlink_to(self.root / "target")
            plan |= {"refused": True, "rate": 0.0}
        elif place.exists():
            self._disturb(place)
        return plan

    def _mount(self, place: Path, readonly: bool) -> bool:
        """A file system of its own; False where that is not allowed."""
        if place in self._mounted:
            return True
        place.mkdir(mode=0o700)
        options = f"size=128k,mode=0700{',ro' if readonly else ''}"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True
        )
        if done.returncode == 0:
            self._mounted.append(place)
        else:
            place.rmdir()
        return done.returncode == 0

    def _disturb(self, place: Path) -> None:
        """Somebody removes files, and some come from the past or from the future."""
        for path in place.iterdir():
            if self._random.random() < 0.5:
                path.unlink()
                self.counts["files removed"] += 1
            elif self._random.random() < 0.3:
                moment = time.time() + self._random.choice([-1e9, 1e9])
                os.utime(path, (moment, moment), follow_symlinks=False)
                self.counts["files whose clock was moved"] += 1

    def _read_events(self) -> None:
        if not self._events.exists():
            return
        for line in self._events.read_text().splitlines():
            kind, _, more = line.partition(" ")
            if kind == "FAILED":
                plan, trace = json.loads(more)
                self.failures.append(f"seed {plan['seed']} in {plan['environment']}:\n{trace}")
            else:
                self.counts[line] += 1
        self._events.unlink()

    def _check(self, plan: dict[str, Any], scene: str, number: int) -> None:
        """What lies there: only what killed processes left, and after one calm process nothing of that."""
        place = self.root / scene
        if scene == "shared":
            left = len(list(place.glob(".writing-*")))
            self.counts["most files left by a round"] = max(self.counts["most files left by a round"], left)
            for path in place.glob(".writing-*"):  # as if a day had passed
                os.utime(path, (0, 0))
            self._calm(plan, number)
            still = len(list(place.glob(".writing-*")))
            if still:
                self.failures.append(f"round {number}: {still} temporary files are left after a calm process")
        if scene in ("open", "link") and list(place.iterdir()):
            self.failures.append(f"round {number}: something was written to {place}")
        temporary = self.root / "temporary"
        for folder in temporary.glob("pytriton-cc-*"):  # of a process that was killed while it compiled
            shutil.rmtree(folder)
        stand_ins = [path.name for path in temporary.iterdir()]
        if not set(stand_ins) <= {f"pytriton-{os.geteuid()}", f"pytriton-{STRANGER}"}:
            self.failures.append(f"round {number}: stand-ins {stand_ins}")

    def _calm(self, plan: dict[str, Any], number: int) -> None:
        """One process without faults, which writes something new."""
        calm = {**plan, "rate": 0.0}
        zygote = self._random.choice(self._zygotes)
        environment = {**plan["environment"], "TORTURE_ROUND": str(number)}
        calm["environment"] = environment
        pid = zygote.ask(seed=10**9 + number, steps=self._steps, events=str(self._events), **calm)["pid"]
        if zygote.ask(wait=pid)["status"]:
            self.failures.append(f"round {number}: the calm process failed")
        self._read_events()

    def end(self) -> None:
        for zygote in self._zygotes:
            zygote.end()
        for place in self._mounted:
            subprocess.run(["umount", str(place)], check=True)
        found = whole(self.root / "shared")
        if found["torn"] > self.counts["torn write: lie"]:  # a disk that lies is found out at the next use
            self.failures.append(f"{found['torn']} modules or libraries are torn")
        self.counts |= Counter({f"files at the end: {name}": count for name, count in found.items()})


def torture(processes: int, rounds: int, seed: int, root: Path, edit: tuple[str, str] = ("", "")) -> Torture:
    """All rounds; ``failures`` of the result must be empty."""
    made = Torture(root, processes, seed, edit)
    try:
        for number in range(rounds):
            made.round(number, SCENES[number % len(SCENES)])
    finally:
        made.end()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="the cache under torture")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--break", action="store_true", help="write files in place: the torture must fail")
    given = parser.parse_args()
    started = time.time()
    with tempfile.TemporaryDirectory(prefix="torture-") as root:
        edit = IN_PLACE if vars(given)["break"] else ("", "")
        made = torture(given.processes, given.rounds, given.seed, Path(root), edit)
    for name, count in sorted(made.counts.items()):
        print(f"{count:8} {name}")
    print(
        f"versions {' and '.join(made.versions)}; {time.time() - started:.0f} s; {len(made.failures)} failures"
    )
    for failure in made.failures[:10]:
        print(failure)
    sys.exit(bool(made.failures))


if __name__ == "__main__":
    main()
