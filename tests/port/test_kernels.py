"""One kernel from a text and its define sets: what a package around it has to know."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton
import triton.language as tl

from pytriton.emit.python import show
from pytriton.fold.fold import fold
from pytriton.fold.variants import Variant
from pytriton.pipeline import Translation
from pytriton.port.jobs.folds import Unportable
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.package.declared import declared
from pytriton.port.prove import differences, ttir
from pytriton.settings import Settings
from pytriton.source import Source

TRITON = {"half": "float16", "float": "float32", "long": "int64"}

FLAGS = """\
__global__ void scale(TYPE *X __aligned(16), float *Y, float a, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
#ifdef ADD
  *?(i < n) (X + i) = *?(i < n) (Y + i) + a;
#else
  *?(i < n) (X + i) = *?(i < n) (Y + i) * a;
#endif
#if ROUNDS > 1
  *?(i < n) (Y + i) = a;
#endif
}
"""


def ported(*sets: dict[str, Any], text: str = FLAGS) -> PortedKernel:
    kernel = port_kernel(Translations(Source(text), Settings(None)), [DefineSet(defines) for defines in sets])
    return kernel


@pytest.fixture(scope="module")
def scale() -> PortedKernel:
    common = {"TYPE": ["half", "float"], "TN": [64, 128], "UNUSED": [1, 2]}
    return ported({**common, "ROUNDS": 1}, {**common, "ROUNDS": ["1", "2"], "ADD": True})


def test_what_is_declared_is_computed_once(scale: PortedKernel) -> None:
    """It took a third of the time of a port."""
    assert declared(scale) is declared(scale)


def test_parameters(scale: PortedKernel) -> None:
    assert declared(scale)["writes"] == [p.identifier for p in scale.parameters if p.written] == ["X", "Y"]
    assert [*scale.folded.parameters] == ["X", "Y", "a", "n"]
    assert " a: tl.float32, n," in scale.text


def test_constexprs(scale: PortedKernel) -> None:
    assert (scale.folded.constexprs, scale.switches) == (("TN", "ADD", "ROUNDS"), {"ADD"})
    assert scale.bind({"TN": "64", "ROUNDS": 1, "TYPE": "half"}) == {"TN": 64, "ADD": False, "ROUNDS": 1}
    for add in (True, False, 0, 1, ""):  # #ifdef holds for all of them
        assert scale.bind({"TN": 64, "ROUNDS": 2, "ADD": add}) == {"TN": 64, "ADD": True, "ROUNDS": 2}


def test_sets_are_known_once_and_without_what_the_text_lacks(scale: PortedKernel) -> None:
    assert len([known for known in scale.sets if "read" in known.origins]) == 12
    assert all("UNUSED" not in known.defines for known in scale.sets)


def test_more_is_served_where_the_kernel_is_the_same(scale: PortedKernel) -> None:
    more = [known for known in scale.sets if known.origins == {"explored"}]
    assert {known.defines["TYPE"] for known in more} >= {"bfloat16", "double"}
    assert scale.text.count("bfloat16") == 2  # in the comment of its pointer, and in an assertion
    assert scale.sweeps["TN"] == (64, 128)


def test_origins() -> None:
    first = {"TYPE": "half", "TN": 64, "ROUNDS": 1}
    sets = [DefineSet(first), DefineSet(first, "observed"), DefineSet({**first, "TN": 32}, "observed")]
    kernel = port_kernel(Translations(Source(FLAGS), Settings(None)), sets)
    origins = [known.origins for known in kernel.sets if "explored" not in known.origins]
    assert origins == [{"read", "observed"}, {"observed"}]


def test_refusals(scale: PortedKernel) -> None:
    good = {"TYPE": "float", "TN": 256, "ROUNDS": 1}
    assert scale.refusal(good) is None
    assert "TYPE=long" in str(scale.refusal({**good, "TYPE": "long"}))
    narrow = ported(good)
    assert narrow.refusal({**good, "TN": 16}) is None
    assert narrow.refusal({**good, "ADD": False}) is None  # the #ifdef was folded, though no set has it
    assert "requires ROUNDS <= 1" in str(narrow.refusal({**good, "ROUNDS": 2}))


def served(kernel: PortedKernel, defines: dict[str, Any]) -> bool:
    """Whether the assertions of the kernel accept it."""
    leaves = kernel.folded.leaves
    types = {pointer: getattr(tl, TRITON[defines[name]]) for name, pointer in leaves.types.items()}
    pointers = {
        name: SimpleNamespace(dtype=SimpleNamespace(element_ty=type_)) for name, type_ in types.items()
    }
    space = {"triton": triton, "tl": tl, "one_of": lambda value, *known: value in known, **pointers}
    return all(eval(show(condition), space, kernel.bind(defines)) for condition in leaves.accepted)


def test_what_is_served_is_not_refused(scale: PortedKernel) -> None:
    chance = random.Random(5)
    answers = set()
    for _ in range(300):
        defines: dict[str, Any] = {"TYPE": chance.choice(["half", "float", "long"])}
        defines |= {"TN": chance.choice([8, 16, 24, 96, 256, 4096]), "ROUNDS": chance.choice([0, 1, 2, 3, 4])}
        if chance.random() < 0.5:
            defines["ADD"] = True
        answers.add((served(scale, defines), refusal := scale.refusal(defines)))
        assert served(scale, defines) == (refusal in (None, "it requires TN > 0 and TN & (TN - 1) == 0")), (
            defines
        )
    assert len(answers) == 3


def test_what_only_triton_refuses_is_refused_by_triton(scale: PortedKernel) -> None:
    defines = {"TYPE": "half", "TN": 24, "ROUNDS": 1}
    assert served(scale, defines)
    parameters = scale.variants[0].translation.parameters
    assert ttir("scale", scale.text, parameters, scale.bind({**defines, "TN": 32}))
    with pytest.raises(triton.CompilationError, match="power of 2"):
        ttir("scale", scale.text, parameters, scale.bind(defines))


@pytest.mark.parametrize(
    ("question", "known", "other"),
    [
        ("SIZE % 32 == 20", [16, 24], 20),
        ("SIZE >= 20 && SIZE < 24", [16, 24], 23),
        ("SIZE == OTHER + 5", [16, 24], 14),
    ],
)
def test_an_answer_that_few_numbers_give_is_refused(question: str, known: list[int], other: int) -> None:
    text = (
        f"__global__ void f(float *X) {{\n#if {question}\n  *X = 1;\n#else\n  *X = SIZE + OTHER;\n#endif\n}}"
    )
    kernel = ported({"SIZE": known, "OTHER": 9}, text=text)
    for size in (*known, other):
        defines = {"SIZE": size, "OTHER": 9}
        assert served(kernel, defines) == (kernel.refusal(defines) is None) == (size in known)


def test_a_number_that_is_compared_is_explored() -> None:
    text = "__global__ void f(float *X) {\n#if SIZE == 20\n  *X = 1;\n#else\n  *X = SIZE;\n#endif\n}"
    kernel = ported({"SIZE": [16, 24]}, text=text)
    assert 20 in [variant.defines["SIZE"] for variant in kernel.variants]
    assert kernel.refusal({"SIZE": 20}) is kernel.refusal({"SIZE": 21}) is None
    assert "if SIZE == 20:" in kernel.text


def test_arms_that_are_the_same_are_one() -> None:
    text = (
        "__global__ void f(float *X) {\n  float x = *X;\n#if DIVIDES\n  x += 1;\n#else\n  x += 1;\n#endif\n"
        "  *X = x;\n}"
    )
    kernel = ported({"DIVIDES": [0, 1]}, text=text)
    assert kernel.text.count("x += 1") == 1
    assert "if DIVIDES" not in kernel.text


def test_what_cannot_be_one_function_says_why() -> None:
    text = "__global__ void f(float *X, T n) { *X = n; }"
    long = port_kernel(Translations(Source(text), Settings(None)), [DefineSet({"T": ["long", "double"]})])
    (failure,) = long.failures
    assert failure.defines == {"T": "double"}
    assert "one function with {'T': 'long'}: n is not always tl.int64" in str(failure.error)
    assert long.refusal({"T": "long"}) is None
    assert long.refusal({"T": "double"}) is not None


def test_what_cannot_be_translated_is_told() -> None:
    kernel = ported({"TYPE": ["half", "nothing"], "TN": 64, "ROUNDS": 1})
    assert [failure.defines["TYPE"] for failure in kernel.failures] == ["nothing"]
    with pytest.raises(Unportable, match="TYPE"):
        ported({"TN": 64})


def test_the_module_compiles(scale: PortedKernel, tmp_path: Path) -> None:
    compile(scale.text, "scale.py", "exec")
    assert scale.function == scale.kernel == "scale"


IFDEF = """
__global__ void k(float *X, int *I, int n) {
  int i[TN] = 0 ... TN;
  bool ok[TN] = i < n;
#ifdef PADDING
  ok = ok && (*?(ok)(I + i) != PADDING);
#endif
#ifdef MODE
  float f = 2;
#if MODE
  f = 3;
#endif
#else
  float f = 1;
#endif
  *?(ok) (X + i) = f;
}
"""


def test_a_define_that_is_false_is_given() -> None:
    """To ``#ifdef`` it is; so False is neither true nor absent, and is refused if it was never folded."""
    sets = [{"TN": 16}, {"TN": 16, "PADDING": 0}, {"TN": 32, "PADDING": 3, "MODE": True}]
    kernel = port_kernel(Translations(Source(IFDEF), Settings("k")), [DefineSet(one) for one in sets])
    assert "if PADDING is not None:" in kernel.text
    assert kernel.refusal({"TN": 16, "MODE": 1.0}) == "MODE is 1.0, not of type int"
    kernel = port_kernel(
        Translations(Source(IFDEF), Settings("k")), [DefineSet(one) for one in [*sets, {"TN": 16, "MODE": 0}]]
    )
    assert "if MODE is not None:" in kernel.text
    translations = Translations(Source(IFDEF), Settings("k"))
    for mode, padding in itertools.product([None, True, False, 0], [None, 0, 3, 7]):
        given = {"TN": 64, "MODE": mode, "PADDING": padding}
        defines = {name: value for name, value in given.items() if value is not None}
        assert kernel.refusal(defines) is None
        translation = translations(defines)
        assert isinstance(translation, Translation)
        assert list(differences(kernel.folded, [Variant(defines, translation)])) == []


