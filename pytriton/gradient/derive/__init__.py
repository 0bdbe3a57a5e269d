"""The backward of a kernel, derived as Triton-C text that a person keeps.

typed tree -> graph (versions, loops, branches) -> adjoint statements -> text

access.py    which elements a launch touches: is each read, or stored, once?
affine.py    offsets in numbers: do they differ, are they all from 0 on?
formula.py   typed expressions over the variables of the backward; lang/tree/unparse.py spells them
program.py   statements over them: dead ones and copies dropped, names, layout
graph.py     typed tree -> single assignment: every variable has one definition
rules.py     the local derivatives, one rule a node of the typed tree
reverse.py   statements, loops and branches in reverse
again.py     the statements of the forward, written again
active.py    what depends on an input; what cannot be derived, with its code
forward.py   a text and defines -> a kernel that has a backward; what its outputs hold
plan.py      the passes of a backward: what is stored, summed, added by atomics
loops.py     sums; what a loop carries into one of its iterations
walk.py      a graph in which a loop walks the programs of the forward
kernel.py    a pass -> the text of its kernel
derive.py    passes -> the text of a backward, with the ``#if`` of the forward

Nothing here needs torch: what runs the text is ``gradient/backward.py``.
"""
