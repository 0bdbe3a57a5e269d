"""How the runtime says no: one line that names the thing, a stable code, and the cure.

The codes (each has a page in ``docs/``)::

    TC501  too few or too many arguments          TC511  a grid of the wrong kind
    TC502  a tensor of the wrong dtype            TC512  a negative or oversized grid
    TC503  tensors on different devices           TC513  a define that is no number, text or dtype
    TC504  no number for a scalar                 TC514  a define that the options object lacks
    TC505  no tensor or address for a pointer     TC515  wrong use of the constructor or of a call
    TC506  a number that C could not hold         TC516  a name in autotune_key that nobody knows
    TC507  a fraction for an integer              TC517  num_warps or num_stages out of range
    TC508  a broken __multipleof, if strict       TC518  an unknown target or assembly mode
    TC509  a broken __aligned, if strict          TC519  a constant buffer that is unknown or too small
    TC510  a tensor without memory                TC520  a cache directory that others can write
    TC522  a pickled kernel of another version    TC521  generated code that the gate refused (a bug of ours)
    TC523  CUDA in a forked child
    TC524  a written leaf that wants a gradient   TC525  torch's lazy negative or conjugate bit
    TC526  (warning) gradients that stop          TC527  (warning) strides that nobody passed
    TC530  generated code that Triton refused     TC531  a kernel that does not fit the device
    TC532  a failure while the interpreter ran    TC540  what can be no operator
    TC541  a write that the schema does not show  TC542  a result that shares memory
    TC543  what torch.compile cannot follow       TC544  an override that cannot be
    TC545  a write that depends on hidden defines
    TC601  a sweep of which no candidate is left
"""

from __future__ import annotations

from pytriton.errors import LaunchError

__all__ = ["headline", "refusal"]


def headline(message: str, code: str, help: str | None = None) -> str:
    """``message [code]``, and a ``help:`` line. A message of several lines has the code on its first."""
    first, *rest = message.split("\n")
    lines = [f"{first} [{code}]", *rest]
    if help:
        lines.append(f"help: {help}")
    return "\n".join(lines)


def refusal(message: str, code: str, help: str | None = None) -> LaunchError:
    """The error to raise for a wrong use of a kernel."""
    return LaunchError(headline(message, code, help))
