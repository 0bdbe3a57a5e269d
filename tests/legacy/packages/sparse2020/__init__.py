"""Block-sparse attention on Triton 0.2, September 2020."""
from .matmul import MatMul
from .softmax import Softmax
from .attention import Attention
from .dense import to_dense
