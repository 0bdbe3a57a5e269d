# SYNTAX TEST "source.python" "Triton-C in strings"
src = """
__global__ void f(float *x) { *x = exp(1); }
# <---------- meta.embedded.triton-c storage.modifier.triton-c
#               ^ entity.name.function.triton-c
#                                  ^^^ support.function.triton-c
"""
import x
# <------ keyword.control.python
here = """__global__ void g(half *x) {}
#         ^^^^^^^^^^ storage.modifier.triton-c
"""
def f(): """A docstring, exp(x)."""
#        ^^^^^^^^^^^^^^^^^^^^^^^^^^ string.quoted.docstring.python
#                        ^^^ - support.function.triton-c
