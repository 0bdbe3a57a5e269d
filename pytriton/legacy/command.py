"""``pytriton run --legacy PKG SCRIPT [ARGS]``: a program some of whose packages are of another time.

The program runs as ``python SCRIPT ARGS`` (or ``python -m MODULE ARGS``) would run it, but that
``import triton`` gives pytriton inside the packages named. The script itself is none of them, unless
``__main__`` is named too.
"""

from __future__ import annotations

import argparse
import os
import pkgutil
import runpy
import sys

from pytriton.command_line import usage
from pytriton.errors import closest
from pytriton.legacy.imports import legacy_builtins, legacy_imports

_MAIN = "__main__"


def run(options: argparse.Namespace) -> int:
    """Run the program; its own exit status passes as SystemExit. 2 for wrong use."""
    script: str = options.script
    if not options.as_module and not os.path.exists(script):
        print(f"{script}: error: no such file", file=sys.stderr)
        return 2
    named = [name for name in options.packages if name != _MAIN]
    try:
        if named:
            legacy_imports(*named)
    except (ImportError, ValueError) as error:
        return usage(options, f"--legacy: {error}")
    within = _MAIN in options.packages or (
        options.as_module and any(script == name or script.startswith(f"{name}.") for name in named)
    )
    globals_ = {"__builtins__": legacy_builtins(_MAIN)} if within else {}
    sys.argv = [script, *options.arguments]
    try:
        sys.path[0] = os.getcwd() if options.as_module else os.path.dirname(os.path.abspath(script))
        if options.as_module:
            runpy.run_module(script, globals_, _MAIN, alter_sys=True)
        else:
            runpy.run_path(script, globals_, _MAIN)
    finally:
        for name in named:
            if name not in sys.modules:
                near = closest(name, {*sys.modules, *(module.name for module in pkgutil.iter_modules())})
                reason = f"nothing imported '{name}' (--legacy {name})"
                more = f"; did you mean '{near}'?" if near not in (None, name) else ""
                print(f"pytriton run: warning: {reason}{more}", file=sys.stderr)
    return 0
