"""What a package uses of the old Triton -> the modules that replace it, with only the parts that it uses.

``_triton.py``, of templates/port_launcher.py.j2: it launches kernels as their texts were launched, and has the
names of ``triton`` that today's Triton lacks or means otherwise. ``_testing.py``, of templates/port_testing.py.j2,
has those of ``triton.testing``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from pytriton.emit.templates import render
from pytriton.lang.tree.types import SCALARS
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.declared import declared
from pytriton.port.package.edits import Uses
from pytriton.port.read.library import PASSED

# Names of triton.testing.
TESTING: Final = frozenset("Benchmark allclose do_bench mask_tensor perf_report sparsify_tensor".split())


def launcher(
    folder: str,
    uses: Uses,
    kernels: Sequence[PortedKernel],
    texts: Collection[str],
    named: bool,
    addresses: bool = False,
) -> str:
    """The text of the module.

    ``folder``: where the kernels are. ``texts``: those that stay. ``named``: launches may pass defines,
    or the grid by place. ``addresses``: or those in place of tensors.
    """
    names = {*uses.names, *["id_dict"] * ("utils" in uses.names)}
    return _module(
        "port_launcher.py.j2",
        {
            "folder": folder,
            "uses": uses,
            "kernels": kernels,
            "declared": [*map(declared, kernels)],
            "digests": texts,
            "calloc": any("calloc" in text for text in texts),
            "named": named,
            "addresses": addresses,
            "bools": any(": tl.int1" in kernel.text for kernel in kernels),
            "words": any(map(_has_types, kernels)),
            "names": names,
            "passed": sorted(names & PASSED),
        },
    )


def _has_types(kernel: PortedKernel) -> bool:
    """Whether a constexpr may be the word of a data type."""
    values = (variant.defines.get(name) for variant in kernel.variants for name in declared(kernel)["texts"])
    return not {type_.name for type_ in SCALARS}.isdisjoint(map(str, values))


def module_of_names(uses: Uses, tunes: bool) -> str:
    """The text of the module of a package that has no launcher. ``tunes``: it has lists of configs."""
    passed = {"Config", "autotune", *uses.names & PASSED} - ({"autotune"} if tunes else set())
    parts = {"passed": sorted(passed), "config": "config" in uses.names, "tunes": tunes}
    return _module("port_plain.py.j2", parts)


def module_of_tests(uses: Uses) -> str:
    """The text of the module for ``triton.testing``."""
    names = set(uses.testing)
    if names & {"perf_report", "Benchmark"}:
        names |= {"perf_report", "Benchmark"}
    return _module("port_testing.py.j2", {"testing": names})


def _module(template: str, parts: dict[str, Any]) -> str:
    """A module with the imports that it needs."""
    body = render(template, imports=[], **parts)
    return render(template, imports=list(_imports(body)), **parts)


_MODULES: Final = (
    "copy",
    "ctypes",
    "functools",
    "hashlib",
    "inspect",
    "itertools",
    "operator",
    "re",
    "timeit",
)
_FROM: Final = {
    "collections": ("namedtuple",),
    "concurrent.futures": ("ThreadPoolExecutor",),
    "contextlib": ("suppress",),
    "dataclasses": ("dataclass", "field"),
    "pathlib": ("Path",),
    "types": ("SimpleNamespace",),
}


def _imports(body: str) -> Iterator[str]:
    """The imports that a text needs, in order."""
    code = re.sub(r'"""[^"]*"""|#.*', "", body)
    asked = set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", code))
    asked_of = set(re.findall(r"(?<![.\w])([a-z]+)\.", code))
    yield from (f"import {name}" for name in _MODULES if name in asked_of)
    for module, names in _FROM.items():
        used = [name for name in names if name in asked]
        if used:
            yield f"from {module} import {', '.join(used)}"
    third = [f"import {name}" for name in ("torch", "triton") if name in asked_of]
    third += ["from torch.utils.weak import WeakIdKeyDictionary"] * ("WeakIdKeyDictionary" in asked)
    if asked and third:
        yield ""
    yield from third
