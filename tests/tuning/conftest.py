"""Tests of tuning launch kernels as those of the runtime do."""

from tests.runtime.conftest import _no_notice, built, stand_in, translated_by

__all__ = ["_no_notice", "built", "stand_in", "translated_by"]
