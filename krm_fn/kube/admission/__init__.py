"""Rules by which an API server rejects a pod. `krm_fn.schema` finds wrong types and unknown fields.

The rules are the part of Kubernetes' `pkg/apis/core/validation/validation.go` that handwritten pods can break. Paths begin at the pod
spec; `krm_fn.rules.field_origin` maps them to the user's fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path


class Rejection(NamedTuple):
    """One reason why an API server rejects a pod. `path` begins at the object that was checked."""

    code: str
    path: Path
    message: str

    def below(self, *steps: str | int) -> Rejection:
        """The same rejection with these steps before its path."""
        return self._replace(path=(*steps, *self.path))
