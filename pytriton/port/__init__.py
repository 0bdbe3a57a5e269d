"""``python -m pytriton port``: old Triton-C in a code base -> stand-alone modern modules, and a report.

scan     which files
extract  the texts in a file; for Python, ``interpret`` follows the code around them without running it
gather   texts and launches -> one ``Job`` a kernel: the text, its defines, its sweeps, its grid
variants a job translated at every point; points with equal text share one function
write    a module, and a test that compares it with the old source
report   grades and sums, as text, JSON and HTML
command  the command line
"""
