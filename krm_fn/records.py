"""`typing.NamedTuple` in a third of the time: `typing` compiles each annotation, and a start of the function makes over fifty classes."""

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
            return record

    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {})