SOFTMAX = """
__global__ void softmax(float *Y __noalias, float *X, float scale, int n) {
  int t[TN] = 0 ... TN;
  bool ok[TN] = t < n;
  float x[TN] = ok ? *(X + get_program_id(0) * n + t) : -F32_INFINITY;
#ifdef SCALE
  x = x * scale;
#endif
  float e[TN] = exp(x - x[max]);
  *?(ok) (Y + get_program_id(0) * n + t) = e / e[+];
}
"""


def test_sizes_and_flags_on_the_other_side_of_what_was_seen() -> None:
    """Sizes that are no powers of two, and a flag that all have: a power of two and no flag are served as well."""
    kernel = port_kernel(
        Translations(Source(SOFTMAX), Settings("softmax")),
        [DefineSet({"TN": n, "SCALE": True}) for n in (48, 80)],
    )
    assert "    if SCALE:\n        x *= scale\n" in kernel.text
    for defines in ({"TN": 64}, {"TN": 2048, "SCALE": True}, {"TN": 3000}):
        assert kernel.refusal(defines) is None


THREE = """\
__global__ void f(float *X) {
  float x = *X;
#if defined(A) && defined(B)
  x += 5;
#else
  x *= 7;
#endif
#ifdef C
  x -= 3;
#endif
  *X = x;
}
"""


