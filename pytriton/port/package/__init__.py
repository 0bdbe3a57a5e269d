"""A whole old package -> a package for today's Triton, which needs nothing of ours.

texts.py      the texts that a package launches, with their define sets, and where each of them is written
modules.py    the kernels of a text -> a module of the package
imports.py    what a Python file of the package takes from triton, and how that is written from now on
edits.py      a Python file -> the same with the smallest change
launcher.py   what the package uses of the old Triton -> the module that stands for it
package.py    the map: a folder -> the files of the ported one
output.py     writes them, shows them as a diff, or puts them in place
"""
