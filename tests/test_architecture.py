"""The shape of the code: who may import whom, how long files and functions may grow, what the documents say of it.

Each rule takes the files of the package, by name below ``pytriton/``, and yields what breaks it. All is read from
the syntax trees; nothing is imported here.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

from tools.size import CORE, TOOLS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pytriton"

# From left to right: a stage may import itself and what stands before it.
STAGES = (
    *(
        "collecting",
        "frozen",
        "settings",
        "source",
        "errors",
        "boundary",
        "progress",
        "command_line",
        "commands",
        "lang",
        "passes",
        "emit",
        "reuse",
        "pipeline",
        "native",
    ),
    *(
        "fold",
        "gradient.derive",
        "compat",
        "runtime",
        "tuning",
        "gradient",
        "operators",
        "legacy",
        "notebook",
        "port",
        "lsp",
        "testing",
    ),
)

# What launches a backward; gradient/derive needs neither torch nor triton.
GRADIENT = tuple(f"gradient/{name}.py" for name in ("backward", "enumerated", "laid_out", "launches"))

# Who may import each third-party library; a library that is not listed may not be imported at all.
LIBRARIES = {
    "lark": ("lang/grammar.py",),
    "jinja2": ("emit/templates.py",),
    "platformdirs": ("runtime/compile/module_cache.py",),
    "torch": (
        "compat/",
        "runtime/",
        "tuning/",
        *GRADIENT,
        "operators/",
        "port/run/recorder.py",
    ),
    "triton": (
        "compat/",
        "runtime/",
        "tuning/",
        "operators/",
        "legacy/perf_report.py",
        "port/prove.py",
    ),
    "lsprotocol": ("lsp/server.py",),
    "pygments": ("lsp/highlight.py",),
    "pygls": ("lsp/server.py",),
    "numpy": ("runtime/", "tuning/", "operators/"),
}

# Where private names of torch and Triton may stand.
COMPAT = "compat/"
# Modules of Triton that are internal although their names do not say it.
INTERNALS = (
    *("triton.backends", "triton.compiler", "triton.knobs", "triton.language.semantic", "triton.runtime"),
)
# Private attributes of objects of torch that bear names of ours, too; and of other libraries.
FOREIGN = {"_base", "_opname", "_schema", "_version"}
OTHERS = {"_actions", "_asdict", "_field_type", "_getframe", "_load_from_dict"}

# They put names of all stages together for users; the kernel object gives the plan, which is core, its tools.
DOORS = ("__init__.py", "__main__.py", "runtime/kernel.py")

# Files of several packages that may bear one name, and why; any other name of a file says which of them it is.
SHARED_STEMS = {
    "__init__": "the head of each folder, or its public face",
    "command": "the command line of a package",
    "context": "what the functions of a stage share: each sees that of its own stage only",
    "errors": "diagnostics of a source; refusals of a launch",
    "walk": "the walker of each tree",
}
# The nodes of the trees may bear one name (syntax.If is parsed, typed.If is checked); no other class may.
TREES = ("lang/parse/syntax.py", "lang/tree/typed.py", "emit/python.py")

# The core and the tools are listed in ``tools/size.py``; ``runtime/native`` is a tool, as ``runtime/interpret`` is:
# both run launches on the CPU, and the core needs neither. Here the other files, by the side that each is on.
ROOTS = (
    "runtime/kernel.py",
    "__init__.py",
    "__main__.py",
    "runtime/__init__.py",
)  # compose both: on neither side
BESIDE_CORE = (
    *("boundary.py", "collecting.py", "errors.py", "frozen.py", "settings.py", "source.py"),
    *("compat", "runtime/errors.py", "runtime/locks.py"),
)
BESIDE_TOOLS = (
    *("command_line.py", "commands.py", "progress.py", "testing.py"),
    *("runtime/bfloat16.py", "runtime/compare.py", "runtime/pickled.py", "runtime/show.py"),
    *("runtime/tensors.py", "runtime/traced.py"),
)
MAX_FILES = 18  # of a folder, with its __init__.py
MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 59

Files = Mapping[str, str]
Rule = Callable[[Files], Iterator[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef

TEXTS = {p.relative_to(PACKAGE).as_posix(): p.read_text(encoding="utf-8") for p in PACKAGE.rglob("*.py")}


def stage_of(name: str) -> str:
    """The stage of a file: ``lang/tokens.py`` -> ``lang``, ``source.py`` -> ``source``."""
    return stage_of_module(name.removesuffix(".py").replace("/", "."))


def stage_of_module(name: str) -> str:
    """That of a dotted name; two packages share the folder ``gradient``."""
    inner = "gradient.derive"
    return inner if f"{name}.".startswith(f"{inner}.") else name.split(".")[0]


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def imports(name: str, text: str, *, typing: bool = True) -> tuple[tuple[int, str], ...]:
    """Line and dotted name of everything imported, relative imports resolved; ``typing``: for annotations, too.

    ``from a import b`` is ``a.b``: whether b is a module does not matter for most rules.
    """
    return tuple(_imports(name, text, typing))


def _imports(name: str, text: str, typing: bool) -> Iterator[tuple[int, str]]:
    package = ("pytriton", *PurePosixPath(name).parent.parts)
    top = [n for n in parsed(text).body if typing or not _is_for_typing(n)]
    for node in (node for statement in top for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def stages_import_from_the_left(files: Files) -> Iterator[str]:
    for name, text in files.items():
        if name in DOORS:
            continue
        if stage_of(name) not in STAGES:
            yield f"{name} belongs to no stage"
            continue
        for line, target in imports(name, text):
            root, _, rest = target.partition(".")
            stage = stage_of_module(rest)
            if root != "pytriton" or rest == "__version__":
                continue
            if stage not in STAGES:
                yield f"{name}:{line}: imports {target}; name the module that defines it"
            elif STAGES.index(stage) > STAGES.index(stage_of(name)):
                yield f"{name}:{line}: {stage_of(name)} imports {stage}, which stands to its right"


def neighbours_import_one_way(files: Files) -> Iterator[str]:
    """In each folder: the files and folders that stand in it, as one node each, with their ``__init__.py``."""
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, text in files.items():
        if name in DOORS:
            continue
        for _, target in imports(name, text, typing=False):
            other = _file_of(target, files)
            if other is None or other == name:
                continue
            parts, others = PurePosixPath(name).parts, PurePosixPath(other).parts
            same = next(n for n, (one, two) in enumerate(zip(parts, others, strict=False)) if one != two)
            arrows["/".join(parts[:same])][parts[same]].add(others[same])
    for folder, graph in arrows.items():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            yield f"{folder}/: imports in a circle: {' <- '.join(error.args[1])}"


def _is_for_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _file_of(target: str, files: Files) -> str | None:
    """The file that an imported name comes from; None if it is not in the package."""
    root, *parts = target.split(".")
    if root != "pytriton":
        return None
    for end in (len(parts), len(parts) - 1):
        path = "/".join(parts[:end])
        for name in (f"{path}.py", f"{path}/__init__.py"):
            if path and name in files:
                return name
    return None


def core_imports_no_tool(files: Files) -> Iterator[str]:
    """Nor does it import the roots. Each file is on one side."""
    for name, text in files.items():
        side = side_of(name)
        if side is None:
            yield f"{name}: is it core, a tool or a root? List it here or in tools/size.py"
        if side != "core":
            continue
        for line, target in imports(name, text):
            other = _file_of(target, files)
            if other is not None and side_of(other) != "core":
                yield f"{name}:{line}: the core imports {other}; what both need moves to the core"


def side_of(name: str) -> str | None:
    """``core``, ``tool`` or ``root``; None for a file that is not listed."""
    sides = {"root": ROOTS, "core": (*CORE, *BESIDE_CORE), "tool": (*TOOLS, *BESIDE_TOOLS)}
    for side, places in sides.items():
        if any(name == place or name.startswith(f"{place}/") for place in places):
            return side
    return None


def libraries_stay_in_their_place(files: Files) -> Iterator[str]:
    for name, text in files.items():
        for line, target in imports(name, text):
            root = target.split(".")[0]
            places = LIBRARIES.get(root, ())
            allowed = root == "pytriton" or root in sys.stdlib_module_names
            if not allowed and not any(name == place or name.startswith(place) for place in places):
                yield f"{name}:{line}: imports {root}, which is for {' and '.join(places) or 'no file'}"


def private_names_stand_in_compat(files: Files) -> Iterator[str]:
    """Imports, attributes and names of modules in strings; an attribute is ours if some file defines its name."""
    ours = {name for text in files.values() for name in _defined(parsed(text))} - FOREIGN
    for name, text in files.items():
        if name.startswith(COMPAT):
            continue
        for line, target in imports(name, text):
            if _is_private(target):
                yield f"{name}:{line}: imports {target}, which is for {COMPAT}"
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.Attribute):
                attribute = node.attr.startswith("_") and not node.attr.startswith("__")
                if (attribute and node.attr not in ours | OTHERS) or _is_private(ast.unparse(node)):
                    yield f"{name}:{node.lineno}: {ast.unparse(node)}, which is for {COMPAT}"
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_private(node.value):
                yield f"{name}:{node.lineno}: '{node.value}', which is for {COMPAT}"


def _is_private(dotted: str) -> bool:
    parts = dotted.split(".")
    private = any(part.startswith("_") and not part.startswith("__") for part in parts[1:])
    internal = any(dotted == module or dotted.startswith(f"{module}.") for module in INTERNALS)
    return parts[0] in ("torch", "triton") and " " not in dotted and (private or internal)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from [node.attr] if ast.unparse(node.value) == "self" else []


def workarounds_are_marked(files: Files) -> Iterator[str]:
    """``# Triton 3.6: what goes wrong``, with the last version that needs it, which pyproject.toml supports."""
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'"triton>=3\.(\d+)', pyproject)
    assert oldest
    for name, text in files.items():
        for line, written in enumerate(text.splitlines(), 1):
            marked = re.search(r"# Triton 3\.(\d+): ", written)
            if marked and int(marked[1]) < int(oldest[1]):
                yield f"{name}:{line}: no supported Triton needs it; delete it"
            elif not marked and not name.startswith(COMPAT) and _UNMARKED.search(written):
                yield f"{name}:{line}: a workaround is marked '# Triton 3.6: what goes wrong'"


