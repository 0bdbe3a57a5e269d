"""What the compiler gets: types from the source, facts from the values, promises where they help."""

from __future__ import annotations

from typing import Any

import pytest

import pytriton
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.compile.specialize import common_specialization, pin_ones, signature_type, specialize
from pytriton.runtime.launch.arguments import BY_8, BY_16, ONE, PLAIN
from pytriton.runtime.options.defines import Config
from pytriton.source import Source
from tests.runtime.kernels import handmade, parameter, type_of

TRUNCATED = """\
__global__ void f(int* z, int n, long m) {
  int r[16] = 0 ... 16;
  *(z + r) = (n - 4) / 2 + r * (int)m;
}
"""


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ("bool", "u1"),
        ("char", "i8"),
        ("unsigned char", "u8"),
        ("short", "i16"),
        ("unsigned short", "u16"),
        ("int", "i32"),
        ("unsigned int", "u32"),
        ("long", "i64"),
        ("unsigned long", "u64"),
        ("half", "fp16"),
        ("bfloat16", "bf16"),
        ("float", "fp32"),
        ("double", "fp64"),
        ("bool*", "*i1"),
        ("unsigned int*", "*u32"),
        ("half*", "*fp16"),
        ("float**", "*i64"),
    ],
)
def test_types(declared: str, wanted: str) -> None:
    assert signature_type(type_of(declared)) == wanted


def attributes(parameter_: Any, fact: int) -> Any:
    special = specialize([parameter_], {}, [fact], ["x"])
    return special["attrs"].get((0,))


@pytest.mark.parametrize(
    ("multiple", "fact", "wanted"),
    [
        (1, PLAIN, None),
        (1, BY_16, 16),
        (1, BY_8, 8),
        (3, BY_8, 8),
        (8, BY_8, 8),
        (8, PLAIN, 8),
        (8, BY_16, 16),
        (24, PLAIN, 8),
        (64, PLAIN, 16),  # cannot be: the launcher refuses such a value
        (3, PLAIN, None),
        (1, ONE, None),
    ],
)
def test_promises_of_integers(multiple: int, fact: int, wanted: int | None) -> None:
    found = attributes(parameter("int x", multiple_of=multiple), fact)
    assert found == (None if wanted is None else [["tt.divisibility", wanted]])


def test_promises_of_pointers() -> None:
    assert attributes(parameter("float* x", aligned=8), PLAIN) == [["tt.divisibility", 8]]
    assert attributes(parameter("float* x", aligned=8), BY_16) == [["tt.divisibility", 16]]
    assert attributes(parameter("float* x"), PLAIN) is None
    assert attributes(parameter("float* x"), BY_8) == [["tt.divisibility", 8]]
    assert attributes(parameter("float* x", aligned=4), BY_8) == [["tt.divisibility", 8]]


def test_constants() -> None:
    special = specialize([parameter("int n")], {"T": 4, "S": 0.5}, [PLAIN], ["n", "T", "S"])
    assert special["signature"] == {"n": "i32", "T": "constexpr", "S": "constexpr"}
    assert special["constexprs"] == {(1,): 4, (2,): 0.5}


@pytest.mark.parametrize("names", [["m"], ["n", "T"], ["T", "n"], []])
def test_a_function_with_other_arguments_is_a_bug(names: list[str]) -> None:
    with pytest.raises(AssertionError, match="the generated function takes"):
        specialize([parameter("int n")], {}, [PLAIN], names)


def test_common_facts() -> None:
    assert common_specialization([parameter("int n"), parameter("half* x")]) == (PLAIN, BY_16)


