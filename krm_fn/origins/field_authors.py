"""The field of the input that names a text in an object: a field that a user wrote, or a setting of the configuration."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref
from krm_fn.origins.copied_texts import DistinctInput
from krm_fn.origins.marked_values import UserMark


class FieldAuthor(NamedTuple):
    """A field that a user wrote, or a setting of the configuration, which can have its default.

    `ref` is the address of the resource, or None for a setting.
    """

    ref: Ref | None
    path: Path


class FieldLocation(NamedTuple):
    """A field as text, with its file, line and column; empty and 0 where unknown."""

    field: str
    file: str = ""
    line: int = 0
    column: int = 0

    def text(self) -> str:
        """Returns the location and the field for people: `graph.yaml:3:1 spec.x`; empty if nothing is known."""
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return " ".join(part for part in (position, self.field) if part)


def of_copy(text: str, inputs: DistinctInput) -> FieldAuthor | None:
    """The field of which a text in a rendered object is a copy; None if the render made the text."""
    mark = inputs.copied_from(text)
    if mark is None:
        return None
    if isinstance(mark, UserMark):
        return FieldAuthor(results.ref(inputs.resources[mark.resource]), mark.path)
    return FieldAuthor(None, ("spec", *mark.path))
