"""Layers on top of Triton, August 2019."""
from .dot import dot, time_dot
from .batchnorm import batchnorm
from .bias import add_bias
