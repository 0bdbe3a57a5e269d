"""``python tools/site_test.py build/site``: the built site, used in headless Chromium by tests/browser/walk.mjs.

Serves the folder on a free port of this machine, beside the report of a port, and leaves screenshots in
build/screenshots. Where Chromium, node or playwright-core (which comes with the playground) is missing, it says so
and exits with 0, or with 1 if ``CI`` is set.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "build" / "playground" / "node_modules"
SHOTS = ROOT / "build" / "screenshots"
LEGACY = ROOT / "tests" / "legacy"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of one folder; requests are not logged."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def report(page: Path) -> None:
    """The report of a package that is ported while its own tests run."""
    tests = LEGACY / "packages_tests" / "test_ops2021.py"
    program = f"-m pytest -q -p no:cacheprovider {tests}"
    port = (sys.executable, "-m", "pytriton", "port", LEGACY / "packages" / "ops2021", "--run", program)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*port, "--out", folder, "--report", page], capture_output=True, text=True, cwd=ROOT
        )
    if done.returncode:
        raise SystemExit(f"the package could not be ported:\n{done.stdout}{done.stderr}")


def main(site: Path) -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    node = shutil.which("node")
    for found, name in (
        (chromium, "Chromium"),
        (node, "node"),
        ((MODULES / "playwright-core").is_dir(), "npm"),
    ):
        if not found:
            print(f"site-test skipped: {name} was not found")
            return int(bool(os.environ.get("CI")))
    SHOTS.mkdir(parents=True, exist_ok=True)
    report(site / "ported.html")
    serve = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        walk = ROOT / "tests" / "browser" / "walk.mjs"
        done = subprocess.run([str(node), str(walk), url, str(chromium), str(MODULES), str(SHOTS)])
        server.shutdown()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
