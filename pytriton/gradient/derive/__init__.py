"""The backward of a kernel, derived as Triton-C source that a person keeps.

typed tree -> graph (versions, loops, branches) -> typed tree -> source, by lang/tree/unparse.py

access.py           which elements a launch touches: is each read, or stored, once?
builders.py         typed expressions over the variables of the backward
program.py          its statements, tidied: dead ones and copies dropped, adjoints announced
graph.py            typed tree -> single assignment: every variable has one definition
rules.py            the local derivatives, one rule a node of the typed tree
reverse.py          statements, loops and branches in reverse
again.py            recomputes the forward values that the backward needs
active.py           activity and pointer analysis
cancelled.py        extremes that cancel out of the outputs
forward.py          a source and defines -> a kernel that has a backward; what its outputs hold
backward_passes.py  the passes of a backward: what is stored, summed, added by atomics
loops.py            sums; what a loop carries into one of its iterations
walk.py             a graph in which a loop runs over the programs of the forward
assemble.py         a pass -> its kernel
derive.py           passes -> the source of a backward, with the ``#if`` of the forward

Nothing here needs torch: the backward is launched by ``gradient/backward.py``.
"""
