"""An origin of a value: a field that a user wrote, a key of the configuration, or a rule of krm-fn."""

from __future__ import annotations

from typing import Literal

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref
from krm_fn.origins import docstring_rules
from krm_fn.origins.docstring_rules import DocstringRule


class Origin(NamedTuple):
    """One origin of a value. `path` is that of the field in the resource `ref`, or of the key of the configuration.

    The path of a rule is the module and the qualified name of the function or the constant that made the value.
    """

    kind: Literal["user", "config", "rule"]
    path: Path
    ref: Ref | None = None

    @property
    def rule(self) -> DocstringRule:
        """The sentence of a rule, with its name."""
        module, name = self.path
        return docstring_rules.rule(f"{module}", f"{name}")


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
