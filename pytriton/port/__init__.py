"""``python -m pytriton port``: old Triton-C in a code base -> stand-alone modern modules, and a report.

read/           which files; their texts; for Python, the code around a text, followed without running it
run/            what only a run of the program shows (``--run``)
jobs/           texts and launches -> one job a kernel, translated at every point; the plan of its launcher
write/          a plan -> the text of a module, and of a test that compares it with the old source
package/        a whole package: its kernels, its Python files, the modules that stand for the old triton
report/         grades and sums, as text, JSON and HTML
parallel.py     the same work on many texts, on all processors
command.py      the command line, and the order of the work
explain.py      ``python -m pytriton explain``: the page of a diagnostic
equivalence.py  what a generated test does: both sources on the same memory (watch.py looks at their accesses)
"""
