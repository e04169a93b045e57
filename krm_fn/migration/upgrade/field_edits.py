"""The edits of resources in one step of an upgrade, each with its cause."""

from __future__ import annotations

from typing import Any, Literal

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


class ResourceEdits(NamedTuple):
    """The edits of one resource. `api_version` is its API version after the step, for example `nvidia.com/v1beta1`.

    The paths of `fields` are those of the resource before the step. The API version changes after all other edits.
    """

    resource: Resource
    fields: tuple[FieldEdit, ...]
    api_version: str
