"""The map: a folder of an old package -> the files of the ported one.

texts -> kernels -> modules of kernels -> Python files with names in place of texts -> the launcher module

Invariant: each function and source has a name of its own in its module of kernels and in every Python file that
imports it; a name that is taken gets an underscore.
"""

from __future__ import annotations

import ast
import keyword
import re
import symtable
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pytriton.errors import counted
from pytriton.fold.leaves import HELPERS
from pytriton.port.jobs.integer_arguments import INT
from pytriton.port.kernels import PortedKernel
from pytriton.port.notes import Note, launched, reasons, shown_path
from pytriton.port.package.edits import (
    LAUNCHER,
    MODULES,
    PythonFile,
    Replacement,
    Uses,
    addresses_left,
    bound,
    edited,
    imports,
    launches,
    tensors,
    uses_of,
)
from pytriton.port.package.launcher import TESTING, launcher, module_of_names, module_of_tests
from pytriton.port.package.modules import ModuleKernel, module, source_name, table
from pytriton.port.package.plain import NotPlain, Plain, ReadLaunch
from pytriton.port.package.texts import Place, Places, digest
from pytriton.port.ported import PortedText, observed_defines
from pytriton.port.read.extract import is_part
from pytriton.port.read.library import NAMES, PASSED


class Placed(NamedTuple):
    """A function of the ported package: its name, the file of its module, and the name of its ``Source`` there.

    ``strict``: the text's numbers without a suffix are doubles.
    """

    kernel: PortedKernel
    function: str
    module: str
    source: str
    strict: bool


Where = tuple[str | int, ...]


class SourceSite(NamedTuple):
    """Where the code of a package names a text, and the kernel that this text became.

    ``where``: ("string", file, line, column), ("text", it, kernel...) or ("source", module, name)
    """

    kernel: PortedKernel
    place: str
    where: Where


@dataclass
class Package:
    """The files of the ported package by their paths in it, None for one that leaves. Others stay as they are.

    ``folder``: that of the kernels. ``problems``: manual work. ``plain``: the files without a launcher, if it needs
    none; what they launch is what ``files`` launch.
    """

    folder: str
    files: dict[str, bytes | None] = field(default_factory=dict)
    plain: dict[str, bytes | None] | None = None
    problems: list[Note] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    sites: list[SourceSite] = field(default_factory=list)

    def without_launcher(self) -> None:
        """Choose the files that have none: what stands for a kernel is the function itself."""
        assert self.plain is not None
        self.files = self.plain
        self.placed = [placed._replace(source=placed.function) for placed in self.placed]

    @property
    def kernels(self) -> list[PortedKernel]:
        """All functions."""
        return [placed.kernel for placed in self.placed]


@dataclass
class _Module:
    """A module of kernels while it is filled."""

    name: str
    where: str
    entries: list[ModuleKernel] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: {"Source", *HELPERS, INT})


@dataclass
class _Work:
    """The state of a port."""

    root: Path
    package: Package
    places: Places
    modules: dict[Path, _Module] = field(default_factory=dict)
    taken: dict[Path, set[str]] = field(default_factory=dict)  # the names in a Python file
    names: dict[tuple[str, int, int], Replacement] = field(
        default_factory=dict
    )  # the replacements of strings, by file, line and column
    texts: dict[str, tuple[Replacement, str]] = field(default_factory=dict)  # by digest, and where each is
    reads_kernels: bool = False  # the code asks for some kernels of a file
    addresses: bool = False  # launches may get addresses
    files: dict[Path, None] = field(default_factory=dict)  # of texts

    def shown(self, path: Path, line: int = 0) -> str:
        inside = shown_path(path, self.root)
        return f"{inside}:{line}" if line else inside


def is_ported(root: Path) -> bool:
    """Whether a package was ported before: it has a launcher module. Other files of such names are refused."""
    for name in MODULES.values():
        path = root / f"{name}.py"
        if path.exists():
            if b"of the Triton of its time, on today's" in path.read_bytes():
                return True
            raise FileExistsError(f"{path}: a port has a module of this name: rename yours")
    return False


