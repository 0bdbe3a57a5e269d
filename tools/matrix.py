"""Runs the translation, program and specification tests under every Triton that is supported: ``make matrix``.

Each version gets an environment under .matrix/ that holds that Triton and nothing else; all other
packages are seen through a path file that leads to the environment running this script. Its own
Triton comes first on the path, so it is the one that is imported. With PYTRITON_MATRIX=1 the
goldens compile for sm_80, sm_90 and gfx942. Arguments are passed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path
from xml.etree import ElementTree

VERSIONS = ("3.6.0", "3.7.1", "3.8.0", "3.9.0")
TESTS = ("tests/translate", "tests/programs", "tests/specification")
TOTALS = ("tests", "failures", "errors", "skipped")
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".matrix"


def environment(version: str) -> Path:
    """The Python of the environment with that Triton, made on first use."""
    home = FOLDER / f"triton-{version}"
    python = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.exists():
        venv.create(home, clear=True)
        install = ("install", "--quiet", "--no-deps", f"triton=={version}")
        subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
        ready.touch()
    site = sysconfig.get_path("purelib", vars={"base": str(home)})
    Path(site, "shared.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    found = [python, "-c", "import triton; print(triton.__version__)"]
    actual = subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip()
    if actual != version:
        sys.exit(f"the environment for Triton {version} imports {actual}")
    return python


def run_tests(version: str, flags: list[str]) -> dict[str, int]:
    """Counts and seconds of the tests under one version."""
    python = environment(version)
    report = FOLDER / f"triton-{version}.xml"
    report.unlink(missing_ok=True)
    paths = [path for path in TESTS if (ROOT / path).exists()]
    options = ["-q", "-m", "not gpu", f"--junitxml={report}", *flags]
    print(f"--- Triton {version}", flush=True)
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-m", "pytest", *paths, *options],
        cwd=ROOT,
        env={**os.environ, "PYTRITON_MATRIX": "1"},
    )
    counts = {"seconds": round(time.perf_counter() - start), "status": done.returncode}
    suite = ElementTree.parse(report).getroot().find("testsuite") if report.exists() else None
    totals = {} if suite is None else {key: int(suite.get(key, 0)) for key in TOTALS}
    counts["failed"] = totals.get("failures", 0) + totals.get("errors", 0)
    counts["skipped"] = totals.get("skipped", 0)
    counts["passed"] = totals.get("tests", 0) - counts["failed"] - counts["skipped"]
    return counts


def main() -> int:
    flags = sys.argv[1:] or ["-n", "2"]
    results = {version: run_tests(version, flags) for version in VERSIONS}
    print("\nTriton   passed  failed  skipped  seconds")
    for version, count in results.items():
        numbers = (count["passed"], count["failed"], count["skipped"], count["seconds"])
        print("{:<7} {:>7} {:>7} {:>8} {:>8}".format(version, *numbers))
    return int(any(count["status"] for count in results.values()))


if __name__ == "__main__":
    sys.exit(main())
