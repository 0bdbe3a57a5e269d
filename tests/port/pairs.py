"""Random small packages whose texts are easily confused: equal names with different bodies.

``package(seed)`` gives the files of a package and a program that calls each of its functions and checks the result:
each computes ``x * a + b`` with numbers of its own. Names come from small pools, so that a package has functions,
methods, kernels, files, variables and folders of one name.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

__all__ = ["BLOCKED", "Generated", "package"]

KERNEL: Final = """
__global__ void {name}(float *Y, float *X, int n) {{
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  bool ok[TN] = i < n;
  *?(ok)(Y + i) = *?(ok)(X + i) * {scale} + ({shift});
}}
"""
FLAGGED: Final = """
#ifdef FLAG
__global__ void {name}(float *Y, float *X, int n) {{
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  *?(i < n)(Y + i) = *?(i < n)(X + i) * {scale} + ({shift});
}}
#else
__global__ void {name}(float *Y, int n, float *X) {{
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  *?(i < n)(Y + i) = *?(i < n)(X + i) * {other} - ({shift});
}}
#endif
"""
LAUNCH: Final = """
def launch(source, x, *, swapped=False, **more):
    y = torch.full_like(x, float("nan"))
    kernel = triton.kernel(source, defines={'TN': 16, **more})
    given = (y, x.numel(), x) if swapped else (y, x, x.numel())
    kernel(*given, grid=lambda opt: (triton.cdiv(x.numel(), opt.TN),))
    return y
"""
BLOCKED: Final = 'raise ImportError("pytriton is not here")\n'

_NAMES: Final = ("scale", "shift", "SCALE", "Source", "scale_2")  # of kernels
_FUNCTIONS: Final = ("run", "apply", "scale")
_CLASSES: Final = ("Scale", "Shift")
_STEMS: Final = ("scale", "shift", "ops")
_FOLDERS: Final = ("", "a/", "b/", "a/c/")


@dataclass
class Generated:
    """Files by their paths; ``program`` calls all functions. ``kinds`` says how each text is written."""

    files: dict[str, str]
    program: str
    kinds: list[str]


@dataclass
class _Module:
    lines: list[str] = field(default_factory=list)
    sites: int = 0


class _Maker:
    """One package while it is made."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.files: dict[str, str] = {}
        self.modules: dict[str, _Module] = {}
        self.calls: list[str] = []
        self.kinds: list[str] = []

    def body(self, text: str = KERNEL) -> tuple[str, int, int, int]:
        """A kernel with numbers that no other one has."""
        number = len(self.calls) + 2
        scale, shift, other = number * 2, -number, number * 2 + 1
        name = self.chance.choice(_NAMES)
        return text.format(name=name, scale=scale, shift=shift, other=other), scale, shift, other

    def module(self) -> tuple[str, _Module]:
        name = f"{self.chance.choice(_FOLDERS)}{self.chance.choice(_STEMS)}"
        return name, self.modules.setdefault(name, _Module())

    def site(self) -> None:
        """One more function with a text of its own."""
        name, module = self.module()
        chance, number = self.chance, len(self.calls)
        kind = chance.choice(sorted(_KINDS))
        self.kinds.append(kind)
        text, scale, shift, other = self.body(FLAGGED if kind == "flagged" else KERNEL)
        before, source = _KINDS[kind](self, name, text)
        module.lines += before
        if kind == "flagged":
            module.lines += self._flagged(number, source)
            self.call(name, f"site_{number}_swapped", other, -shift)
        else:
            module.lines += self._function(number, source)
        self.call(name, f"site_{number}", scale, shift)

    def call(self, module: str, function: str, scale: int, shift: int) -> None:
        path = module.replace("/", ".")
        self.calls.append(f"check({path!r}, {function!r}, {scale}, {shift})")

    def _flagged(self, number: int, source: str) -> list[str]:
        return [
            f"def site_{number}(x):",
            f"    return launch({source}, x, FLAG=True)",
            f"def site_{number}_swapped(x):",
            f"    return launch({source}, x, swapped=True)",
        ]

    def _function(self, number: int, source: str) -> list[str]:
        """A function, method or inner function of a name that others have, bound to ``site_N`` as well."""
        name = self.chance.choice(_FUNCTIONS)
        body = f"return launch({source}, x)"
        match self.chance.choice(("plain", "inner", "method", "static", "either")):
            case "plain":
                lines = [f"def {name}(x):", f"    {body}", f"site_{number} = {name}"]
            case "inner":
                lines = [
                    f"def make_{number}():",
                    f"    def {name}(x):",
                    f"        {body}",
                    f"    return {name}",
                    f"site_{number} = make_{number}()",
                ]
            case "method":
                kind = self.chance.choice(_CLASSES)
                lines = [f"class {kind}:", f"    def {name}(self, x):", f"        {body}"]
                lines += [f"site_{number} = {kind}().{name}"]
            case "static":
                kind = self.chance.choice(_CLASSES)
                lines = [f"class {kind}:", "    @staticmethod", f"    def {name}(x):", f"        {body}"]
                lines += [f"site_{number} = {kind}.{name}"]
            case _:
                lines = ["if len(__name__) > 1:", f"    def {name}(x):", f"        {body}"]
                lines += ["else:", f"    def {name}(x):", "        return None", f"site_{number} = {name}"]
        return lines

    def made(self) -> Generated:
        for name, module in self.modules.items():
            head = ["import os", "import torch", "import triton", "from pathlib import Path"]
            self.files[f"{name}.py"] = "\n".join([*head, LAUNCH, *module.lines]) + "\n"
            parts = name.split("/")[:-1]
            for depth in range(len(parts) + 1):
                self.files["/".join([*parts[:depth], "__init__.py"])] = ""
        program = _PROGRAM + "\n".join(self.calls) + "\n"
        return Generated(self.files, program, self.kinds)