_UNMARKED = re.compile(r"(?i)up to triton 3|triton 3\.\d (fails|takes|makes|parses|reads|refuses|needs|asks)")


def imports_stand_at_the_top(files: Files) -> Iterator[str]:
    for name, text in files.items():
        functions = (n for n in ast.walk(parsed(text)) if isinstance(n, Function) and name not in DOORS)
        for function in functions:
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield f"{name}:{node.lineno}: imports inside {function.name}"


def folders_are_small(files: Files) -> Iterator[str]:
    for folder, count in Counter(PurePosixPath(name).parent for name in files).items():
        if count > MAX_FILES:
            yield f"{folder}/ has {count} files: a wall is missing"


def names_of_files_are_unique(files: Files) -> Iterator[str]:
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in files:
        by_stem[PurePosixPath(name).stem].append(name)
    yield from _doubled("files", by_stem, SHARED_STEMS)


def names_of_classes_are_unique(files: Files) -> Iterator[str]:
    """Of the public classes at the top of files."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for name, text in files.items():
        for node in parsed(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                by_name[node.name].append(name)
    nodes = {name for name, where in by_name.items() if len(where) > 1 and set(where) <= set(TREES)}
    yield from _doubled("classes", by_name, dict.fromkeys(nodes, "nodes"))


def _doubled(what: str, places: Mapping[str, Sequence[str]], reasons: Mapping[str, str]) -> Iterator[str]:
    for name, where in places.items():
        if len(where) > 1 and name not in reasons:
            yield f"{what} are called {name}: {', '.join(where)}"


def files_open_with_a_docstring(files: Files) -> Iterator[str]:
    for name, text in files.items():
        if not ast.get_docstring(parsed(text)):
            yield f"{name} needs a few lines that teach it"


def files_are_short(files: Files) -> Iterator[str]:
    for name, text in files.items():
        lines = len(text.splitlines())
        if lines > MAX_FILE_LINES:
            yield f"{name} has {lines} lines"


def functions_are_short(files: Files) -> Iterator[str]:
    for name, text in files.items():
        for node in ast.walk(parsed(text)):
            if isinstance(node, Function):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    yield f"{name}:{node.lineno}: {node.name} has {lines} lines"


# What each rule catches: files by name, with their texts.
BROKEN: dict[Rule, list[dict[str, str]]] = {
    stages_import_from_the_left: [
        {"lang/read.py": "from pytriton.passes import run"},
        {"lang/read.py": "import pytriton.runtime.kernel"},
        {"lang/read.py": "from pytriton import runtime"},
        {"lang/read.py": "from .. import runtime"},
        {"lang/check/checker.py": "from ...emit.expr import precedence"},
        {"lang/read.py": "from pytriton import translate"},
        {"runtime/plan.py": "from pytriton.port.ported import port_texts"},
        {"elsewhere.py": ""},
    ],
    neighbours_import_one_way: [
        {"lang/a.py": "import pytriton.lang.b", "lang/b.py": "from pytriton.lang.a import x"},
        {
            "lang/parse/a.py": "from pytriton.lang.check.b import x",
            "lang/check/b.py": "",
            "lang/check/c.py": "from ..parse import d",
            "lang/parse/d.py": "",
        },
        {
            "passes/__init__.py": "from pytriton.passes.a import a",
            "passes/a.py": "from pytriton.passes import run",
        },
    ],
    core_imports_no_tool: [
        {"passes/loops/peel.py": "from pytriton.fold.walk import x", "fold/walk.py": ""},
        {"runtime/plan.py": "from pytriton.tuning.record import x", "tuning/record.py": ""},
        {"emit/stmt.py": "from pytriton.runtime.kernel import x", "runtime/kernel.py": ""},
        {"emit/stmt.py": "from pytriton.progress import x", "progress.py": ""},
        {"new.py": ""},
        {"runtime/new/file.py": ""},
    ],
    libraries_stay_in_their_place: [
        {"lang/read.py": "import requests"},
        {"emit/stmt.py": "from jinja2 import Environment"},
        {"pipeline.py": "from torch import Tensor"},
        {"port/read/texts.py": "import torch.nn"},
    ],
    private_names_stand_in_compat: [
        {"operators/body.py": "from torch._subclasses.fake_tensor import FakeTensor"},
        {"operators/body.py": "from torch.utils._pytree import tree_leaves"},
        {"port/prove.py": "from triton.compiler import ASTSource"},
        {"port/prove.py": "import triton\ntriton.runtime.driver.active"},
        {"operators/body.py": "import torch\nshare = torch._C._is_alias_of"},
        {"operators/body.py": "def f(x):\n    return x._version"},
        {"operators/body.py": "def f(x):\n    x._is_theirs = 1"},
        {"operators/body.py": "import sys\nsys.modules['torch._functorch.aot_autograd']"},
    ],
    workarounds_are_marked: [
        {"emit/stmt.py": "x = 1  # Triton 3.5: fails on 0"},
        {"emit/stmt.py": '"""Triton 3.6 fails on 0."""'},
        {"emit/stmt.py": "x = 1  # up to Triton 3.7 there is no 0"},
    ],
    imports_stand_at_the_top: [{"runtime/plan.py": "def f():\n    import ast"}],
    folders_are_small: [{f"emit/{number}.py": "" for number in range(MAX_FILES + 1)}],
    names_of_files_are_unique: [{"emit/known.py": "", "fold/known.py": ""}],
    names_of_classes_are_unique: [
        {"emit/a.py": "class Found: ...", "fold/b.py": "class Found: ..."},
        {"emit/python.py": "class Call: ...", "fold/b.py": "class Call: ..."},
    ],
    files_open_with_a_docstring: [{"emit/stmt.py": "x = 1"}],
    files_are_short: [{"emit/stmt.py": "x = 1\n" * 701}],
    functions_are_short: [{"emit/stmt.py": "class A:\n    def f(self):\n" + "        x = 1\n" * 59}],
}

# What looks like it, and is allowed by every rule.
SOUND = {
    "__init__.py": '"""."""\ndef f():\n    from pytriton.port import command',
    "emit/templates.py": '"""."""\nimport jinja2\nfrom pytriton.errors import Diagnostic',
    "lang/check/checker.py": '"""."""\nfrom ..tree.types import BlockType\nfrom ...source import Span',
    "lang/tree/types.py": '"""."""\nfrom pytriton.lang.tokens import Kind',
    "lang/tokens.py": '"""."""\n' + "x = 1\n" * 498,
    "runtime/compile/module_cache.py": '"""."""\nimport platformdirs\nfrom pytriton import __version__',
    "emit/stmt.py": '"""Gain: 2 % with Triton 3.6."""\n# Triton 3.6: fails on 0.\nx = 1',
    "operators/body.py": '"""."""\nimport torch\nfrom pytriton.compat.torch_names import FakeTensor\n'
    "class A:\n    def f(self, other):\n        self._mine = other._mine",
    "runtime/plan.py": '"""."""\nimport torch, triton\nfrom pytriton.pipeline import Translation',
}


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: rule.__name__)
def test_rule(rule: Rule) -> None:
    """Kept by the package, and able to notice."""
    assert list(rule(TEXTS)) == []
    assert list(rule(SOUND)) == []
    for files in BROKEN[rule]:
        assert list(rule(files)), files


def test_shared_names_are_shared() -> None:
    """A reason that is no longer needed goes."""
    stems = Counter(PurePosixPath(name).stem for name in TEXTS)
    assert [name for name in SHARED_STEMS if stems[name] < 2] == []


def test_core_and_tools() -> None:
    """Every listed place exists, and is on one side."""
    places = [*CORE, *TOOLS, *ROOTS, *BESIDE_CORE, *BESIDE_TOOLS]
    assert [place for place in places if not (PACKAGE / place).exists()] == []
    assert [place for place, count in Counter(places).items() if count > 1 and place not in ROOTS] == []


def test_documents_name_what_is_there() -> None:
    """Each path in backticks or in the list of folders exists (``build/`` is made); no folder is missing."""
    told = {
        name: (ROOT / name).read_text(encoding="utf-8") for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")
    }
    listed = _listed(told["ARCHITECTURE.md"])
    named = {
        path
        for text in told.values()
        for path in re.findall(r"`(\.?[\w./]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        if ("/" in path or path.endswith((".py", ".md"))) and not path.startswith("build/")
    }
    assert len(named) > 40
    assert [
        path for path in (*named, *listed) if not any((top / path).exists() for top in (ROOT, PACKAGE))
    ] == []
    assert {str(PurePosixPath(name).parent) for name in TEXTS} - {".", *listed} == set()
    assert all(f"\n[{name}]: " in (ROOT / "README.md").read_text(encoding="utf-8") for name in told)


def test_documents_name_what_is_defined() -> None:
    """Each name that is said to be of a file, or in it, is defined there."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w.]+)`\s+(?:of|in)\s+`([\w/]+\.py)`", text)
    assert len(named) > 20
    for name, file in named:
        path = next(top / file for top in (PACKAGE, ROOT) if (top / file).exists())
        defined = set(_defined(parsed(path.read_text(encoding="utf-8"))))
        assert set(name.split(".")) <= defined, (name, file)


def test_questions_and_glossary() -> None:
    """Eight answers, each of which names at most three files; a glossary of at most 40 lines."""
    sections = re.split(r"^## ", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    section = {head: body for head, _, body in (each.partition("\n") for each in sections)}
    answers = re.split(r"^\d\. ", section["Eight questions"], flags=re.MULTILINE)[1:]
    assert len(answers) == 8
    for answer in answers:
        assert 1 <= len(set(re.findall(r"`([\w./]+\.(?:py|md))`", answer))) <= 3, answer
    assert len(section["Glossary"].strip().splitlines()) <= 40


def _listed(text: str) -> list[str]:
    """The paths in the list of folders: what stands two columns deeper is inside."""
    found: list[str] = []
    folders: list[str] = []  # those that a line is inside of
    for line in text.split("```")[1].splitlines()[2:]:
        names = re.match(r"( +)(\S+(?:, \S+)*)  ", line)
        assert names, line
        del folders[len(names[1]) // 2 - 1 :]
        found += ["".join([*folders, name]).rstrip("/") for name in names[2].split(", ")]
        folders.append(names[2])
    return found
