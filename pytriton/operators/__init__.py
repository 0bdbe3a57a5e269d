"""Kernels as PyTorch operators.

operator.py      ``pytriton.op``: a function around kernels as an operator
body.py          the function, and the checks that its schema holds
watch.py         what the function does to its arguments beside launches
shortcut.py      the short way of an eager call
gradient.py      the formula of an operator as a node of autograd's graph
overrides.py     ``pytriton.override``: our operator in place of one of PyTorch's
autograd.py      the autograd base class of 2019
"""
