"""A process that has imported one version of pytriton and forks the tortured processes.

It reads a JSON object a line on stdin, forks a child for it and answers with the child's process number; asked to
wait for one, it answers with how that ended. A child adds what happens to the file ``events``, and ends with 0, or
with 1 if anything went wrong.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import Any

import torch

import pytriton
from pytriton.pipeline import translate_as
from pytriton.runtime import kernel as _kernel  # noqa: F401  all that a child needs is imported before
from pytriton.settings import Settings
from tests.torture import work
from tests.torture.faults import Faults


def child(plan: dict[str, Any]) -> None:
    """Never returns."""
    status = 1
    try:
        os.umask(0o022)
        for name, value in plan["environment"].items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        tempfile.tempdir = plan["temporary"]
        events = os.open(plan["events"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        if plan["uid"]:
            os.setgroups([])
            os.setgid(plan["uid"])
            os.setuid(plan["uid"])
        faults = Faults(plan["seed"], plan["root"], plan["rate"], lambda what: _tell(events, what))
        with faults.installed():
            work.work(plan["seed"], plan["steps"], plan["refused"], plan["rate"] > 0)
        _tell(events, "finished")
        status = 0
    except BaseException:
        _tell(events, "FAILED " + json.dumps([plan, traceback.format_exc()]))
    finally:
        os._exit(status)


def _tell(events: int, what: str) -> None:
    os.write(events, (what + "\n").encode())


def main() -> None:
    torch.set_num_threads(1)
    text = work.TEXT.replace("FACTOR", "2").replace("OFFSET", "1")
    # All templates are read before anyone is harmed.
    translate_as(text, {"TILE": 16}, Settings(checked=True))
    pytriton.kernel(text).asm("c", defines={"TILE": 16})
    print(json.dumps({"version": pytriton.__version__, "file": pytriton.__file__}), flush=True)
    for line in sys.stdin:
        plan = json.loads(line)
        if "wait" in plan:
            _, status = os.waitpid(plan["wait"], 0)
            print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)
            continue
        number = os.fork()
        if not number:
            child(plan)
        print(json.dumps({"pid": number}), flush=True)


if __name__ == "__main__":
    main()
