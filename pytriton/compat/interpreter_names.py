"""Private names of Triton's interpreter, read in Triton 3.6 to 3.9; apart, as few programs load it."""

from __future__ import annotations

from triton.runtime.interpreter import InterpreterBuilder as InterpreterBuilder
