"""What generated tests imported before ``pytriton.testing`` had it."""

from pytriton.port.equivalence import Case, compare, load_ported

__all__ = ["Case", "compare", "load_ported"]
