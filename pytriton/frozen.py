"""``@record``: ``dataclass(frozen=True, slots=True)``, cheaper to define and to fill; ``@node``: without equality.

A kernel is thousands of tokens, spans and nodes, and the package defines about a hundred classes of them. The
standard library compiles the text of several methods for each class (half a millisecond, 50 ms of an import), and
fills a frozen record through ``object.__setattr__``, which looks up each field by its name. Here ``__init__`` calls
the setters of the slots (``set_0(self, value_0); set_1(self, value_1)``), and its code is compiled once for all
classes with that many fields; each class gets that code with the names of its own parameters and setters. All else
is as in the standard library: ``fields``, ``replace``, ``match``, ``repr``, pickling, and no attribute can be set.
There are no default factories and no ``__post_init__``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, NoReturn, TypeVar, dataclass_transform

_T = TypeVar("_T")


def _record_class(cls: type[_T], eq: bool) -> type[_T]:
    """The class with slots for its annotations, which are its fields after inherited ones; ``eq``: equal where all
    fields are."""
    members = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    fields: dict[str, dataclasses.Field[Any]] = dict(getattr(cls, "__dataclass_fields__", {}))
    own = get_annotations(cls)
    for name, type_ in own.items():
        default = members.pop(name, dataclasses.MISSING)
        field: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        assert field.default_factory is dataclasses.MISSING
        field.name, field.type, field._field_type, field.kw_only = name, type_, _FIELD, False
        fields[name] = field
    names = tuple(fields)
    members.update(_METHODS, __slots__=tuple(own), __match_args__=names, __dataclass_fields__=fields)
    if eq:
        members.update(_comparisons(names))
    make: Any = type(cls)
    record = make(cls.__name__, cls.__bases__, members)
    record.__init__ = _initializer(record, fields)
    return record  # type: ignore[no-any-return]


def _initializer(record: type, fields: dict[str, dataclasses.Field[Any]]) -> FunctionType:
    """``__init__`` of a class: the shared code, with parameters named as its fields, and with its setters."""
    code = _initializer_code(len(fields)).replace(co_varnames=("self", *fields))
    setters = {f"set_{index}": getattr(record, name).__set__ for index, name in enumerate(fields)}
    defaults = tuple(field.default for field in fields.values() if field.default is not dataclasses.MISSING)
    return FunctionType(code, {"__builtins__": {}, **setters}, "__init__", defaults)


@cache
def _initializer_code(count: int) -> CodeType:
    """The code of an ``__init__`` that sets so many fields from as many parameters."""
    parameters = ["self", *(f"value_{index}" for index in range(count))]
    body = [f"    set_{index}(self, value_{index})" for index in range(count)] or ["    pass"]
    scope: dict[str, Any] = {}
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *body]), scope)
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


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[_T]) -> type[_T]:
    """A frozen dataclass with slots."""
    return _record_class(cls, eq=True)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def node(cls: type[_T]) -> type[_T]:
    """The same, compared by identity."""
    return _record_class(cls, eq=False)


def replace(record: _T, /, **changes: Any) -> _T:
    """The standard library's, for records of this file."""
    names: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    for name in names:
        if name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)
