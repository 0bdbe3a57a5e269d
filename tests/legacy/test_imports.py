"""legacy_imports and ``run --legacy``: pytriton inside the packages named, the real triton everywhere else."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.legacy import imports
from tests.legacy.modules import real_triton, write
from tests.processes import python
from tests.together import in_threads

SPELLINGS = """\
import triton
import triton as renamed
import triton.testing
import triton.testing as tt
import triton.utils
from triton import testing, cdiv
from triton import kernel as make
from triton.testing import do_bench
from triton.utils import id_dict


def late():
    import triton
    return triton


class Inside:
    import triton as member


evaluated = eval("__import__('triton')")
executed = {}
exec("import triton", executed)
nested = (lambda: [__import__("triton") for _ in range(1)][0])()
"""


@pytest.mark.parametrize("in_package", [False, True])
def test_every_spelling(place: Path, in_package: bool) -> None:
    name = "old_spelling.deep.module" if in_package else "old_spelling"
    write(place, **{name.replace(".", "__"): SPELLINGS}, **({"old_spelling__deep": ""} if in_package else {}))
    pytriton.legacy_imports("old_spelling")
    module = importlib.import_module(name)
    for found in (
        *(module.triton, module.renamed, module.late(), module.Inside.member),
        *(module.evaluated, module.executed["triton"], module.nested),
    ):
        assert found is pytriton
    assert module.tt is module.testing is pytriton.testing
    assert module.do_bench is pytriton.testing.do_bench
    assert module.make is pytriton.kernel
    assert module.cdiv is pytriton.cdiv
    assert module.id_dict is pytriton.utils.id_dict
    assert sys.modules["triton"] is real_triton()


def test_star(place: Path) -> None:
    write(place, old_star="from triton import *\nfrom triton.testing import *\n")
    with pytriton.legacy_imports("old_star"):
        module = importlib.import_module("old_star")
    assert module.kernel is pytriton.kernel
    assert module.do_bench is pytriton.testing.do_bench


def test_the_rest_keeps_the_real_one(place: Path) -> None:
    text = "import triton\nimport triton.language as tl\nfrom triton import jit\n"
    write(
        place,
        old_mixed="import new_neighbour, old_mixed_too\nfrom . import part\nimport triton, torch\n",
        old_mixed__part="import triton\n",
        old_mixed_too=text,
        new_neighbour=text,
    )
    with pytriton.legacy_imports("old_mixed"):
        module = importlib.import_module("old_mixed")
        during = importlib.import_module("triton")
    assert module.triton is module.part.triton is pytriton
    assert module.new_neighbour.triton is module.old_mixed_too.triton is during is real_triton()
    assert module.torch is importlib.import_module("torch")
    assert importlib.import_module("torch.utils._triton").has_triton_package()


def test_relative_and_similar_names(place: Path) -> None:
    write(
        place,
        old_similar="from . import triton as own\nfrom .triton import word\nimport triton_like\n",
        old_similar__triton="word = 7\n",
        triton_like="word = 8\n",
    )
    with pytriton.legacy_imports("old_similar"):
        module = importlib.import_module("old_similar")
    assert (module.own.word, module.word, module.triton_like.word) == (7, 7, 8)


def test_a_part_of_a_package(place: Path) -> None:
    write(
        place,
        old_part="import triton\nfrom . import kernels, modern\n",
        old_part__kernels="import triton\nfrom . import deep\n",
        old_part__kernels__deep="import triton\n",
        old_part__modern="import triton\n",
    )
    with pytriton.legacy_imports("old_part.kernels"):
        module = importlib.import_module("old_part")
    assert module.kernels.triton is module.kernels.deep.triton is pytriton
    assert module.triton is module.modern.triton is real_triton()


class TestContext:
    def test_it_ends(self, place: Path) -> None:
        write(place, old_in="import triton\n", old_after="import triton\n")
        with pytriton.legacy_imports("old_in", "old_after"):
            inside = importlib.import_module("old_in")
        after = importlib.import_module("old_after")
        assert inside.triton is pytriton
        assert after.triton is real_triton()

    def test_it_ends_with_an_error(self, place: Path) -> None:
        write(place, old_error="import triton\n")
        with pytest.raises(ZeroDivisionError), pytriton.legacy_imports("old_error"):
            raise ZeroDivisionError
        assert importlib.import_module("old_error").triton is real_triton()

    def test_a_loaded_package_stays(self, place: Path) -> None:
        write(
            place,
            old_lazy="import triton\n\ndef sub():\n    from . import later\n    return later\n",
            old_lazy__later="import triton\n",
        )
        with pytriton.legacy_imports("old_lazy"):
            module = importlib.import_module("old_lazy")
        assert module.sub().triton is pytriton

    def test_nested(self, place: Path) -> None:
        write(place, old_outer="import triton\n")
        with pytriton.legacy_imports("old_outer"):
            with pytriton.legacy_imports("old_outer"):
                pass
            assert importlib.import_module("old_outer").triton is pytriton

    def test_a_call_lasts(self, place: Path) -> None:
        write(place, old_call="import triton\n")
        pytriton.legacy_imports("old_call")
        assert importlib.import_module("old_call").triton is pytriton

    def test_a_failed_import_can_be_repeated(self, place: Path) -> None:
        write(place, old_failing="import triton\nraise KeyError(1)\n")
        with pytriton.legacy_imports("old_failing"):
            with pytest.raises(KeyError):
                importlib.import_module("old_failing")
            assert "old_failing" not in sys.modules
            write(place, old_failing="import triton\nword = 'longer than before'\n")
            assert importlib.import_module("old_failing").triton is pytriton


class TestReload:
    @pytest.mark.parametrize("after", [False, True])
    def test_stays(self, place: Path, after: bool) -> None:
        hidden = "from importlib import import_module as im\nhidden = im('triton')\n"
        write(place, old_reload=f"{hidden}import triton\nword = 1\n")
        context = pytriton.legacy_imports("old_reload")
        module = importlib.import_module("old_reload")
        if after:
            context.__exit__(None, None, None)
        write(place, old_reload=f"{hidden}import triton\nword = 'another length'\n")
        assert importlib.reload(module) is module
        assert (module.triton, module.hidden, module.word) == (pytriton, pytriton, "another length")

    def test_of_the_real_one_and_of_others(self, place: Path) -> None:
        write(place, old_apart="import triton\n", new_apart="import triton\n")
        with pytriton.legacy_imports("old_apart"):
            importlib.import_module("old_apart")
            module = importlib.reload(importlib.import_module("new_apart"))
        assert module.triton is real_triton()

    def test_forgotten_and_imported_again(self, place: Path) -> None:
        write(place, old_again="import triton\n")
        with pytriton.legacy_imports("old_again"):
            importlib.import_module("old_again")
        del sys.modules["old_again"]
        assert importlib.import_module("old_again").triton is real_triton()


def test_threads(place: Path) -> None:
    hidden = "import importlib\nhidden = importlib.import_module('triton')\n"
    for number in range(8):
        write(
            place, **{f"old_thread{number}": f"{hidden}import triton\nfrom triton.testing import do_bench\n"}
        )
        write(place, **{f"new_thread{number}": f"{hidden}import triton\nfrom triton.language import load\n"})
    pytriton.legacy_imports(*(f"old_thread{number}" for number in range(8)))
    found: dict[str, Any] = {}

    def work(name: str) -> None:
        module = importlib.import_module(name)
        found[name] = (module.triton, module.hidden)

    names = [f"{age}_thread{number}" for number in range(8) for age in ("old", "new")]
    in_threads(work, names)
    real = real_triton()
    assert found == {name: (pytriton,) * 2 if name.startswith("old") else (real,) * 2 for name in names}


class TestRefusals:
    def test_imported_already(self, place: Path) -> None:
        write(place, old_early="", old_early__sub="import triton\n")
        importlib.import_module("old_early.sub")
        with pytest.raises(ImportError) as caught:
            pytriton.legacy_imports("fine_package", "old_early")
        assert str(caught.value) == (
            "'old_early' is imported already, with the real triton: call pytriton.legacy_imports('old_early') "
            "before the first import of 'old_early'"
        )
        assert "fine_package" not in imports._active

    def test_a_part_imported_already(self, place: Path) -> None:
        write(place, old_half="", old_half__one="", old_half__two="import triton\n")
        importlib.import_module("old_half.one")
        with pytest.raises(ImportError, match=r"'old_half\.one' is imported already"):
            pytriton.legacy_imports("old_half.one")
        with pytriton.legacy_imports("old_half.two"):
            assert importlib.import_module("old_half.two").triton is pytriton

    def test_twice_is_fine(self, place: Path) -> None:
        write(place, old_twice="import triton\n")
        pytriton.legacy_imports("old_twice")
        importlib.import_module("old_twice")
        pytriton.legacy_imports("old_twice")

    @pytest.mark.parametrize("name", ["torch", "torch.utils", "triton", "triton.language", "pytriton"])
    def test_who_needs_the_real_one(self, name: str) -> None:
        with pytest.raises(ValueError, match="needs the real triton"):
            pytriton.legacy_imports(name)

    @pytest.mark.parametrize("name", ["", ".a", "a-b", "a..b", "my package", 3, None, "path/to"])
    def test_no_name(self, name: Any) -> None:
        with pytest.raises(ValueError, match="takes names of packages"):
            pytriton.legacy_imports(name)

    def test_no_names(self) -> None:
        with pytest.raises(ValueError, match="got none"):
            pytriton.legacy_imports()

    @pytest.mark.parametrize(
        ("statement", "op", "today"),
        [
            ("import triton.ops", "triton.ops", ""),
            ("from triton import ops", "triton.ops", ""),
            ("from triton import kernel, nn", "triton.nn", ""),
            ("import triton.ops.blocksparse as bs", "triton.ops.blocksparse", "use torch.nn.attention.flex_"),
            ("from triton.ops import matmul", "triton.ops.matmul", "use torch.matmul, or "),
            ("from triton.ops import *", "triton.ops", ""),
            ("from triton.ops.blocksparse import softmax", "triton.ops.blocksparse.softmax", "torch.softmax"),
            ("from triton.nn import Conv2d", "triton.nn.Conv2d", "torch.nn.Conv2d"),
            ("import importlib; importlib.import_module('triton.ops')", "triton.ops", ""),
            ("from importlib import import_module as im; im('.nn', 'triton')", "triton.nn", ""),
            (
                "import importlib; importlib.import_module('triton.ops.matmul')",
                "triton.ops.matmul",
                "torch.m",
            ),
            ("__import__('triton.ops')", "triton.ops", ""),
        ],
    )
    def test_ready_made_operators(self, place: Path, statement: str, op: str, today: str) -> None:
        write(place, old_ops=f"{statement}\n")
        with pytriton.legacy_imports("old_ops"), pytest.raises(ImportError) as caught:
            importlib.import_module("old_ops")
        text = str(caught.value)
        assert text.startswith(f"{op} was a ready-made operator")
        assert today in text
        assert "copy the operator's Python and Triton-C files" in text

    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            (
                "import triton.language as tl",
                "there is no 'triton.language': inside 'old_none', triton means",
            ),
            ("from triton.kernel import kernel", "there is no 'triton.kernel'"),
            ("from triton import jit", "cannot import name 'jit' from 'pytriton'"),
            ("import importlib; importlib.import_module('triton.language')", "there is no 'triton.language'"),
            ("import importlib; importlib.import_module('.a', 'triton.b')", "there is no 'triton.b.a'"),
        ],
    )
    def test_what_never_was(self, place: Path, statement: str, message: str) -> None:
        write(place, old_none=f"{statement}\n")
        with pytriton.legacy_imports("old_none"), pytest.raises(ImportError, match=message):
            importlib.import_module("old_none")


class TestLoaders:
    """The package may lie anywhere, and tools that read it find what they look for."""

    def test_source_and_data(self, place: Path) -> None:
        write(place, old_tools="import triton\n\ndef f():\n    return 41\n", old_tools__sub="")
        (place / "old_tools" / "kernel.c").write_text("void f() {}")
        with pytriton.legacy_imports("old_tools"):
            module = importlib.import_module("old_tools")
        assert "return 41" in inspect.getsource(module.f)
        assert pkgutil.get_data("old_tools", "kernel.c") == b"void f() {}"
        assert importlib.resources.files(module).joinpath("kernel.c").read_text() == "void f() {}"
        assert [found.name for found in pkgutil.iter_modules(module.__path__)] == ["sub"]

    def test_zip(self, place: Path) -> None:
        with zipfile.ZipFile(place / "old.zip", "w") as archive:
            archive.writestr("old_zipped/__init__.py", "import triton\n")
            archive.writestr("new_zipped.py", "import triton\n")
        sys.path.insert(0, str(place / "old.zip"))
        try:
            with pytriton.legacy_imports("old_zipped"):
                found = importlib.import_module("old_zipped").triton
                other = importlib.import_module("new_zipped").triton
        finally:
            sys.path.remove(str(place / "old.zip"))
        assert (found, other) == (pytriton, real_triton())

    def test_lazy_modules_stay_lazy(self, place: Path) -> None:
        write(place, new_lazy="loaded = True\n", new_lazy__part="")
        spec = importlib.util.find_spec("new_lazy")
        assert spec is not None
        assert spec.loader is not None
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules["new_lazy"] = module
        spec.loader.exec_module(module)
        with pytriton.legacy_imports("old_beside"):
            assert imports._finder.find_spec("new_lazy.part", [str(place / "new_lazy")]) is None
        assert "loaded" not in object.__getattribute__(module, "__dict__")
        assert module.loaded

    def test_namespace_package(self, place: Path) -> None:
        (place / "old_space").mkdir()
        (place / "old_space" / "part.py").write_text("import triton\n")
        with pytriton.legacy_imports("old_space"):
            assert importlib.import_module("old_space.part").triton is pytriton

    def test_bytecode_is_shared(self, place: Path) -> None:
        """A cached module holds nothing of ours: without legacy_imports it has the real triton."""
        write(place, old_cached="import triton\n")
        with pytriton.legacy_imports("old_cached"):
            importlib.import_module("old_cached")
        del sys.modules["old_cached"]
        assert importlib.util.cache_from_source(str(place / "old_cached.py"))
        assert importlib.import_module("old_cached").triton is real_triton()

    def test_another_finder_in_front(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Front:
            def find_spec(self, *arguments: Any) -> Any:
                return importlib.machinery.PathFinder.find_spec(*arguments[:2])

        write(place, old_behind="import triton\n")
        monkeypatch.setattr(sys, "meta_path", [Front(), *sys.meta_path])
        with pytriton.legacy_imports("old_behind"):
            assert importlib.import_module("old_behind").triton is pytriton

    def test_builtins_work(self, place: Path) -> None:
        text = "import triton\nassert len([1]) and __build_class__\nclass A: pass\nprint, open, __name__\n"
        write(place, old_builtins=text)
        with pytriton.legacy_imports("old_builtins"):
            assert importlib.import_module("old_builtins").A.__module__ == "old_builtins"


def run(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "pytriton", "run", *arguments, cwd=place)


REPORT = """\
import sys
import triton
import old_run
from old_run import deep
print(__name__, sys.argv, triton.__name__, old_run.triton.__name__, deep.triton.__name__, sys.path[0])
"""


def test_torch_compile_reads_the_package(place: Path) -> None:
    """Dynamo looks builtins up in the module's own ``__builtins__``, which are ours."""
    text = """\
import torch
import triton
text = "void f(float* Y, float* X, int n) { int r[T] = 0 ... T; *?(r < n)(Y + r) = *?(r < n)(X + r) * 2; }"
kernel = triton.kernel(text, defines={"T": 32})


def double(x):
    y = torch.empty_like(x)
    kernel(y, x, max(x.numel(), len([])), grid=lambda opt: (triton.cdiv(x.numel(), opt.T),))
    return y
"""
    write(place, old_compiled=text)
    with pytriton.legacy_imports("old_compiled"):
        double = importlib.import_module("old_compiled").double
    x = torch.randn(20)
    compiled = torch.compile(double, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), double(x))
    assert torch.equal(double(x), 2 * x)