_PROGRAM: Final = """\
import importlib
import torch

def check(module, name, scale, shift):
    function = getattr(importlib.import_module(f"twins.{module}"), name)
    for size in (1, 16, 21):
        x = torch.arange(size, dtype=torch.float32) - 7
        wanted = x * scale + shift
        given = function(x)
        assert torch.equal(given, wanted), (module, name, given.tolist(), wanted.tolist())

"""

# ---------------------------------------------------------------- how a text is written: lines, an expression

Written = tuple[list[str], str]


def _inline(maker: _Maker, module: str, text: str) -> Written:
    return [], f"'''{text}'''"


def _variable(maker: _Maker, module: str, text: str) -> Written:
    """In a variable whose name others have; what it holds now is bound to a name of its own."""
    name, own = maker.chance.choice(("SRC", "src", "SCALE", "SHIFT")), f"_text_{len(maker.calls)}"
    return [f"{name} = '''{text}'''", f"{own} = {name}"], own


def _either(maker: _Maker, module: str, text: str) -> Written:
    """One of two, by a condition that only a run decides; the other one is a decoy with the same names."""
    decoy = text.replace(" + (", " - 100 * (")
    name, own = maker.chance.choice(("SRC", "src", "SCALE")), f"_text_{len(maker.calls)}"
    condition = maker.chance.choice(("os.cpu_count() > 0", "not os.environ.get('NEVER_SET')"))
    return [
        f"if {condition}:",
        f"    {name} = '''{text}'''",
        "else:",
        f"    {name} = '''{decoy}'''",
        f"{own} = {name}",
    ], own


def _file(maker: _Maker, module: str, text: str) -> Written:
    """In a file; there are files of one stem in several folders, and with several suffixes in one."""
    folder = maker.chance.choice(_FOLDERS)
    path = f"{folder}{maker.chance.choice(_STEMS)}{maker.chance.choice(('.c', '.tr'))}"
    while path in maker.files:
        path = path.replace(".", "_.")
    maker.files[path] = text
    up = "../" * module.count("/")
    where = f"os.path.join(os.path.dirname(__file__), '{up}{path}')"
    read = maker.chance.choice(("triton.read({})", "open({}).read()", "Path({}).read_text()"))
    return [], read.format(where)


def _kernels(maker: _Maker, module: str, text: str) -> Written:
    """The second kernel of a file, chosen by its name."""
    name = text.split("void ")[1].split("(")[0]
    decoy = text.replace(f"void {name}(", "void first(").replace(" + (", " - 100 * (")
    lines, _ = _file(maker, module, decoy + text)
    path = next(reversed(maker.files))
    up = "../" * module.count("/")
    where = f"os.path.join(os.path.dirname(__file__), '{up}{path}')"
    return lines, f"triton.read({where}, kernel_names=['{name}'])"


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _f_string(maker: _Maker, module: str, text: str) -> Written:
    number = text.split(" * ")[-1].split(" + ")[0]
    holed = _doubled(text).replace(f"(X + i) * {number} +", f"(X + i) * {{factor_{number}}} +")
    return [f"factor_{number} = {number}"], f"f'''{holed}'''"


def _percent(maker: _Maker, module: str, text: str) -> Written:
    name = text.split("void ")[1].split("(")[0]
    return [], f"('''{text.replace(f'void {name}(', 'void %s(')}''' % '{name}')"


def _format(maker: _Maker, module: str, text: str) -> Written:
    name = text.split("void ")[1].split("(")[0]
    return [], f"'''{_doubled(text).replace(f'void {name}(', 'void {name}(')}'''.format(name='{name}')"


def _replaced(maker: _Maker, module: str, text: str) -> Written:
    name = text.split("void ")[1].split("(")[0]
    return [], f"'''{text.replace(f'void {name}(', 'void NAME(')}'''.replace('NAME', '{name}')"


def _headed(maker: _Maker, module: str, text: str) -> Written:
    """A header and the text, one after the other."""
    return ["HEADER = '#define ok inside\\n'"], f"HEADER + '''{text}'''"


def _again(maker: _Maker, module: str, text: str) -> Written:
    """The same text in a second place, which is not used."""
    own = f"_again_{len(maker.calls)}"
    other = maker.modules.setdefault(f"{maker.chance.choice(_FOLDERS)}ops", _Module())
    other.lines += [
        f"{own} = '''{text}'''",
        f"def unused_{len(maker.calls)}(x):",
        f"    return launch({own}, x)",
    ]
    return [f"{own} = '''{text}'''"], own


_KINDS: Final[dict[str, Callable[[_Maker, str, str], Written]]] = {
    "inline": _inline,
    "flagged": _inline,
    "variable": _variable,
    "either": _either,
    "file": _file,
    "kernels": _kernels,
    "f-string": _f_string,
    "percent": _percent,
    "format": _format,
    "replaced": _replaced,
    "headed": _headed,
    "again": _again,
}


def package(seed: int, most: int = 7) -> Generated:
    """The package of this number."""
    maker = _Maker(seed)
    for _ in range(maker.chance.randint(2, most)):
        maker.site()
    return maker.made()