def port_package(root: Path, texts: Sequence[PortedText]) -> Package:
    """A whole package, or no files where there is no kernel."""
    with tokenize.open(root / "__init__.py") as file:
        init = symtable.symtable(file.read(), "__init__.py", "exec")
    names = {symbol.get_name() for symbol in init.get_symbols()}  # to import a module assigns its name there
    folder = _free("kernels", names.union(path.stem for path in root.iterdir()))
    work = _Work(root, Package(folder), Places(root))
    for path, error in work.places.broken.items():
        say = f"this Python cannot be read ({error.msg}): it stays as it is"
        work.package.problems.append(Note(work.shown(path, error.lineno or 1), say))
    for tree in work.places.trees.values():
        work.reads_kernels |= uses_of(tree).reads_kernels
    for text in texts:
        if text.extracted.problem:
            work.package.problems += not_ported(text, root)
        elif text.observed or any(use.line for use in text.job.uses):
            _port_text(work, text)
        elif not any(is_part(text.job.text, other.job.text) for other in texts if other is not text):
            here = work.shown(text.extracted.path, text.extracted.text.line_at(0))
            work.package.problems.append(
                Note(here, "nothing launches this source, so it is not written: use --run")
            )
    if work.package.kernels:
        _edit_files(work, texts)
        _write_modules(work)
        if not work.package.problems:
            with suppress(NotPlain):
                work.package.plain = _in_triton(work, texts)
    return work.package


def port_alone(root: Path, texts: Sequence[PortedText]) -> Package:
    """A folder of kernels: a module for each file that has some, and the launcher module next to them."""
    work = _Work(root, Package(""), Places(root))
    for text in texts:
        for kernel in text.kernels:
            _add(work, text, Place(text.extracted.path), kernel)
        work.package.problems += not_ported(text, root)
    files = work.package.files
    for owner in work.modules.values():
        files[f"{owner.name}.py"] = module(owner.where, owner.entries, ".").encode()
    if files:
        files["__init__.py"] = table({}, work.package.kernels).encode()
        uses = Uses({"kernel"}, by_place={"triton.kernel"})
        files[f"{LAUNCHER}.py"] = launcher("", uses, work.package.kernels, (), True).encode()
    return work.package


# ---------------------------------------------------------------- kernels


def not_ported(text: PortedText, root: Path) -> list[Note]:
    """Why kernels of a text are missing."""
    if not text.kernels and not text.failures:
        return reasons(text, (), root)
    return [note for failures in text.failures.values() for note in reasons(text, failures, root)]


def _port_text(work: _Work, text: PortedText) -> None:
    """Add the kernels that a text is launched for to the module of its place."""
    where, say = work.shown(text.extracted.path, text.extracted.text.line_at(0)), work.package.problems.append
    place = work.places.of_text(text.job.text, text.extracted.path)
    work.package.problems += not_ported(text, work.root)
    for use in text.job.uses:
        if use.kernel and not place.files:
            what = f"kernel={use.kernel!r} chooses a kernel of a string: give it a source of its own"
            say(Note(work.shown(use.file, use.line), what))
    for kernel in _asked(text.kernels, bool(place.files)):
        alone = [failure for failure in kernel.failures if failure.alone]
        if alone:
            message = alone[0].error.diagnostics[0].message
            say(Note(where, f"{counted(len(alone), 'define set')} not ported: {message}"))
        name, translation = _add(work, text, place, kernel), kernel.variants[0].translation
        for path, line, column in place.strings:
            work.names.setdefault((work.shown(path), line, column), name)
            work.package.sites.append(SourceSite(kernel, where, ("string", work.shown(path), line, column)))
        asked: list[tuple[str, ...]] = (
            [()] if translation.kernel == translation.kernels[0] and not place.strings else []
        )
        if place.files and work.reads_kernels and kernel.kernel is not None:
            asked.append((kernel.kernel,))
        for kernels in asked:
            shown = ": ".join([work.shown(place.files[0]) if place.files else where, *kernels])
            work.texts[digest(text.job.text, kernels)] = name, shown
            work.package.sites.append(SourceSite(kernel, where, ("text", text.job.text, *kernels)))
    work.files |= dict.fromkeys(place.files if text.kernels else ())


def _asked(kernels: Sequence[PortedKernel], of_file: bool) -> Iterator[PortedKernel]:
    """The kernels that a program can ask for: of a file any, of a string the first."""
    for kernel in kernels:
        translation = kernel.variants[0].translation
        if of_file or translation.kernel == translation.kernels[0]:
            yield kernel


