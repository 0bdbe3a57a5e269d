"""``python -m tools.playground FOLDER``: the playground, put together in FOLDER/playground.

In: docs/playground, this commit, and what docs/playground/package-lock.json and requirements.txt pin by hash, which
npm and pip fetch into build/playground. Out: a folder that needs no other host: the page and its editor in one
script (esbuild), with the translations of the examples (shown while Python is loading), Pyodide, packages.zip
(pytriton from its wheel, lark, jinja2, markupsafe and engine.py, compiled), and offline.js with the list of all
these files. Where there is no npm, a page that says so.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from tools.classic import classic_dot

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs" / "playground"
WORK = ROOT / "build" / "playground"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
NEEDS_TORCH = tuple(f"pytriton/{name}/" for name in ("runtime", "operators", "legacy", "port"))
EXAMPLE = re.compile(r'name: "([^"]+)",\s+defines: (\[.*?\]\]),\s+text: `(.*?)`,', re.DOTALL)
PAGE = ("index.html", "playground.css", "worker.js")


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, cwd=WORK)


def fetch() -> Path:
    """The folder node_modules, as the lock file has it."""
    WORK.mkdir(parents=True, exist_ok=True)
    lock = (SOURCE / "package-lock.json").read_bytes()
    done = WORK / "node_modules" / ".lock"
    if not done.exists() or done.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, WORK)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        done.write_bytes(lock)
    return WORK / "node_modules"


def wheels() -> list[Path]:
    """pytriton of this commit, and the pinned libraries."""
    folder = WORK / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    target = ("--platform", "manylinux2014_x86_64", "--python-version", "3.11", "--implementation", "cp")
    pinned = ("--require-hashes", "--no-deps", "--only-binary=:all:", "-r", SOURCE / "requirements.txt")
    run(sys.executable, "-m", "pip", "download", "--quiet", *target, *pinned, "-d", folder)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return sorted(folder.glob("*.whl"))


def packages() -> bytes:
    """All Python in one archive: what translating reads, without compiled parts, always the same bytes."""
    kept = {"engine.py": (SOURCE / "engine.py").read_bytes()}
    for wheel in wheels():
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith((".py", ".lark", ".json", ".j2")) and ".dist-info/" not in name:
                    kept[name] = archive.read(name)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(kept):
            if not name.startswith(NEEDS_TORCH):
                archive.writestr(zipfile.ZipInfo(name), kept[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def examples() -> dict[str, tuple[list[list[str]], str]]:
    """The examples of examples.js: defines and text of each name."""
    script = (SOURCE / "examples.js").read_text(encoding="utf-8")
    found = EXAMPLE.findall(script.replace("text: DOT", f"text: `{classic_dot()}`"))
    return {name: (json.loads(defines), text) for name, defines, text in found}


def engine() -> Any:
    """The module docs/playground/engine.py."""
    specification = importlib.util.spec_from_file_location("engine", SOURCE / "engine.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def rendered() -> list[dict[str, Any]]:
    """Each example with its answer."""
    answer = engine().answer
    return [
        {
            "text": text,
            "defines": defines,
            "answer": json.loads(answer(json.dumps({"text": text, "defines": defines, "show": "python"}))),
        }
        for defines, text in examples().values()
    ]


def assemble(target: Path) -> None:
    modules = fetch()
    shutil.rmtree(target, ignore_errors=True)
    (target / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(modules / "pyodide" / name, target / "pyodide")
    for name in PAGE:
        shutil.copy(SOURCE / name, target)
    shutil.copy(ROOT / "docs" / "_static" / "mark.svg", target)
    (target / "packages.zip").write_bytes(packages())
    run("node", SOURCE / "compile.mjs", target / "pyodide", target / "packages.zip")
    bundle = WORK / "source"  # beside node_modules, where esbuild looks for imports
    shutil.rmtree(bundle, ignore_errors=True)
    shutil.copytree(SOURCE, bundle)
    (bundle / "dot.js").write_text(f"export const DOT = {json.dumps(classic_dot())};\n")
    (bundle / "rendered.js").write_text(f"export const RENDERED = {json.dumps(rendered())};\n")
    flags = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning")
    run(modules / "esbuild" / "bin" / "esbuild", bundle / "app.js", *flags, f"--outfile={target / 'app.js'}")
    loaded = (
        "pyodide/pyodide.asm.wasm",
        "pyodide/python_stdlib.zip",
        "pyodide/pyodide-lock.json",
        "packages.zip",
    )
    size = sum((target / name).stat().st_size for name in loaded)
    (target / "size.json").write_text(json.dumps({"bytes": size}))
    keep_offline(target)


def keep_offline(target: Path) -> None:
    """offline.js, with all files and a version that is made of what is in them."""
    files = sorted(path for path in target.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(target).as_posix().encode() + path.read_bytes())
    names = ["./", *(f"./{path.relative_to(target).as_posix()}" for path in files)]
    text = (SOURCE / "offline.js").read_text(encoding="utf-8")
    version = f"playground-{digest.hexdigest()[:16]}"
    text = text.replace('["FILES"]', json.dumps(names)).replace('"VERSION"', json.dumps(version))
    (target / "offline.js").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve() / "playground"
    if shutil.which("npm") is None:
        print("no playground: npm was not found", file=sys.stderr)
        target.mkdir(parents=True, exist_ok=True)
        (target / "index.html").write_text("<p>The playground was not built: there was no npm.")
    else:
        assemble(target)
