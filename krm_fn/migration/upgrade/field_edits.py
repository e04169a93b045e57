"""The edits of resources in one step of an upgrade, each with its cause."""

from __future__ import annotations

import shlex
from typing import Any, Literal

from krm_fn.base import list_changes
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes.types import Resource

Cause = Literal["release", "image", "origin", "api_version"]
"""Why a step can restart a pod: the operator release, the image, the origin version, or the API version of the graph."""
CAUSES: tuple[Cause, ...] = ("release", "image", "origin", "api_version")


class FieldEdit(NamedTuple):
    """One edit of a field. `old` is its value before the step, None if it is missing; `new` is None if the edit removes the field."""

    path: Path
    old: Any
    new: Any
    cause: Cause

    @property
    def is_of_items(self) -> bool:
        """True if the edit changes items of a list, which stays."""
        return isinstance(self.old, list) and isinstance(self.new, list)

    @property
    def items(self) -> tuple[str, str]:
        """The items that an edit of a list removes, and those that it adds, as a shell would read them."""
        parts = list_changes.differing_parts(self.old, self.new)
        removed = [item for part, _ in parts for item in self.old[part]]
        return shlex.join(removed), shlex.join(item for _, part in parts for item in self.new[part])


class ResourceEdits(NamedTuple):
    """The edits of one resource. `api_version` is its API version after the step, for example `nvidia.com/v1beta1`.

    The paths of `fields` are those of the resource before the step. The API version changes after all other edits.
    """

    resource: Resource
    fields: tuple[FieldEdit, ...]
    api_version: str
