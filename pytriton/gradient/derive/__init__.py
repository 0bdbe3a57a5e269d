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
online/             sums that a loop rescales (a running softmax) -> sums that it only adds to
forward.py          a source and defines -> a kernel that has a backward
stored.py           what its outputs hold, so that the backward need not compute it
backward_passes.py  the passes of a backward: what is stored, summed, added by atomics
loops.py            sums; carried values of an iteration
walk/               a graph in which a loop runs over the programs of the forward, and what that needs
assemble.py         a pass -> its kernel
derive.py           passes -> the source of a backward

Each rewrite that is right only under a precondition takes a proof of it, which only this function makes:

rewrite                                proof      made by                     precondition
loop reversed as it ran (reverse)      OnlyAdds   loops.only_adds             iterations only add to what they carry
iterations become programs (walk)      OnlyAdds   loops.only_adds             the same
of a loop that runs longer in some     Growing    growing.growing             the bound grows with the program
extremes without derivative (active)   Cancelled  cancelled.cancels           no output changes if an element moves
rescaled sums are only added to        Rescaled   rescaled.rescaled           those in the head of rescaled.py
values read from outputs (again)       SavedValue stored.saved                stored, as exact as it has to be
gradients stored (backward_passes)     ReadOnce   backward_passes.read_once   no element is read by two programs
states dropped (program)               Unread     program.unread              nothing reads this scratch
converted values read again (again)    Exact      again.exact_conversion      the type is a larger floating one

Nothing here needs torch: the backward is launched by ``gradient/backward.py``.
"""
