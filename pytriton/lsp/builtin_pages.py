"""One-line documentation of the built-in functions and constants, and the keywords, for editors.

Invariant: every name that a call may use (``lang/tree/builtins.py``) is here; ``tests/lsp`` checks it.
"""

from __future__ import annotations

import re
from typing import Final

_PAGES: Final = """
exp expf | exp(x) | e to the power of x
log logf | log(x) | natural logarithm
sqrt sqrtf | sqrt(x) | square root
sin sinf | sin(x) | sine, in radians
cos cosf | cos(x) | cosine, in radians
erf erff | erf(x) | error function
rsqrt rsqrtf | rsqrt(x) | 1 / sqrt(x)
tanh tanhf | tanh(x) | hyperbolic tangent
sigmoid | sigmoid(x) | 1 / (1 + exp(-x))
log2 log2f | log2(x) | logarithm to base 2
exp2 exp2f | exp2(x) | 2 to the power of x
pow powf | pow(x, y) | x to the power of y
floor floorf | floor(x) | largest integer not above x, in the type of x
ceil ceilf | ceil(x) | smallest integer not below x, in the type of x
fma fmaf | fma(a, b, c) | a * b + c, rounded once
min | min(a, b) | the smaller of two values; x[min] reduces a block
max | max(a, b) | the larger of two values; x[max] reduces a block
abs fabs fabsf | abs(x) | absolute value
get_program_id | get_program_id(axis) | index of this program along axis 0, 1 or 2 of the grid
get_num_programs | get_num_programs(axis) | size of the grid along axis 0, 1 or 2
select | select(condition, a, b) | a where the condition holds, else b, elementwise
trans | trans(x) | the transpose of a block
dot | dot(a, b) | matrix product of two blocks, as a @ b
atomic_add f32_atomic_add f64_atomic_add f16_atomic_add | atomic_add(p, value, mask) | adds to memory; the old value
atomic_cas | atomic_cas(p, old, new) | stores new if memory holds old; the value before
atomic_xchg | atomic_xchg(p, value) | stores a value; the value before
__debug_barrier | __debug_barrier() | waits for all threads of the program
printf | printf("i %d x %f", i, x) | prints scalars and blocks
bitcast | bitcast<type>(x) | the bits of x as another type of the same size
sizeof | sizeof(type) | size of a type or value in bytes
newaxis | x[:, newaxis] | a new axis of size 1
"""
_LINE: Final = re.compile(r"^(.+) \| (.+) \| (.+)$", re.MULTILINE)

BUILTINS: Final = {
    name: f"{form}: {meaning}" for names, form, meaning in _LINE.findall(_PAGES) for name in names.split()
}
TYPES: Final = """__global__ __noalias __readonly __writeonly __aligned __multipleof __retune __constant__ newaxis
half bfloat16""".split()
KEYWORDS: Final = "if else for while do return break continue const static".split()
