"""What an API server refuses in a pod, beyond wrong types and unknown fields, which `krm_fn.schema` finds.

The rules are those that pods written by hand break, out of Kubernetes' `pkg/apis/core/validation/validation.go`. Paths begin at the pod
spec: `krm_fn.validation.field_origin` finds the user's field for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path


class Refusal(NamedTuple):
    """One reason for which an API server refuses a pod. `path` begins at the object that was checked."""

    code: str
    path: Path
    message: str

    def below(self, *steps: str | int) -> Refusal:
        """The same refusal, with its path from further up."""
        return self._replace(path=(*steps, *self.path))
