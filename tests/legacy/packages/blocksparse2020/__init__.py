"""Products with block-sparse matrices for Triton 0.2, November 2020."""
from .matmul import MatMul
from .layouts import local_layout, strided_layout, to_blocks, to_dense
