"""How a text is to be translated, beside its defines: what a user asks for, and what tuning may try; and in which
order the calls of three years give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Settings:
    """What stands up to ``fast_math`` is the user's; none of the others changes what a kernel means.

    ``kernel`` picks one kernel of several, None the first. ``without_promises`` are the parameters whose
    ``__multipleof`` or ``__aligned`` is not to be relied upon. ``precision`` is how ``float @ float`` is
    computed: ``ieee``, ``tf32``, ``tf32x3``, ``bf16x3`` or ``bf16x6``. With ``fast_math`` other arithmetic may
    round otherwise than the text says (passes/speed/fast_math.py). ``swizzle`` takes program ids in groups of so
    many, 0 as they come, a negative number those at the end of axis 0 first. ``num_stages`` is for loops that
    only stream; those with products take it from the launch. With ``descriptors`` tiles are loaded through tensor
    descriptors, for launches of which ``Traits.described`` holds.
    ``portable`` code is for people to keep: it has nothing that helps one version of Triton only, and barriers that
    blocks of any size need.
    ``packed`` code reads operands from copies that the launcher makes of them (``Traits.packing``).
    ``checked`` code makes no access outside the memory that its pointers come from, and reports it (passes/check).
    Of it, the ``inspector`` tells before a launch whether all accesses will be inside, and the ``executor`` checks
    only those of which the inspector cannot tell. ``on_cpu`` code is for the interpreter, where functions of
    runtime/interpret stand in for what is printed. ``traced`` code tells of each statement (passes/check/steps.py),
    and only those passes have changed it that Triton cannot do without.
    """

    kernel: str | None = None
    include_dirs: tuple[str, ...] = ()
    strict_literals: bool = False
    without_promises: tuple[str, ...] = ()
    precision: str = "ieee"
    fast_math: bool = False
    swizzle: int = 0
    num_stages: int | None = None
    descriptors: bool = False
    portable: bool = False
    packed: bool = False
    checked: bool = False
    part: Literal["", "inspector", "executor"] = ""
    on_cpu: bool = False
    traced: bool = False


# Which era's constructor was called, by the types of positional arguments.
#
# 2019  kernel(src, ['C']), the names of the outputs
# 2020  kernel(src, defines, num_warps)
# 2021  kernel(src, device, defines, num_warps, autotune_configs, autotune_key)


def order_of(positional: Sequence[object]) -> tuple[str, ...]:
    """The names of the arguments that follow the source in a call of ``pytriton.kernel``."""
    first, second = (*positional, None, None)[:2]
    if isinstance(first, (list, tuple)):
        return ("outputs", "defines", "num_warps")
    if not positional or isinstance(first, Mapping) or (first is None and isinstance(second, (int, list))):
        return ("defines", "num_warps")
    return ("device", "defines", "num_warps", "autotune_configs", "autotune_key")