class TestOnes:
    translation = pytriton.translate(TRUNCATED)

    def test_nothing_to_pin(self) -> None:
        assert pin_ones(self.translation, (BY_16, PLAIN, BY_16)) is self.translation

    def test_text_and_lines(self) -> None:
        pinned = pin_ones(self.translation, (BY_16, ONE, ONE))
        before, after = self.translation.text.splitlines(), pinned.text.splitlines()
        fixed = ["    n = tl.full((), 1, tl.int32)", "    m = tl.full((), 1, tl.int64)"]
        at = before.index("):") + 1
        assert after == [*before[:at], *fixed, *before[at:]]
        moved = {line + 2 * (line > at): origin for line, origin in self.translation.lines.items()}
        assert pinned.lines == {**moved, at + 1: 1, at + 2: 1}

    @pytest.mark.parametrize("declared", ["bool b", "char b", "short b", "float b"])
    def test_only_wide_integers(self, declared: str) -> None:
        translation = pytriton.translate(f"__global__ void f({declared}) {{ }}")
        assert pin_ones(translation, (ONE,)) is translation

    def test_the_compiler_knows_and_divides_as_c_does(self) -> None:
        """With a constexpr 1 this would be Python's (1 - 4) // 2 = -2."""
        compiled = compile_kernel(
            self.translation, (BY_16, ONE, ONE), Config(), parse_target("cuda:80"), Source("")
        )
        assert "arith.constant dense<-1> : tensor<16xi32>" in compiled.asm["ttir"]
        assert "arith.divsi" not in compiled.asm["ttir"]

    def test_arguments_stay_in_the_signature(self) -> None:
        target = parse_target("cuda:90")
        compiled = compile_kernel(self.translation, (BY_16, ONE, PLAIN), Config(), target, Source(""))
        assert "%n: i32" in compiled.asm["ttir"].replace("%arg", "%")


def test_promise_widens_loads() -> None:
    """float* x __aligned(8) at an odd multiple of 8: two floats at once, not four."""
    text = "@triton.jit\ndef f(z, x):\n    r = tl.arange(0, 1024)\n    tl.store(z + r, tl.load(x + r))\n"
    translation = handmade(text, "float* z", parameter("float* x", aligned=8))
    target = parse_target("cuda:80")
    ptx = {
        fact: compile_kernel(translation, (BY_16, fact), Config(), target, Source("")).asm["ptx"]
        for fact in (PLAIN, BY_16)
    }
    assert "ld.global.v2.b32" in ptx[PLAIN]
    assert "ld.global.v4.b32" in ptx[BY_16]


def test_multiples_of_8() -> None:
    """Sizes and strides such as 1000: eight halves are 16 bytes, and masks and rows start at whole ones."""
    text = (
        "@triton.jit\ndef f(z, x, n, stride):\n"
        "    row = tl.program_id(0) * stride\n    r = tl.arange(0, 1024)\n"
        "    tl.store(z + row + r, tl.load(x + row + r, mask=r < n), mask=r < n)\n"
    )
    translation = handmade(text, "half* z", "half* x", "int n", "int stride")
    widest = {}
    for fact in (PLAIN, BY_8, BY_16):
        specialization = (BY_16, BY_16, fact, fact)
        ptx = compile_kernel(translation, specialization, Config(), parse_target("cuda:90"), Source("")).asm[
            "ptx"
        ]
        widest[fact] = "ld.global.v4.b32" in ptx and "st.global.v4.b32" in ptx
    assert widest == {PLAIN: False, BY_8: True, BY_16: True}


def test_pointers_at_multiples_of_8() -> None:
    text = "@triton.jit\ndef f(z, x):\n    r = tl.arange(0, 1024)\n    tl.store(z + r, tl.load(x + r))\n"
    translation = handmade(text, "float* z", "float* x")
    compiled = compile_kernel(translation, (BY_16, BY_8), Config(), parse_target("cuda:80"), Source(""))
    assert "ld.global.v2.b32" in compiled.asm["ptx"]


def test_scalars_of_every_type_compile() -> None:
    kinds = ["bool", "char", "unsigned char", "short", "unsigned short", "int", "unsigned int"]
    kinds += ["long", "unsigned long", "half", "bfloat16", "float", "double"]
    names = [f"p{index}" for index in range(len(kinds))]
    body = "".join(f"    tl.store(z + {i}, {name}.to(tl.float32))\n" for i, name in enumerate(names))
    translation = handmade(
        f"@triton.jit\ndef f(z, {', '.join(names)}):\n{body}",
        "float* z",
        *(f"{kind} {name}" for kind, name in zip(kinds, names, strict=True)),
    )
    specialization = (BY_16, *[PLAIN] * len(kinds))
    for target in ("cuda:80", "cuda:90", "hip:gfx942"):
        compiled = compile_kernel(translation, specialization, Config(), parse_target(target), Source(""))
        assert compiled.asm["ttir"].count("tt.store") == len(kinds)
