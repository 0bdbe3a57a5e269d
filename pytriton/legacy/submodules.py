"""``triton.utils`` as a module that exists only in memory: the file's name would say nothing about us."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from pytriton.legacy.sources import read
from pytriton.runtime.tensors import IdDict, cdiv, cdiv_sum, empty, next_power_of_2, shape

utils: Final = ModuleType("pytriton.utils", "The helpers of triton.utils, 2019 and 2020.")
vars(utils).update(
    __spec__=ModuleSpec(utils.__name__, None),
    id_dict=IdDict,
    cdiv=cdiv,
    cdiv_sum=cdiv_sum,
    next_power_of_2=next_power_of_2,
    shape=shape,
    empty=empty,
    read=read,
)
