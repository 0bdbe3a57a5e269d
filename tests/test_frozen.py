"""Records of frozen.py are what the standard library's frozen dataclasses with slots are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from pytriton import frozen
from pytriton.lang.tree import types


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    left: int
    right: tuple[int, ...] = ()
    name: str = dataclasses.field(default="x")


@frozen.record
class Found:
    left: int
    right: tuple[int, ...] = ()
    name: str = dataclasses.field(default="x")


@frozen.node
class Node:
    left: int
    right: object = None


@frozen.record
class Empty:
    pass


def shown(record: Any) -> Any:
    return (
        repr(record).replace(type(record).__name__, "Record"),
        [(field.name, field.type, field.default) for field in dataclasses.fields(record)],
        dataclasses.astuple(record),
        type(record).__match_args__,
        hasattr(record, "__dict__"),
    )


@pytest.mark.parametrize("values", [(1,), (1, (2, 3)), (-1, (), "y")])
def test_a_record_is_the_standard_ones_twin(values: tuple[Any, ...]) -> None:
    found, expected = Found(*values), Expected(*values)
    assert shown(found) == shown(expected)
    assert shown(frozen.replace(found, left=7)) == shown(dataclasses.replace(expected, left=7))
    assert shown(dataclasses.replace(found, name="z")) == shown(dataclasses.replace(expected, name="z"))
    assert found == Found(*values)
    assert hash(found) == hash(Found(*values))
    assert found != Found(2, *values[1:])
    assert found != expected
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other == found


@pytest.mark.parametrize("values", [(), (1, 2, 3, 4)])
@pytest.mark.parametrize("cls", [Expected, Found])
def test_wrong_arguments(cls: Any, values: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="__init__"):
        cls(*values)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        cls(1, other=2)


@pytest.mark.parametrize("record", [Found(1), Node(1), Empty()])
def test_nothing_can_be_set(record: Any) -> None:
    for name in ("left", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(record, name)


def test_identity_and_emptiness() -> None:
    node = Node(1)
    assert node == node
    assert node != Node(1)
    assert Empty() == Empty()
    match Found(1, (2,)):
        case Found(1, right, name="x"):
            assert right == (2,)
        case _:
            pytest.fail("does not match")


def test_there_is_one_object_a_scalar_type() -> None:
    every = [one for one in vars(types).values() if isinstance(one, types.ScalarType)]
    assert len(every) == 13
    for one in (*every, types.VOID, types.ERROR):
        assert copy.deepcopy([one])[0] is one
        assert pickle.loads(pickle.dumps(one)) is one
