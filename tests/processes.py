"""Python programs in processes of their own.

``python`` starts one, with the pytriton of this checkout. ``run`` is the same for a program that would first wait
for torch and Triton: a process that has imported both, and none of this project, forks for each program. There is
one for compiled and one for interpreted kernels, as Triton reads TRITON_INTERPRET when it is imported, and one for
programs without Triton.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def python(*words: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """What ``python *words`` prints; an error if it hangs."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",
    triton: bool = True,
    **_: object,
) -> subprocess.CompletedProcess[str]:
    """``subprocess.run(command, capture_output=True, text=True, ...)`` of ``[sys.executable, ...]``.

    ``triton``: whether it has been imported.
    """
    executable, *words = command
    assert executable == sys.executable
    environment = dict(os.environ if env is None else env)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "0").write_text(input)
        asked = {"words": words, "cwd": str(cwd or Path.cwd()), "env": environment, "files": folder}
        server = _server(environment.get("TRITON_INTERPRET", "0"), triton)
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(asked), file=server.stdin, flush=True)
        status = json.loads(server.stdout.readline())
        out, error = (Path(folder, name).read_text() for name in "12")
    return subprocess.CompletedProcess(list(command), status, out, error)


@cache
def _server(interpret: str, triton: bool) -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, *["triton.language"] * triton],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TRITON_INTERPRET": interpret},
    )
    atexit.register(server.communicate)  # the end of its input ends it
    return server


# ---------------------------------------------------------------- the process that forks


def serve() -> None:
    for name in ("numpy", "torch", *sys.argv[1:]):
        importlib.import_module(name)
    own = len(os.environ.get("PYTHONPATH", "").split(os.pathsep)) if os.environ.get("PYTHONPATH") else 0
    del sys.path[:own]
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            os._exit(_run(**asked))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(words: list[str], cwd: str, env: dict[str, str], files: str) -> int:
    """The exit status of a program, in this process."""
    import runpy
    import traceback
    import warnings

    for number, mode in enumerate((os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2)):
        os.dup2(os.open(os.path.join(files, str(number)), mode, 0o600), number)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    while words[0] == "-W":
        warnings.simplefilter(words[1])  # type: ignore[arg-type]
        del words[:2]
    kind = words.pop(0) if words[0] in ("-c", "-m") else ""
    what, *arguments = words
    sys.argv = [kind or what, *arguments]
    sys.path[:0] = [
        "" if kind else os.path.dirname(what),
        *filter(None, env.get("PYTHONPATH", "").split(os.pathsep)),
    ]
    try:
        if kind == "-c":
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        elif kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(what, run_name="__main__")
        status = 0
    except SystemExit as stopped:
        status = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    serve()
