"""The answers of the language server, without a server: problems, hovers, edits and completions at offsets."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from pytriton.lang.tree.builtins import function_names
from pytriton.lsp.analysis import Document, Kernels
from pytriton.lsp.builtin_pages import BUILTINS
from pytriton.lsp.embedded import parts, strings

ROOT = Path(__file__).parent.parent.parent

SOURCE = """\
#define STRIDE lda
#define AT(p, i) (p + (i) * STRIDE)
__global__ void scale(float *X, TYPE *Y, int n, int lda) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  bool in[TM] = rm < n;
  float x[TM] = *?(in) AT(X, rm);
  for (int n = 0; n < 4; n++) {
    x = exp(x * 2) + n;
  }
  *?(in) (Y + rm) = x;
}
"""


def kernels(text: str) -> Kernels:
    (part,) = Document(text, "k.c").parts
    return part


def messages(text: str, name: str = "k.c") -> list[str]:
    return [problem.diagnostic.message for problem in Document(text, name).problems()]


def hovered(text: str, at: str) -> list[str]:
    """What is shown at the first ``|`` of a piece of the source."""
    answer = kernels(text).hover(text.index(at.replace("|", "")) + at.index("|"))
    return answer[2] if answer else []


def test_the_mistake_on_the_page_of_editors() -> None:
    """docs/editors.md: the message, its cure and the hover are those of its source."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    source, shown = (page.split(f"```{kind}\n")[1].partition("```")[0] for kind in ("c", "text"))
    (problem,) = Document(source, "square.c").problems()
    assert f"{problem.diagnostic}\n" == shown
    assert problem.cure == "rows"
    assert hovered(source, "|v * v") == ["v: float[TILE]"]
    assert "`v: float[TILE]`" in page


def test_a_right_kernel_with_open_defines_has_no_problems() -> None:
    assert messages(SOURCE) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "translate").glob("*/kernel.c"))[::4], ids=lambda p: p.parent.name
)
def test_no_false_alarms(path: Path) -> None:
    """Their defines are elsewhere; what is beside the kernel of a case may be wrong on purpose."""
    if path.parent.name not in ("kernel_others_unchecked", "pp_undef_given"):
        found = Document(path.read_text(encoding="utf-8"), str(path)).problems()
        assert [p.diagnostic.message for p in found if p.diagnostic.severity == "error"] == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("x = exp(rm2);", "'rm2' is not declared"),
        ("x = x +;", "expected an expression"),
        ("x = exq(x);", "there is no built-in function 'exq'"),
        ("float z[8] = 0; z = z @ n;", "'@'"),
    ],
)
def test_errors_are_shown_beside_open_defines(wrong: str, message: str) -> None:
    (problem,) = Document(SOURCE.replace("x = exp(x * 2) + n;", wrong), "k.c").problems()
    assert message in problem.diagnostic.message


def test_errors_that_may_come_from_a_guess_wait() -> None:
    text = "void f(float *X) { int rm[TM] = 0 ... 32; *(X + rm) = 1; }"
    assert messages(text) == []
    (problem,) = Document(f"// defines: TM=64\n{text}", "k.c").problems()
    assert problem.diagnostic.code == "TC302"


def test_defines_of_a_comment_are_complete() -> None:
    assert messages(f"// defines: TM=64\n{SOURCE}") != []
    assert messages(f"// defines: TM=64 TYPE=half\n{SOURCE}") == []


@pytest.mark.parametrize(
    ("at", "lines"),
    [
        ("int |rm[", ["rm: int[TM]"]),
        ("|x[TM] = *?", ["x: float[TM]"]),
        ("|in) AT", ["in: bool[TM]"]),
        ("(x |* 2)", ["x * 2: float[TM]"]),
        ("|exp(x", [BUILTINS["exp"]]),
        ("*|X, TYPE", ["X: float*"]),
        ("(Y |+ rm)", ["Y + rm: float*[TM]"]),
        ("|TM] = get", ["TM is an open define"]),
        ("x = ex|p", [BUILTINS["exp"]]),
        ("|n < 4", ["n: int"]),
    ],
)
def test_hover(at: str, lines: list[str]) -> None:
    assert hovered(SOURCE, at) == lines


def test_hover_shows_what_a_macro_becomes() -> None:
    definition, expansion, type_ = hovered(SOURCE, "|AT(X")
    assert definition == "#define AT(p, i) (p + (i) * STRIDE)"
    assert expansion == "expands to (X + (rm) * lda)"
    assert type_ == "AT(X, rm): float*[TM]"
    assert hovered(f"// defines: TM=64 TYPE=half\n{SOURCE}", "|TM] = get") == ["TM = 64 in defines"]


def test_hover_beside_an_error() -> None:
    assert hovered(SOURCE.replace("rm < n", "rm < m"), "int |rm[") == ["rm: int[TM]"]


def test_definition() -> None:
    part = kernels(SOURCE)
    inner = SOURCE.index("int n = 0") + 4
    assert part.definition(SOURCE.index("n++")) == (inner, inner + 1)
    assert part.definition(SOURCE.index("AT(X")) == (SOURCE.index("AT(p"), SOURCE.index("AT(p") + 2)
    assert part.definition(SOURCE.index("exp")) is None


def renamed(text: str, at: str, name: str) -> str:
    offset = text.index(at.replace("|", "")) + at.index("|")
    for start, end in sorted(kernels(text).uses(offset, name), reverse=True):
        text = text[:start] + name + text[end:]
    return text


def test_rename_keeps_to_the_scope() -> None:
    assert renamed(SOURCE, "|n++", "step") == SOURCE.replace(
        "int n = 0; n < 4; n++", "int step = 0; step < 4; step++"
    ).replace("+ n;", "+ step;")
    assert renamed(SOURCE, "int |n,", "count") == SOURCE.replace("int n,", "int count,").replace(
        "rm < n", "rm < count"
    )


