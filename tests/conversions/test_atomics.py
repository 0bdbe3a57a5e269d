"""Constant operands of atomics reach memory with all digits of its type, on the CPU and in code for a GPU."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest
import torch

import pytriton

DEFINES = {"T": 0.1, "N": 16777217}

# What C's double has, a number given as text has in Python, too.
DOUBLES: dict[str, float] = {
    "0.1": 0.1,
    "-0.1": -0.1,
    "0.1f": struct.unpack("<f", struct.pack("<f", 0.1))[0],
    "(double)1 / 3": 1 / 3,
    "(double)N / 3": 16777217 / 3,
    "123456789": 123456789.0,
    "N": 16777217.0,
    "-N": -16777217.0,
    "N * 3": 50331651.0,
    "9007199254740993": 9007199254740992.0,
    "T": 0.1,
    "true ? 0.1 : 0.2": 0.1,
    "min(0.1, 0.2)": 0.1,
    "1e300": 1e300,
    "5e-324": 5e-324,
    "INFINITY": float("inf"),
    "1": 1.0,
    "n * (double)0.1": 0.1,
}
INTEGERS: dict[tuple[str, str], int] = {
    ("long", "5000000000"): 5000000000,
    ("long", "-N"): -16777217,
    ("unsigned long", "18446744073709551615u"): -1,
    ("unsigned int", "4000000000u"): 4000000000 - (1 << 32),
    ("int", "2147483647"): 2147483647,
}


def run(text: str, memory: torch.Tensor, *more: Any) -> torch.Tensor:
    pytriton.kernel(text, DEFINES)(memory, *more, grid=1)
    return memory


@pytest.mark.parametrize("number", DOUBLES)
def test_of_double(device: str, number: str) -> None:
    """One element, a block, and a masked block."""
    text = f"""void f(double* o, int n) {{
      atomic_add(o, {number});
      atomic_add(o + 1 + 0 ... 2, (double[2])({number}));
      atomic_add(o + 3 + 0 ... 4, {number}, 0 ... 4 < 3);
    }}"""
    out = run(text, torch.zeros(7, dtype=torch.float64, device=device), 1)
    assert out.tolist() == [DOUBLES[number]] * 6 + [0]


@pytest.mark.parametrize("number", DOUBLES)
@pytest.mark.sampled(15)
def test_of_double_in_code_for_a_gpu(number: str) -> None:
    text = f"void f(double* o, int n) {{ atomic_add(o, {number}); }}"
    ttir = pytriton.kernel(text, DEFINES).asm("ttir", "cuda:90")
    assert "arith.extf" not in ttir
    assert "arith.truncf" not in ttir
    if "n" not in number.replace("min", ""):
        assert _constants(ttir, "f64") == {DOUBLES[number]}


def _constants(ttir: str, type_: str) -> set[float]:
    """The constants of a type that the code holds, with what it computes of two of them."""
    found: set[float] = set()
    for text in re.findall(rf"arith\.constant (\S+) : {type_}\b", ttir):
        bits = int(text, 16) if text.startswith("0x") else None
        found.add(float(text) if bits is None else struct.unpack("<d", struct.pack("<Q", bits))[0])
    return found


@pytest.mark.parametrize(("type_", "number"), INTEGERS)
@pytest.mark.parametrize("call", ["atomic_add(o, {})", "atomic_xchg(o, {})", "atomic_cas(o, 0, {})"])
def test_of_integers(device: str, type_: str, number: str, call: str) -> None:
    memory = torch.zeros(1, dtype=torch.int64 if "long" in type_ else torch.int32, device=device)
    text = f"void f({type_}* o) {{ {call.format(number)}; }}"
    assert run(text, memory).tolist() == [INTEGERS[type_, number]]
    bits = 64 if "long" in type_ else 32
    if device == "cpu":
        ttir = pytriton.kernel(text, DEFINES).asm("ttir", "cuda:90")
        assert INTEGERS[type_, number] in _constants(ttir, f"i{bits}")
