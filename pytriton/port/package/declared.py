"""What the signature of a ported kernel cannot express -> the fields of its ``Source``.

The constexprs that are not integers, and the defines that it does not accept; the pointers that it writes through
and those that it only reads through,
and the keys of tuning; the parameters that the source lacks under a condition.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from pytriton.emit.python import show
from pytriton.fold.polish import names_assigned
from pytriton.lang.tree.types import PointerType
from pytriton.passes.speed.swizzle import GROUP
from pytriton.pipeline import Parameter
from pytriton.port.kernels import PortedKernel


class Code(str):
    """An expression, which is printed as it is."""

    def __repr__(self) -> str:
        return self


@cache
def declared(ported: PortedKernel) -> dict[str, Any]:
    """The fields, empty where there is nothing to declare; templates/port_launcher.py.j2 says what they mean."""
    leaves, constexprs = ported.folded.leaves, ported.folded.constexprs
    defines = {name for variant in ported.variants for name in variant.defines}
    own = {*names_assigned(ported.folded.tree.body), *ported.folded.parameters}  # which the launcher refuses
    parameters = [p for variant in ported.variants for p in variant.translation.parameters]
    words = {p.identifier: _word(p, defines) for p in parameters}
    pointers = {p.identifier for p in parameters if isinstance(p.type, PointerType)}
    return {
        "writes": [p.identifier for p in ported.parameters if p.written],
        "reads": [p.identifier for p in ported.parameters if p.identifier in pointers and not p.written],
        "truths": {flag: [*values] for flag, values in leaves.truths.items()},
        "texts": [name for name in constexprs if name not in (*leaves.integers, *leaves.flags)],
        "closed": [n for n in leaves.closed if n.isupper() and n not in {*own, *ported.constants}],
        "fixed": {**ported.constants},
        "unused": sorted(n for n in ported.given - {*constexprs, *leaves.closed} if not n.isupper()),
        "key": [p.identifier for p in ported.parameters if p.retune],
        "stages": [*ported.stages],
        "groups": [GROUP] * ported.folded.grouped,
        "buffers": {p.identifier: (words[p.identifier], p.buffer) for p in ported.parameters if p.buffer},
        "types": {name: words[name] for name in sorted(pointers)},
        "nulls": [n for n in sorted(pointers) if re.search(rf"\b{n}\.to\(tl\.int64", ported.text)],
        "absent": [(_lambda(show(node), defines), names) for node, names in leaves.missing.items()],
    }


def _lambda(text: str, defines: Collection[str]) -> Code:
    """A function of the defines that a condition asks for."""
    words = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", text)))
    return Code(f"lambda {''.join(f'{word}=None, ' for word in words if word in defines)}**_: {text}")


def _word(parameter: Parameter, defines: Collection[str]) -> str:
    """The define that a parameter is declared with, or torch's name of its type: ``float32``."""
    words = re.findall(r"\w+", parameter.declaration)[:-1]
    element = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
    return next((word for word in words if word in defines), getattr(element, "torch", "int64"))