def test_flags_that_no_set_has_together_are_folded_from_their_translation() -> None:
    sets: list[dict[str, Any]] = [{}, {"B": True, "C": ""}, {"A": "", "C": True}, {"A": True, "B": ""}]
    kernel = ported(*sets, text=THREE)
    translations = Translations(Source(THREE), Settings())
    for values in itertools.product((None, True, ""), repeat=3):
        defines = {name: v for name, v in zip("ABC", values, strict=True) if v is not None}
        assert kernel.refusal(defines) is None
        given = translations.mentioned(defines)
        translation = translations(given)
        assert isinstance(translation, Translation)
        assert list(differences(kernel.folded, [Variant(given, translation)])) == []


def test_a_fold_alone_accepts_its_variants_and_no_other() -> None:
    translations = Translations(Source(THREE), Settings())
    variants = []
    for flags in ({}, {"B": True, "C": True}, {"A": True, "C": True}, {"A": True, "B": True}):
        translation = translations(flags)
        assert isinstance(translation, Translation)
        variants.append(Variant(flags, translation))
    known = fold(THREE, variants).leaves
    accepted = [
        "".join(flags)
        for count in range(4)
        for flags in itertools.combinations("ABC", count)
        if known.refusal(dict.fromkeys(flags, True)) is None
    ]
    assert accepted == ["", "AB", "AC", "BC"]


