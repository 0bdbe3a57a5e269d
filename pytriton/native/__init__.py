"""Typed tree -> C11, which a C compiler makes into a shared object for CPU tensors (runtime/native).

meaning.py      the passes that define what a kernel means; none for speed
identifiers.py  C identifiers for the user's names
scalars.py      C types, numbers, conversions and operators, on text
elements.py     one element of a block expression
blocks.py       temporaries: reductions, products, values that are used several times
inline.py       blocks that are computed where they are used, such as pointers and ranges
actions.py      statements
waits.py        loops in which a program may wait for another one
c_library.py    what kernels call: the paragraphs of templates/native_library.c.j2 that a kernel needs
c_module.py     the module, by templates/native.c.j2
"""
