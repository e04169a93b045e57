"""`typing.NamedTuple` in a third of the time: `typing` compiles each annotation, and a start of the function makes over fifty classes.

`_replace` takes two thirds of the time of `collections`: a render replaces a few fields of fifty records for each graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    class _Meta(type):
        def __new__(cls, name: str, _bases: tuple[type, ...], body: dict[str, object]) -> type:
            """Makes a named tuple of the annotated names of a class, with its methods."""
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            record = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            for key, value in body.items():
                if key not in fields and key != "__slots__":
                    setattr(record, key, value)
            record._replace = _replacer({field: index for index, field in enumerate(fields)})
            return record

    def _replacer(indexes: dict[str, int]) -> object:
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

    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {})
