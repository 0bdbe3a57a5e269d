"""``python -m pytriton port``: old Triton-C in a code base -> modules of modern Triton that need nothing of ours.

command.py      the command line, and the order of the work
read/           which files; their texts; for Python, the code around a text, followed without running it
run/            what only a run of the program shows (``--run``)
jobs/           texts and launches -> the define sets of each text, and its translations
ported.py       a text and its define sets -> its kernels, one function each (kernels.py)
proof.py        each define set: the same program (prove.py) or the same bytes (equivalence.py, watch.py)
package/        kernels -> what is written: modules, the launcher module, edited Python files, tests
report/         kernels -> a page with old and new side by side, or JSON
notes.py        what a person should know of a text, with positions
parallel.py     the same work on many texts, on all processors
explain.py      ``python -m pytriton explain``: the page of a diagnostic; about.py is ``info``
"""