def _add(work: _Work, text: PortedText, place: Place, kernel: PortedKernel) -> Replacement:
    """Add a kernel to the module of its place."""
    owner = work.modules.get(place.owner)
    if owner is None:
        taken = {other.name for other in work.modules.values()}
        name = _free(_module_name(place.owner), taken)
        owner = work.modules[place.owner] = _Module(name, work.shown(place.owner))
    of_files = [_names_in(work, path) for path, _, _ in place.strings]
    name = _free(kernel.function, owner.taken)
    entry = ModuleKernel(_free(source_name(name), owner.taken, *of_files), kernel, name)
    owner.entries.append(entry)
    file = f"{work.package.folder}/{owner.name}.py".lstrip("/")
    work.package.placed.append(Placed(kernel, name, file, entry.name, text.strict))
    where, named = work.shown(text.extracted.path), (file.removesuffix(".py").replace("/", "."), entry.name)
    work.package.sites.append(SourceSite(kernel, where, ("source", *named)))
    return Replacement(entry.name, f"{work.package.folder}.{owner.name}")


def _free(name: str, *taken: set[str]) -> str:
    """The name, longer if one of the sets has it; it is added to all of them."""
    while any(name in some for some in taken):
        name += "_"
    for some in taken:
        some.add(name)
    return name


def _names_in(work: _Work, path: Path) -> set[str]:
    """The names that a Python file uses, and those that it imports when it is ported."""
    if path not in work.taken:
        nodes = ast.walk(ast.parse(path.read_bytes()))
        names = (getattr(node, field, None) for node in nodes for field in ("id", "arg", "name", "asname"))
        work.taken[path] = {str(name).partition(".")[0] for name in names}
    return work.taken[path]


def _module_name(path: Path) -> str:
    stem = re.sub(r"\W|^(?=\d)", "_", path.parent.name if path.stem == "__init__" else path.stem)
    return f"{stem}_" if keyword.iskeyword(stem) else stem


def _write_modules(work: _Work) -> None:
    files = work.package.files
    for owner in work.modules.values():
        files[f"{work.package.folder}/{owner.name}.py"] = module(
            owner.where, owner.entries, addresses=work.addresses
        ).encode()
    files[f"{work.package.folder}/__init__.py"] = table(work.texts, work.package.kernels).encode()


# ---------------------------------------------------------------- Python files


def _edit_files(work: _Work, texts: Sequence[PortedText]) -> None:
    """The Python files that change, and the launcher module for what all of them use."""
    uses, trees = Uses(), work.places.trees
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    wraps = any(isinstance(node, ast.arg) and node.arg == "grid" for node in nodes)
    places = {(path, line): alone for path, tree in trees.items() for line, alone in launches(tree)}
    named = not all(places.values()) or any(place not in places for text in texts for place in launched(text))
    for path, tree in trees.items():
        file = PythonFile(path.read_bytes())
        of_file = uses_of(tree)
        unknown = [f"triton.{name}" for name in sorted(of_file.names - NAMES - PASSED)]
        unknown += [f"triton.testing.{name}" for name in sorted(of_file.testing - TESTING)]
        for name in [*unknown, *sorted(of_file.modules)]:
            work.package.problems.append(Note(work.shown(path), f"{name} is not in today's Triton"))
        if "__version__" in of_file.names:
            what = "triton.__version__ is that of today's Triton: decide what it chooses"
            work.package.problems.append(Note(work.shown(path), what))
        uses.add(of_file)
        dots = _dots(work, path)
        names = {
            (line, at): name for (file, line, at), name in work.names.items() if file == work.shown(path)
        }
        edits = [*imports(file, dots), *(() if wraps else tensors(file))]
        changed = edited(file, dots, names, edits)
        if changed != file.data:
            work.package.files[work.shown(path)] = changed
    work.addresses = "data_ptr" in uses.attributes and (wraps or any(map(addresses_left, trees.values())))
    stay = [str(site.where[1]) for site in work.package.sites if site.where[0] == "text"]
    text = launcher(work.package.folder, uses, work.package.kernels, stay, named, work.addresses)
    work.package.files[f"{LAUNCHER}.py"] = text.encode()
    if uses.testing or "testing" in uses.names:
        work.package.files[f"{MODULES['triton.testing']}.py"] = module_of_tests(uses).encode()


