"""``python tools/site_test.py build/site``: the built site, used in headless Chromium by tests/browser/walk.mjs.

Serves the folder on a free port of this machine, beside the report of a port, and leaves screenshots in
build/screenshots, in pages/ those of all pages at two widths (pages.mjs). Prints the scores of Lighthouse for the
first page and a how-to page (tools/lighthouse.mjs), after ``npm install --prefix build/lighthouse lighthouse``.
Where Chromium, node or playwright-core (which comes with the playground) is missing, it says so
and exits with 0, or with 1 if ``CI`` is set.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import typing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "build" / "playground" / "node_modules"
SHOTS = ROOT / "build" / "screenshots"
LIGHTHOUSE = ROOT / "build" / "lighthouse" / "node_modules"
SCORED = ("index.html", "tuning.html")
TEXTS = (".html", ".css", ".js", ".mjs", ".svg")
LEGACY = ROOT / "tests" / "legacy"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of one folder; requests are not logged."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012

    def copyfile(self, source: typing.Any, outputfile: typing.Any) -> None:
        """Ignore a browser that closes the connection."""
        with contextlib.suppress(ConnectionError):
            super().copyfile(source, outputfile)

    def send_head(self) -> io.BytesIO | typing.BinaryIO | None:
        """Texts are compressed, as by the hosts of such pages."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() and self.path.partition("?")[0].endswith("/") else path
        if path.suffix not in TEXTS or not path.is_file():
            return super().send_head()
        data = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return io.BytesIO(data)

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


def pages(site: Path) -> list[str]:
    """All pages but those of which the walk takes pictures: the playground, and the report of a port."""
    found = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    walked = {"ported.html", "playground/index.html"}
    return sorted(page for page in found if page not in walked and not page.startswith("_"))


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
        browser = ROOT / "tests" / "browser"
        start = (str(node), url, str(chromium))
        failed = [
            step.name
            for step, modules, *rest in (
                (browser / "walk.mjs", MODULES, SHOTS),
                (browser / "pages.mjs", MODULES, SHOTS, *pages(site)),
                (ROOT / "tools" / "lighthouse.mjs", LIGHTHOUSE, *SCORED),
            )
            if subprocess.run([start[0], str(step), *start[1:], str(modules), *map(str, rest)]).returncode
        ]
        server.shutdown()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
