"""A mismatch: a field with a name, namespace or label that is not in the build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path

MOVED, RENAMED, RELABELLED = "DYN060", "DYN061", "DYN062"


class Mismatch(NamedTuple):
    """A field with its value `says`, which is not in the build. `truth` is the right value, or empty if it is unknown."""

    code: str
    path: Path
    says: str
    truth: str = ""
