"""Tensor contractions for Triton 0.1, February 2020."""
from .contract import contract, einsum
from .chain import chain