class TestCommand:
    @pytest.fixture
    def program(self, tmp_path: Path) -> Path:
        write(
            tmp_path,
            old_run="import triton\n",
            old_run__deep="import triton\n",
            old_run__bench=REPORT,
        )
        (tmp_path / "old_run" / "__main__.py").write_text(REPORT)
        (tmp_path / "scripts").mkdir()
        for folder in (tmp_path, tmp_path / "scripts"):
            (folder / "script.py").write_text(REPORT)
        return tmp_path

    def test_script(self, program: Path) -> None:
        done = run(program, "--legacy", "old_run", "script.py", "--legacy", "x", "-m")
        assert done.stderr == ""
        wanted = ["script.py", "--legacy", "x", "-m"]
        assert done.stdout == f"__main__ {wanted} triton pytriton pytriton {program}\n"
        assert done.returncode == 0

    @pytest.mark.slow
    def test_script_elsewhere(self, program: Path) -> None:
        os.rename(program / "old_run", program / "scripts" / "old_run")
        done = run(program, "--legacy", "old_run", "scripts/script.py")
        assert done.stdout == (
            f"__main__ ['scripts/script.py'] triton pytriton pytriton {program / 'scripts'}\n"
        ), done.stderr

    def test_the_script_itself(self, program: Path) -> None:
        done = run(program, "--legacy", "old_run", "--legacy", "__main__", "script.py")
        assert done.stdout.startswith("__main__ ['script.py'] pytriton pytriton pytriton"), done.stderr

    @pytest.mark.parametrize("module", ["old_run.bench", "old_run"])
    @pytest.mark.slow
    def test_module_of_the_package(self, program: Path, module: str) -> None:
        done = run(program, "--legacy", "old_run", "-m", module, "-x", "--legacy")
        assert "pytriton pytriton pytriton" in done.stdout, done.stderr
        assert "'-x', '--legacy'] " in done.stdout

    def test_a_module_by_the_installed_script(self, program: Path) -> None:
        """Modules are looked for in the working directory, as ``python -m`` does; not where the script is."""
        (program / "bin").mkdir()
        script = program / "bin" / "pytriton"
        script.write_text("from pytriton.__main__ import main\nraise SystemExit(main())\n")
        done = python(script, "run", "--legacy", "old_run", "-m", "old_run.bench", cwd=program)
        assert done.stdout.endswith(f"pytriton pytriton pytriton {program}\n"), done.stderr

    @pytest.mark.slow
    def test_only_the_script_itself(self, program: Path) -> None:
        (program / "script.py").write_text("import triton, torch\nprint(triton.__name__)\n")
        assert run(program, "--legacy", "__main__", "script.py").stdout == "pytriton\n"

    @pytest.mark.parametrize("arguments", [["script.py"], ["-m", "script"]])
    @pytest.mark.slow
    def test_hidden_in_the_script_itself(self, program: Path, arguments: list[str]) -> None:
        (program / "script.py").write_text(
            "from importlib import import_module as im\nimport old_run, new_beside\n"
            "print(im('triton').__name__, old_run.triton.__name__, new_beside.triton.__name__)\n"
        )
        (program / "new_beside.py").write_text(
            "import importlib\ntriton = importlib.import_module('triton')\n"
        )
        (program / "old_run" / "__init__.py").write_text("triton = __import__('triton')\n")
        done = run(program, "--legacy", "old_run", "--legacy", "__main__", *arguments)
        assert done.stdout == "pytriton pytriton triton\n", done.stderr

    @pytest.mark.slow
    def test_module_outside(self, program: Path) -> None:
        done = run(program, "--legacy", "old_run", "-m", "script", "5")
        assert "'5'] triton pytriton pytriton" in done.stdout, done.stderr

    def test_exit_status(self, program: Path) -> None:
        (program / "script.py").write_text("import sys\nsys.exit(7)\n")
        assert run(program, "--legacy", "old_run", "script.py").returncode == 7

    def test_error_in_the_script(self, program: Path) -> None:
        (program / "script.py").write_text("import old_run\n1 / 0\n")
        done = run(program, "--legacy", "old_run", "script.py")
        assert done.returncode == 1
        assert 'script.py", line 2, in <module>' in done.stderr
        assert "ZeroDivisionError" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["script.py"], "the following arguments are required: --legacy"),
            (["--legacy", "old_run"], "the following arguments are required: SCRIPT"),
            (["--legacy", "old_run", "absent.py"], "absent.py: error: no such file"),
            (
                ["--legacy", "torch", "script.py"],
                "pytriton run: error: --legacy: 'torch' needs the real triton",
            ),
        ],
    )
    @pytest.mark.slow
    def test_wrong_use(self, program: Path, arguments: list[str], message: str) -> None:
        done = run(program, *arguments)
        assert message in done.stderr
        assert done.returncode == 2


def test_nothing_heavy_is_imported() -> None:
    check: Callable[[str], str] = lambda name: f"assert '{name}' not in sys.modules, '{name}'"  # noqa: E731
    code = "; ".join(
        ["import sys, pytriton", "pytriton.legacy_imports('old')", *map(check, ("torch", "triton", "numpy"))]
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
