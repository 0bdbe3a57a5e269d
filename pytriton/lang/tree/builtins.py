"""The built-in functions of Triton-C (docs/language.md, Built-in functions), and the formats of ``printf``.

``ELEMENTWISE`` maps each accepted spelling to a canonical function with its number of arguments and the rule
for its type: ``real`` functions compute in double for double and in float for everything else, ``common``
ones in the common type of their operands, ``promoted`` ones in that of their only operand.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from pytriton.frozen import record
from pytriton.lang.recording import is_power_of_2


@record
class Elementwise:
    """One elementwise function: its canonical name, its number of arguments, the rule for its type."""

    name: str
    arguments: int
    rule: Literal["real", "common", "promoted"]


def _real(*names: str, arguments: int = 1) -> dict[str, Elementwise]:
    return {name: Elementwise(names[0], arguments, "real") for name in names}


ELEMENTWISE: Final[dict[str, Elementwise]] = {
    **_real("exp", "expf"),
    **_real("log", "logf"),
    **_real("sqrt", "sqrtf"),
    **_real("sin", "sinf"),
    **_real("cos", "cosf"),
    **_real("erf", "erff"),
    **_real("rsqrt", "rsqrtf"),
    **_real("tanh", "tanhf"),
    **_real("sigmoid"),
    **_real("log2", "log2f"),
    **_real("exp2", "exp2f"),
    **_real("pow", "powf", arguments=2),
    "floor": Elementwise("floor", 1, "promoted"),
    "floorf": Elementwise("floor", 1, "promoted"),
    "ceil": Elementwise("ceil", 1, "promoted"),
    "ceilf": Elementwise("ceil", 1, "promoted"),
    "fma": Elementwise("fma", 3, "common"),
    "fmaf": Elementwise("fma", 3, "common"),
    "min": Elementwise("min", 2, "common"),
    "max": Elementwise("max", 2, "common"),
    "abs": Elementwise("abs", 1, "promoted"),
    "fabs": Elementwise("abs", 1, "promoted"),
    "fabsf": Elementwise("abs", 1, "promoted"),
}

_SPECIAL: Final = (
    "get_program_id get_num_programs select trans dot atomic_add f32_atomic_add f64_atomic_add "
    "f16_atomic_add atomic_cas atomic_xchg __debug_barrier printf bitcast sizeof"
).split()

_ATOMIC_ADD: Final = re.compile(r"atomic_add_\w+|f(16|32|64)_atomic_add|atomic_add")


def atomic_add_name(name: str) -> bool:
    """Whether this is ``atomic_add``, ``atomic_add_<type>_<shape>`` or ``f32_atomic_add``."""
    return _ATOMIC_ADD.fullmatch(name) is not None


def function_names() -> tuple[str, ...]:
    """Every name that a call may use, for suggestions."""
    return (*ELEMENTWISE, *_SPECIAL)


# ---------------------------------------------------------------- formats of printf
# ``pieces("i %d x %5.2f\n")`` is a conversion ``%d`` after ``"i "``, a conversion ``%5.2f`` after ``" x "``, and
# the text ``"\n"`` after the last. ``lost_on_a_gpu`` lists what a GPU omits: it prints each value on a line of its
# own, after the program, the position in the block and a label.

INTEGERS: Final = "diuxXoc"
FLOATS: Final = "fFeEgG"
_PLAIN: Final = "diufxp"  # what a GPU prints so
_CONVERSION: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<length>hh?|ll?|[jztL])?(?P<letter>[a-zA-Z])|%"
)


@record
class Printed:
    """What a call of ``printf`` prints besides its values: the format, and the shape that they share."""

    text: str
    shape: tuple[int, ...]


class Conversion(NamedTuple):
    """One conversion of a format. ``spelled`` is as written, ``before`` the text before it."""

    before: str
    spelled: str
    flags: str
    width: str
    precision: str
    letter: str


def pieces(text: str) -> tuple[list[Conversion], str]:
    """The conversions of a format, and the text after the last. A lone ``%`` is one without a letter."""
    conversions: list[Conversion] = []
    before, at = "", 0
    while (start := text.find("%", at)) >= 0:
        before += text[at:start]
        if text.startswith("%%", start):
            before, at = before + "%", start + 2
            continue
        match = _CONVERSION.match(text, start)
        assert match is not None
        flags, width, precision, _, letter = (part or "" for part in match.groups())
        conversions.append(Conversion(before, match[0], flags, width, precision, letter))
        before, at = "", match.end()
    return conversions, before + text[at:]


def label_of(before: str, argument: str) -> str:
    """What a GPU writes before a value: the text before its conversion, or the argument as it is spelled."""
    shown = "".join(char if char in string.printable else "?" for char in " ".join(before.split()))
    label = shown.strip(" ,;:=")
    spelled = " ".join(argument.split())
    return label or spelled[:40] + ")" * (spelled[:40].count("(") - spelled[:40].count(")"))


def lost_on_a_gpu(text: str, shape: tuple[int, ...]) -> Iterator[str]:
    """What a GPU leaves out of a format, for a warning."""
    conversions, after = pieces(text)
    spelled = [c.spelled for c in conversions if c.flags or c.width or c.precision or c.letter not in _PLAIN]
    if spelled:
        yield f"the form of {', '.join(map(repr, dict.fromkeys(spelled)))}"
    if conversions and after.strip():
        yield f"the text {after.strip()!r} after the last value"
    if any(char not in string.printable for char in text):
        yield "characters that are not ASCII"
    if not all(map(is_power_of_2, shape)):
        yield "the end of a block whose size is not a power of two: it prints the padding, too"
