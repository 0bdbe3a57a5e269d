"""gcc as a judge of constants: it folds them into the data of an assembly text, which is read here.

Nothing is linked or run, so a question costs some 20 ms. ``answers`` gives None where there is no gcc.
"""

from __future__ import annotations

import functools
import re
import shutil
import struct
import subprocess

__all__ = ["answers", "there"]

PRELUDE = """\
typedef _Float16 half;
typedef _Bool bool;
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define select(c, a, b) ((c) ? (a) : (b))
#define abs(a) ((a) < 0 ? -(a) : +(a))  // of integers
"""
FLAGS = "-std=gnu11 -fwrapv -fsigned-char -ffp-contract=off -fno-trapping-math -fexcess-precision=16"
WIDTHS = {".quad": 8, ".long": 4, ".value": 2, ".byte": 1}


@functools.cache
def there() -> bool:
    """Whether there is a gcc that knows ``_Float16`` (12 and newer)."""
    return shutil.which("gcc") is not None and _compiled("_Float16 x = 1;") is not None


def _compiled(text: str) -> str | None:
    command = f"gcc -w -O0 -S {FLAGS} -x c -o - -".split()
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def answers(before: str, integers: list[str], floats: list[str]) -> tuple[list[int], list[float]] | None:
    """The values of constant expressions behind some lines of C, as long and as double; None without gcc.

    Raises ValueError with the text where gcc refuses it.
    """
    if not there():
        return None
    arrays = [
        f"const {type_} {name}[] = {{{''.join(chr(10) + text + ',' for text in texts)}\n0}};"
        for type_, name, texts in (("long", "WHOLE", integers), ("double", "REAL", floats))
    ]
    text = "\n".join([PRELUDE, before, *arrays, ""])
    assembly = _compiled(text)
    if assembly is None:
        raise ValueError(text)
    whole, real = (_data(assembly, name) for name in ("WHOLE", "REAL"))
    return (
        [value for (value,) in struct.iter_unpack("<q", whole)][:-1],
        [value for (value,) in struct.iter_unpack("<d", real)][:-1],
    )


def _data(assembly: str, name: str) -> bytes:
    """What lies behind a label."""
    data = b""
    for line in assembly.partition(f"\n{name}:\n")[2].splitlines():
        found = re.fullmatch(r"\s+(\.\w+)\s+(-?\d+)", line)
        if found is None:
            break
        word, number = found[1], int(found[2])
        if word == ".zero":
            data += bytes(number)
        else:
            data += (number % (1 << 8 * WIDTHS[word])).to_bytes(WIDTHS[word], "little")
    return data
