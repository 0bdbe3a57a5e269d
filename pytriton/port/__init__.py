"""``pytriton port``: old Triton-C in a code base -> modules of modern Triton that need nothing of ours.

command.py      the order of the work
read/           which files; their texts; for Python, the code around a text, followed without running it
run/            what only a run of the program shows (``--run``)
jobs/           texts and launches -> the define sets of each text, and its translations
ported.py       a text and its define sets -> its kernels, one function each (kernels.py)
prove.py        each define set is the same program; what is not is refused
package/        kernels -> what is written: modules, the launcher module, edited Python files, tests
report.py       kernels -> a page with old and new side by side, or JSON
notes.py        what a person should know of a text, with positions
printed.py      the source in a Python file, for the commands ``translate`` and ``gradient``
"""
