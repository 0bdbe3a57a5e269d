"""Convolutions whose filters are block-sparse, for Triton 1.0-dev, January 2021."""
from .conv import conv2d, SparseConv2d
from .filters import pack, unpack, random_layout