# ---------------------------------------------------------------- without a launcher


Launched = Mapping[Path, Sequence[ReadLaunch]]  # by the files of the launches
Sources = Mapping[Path, Mapping[tuple[int, int], Mapping[str, PortedKernel]]]  # by file, place and name


def _read_launches(work: _Work, texts: Sequence[PortedText]) -> tuple[Launched, Sources]:
    """All launches, and what stands for a kernel; raises NotPlain."""
    launched: defaultdict[Path, list[ReadLaunch]] = defaultdict(list)
    sources: defaultdict[Path, dict[tuple[int, int], dict[str, PortedKernel]]] = defaultdict(dict)
    for text in texts:
        if text.kernels and not text.extracted.launches:
            raise NotPlain  # what launches it is not read
        for site in text.extracted.launches:
            name, source = site.kernel.kernel, site.kernel.source
            asked = _asked(text.kernels, of_file=name is not None)
            kernels = [kernel for kernel in asked if name in (None, kernel.kernel)]
            path, line, column = getattr(source, "at", None) or (work.root, 0, 0)
            stays = not line or work.places.is_asked((path.resolve(), line, column))
            if len(kernels) != 1 or site.file is None or stays:
                raise NotPlain
            made = (seen for seen in text.observed if seen.line == site.kernel.line)
            observed = [defines for seen in made for defines in observed_defines(seen)]
            launched[site.file.resolve()].append(ReadLaunch(site, kernels[0], observed))
            of_place = sources[path.resolve()].setdefault((line, column), {})
            if of_place.setdefault(name or "", kernels[0]) is not kernels[0]:
                raise NotPlain  # several texts
    return launched, sources


def _in_triton(work: _Work, texts: Sequence[PortedText]) -> dict[str, bytes | None]:
    """The files where all launches can be written as Triton's; raises NotPlain."""
    launched, sources = _read_launches(work, texts)
    files: dict[str, bytes | None] = dict.fromkeys(map(work.shown, work.files))
    uses, code, tunes = Uses(), work.places.trees, False
    if not sources.keys() <= {*code}:
        raise NotPlain  # a text of another package
    names_of_all = {path.stem for path in code}.union(*(_names_in(work, path) for path in code))
    parts = (node for tree in code.values() if [*bound(tree, ast.walk(tree))] for node in ast.walk(tree))
    functions = {node.name for node in parts if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for path in code:
        file, taken = PythonFile(path.read_bytes()), {*names_of_all}
        names: dict[int, Replacement] = {}
        for placed in work.package.placed:
            if any(
                placed.kernel is kernel for of in sources.get(path, {}).values() for kernel in of.values()
            ):
                clashes = placed.function in taken
                alias = _free(f"{placed.function}_kernel" if clashes else placed.function, taken)
                name = f"{placed.function} as {alias}" if clashes else alias
                names[id(placed.kernel)] = Replacement(
                    name, placed.module.removesuffix(".py").replace("/", ".")
                )
        named: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
        for at, of in sources.get(path, {}).items():
            for name, function in of.items():
                if id(function) not in names:
                    raise NotPlain  # a kernel that its text is not ported for
                named[at][name] = names[id(function)].alias
        plain = Plain(file, launched.get(path, ()), named, functions)
        edits = [*plain.edits(), *tensors(file), *(imports(file, _dots(work, path)) if plain.module else ())]
        if plain.module:
            uses.add(uses_of(file.tree))
        tunes |= plain.tunes
        changed = edited(file, _dots(work, path), {}, edits, names.values())
        if changed != file.data:
            files[work.shown(path)] = changed
            with suppress(SyntaxError):
                ast.parse(changed)
                continue
            raise NotPlain  # parentheses around an expression
    for owner in work.modules.values():
        files[f"{work.package.folder}/{owner.name}.py"] = module(owner.where, owner.entries, None).encode()
    files[f"{work.package.folder}/__init__.py"] = table({}, work.package.kernels).encode()
    if uses.names:
        files[f"{LAUNCHER}.py"] = module_of_names(uses, tunes).encode()
    if uses.testing:
        files[f"{MODULES['triton.testing']}.py"] = module_of_tests(uses).encode()
    return files


def _dots(work: _Work, path: Path) -> str:
    return "." * len(path.relative_to(work.root).parts)
