"""Kernels as PyTorch operators.

operator.py      ``pytriton.op``: a function around kernels as an operator
body.py          the function, and the checks that its schema holds
tape.py          what a body does, recorded to be differentiated
formulas.py      the autograd formula of an operator, given or derived
shortcut.py      the fast path of an eager call
overrides.py     ``pytriton.override``: our operator in place of one of PyTorch's
autograd.py      the autograd base class of 2019
"""
