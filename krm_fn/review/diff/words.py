"""Fields and values of a comparison as text in one line. Control characters are escaped."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from krm_fn import report, results
from krm_fn.review import printed_values
from krm_fn.review.diff.hidden import HIDDEN

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.review.diff import ChangeOrigin
    from krm_fn.review.diff.diff_report import Spot
    from krm_fn.schema.object_changes import FieldChange

_LONGEST = 160  # characters of a value or of a line
_MOST = 40  # lines of a text
_LARGE = 2000  # lines of the largest texts that are compared


def field(found: FieldChange) -> str:
    """The path of a field. An entry of a list has its key in brackets, or its index if it has no key."""
    shown = ""
    for step, name in zip(found.path, found.names or found.path, strict=True):
        part = f"[{name}]" if isinstance(step, int) else results.field((step,))
        shown += part if not shown or part.startswith("[") else f".{part}"
    return report.visible(shown)


def change(found: FieldChange) -> str:
    """What happens to a field: `"2" -> "4"`."""
    if found.order:
        return f"order {_value(found.old)} -> {_value(found.new)}"
    if found.old is None:
        return f"added {_value(found.new)}"
    if found.new is None:
        return f"removed {_value(found.old)}"
    return f"changed {HIDDEN}" if HIDDEN in (found.old, found.new) else f"{_value(found.old)} -> {_value(found.new)}"


def lines(found: FieldChange) -> list[str]:
    """The lines that differ between two texts of several lines; empty for other values."""
    if not (isinstance(found.old, str) and isinstance(found.new, str) and "\n" in found.old + found.new):
        return []
    old, new = ([report.visible(line)[:_LONGEST] for line in side.split("\n")] for side in (found.old, found.new))
    if max(len(old), len(new)) > _LARGE:
        return []
    made = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    return made if len(made) <= _MOST else [*made[:_MOST], f"… and {len(made) - _MOST} more lines"]


def named(key: ObjectKey) -> str:
    """Kind, namespace and name of an object."""
    return report.visible(f"{key.kind} {key.namespace}{'/' if key.namespace else ''}{key.name}")


def origin(found: ChangeOrigin, spot: Spot | None, old: str) -> str:
    """The place and the field of an origin: `graph.yaml:12 spec.services.Worker.replicas`. `old` is the name of the old state."""
    path = results.field(found.path)
    if spot is None:
        return report.visible(path)
    is_output = found.side == "old" and spot.file.startswith("<")  # a build has the same name in both states
    file = f"{old}:{spot.file}" if is_output else spot.file
    return report.visible(f"{file}:{spot.line} {path}".rstrip())


def _value(written: object) -> str:
    return HIDDEN if written == HIDDEN else printed_values.value(written, _LONGEST)
