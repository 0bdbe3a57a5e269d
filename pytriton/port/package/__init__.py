"""What is written: a whole old package for today's Triton, which needs nothing of ours, or its kernels alone.

texts.py       where a text is written, and what replaces it
declared.py    what a kernel's signature cannot express: the fields of its Source
modules.py     kernels -> modules of the package
edits.py       a Python file -> the same with the smallest change; what it takes from triton
plain.py       launches of a Python file as Triton's, where that needs no launcher
launcher.py    what the package uses of the old Triton -> the module that replaces it
package.py     the map: a folder -> the files of the ported package, or a folder of kernels
comparison.py  tests that compare ported kernels with their old texts
output.py      writes files, shows them as a diff, or puts them in place
"""
