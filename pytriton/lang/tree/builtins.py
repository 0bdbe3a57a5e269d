"""The built-in functions of Triton-C (docs/language.md, Built-in functions).

``ELEMENTWISE`` maps each accepted spelling to a canonical function with its number of arguments and the rule
for its type: ``real`` functions compute in double for double and in float for everything else, ``common``
ones in the common type of their operands, ``promoted`` ones in that of their only operand.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from pytriton.frozen import record


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
