"""Kernels as PyTorch operators.

operator.py      ``pytriton.op``: a function around kernels as an operator
body.py          the function, and the checks that its schema holds
shortcut.py      the short way of an eager call
gradient.py      the formula of an operator as a node of autograd's graph
flow.py          which arguments a Python function writes, from its syntax tree
writes.py        which parameters a kernel writes, before its defines are known
overrides.py     ``pytriton.override``: our operator in place of one of PyTorch's
autograd.py      the autograd base class of 2019
"""
