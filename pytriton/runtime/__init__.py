"""From a generated module to launches. Only this package and ``operators`` import torch and triton.

    options.py       what a sweep is made of, and what a grid callable gets
    cache.py         the private directory that holds generated modules
    gate.py          what a generated module may contain
    load.py          module text -> functions (for the compiler and for the interpreter)
    arguments.py     checking and converting the arguments of a call
    specialize.py    what the compiler is told about arguments: signature, constants, attributes
    compile.py       one specialised function -> machine code for one target
    launch.py        grids, devices, streams: a compiled kernel on a GPU
    interpret.py     the same on CPU tensors, by Triton's interpreter
    candidate.py     one point of a sweep: translated, loaded, compiled, launched
    tune.py          choosing among candidates
    plan.py          the sweep that one set of defines means, and the call path through it
    kernel.py        ``pytriton.kernel``: the object that users hold
"""
