"""What a package uses of the old Triton -> the modules that replace it, with only the parts that it uses.

``_triton.py``, of templates/port_launcher.py.j2: it launches kernels as their texts were launched, and has the
names of ``triton`` that today's Triton lacks or means otherwise. ``_testing.py``, of templates/port_testing.py.j2,
has those of ``triton.testing``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from textwrap import fill
from typing import Any, Final

from pytriton.emit.templates import render
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.edits import Uses
from pytriton.port.package.serves import LANGUAGE, serves
from pytriton.port.read.library import PASSED

# Names of triton.testing.
TESTING: Final = frozenset("Benchmark allclose do_bench mask_tensor perf_report sparsify_tensor".split())


def launcher(
    folder: str, uses: Uses, kernels: Sequence[PortedKernel], files: Mapping[str, str], labels: bool
) -> str:
    """The text of the module.

    ``folder``: where the kernels are. ``files``: what labels call the files whose texts were ported, by their paths
    in the package. ``labels``: some texts have labels.
    """
    names = {*uses.names, *["read"] * bool(files), *["id_dict"] * ("utils" in uses.names)}
    buffers = any(parameter.buffer for kernel in kernels for parameter in kernel.parameters)
    sweeps = any(map(_is_tuned, kernels)) or bool({"num_warps", "num_stages"} & uses.keywords)
    leaves = [kernel.folded.leaves for kernel in kernels]
    truths = {name in own.truths for own in leaves for name in own.flags}
    parts = {
        "folder": folder,
        "flags": False in truths,
        "truths": True in truths,
        "closed": any(serves(kernel).closed for kernel in kernels),
        "language": fill(_language(kernels), 100, subsequent_indent="    "),
        "changes": any(serves(kernel).changes for kernel in kernels),
        "integers": any(kernel.arguments for kernel in kernels),
        "labels": labels,
        "as_text": bool({"strip", "lstrip", "rstrip", "dump", "dumps", "save", "deepcopy"} & uses.attributes),
        "several": any(kernel.unfoldable for kernel in kernels),
        "truth": any("tl.int1" in kernel.text for kernel in kernels),
        "files": {path: name for path, name in files.items() if PurePath(path).stem != name},
        "sweep": sweeps or "config" in names,
        "bench": "bench" in uses.keywords or "bench_registry" in names,
        "addresses": "data_ptr" in uses.attributes,
        "constants": buffers or "set_constant" in uses.attributes,
        "names": names,
        "passed": sorted(names & PASSED),
    }
    return _module("port_launcher.py.j2", parts)


def _language(kernels: Sequence[PortedKernel]) -> str:
    """The words of the language in the sources."""
    words = (re.findall(r"\w+", kernel.source.text) for kernel in kernels)
    return " ".join(sorted(LANGUAGE.intersection(itertools.chain(*words))))


def _is_tuned(kernel: PortedKernel) -> bool:
    """Whether modules.py prints what tuning needs to know of a kernel: parameters, stages, groups."""
    retuned = any(parameter.retune for parameter in kernel.parameters)
    return bool(kernel.sweeps or retuned or kernel.stages or kernel.folded.grouped)


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


_MODULES: Final = ("ctypes", "functools", "itertools", "operator", "os", "sys", "timeit")
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
