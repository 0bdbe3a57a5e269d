"""Softmax of block-sparse scores, with whatever one adds to scores, for Triton 0.3, December 2020."""
from .softmax import Softmax
from .attention import MultiheadSoftmax
