"""``check=`` of ``pytriton.kernel``, and PYTRITON_CHECK: whether launches are checked, and what a load outside
means.

``None`` checks on the CPU and not on a GPU; ``True`` and ``False`` decide for both; ``"strict"`` checks on both and
raises for loads, too.
"""

from __future__ import annotations

import os
from typing import Final, Literal

from pytriton.runtime.errors import refusal

__all__ = ["CHECK_VARIABLE", "Check", "Checks", "check_of"]

CHECK_VARIABLE: Final = "PYTRITON_CHECK"

Check = bool | Literal["strict"] | None

_FROM_ENVIRONMENT: Final[dict[str, Check]] = {"": None, "0": False, "1": True, "strict": "strict"}


def check_of(given: object) -> Check:
    """What a constructor was given; where that is None, what the environment says. Raises LaunchError."""
    if given is None:
        text = os.environ.get(CHECK_VARIABLE, "")
        if text not in _FROM_ENVIRONMENT:
            raise refusal(
                f"{CHECK_VARIABLE} is {text!r}", "TC515", "set it to 0, 1 or strict, or leave it out"
            )
        return _FROM_ENVIRONMENT[text]
    if given is True or given is False or given == "strict":
        return given
    raise refusal(f"check is {given!r}", "TC515", "give True, False or 'strict', or leave it out")


class Checks:
    """How the launches of one kernel object are checked, for all its plans."""

    def __init__(self, check: Check = None) -> None:
        self.check = check
        self.told: set[object] = set()  # the places in its text of which the user was warned
        self.outputs = True  # whether an output that is mostly not stored is worth a note

    def are_on(self, *, on_cpu: bool) -> bool:
        """Whether launches there are checked."""
        return on_cpu if self.check is None else self.check is not False

    @property
    def strict(self) -> bool:
        """Whether a load outside is an error, too."""
        return self.check == "strict"