def test_a_flag_with_values_that_no_set_gives_is_closed() -> None:
    text = THREE.replace("x -= 3", "x -= C")
    kernel = ported({}, {"A": True}, text=text)
    assert kernel.refusal({"A": True, "B": True}) is None
    assert "C=4" in str(kernel.refusal({"C": 4}))
    assert "C" in kernel.folded.leaves.closed


def test_one_is_another_size() -> None:
    """The shape of a block of one row broadcasts; that of four does not."""
    text = """\
__global__ void f(float *X) {
  int i[TM] = 0 ... TM;
  int j[TC] = 0 ... TC;
  float x[TM] = *(X + i) + j;
  *(X + i) = x;
}
"""
    kernel = ported({"TM": [16, 32], "TC": 1}, text=text)
    assert kernel.refusal({"TM": 64, "TC": 1}) is None
    assert kernel.refusal({"TM": 64, "TC": 4}) is not None


def test_a_value_of_another_type_is_refused() -> None:
    text = "__global__ void f(float *X, int n) { *X = n / D; }"
    kernel = ported({"D": 2}, text=text)
    assert kernel.refusal({"D": 4}) is None
    assert "D is 4.0, not of type int" in str(kernel.refusal({"D": 4.0}))


def test_exploring_loses_no_known_set() -> None:
    """K = 1 would take another arm than K = 2, and no condition on K that a kernel may ask tells them apart."""
    text = """\
__global__ void f(int *X, int m) {
#ifndef C
  m = m + K;
#endif
#if K % 2 || defined(A)
  m = m * 3;
#endif
  *X = m;
}
"""
    sets = [{"C": True, "K": 0}, {"C": True, "K": 2}]
    kernel = port_kernel(Translations(Source(text), Settings(None)), [*map(DefineSet, sets)])
    assert [kernel.refusal(defines) for defines in sets] == [None, None]


@pytest.mark.parametrize("name", ["isinstance", "tl", "lambda", "one_of"])
def test_a_define_of_a_name_that_kernels_need(name: str) -> None:
    text = f"__global__ void f(int *X) {{ *X = {name}; }}"
    with pytest.raises(Unportable, match=f"it cannot be one function: {name} is a define"):
        port_kernel(Translations(Source(text), Settings(None)), [DefineSet({name: 5}), DefineSet({name: 6})])
