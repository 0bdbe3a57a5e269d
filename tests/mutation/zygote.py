"""A process that has imported what every test imports, but nothing of this project, and forks for each pytest run.

Most of a short run of pytest goes into importing torch and Triton; a fork has them already. One line of JSON on
standard input, ``{"arguments": [...], "output": path, "timeout": seconds}``, is one run in the current directory;
the answer is a line with its exit status, or ``null`` if the time was over.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import hypothesis  # noqa: F401
import numpy  # noqa: F401
import pytest
import torch  # noqa: F401
import triton.language  # noqa: F401


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(_run(asked["arguments"], asked["output"], asked["timeout"])), flush=True)


def _run(arguments: list[str], output: str, timeout: float) -> int | None:
    child = os.fork()
    if not child:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(file, 1)
        os.dup2(file, 2)
        status = 70
        try:
            status = int(pytest.main(arguments))
        finally:
            sys.stdout.flush()
            os._exit(status)
    late = time.monotonic() + timeout
    while time.monotonic() < late:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)  # with what the tests started
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    main()
