"""`typing.NamedTuple` in a tenth of the time: a start of the function makes over a hundred classes.

`typing` compiles each annotation, and `collections.namedtuple` compiles a constructor for each class. This module compiles one constructor
for each number of fields. `_replace` takes two thirds of the time of `collections`: a render replaces a few fields of fifty records for
each graph.
"""

from __future__ import annotations

TYPE_CHECKING = False

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import NamedTuple, Self
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    _GLOBALS = {"new": tuple.__new__, "__builtins__": {}}

    class _Record(tuple):
        """The methods that all named tuples share, as `collections.namedtuple` defines them."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            record = tuple.__new__(cls, values)
            if len(record) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(record)}")
            return record

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

    class _Meta(type):
        def __new__(cls, name: str, _bases: tuple[type, ...], body: dict[str, object]) -> type:
            """Makes a named tuple of the annotated names of a class, with its methods."""
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            body |= {field: _tuplegetter(index, f"Alias for field number {index}") for index, field in enumerate(fields)}
            body |= {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            body["_replace"] = _replacer({field: index for index, field in enumerate(fields)})
            body["__new__"] = _constructor(name, fields, tuple(defaults.values()))
            body.setdefault("__doc__", f"{name}({', '.join(fields)})")
            return type(name, (_Record,), body)

    def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[object, ...]) -> FunctionType:
        """Returns the function that makes a tuple of its arguments, which have the names of the fields."""
        code = _code(len(fields)).replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__")
        return FunctionType(code, _GLOBALS, "__new__", defaults)

    def _replacer(indexes: dict[str, int]) -> Callable[..., tuple[object, ...]]:
        """Returns the method `_replace` of a class whose fields have these indexes. It raises TypeError for an unknown field."""

        def _replace(self: tuple[object, ...], /, **changes: object) -> tuple[object, ...]:
            values = [*self]
            try:
                for field, value in changes.items():
                    values[indexes[field]] = value
            except KeyError as unknown:
                raise TypeError(f"{type(self).__name__} has no field {unknown}") from None
            return tuple.__new__(type(self), values)

        return _replace

    @cache
    def _code(count: int) -> CodeType:
        """Returns the code of the constructor of a tuple with a number of fields."""
        names = "".join(f"_{index}, " for index in range(count))
        return eval(f"lambda _cls, {names}: new(_cls, ({names}))").__code__  # noqa: S307 - the names are numbers

    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {})