def test_rename_reaches_macro_arguments() -> None:
    assert renamed(SOURCE, "int |rm", "rows").count("rows") == 4


@pytest.mark.parametrize(
    ("at", "name"), [("int |lda", "stride"), ("int |rm", "in"), ("int |rm", "2"), ("int |rm", "exp")]
)
def test_what_cannot_be_renamed(at: str, name: str) -> None:
    """What a macro mentions, and names that are taken or invalid."""
    assert renamed(SOURCE, at, name) == SOURCE


def test_completion_has_names_in_scope() -> None:
    names = kernels(SOURCE).completions(SOURCE.index("x = exp"))
    assert {"rm", "in", "x", "n", "X", "exp", "TM", "AT", "float", "if"} <= names.keys()
    assert names["exp"] == BUILTINS["exp"]
    second = SOURCE + "void other(float *Z) { Z"
    assert kernels(second).completions(len(second)).keys().isdisjoint({"rm", "in"})


def test_a_cure_is_an_edit() -> None:
    text = SOURCE.replace("rm", "rows").replace("(Y + rows)", "(Y + rws)")
    (problem,) = Document(text, "k.c").problems()
    assert (text[problem.start : problem.end], problem.cure) == ("rws", "rows")
    (problem,) = Document(SOURCE.replace("#define S", "#defin S"), "k.c").problems()
    assert problem.cure == "define"


def test_formatting_is_that_of_the_command() -> None:
    assert Document("void f(int n){int a=n;}", "k.tr").formatted() == "void f(int n) { int a = n; }\n"
    assert Document("int é;", "k.tr").formatted() is None
    assert Document("src = 'void f() {}'", "k.py").formatted() is None


@pytest.mark.parametrize("name", function_names())
def test_every_builtin_is_documented(name: str) -> None:
    assert name in BUILTINS


@pytest.mark.parametrize("end", range(0, len(SOURCE), 5))
def test_a_source_that_is_being_typed(end: int) -> None:
    """Nothing is raised, whatever is missing; the rest of the file follows in every other case."""
    text = SOURCE[:end] + SOURCE[end + 3 :] * (end % 2)
    document = Document(text, "k.c")
    assert all(0 <= problem.start <= problem.end <= len(text) for problem in document.problems())
    document.formatted()
    for at in range(0, len(text), 40):
        part = document.parts[0]
        part.hover(at), part.definition(at), part.uses(at, "other"), part.completions(at)


PYTHON = '''\
import pytriton

src = """
__global__ void fill(float *x, int n) {{
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;\\n
  *?(i < n) (x + j) = 1;
}}
"""
kernel = pytriton.kernel(src, defines={{"TILE": {tile}}})
'''


@pytest.mark.parametrize("tile", ["64", "[64, 128]", "TILE", "len(x)"])
def test_positions_in_a_python_file(tile: str) -> None:
    text = PYTHON.format(tile=tile)
    document = Document(text, "k.py")
    (problem,) = document.problems()
    assert text[problem.start : problem.end] == "j"
    assert (problem.diagnostic.code, problem.cure) == ("TC301", "i") or problem.cure is None
    assert document.source.position(problem.start) == (6, 18)
    place = document.at(text.index("i[TILE]"))
    assert place is not None
    assert place[0].hover(place[1]) == (place[1], place[1] + 1, ["i: int[TILE]"])
    assert place[0].given == ({"TILE": 64} if "64" in tile else {})


@pytest.mark.parametrize(
    "text",
    [
        "'a' 'b'",
        "r'a\\n' 'b\\n'",
        "('é\\x41'\n   # remark\n 'c')",
        '"""a\r\n\\\nb"""',
        "u'\\N{BULLET}\\101'",
        "'\\d'",
    ],
)
def test_strings_are_those_of_python(text: str) -> None:
    ((value, offsets),) = strings(text + "\n")
    with pytest.warns() if "\\d" in text else contextlib.nullcontext():
        assert value == eval(text)
    assert len(offsets) == len(value) + 1
    assert offsets == sorted(offsets)


def test_python_that_does_not_parse() -> None:
    text = PYTHON.format(tile=64) + "def f(:\n"
    assert [part.defines for part in parts(text)] == [{}]
    assert len(list(Document(text, "k.py").problems())) == 1


def test_pieces_of_a_source_are_left_out() -> None:
    text = "a = 'void f(float *x) { get_program_id(0); %s'\nb = a % 'x'\n"
    assert list(parts(text)) == []


def long_source(lines: int) -> str:
    """Kernels as they were written, up to so many lines."""
    texts = [
        (ROOT / "tests" / "translate" / name / "kernel.c").read_text()
        for name in ("dot", "prefetch_comments")
    ]
    text = ""
    while text.count("\n") < lines:
        text += texts[text.count("void") % 2].replace(" void ", f" void k{text.count('void')}_", 1)
    return text


def test_time_of_300_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints; a bound would fail on a busy machine. Every answer but the first reuses its analysis."""
    text = long_source(300)
    began = time.perf_counter()
    document = Document(text, "k.c")
    analysed = time.perf_counter()
    part = document.parts[0]
    at = text.rindex("pa +=")
    times = []
    for answer in (part.hover, part.definition, part.uses, part.completions):
        start = time.perf_counter()
        assert answer(at)
        times.append(time.perf_counter() - start)
    with capsys.disabled():
        shown = " ".join(f"{1000 * seconds:.1f}" for seconds in times)
        lines = text.count("\n")
        print(f"\n{lines} lines: analysis {1000 * (analysed - began):.0f} ms, hover to completion {shown} ms")
