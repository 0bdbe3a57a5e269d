"""Layers of a transformer for Triton 1.0-dev, April 2021; the kernels lie in trsrc."""
from .linear import linear
from .norm import norm
from .lookup import lookup
from .block import FeedForward
