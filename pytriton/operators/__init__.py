"""Kernels as PyTorch operators.

autograd.py      the autograd base class of 2019
"""
