"""``dataclass(frozen=True, slots=True)`` for the records of the translator, made and filled faster.

A kernel is thousands of tokens, spans and nodes. The standard library fills a frozen record through
``object.__setattr__``, which looks up every field by its name; here ``__init__`` calls the setters of the slots.
And it spends half a millisecond on every class, to compile the text of its methods; here all classes with as
many fields share the code of their ``__init__``, under other names. The rest is alike: ``fields``, ``replace``,
``match``, ``repr``, pickling, and no attribute can be set. Type checkers see the standard library's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass", "replace"]


def _made(cls: type, eq: bool) -> type:
    """The class with slots for its annotations, which are its fields; ``eq``: equal where all fields are."""
    members = dict(cls.__dict__)
    found: dict[str, dataclasses.Field[Any]] = {}
    for name, type_ in get_annotations(cls).items():
        given = members.pop(name, dataclasses.MISSING)
        one: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
        assert one.default_factory is dataclasses.MISSING
        one.name, one.type, one._field_type, one.kw_only = name, type_, _FIELD, False
        found[name] = one
    names = tuple(found)
    members.pop("__dict__", None)
    members.pop("__weakref__", None)
    members.update(_METHODS, __slots__=names, __match_args__=names, __dataclass_fields__=found)
    if eq:
        members.update(_comparisons(names))
    made: Any = type(cls)(cls.__name__, cls.__bases__, members)
    defaults = tuple(one.default for one in found.values() if one.default is not dataclasses.MISSING)
    setters = {f"set_{place}": getattr(made, name).__set__ for place, name in enumerate(names)}
    code = _filling(len(names)).replace(co_varnames=("self", *names))
    made.__init__ = FunctionType(code, {"__builtins__": {}, **setters}, "__init__", defaults)
    result: type = made
    return result


@cache
def _filling(count: int) -> CodeType:
    """The code of an ``__init__`` with so many fields."""
    lines = [f"    set_{place}(self, value_{place})\n" for place in range(count)]
    parameters = ", ".join(["self", *(f"value_{place}" for place in range(count))])
    scope: dict[str, Any] = {}
    exec(f"def __init__({parameters}):\n{''.join(lines) or '    pass'}", scope)
    code: CodeType = scope["__init__"].__code__
    return code


def _comparisons(names: tuple[str, ...]) -> dict[str, Any]:
    content: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        same: bool = self is other or content(self) == content(other)
        return same

    def __hash__(self: Any) -> int:
        return hash(content(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _represent(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({shown})"


def _refuse_setting(self: Any, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _content(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _fill(self: Any, content: list[Any]) -> None:
    for name, value in zip(self.__match_args__, content, strict=True):
        object.__setattr__(self, name, value)


_FIELD = dataclasses._FIELD  # type: ignore[attr-defined]
_METHODS = {
    "__repr__": _represent,
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _content,
    "__setstate__": _fill,
}

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """The standard library's, for records of this file."""
        for name in record.__match_args__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def dataclass(*, frozen: bool, slots: bool, eq: bool = True) -> Callable[[type], type]:
        """The standard library's, for records that are frozen and have slots."""
        assert frozen
        assert slots
        return lambda cls: _made(cls, eq)
