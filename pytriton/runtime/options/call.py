"""What a call of a kernel takes, for those who ask: ``inspect.signature``, ``help`` and editors.

``Kernel.__call__`` itself takes its keywords in one dictionary, which is faster than to name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["called"]


def called(
    self: Any,
    /,
    *arguments: Any,
    grid: Any = None,
    defines: Mapping[str, Any] | None = None,
    num_warps: Any = None,
    num_stages: Any = None,
    bench: Any = 0,
    **more_defines: Any,
) -> int | None:
    """The signature of ``Kernel.__call__``."""
