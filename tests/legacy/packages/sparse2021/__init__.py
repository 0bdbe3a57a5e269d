"""Block-sparse attention on Triton 1.0-dev, February 2021."""
from .matmul import MatMul
from .softmax import Softmax
from .attention import Attention
from .gather import to_sparse
