"""What people write who know C, C++, CUDA, Python or today's Triton, and what to write instead."""

from __future__ import annotations

import re
from typing import Final

from pytriton.errors import closest
from pytriton.lang.tree.builtins import function_names
from pytriton.lang.tree.types import TYPE_WORDS

TYPES: Final = frozenset(word for words in TYPE_WORDS for word in words) | {"void"}
_ALIASES: Final = {
    "half": "float16 fp16 f16 __half half_t",
    "float": "float32 fp32 f32",
    "double": "float64 fp64 f64",
    "bfloat16": "bf16 __nv_bfloat16",
    "int": "int32_t",
    "long": "int64_t ptrdiff_t",
    "unsigned char": "uchar uint8_t byte",
    "unsigned short": "ushort uint16_t",
    "unsigned int": "uint uint32_t",
    "unsigned long": "ulong uint64_t size_t",
    "bool": "boolean",
}
OTHER_TYPES: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
OTHER_NAMES: Final = {
    **dict.fromkeys(["NULL", "nullptr", "None"], "write '0'; a pointer can be compared with it"),
    **dict.fromkeys(["inf", "HUGE_VAL", "HUGE_VALF"], "write 'INFINITY'"),
    **dict.fromkeys(["nan", "NAN"], "write 'INFINITY - INFINITY'"),
    **dict.fromkeys(["M_PI", "pi"], "write '3.141592653589793f'"),
    **dict.fromkeys(["FLT_MAX", "FLT_MIN", "DBL_MAX", "HALF_MAX"], "write the number, or 'INFINITY'"),
    "INT_MAX": "write '0x7fffffff'",
    "INT_MIN": "write '(-0x7fffffff - 1)'",
    "True": "write 'true'",
    "False": "write 'false'",
    "threadIdx": "a program works on whole blocks, as in 'int rm[TM] = 0 ... TM'",
    "blockIdx": "write 'get_program_id(axis)'",
}
OTHER_FUNCTIONS: Final = {
    "bitcast": "write 'bitcast<int>(x)'",
    **dict.fromkeys(
        ["__syncthreads", "__syncwarp"],
        "remove it: barriers are inserted where memory needs them; '__debug_barrier()' adds one",
    ),
    "__threadfence": "write '__debug_barrier()'; atomics order memory between programs",
    "__ldg": "write '*p'",
    "arange": "write '0 ... TM'",
    "calloc": "a buffer is declared outside of kernels",
    "assert": "'_Static_assert(condition, \"why\")' tests a constant; test values in Python",
    "static_assert": "write '_Static_assert(condition, \"why\")'",
    "atomicAdd": "write 'atomic_add(p, x)'",
    "atomicCAS": "write 'atomic_cas(p, old, new)'",
    "atomicExch": "write 'atomic_xchg(p, x)'",
    **dict.fromkeys(
        ["atomicMax", "atomicMin", "atomicSub", "atomic_max", "atomic_min", "atomic_sub"],
        "there are atomic_add, atomic_cas and atomic_xchg",
    ),
    "cdiv": "write '(a + b - 1) / b'",
    "broadcast_to": "write '(float[TM, TN])x'",
    **dict.fromkeys(["elif", "elseif", "elsif"], "write 'else if (...)'"),
    "debug_barrier": "write '__debug_barrier()'",
    "expand_dims": "write 'x[:, newaxis]'",
    **dict.fromkeys(["fmax", "fmaxf", "maximum"], "write 'max(a, b)'"),
    **dict.fromkeys(["fmin", "fminf", "minimum"], "write 'min(a, b)'"),
    "full": "write 'float x[TM, TN] = value'",
    "fmodf": "write 'x - floor(x / y) * y'",
    "load": "write '*p', or '*?(mask)p'",
    "malloc": "declare a block, as in 'float x[TM]'",
    **dict.fromkeys(["matmul", "mm"], "write 'a @ b'"),
    "multiple_of": "write 'int n __multipleof(8)' where it is declared",
    **dict.fromkeys(["permute", "transpose"], "write 'x[^1, ^0]', or '^x'"),
    **dict.fromkeys(["fprintf", "print", "puts"], "write 'printf(\"x %f\", x)'"),
    "numeric_limits": "write 'INFINITY', or the number",
    "not": "write '!', as in '!(a < b)'",
    "program_id": "write 'get_program_id(axis)'",
    "num_programs": "write 'get_num_programs(axis)'",
    "range": "write '0 ... TM', or 'for (int i = 0; i < n; i += 1)'",
    "reshape": "write '(float[TM * TN])x'",
    **dict.fromkeys(["static_cast", "reinterpret_cast"], "write '(float)x', or 'bitcast<float>(x)'"),
    "store": "write '*p = x', or '*?(mask)p = x'",
    "sum": "write 'x[+]', or 'x[:, +]' for the second of two axes",
    "swap": "write three assignments",
    "where": "write 'condition ? a : b'",
    "zeros": "write 'float x[TM, TN] = 0'",
    "zeros_like": "write 'float x[TM, TN] = 0'",
}
METHODS: Final = {
    **{name: f"{{}}[{reduction}]" for name, reduction in (("sum", "+"), ("max", "max"), ("min", "min"))},
    **{name: f"{name}({{}})" for name in ("exp", "log", "sqrt", "abs", "cos", "sin")},
    **dict.fromkeys(("T", "t", "trans"), "^{}"),
    **{"float": "(float){}", "half": "(half){}", "int": "(int){}", "to": "(float){}"},
}
_VECTOR: Final = re.compile(r"u?(char|short|int|long|half|float|double)([234])")
COMMENTED_OUT: Final = "'//' starts a comment: '/' divides integers"
_DIVISOR: Final = re.compile(r"(?m)\s*//\s*\(?\w+\s*([-+*/%<>=&|;)\]].*)?$")
_OF_TRITON: Final = {"max": "write 'x[max]'", "min": "write 'x[min]'", "dot": "write 'a @ b'"}


def divides(text: str) -> bool:
    """Whether blanks and comments between two tokens begin with the rest of a line such as ``n // 2;``."""
    return _DIVISOR.match(text) is not None


def type_cure(name: str) -> str:
    """What to write for a name that is used as a type and is not one."""
    if vector := _VECTOR.fullmatch(name):
        return f"there are no vector types: declare a block, as in '{vector[1]} x[{vector[2]}]'"
    near = OTHER_TYPES.get(name) or closest(name, TYPES)
    given = f"give it in defines, as in defines={{'{name}': 'float'}}, or by a typedef"
    return f"did you mean '{near}'?" if near else given


def without_prefix(prefix: str, name: str) -> str:
    """What to write for ``tl.name`` or ``std::name``."""
    cure = _OF_TRITON.get(name) if prefix == "tl." else None
    cure = cure or OTHER_FUNCTIONS.get(name)
    if cure is None and name in OTHER_TYPES:
        cure = f"write '{OTHER_TYPES[name]}'"
    if cure is None and name in function_names():
        cure = f"write '{name}(...)', without '{prefix}'"
    return cure or "built-in functions have no prefix: 'get_program_id(0)', '*p', 'exp(x)'"
