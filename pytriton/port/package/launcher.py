"""What a package uses of the old Triton -> the modules that stand for it, from only the parts that it uses.

kernels/launcher.py   templates/port_launcher.py.j2: launches kernels as their texts were
kernels/measure.py    templates/port_measure.py.j2: for sweeps and ``bench=``
_triton.py            templates/port_triton.py.j2: the names of ``triton``
_triton_testing.py    templates/port_testing.py.j2: those of ``triton.testing``
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pytriton.emit.templates import render
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.imports import LAUNCHER, TESTING, Uses

__all__ = ["NAMES", "PASSED", "launcher"]

# What is asked of triton: names of ours, and names that today's Triton has.
NAMES: Final = frozenset(
    """Kernel bench_registry cdiv_sum config ctx_registry empty function kernel read shape synchronize testing
    utils""".split()
)
PASSED: Final = frozenset(
    "Config __version__ autotune cdiv heuristics jit language next_power_of_2 runtime".split()
)


def launcher(
    folder: str, uses: Uses, kernels: Sequence[PortedKernel], reads: bool, labels: bool
) -> dict[str, str]:
    """The modules by their paths.

    ``folder``: where the kernels are. ``reads``: texts in files were ported. ``labels``: some texts have labels.
    """
    names = uses.names | ({"read"} if reads else set()) | ({"id_dict"} if "utils" in uses.names else set())
    testing = set(uses.testing)
    if testing & {"perf_report", "Benchmark"}:
        testing |= {"perf_report", "Benchmark"}
    sweeps = any(kernel.sweeps for kernel in kernels) or bool({"num_warps", "num_stages"} & uses.keywords)
    buffers = any(parameter.buffer for kernel in kernels for parameter in kernel.parameters)
    sweeps |= "config" in names
    bench = "bench" in uses.keywords or "bench_registry" in names
    measured = ["bench_registry", "best_time"] * bench + ["memory"] * sweeps
    core = _module(
        "port_launcher.py.j2",
        [f"\nfrom .measure import {', '.join(measured)}"] * bool(measured),
        labels=labels,
        sweep=sweeps,
        bench=bench,
        constants=buffers or "set_constant" in uses.attributes,
    )
    exported = sorted((names | {"kernel"}) & (NAMES | PASSED))
    own = _of_triton(folder, names | {"kernel"}, bool(testing))
    modules = {
        f"{folder}/launcher.py": core,
        f"{LAUNCHER}.py": _module("port_triton.py.j2", own, names=names, exported=exported),
    }
    if measured:
        modules[f"{folder}/measure.py"] = _module("port_measure.py.j2", (), bench=bench)
    if testing:
        modules[f"{TESTING}.py"] = _module("port_testing.py.j2", (), testing=testing)
    return modules


def _of_triton(folder: str, names: set[str], testing: bool) -> list[str]:
    """What ``_triton`` takes from today's Triton, and from the other modules."""
    passed = [f"from triton import {', '.join(sorted(names & PASSED))}"] * bool(names & PASSED)
    ours = [f"from . import {TESTING} as testing"] * (testing and "testing" in names)
    launched = ", ".join(name for name in ("Kernel", "kernel") if name in names)
    ours.append(f"from .{folder}.launcher import {launched}")
    if "bench_registry" in names:
        ours.append(f"from .{folder}.measure import bench_registry")
    return [*passed, "", *ours]


def _module(template: str, own: Sequence[str], **parts: object) -> str:
    """A template, with the imports that it needs and some of its own."""
    body = render(template, imports=[], **parts)
    return render(template, imports=[*_imports(body), *own], **parts)


_MODULES: Final = ("csv", "ctypes", "functools", "importlib", "itertools", "time")
_FROM: Final = {
    "collections.abc": ("Callable", "Iterator", "Mapping", "Sequence"),
    "contextlib": ("nullcontext", "suppress"),
    "dataclasses": ("dataclass", "field"),
    "pathlib": ("Path",),
    "types": ("SimpleNamespace",),
    "typing": ("Any", "NamedTuple"),
}


def _imports(body: str) -> Iterator[str]:
    """The imports that a text needs, in order."""
    code = re.sub(r'"""[^"]*"""|#.*', "", body.partition("import annotations")[2])
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
