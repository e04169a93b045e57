"""What a new runtime changes for graphs without a change in their files: the notes of an upgrade.

Flags and variables that it no longer reads are findings about the command lines of each step (`krm_fn.review.arguments.later_releases`).
The table is data. A new change is a new row. `source` says how sure it is: `notes` for the release notes or the documentation of the
release, and `nightly` for what the wheels 1.7.0.dev20261026 did, four weeks before the release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.version import Version
from krm_fn.render.rules import runtime_windows

About = Literal["any", "frontend", "worker"]


class RuntimeChange(NamedTuple):
    """A change with a runtime version.

    `about` is the kind of components that it concerns. `needs` are texts that the resource must have, such as a field; all of them.
    """

    since: tuple[int, int]
    source: Literal["notes", "nightly"]
    text: str
    about: About = "any"
    needs: tuple[str, ...] = ()


CHANGES = (
    RuntimeChange(
        (1, 7),
        "nightly",
        "the limit of requests of an engine is on by default and counts for each data-parallel rank; to set it, write the variable "
        "DYN_BACKEND_ADMISSION_ENGINE_REQUEST_LIMIT",
        about="worker",
    ),
    RuntimeChange(
        (1, 7),
        "nightly",
        "a frontend starts preprocess workers by the CPU limit of its container, and before it started none; to start none, write "
        "DYN_PREPROCESS_WORKERS: 0",
        about="frontend",
    ),
    RuntimeChange(
        (1, 7),
        "nightly",
        "a planner rejects a scaling adapter that its graph does not own in v1beta1; run krm-fn sync, which writes the owner if the "
        "cluster serves v1beta1, and apply platform/roles, which lets the planner get and patch adapters",
        needs=("scalingAdapter", "planner"),
    ),
    RuntimeChange(
        (1, 7),
        "notes",
        "an operator can be upgraded only to an adjacent minor version, in both directions; if one runs, upgrade it minor by minor",
    ),
)
"""All changes, the older ones first."""


def notes(resource: Resource, old: Version, new: Version) -> Iterator[Result]:
    """Yields a note about each change between two runtime versions that concerns a graph. A downgrade has none.

    Fields may have wrong types.
    """
    changes = [change for change in CHANGES if old[:2] < change.since <= new[:2]]
    if not changes:
        return
    frontends, workers = runtime_windows.of_frontends_and_workers(resource)
    kinds = {"any", *(["frontend"] if frontends else []), *(["worker"] if workers else [])}
    text = json.dumps(resource, default=str)
    for change in changes:
        if change.about in kinds and all(word in text for word in change.needs):
            message = f"since {change.since[0]}.{change.since[1]}, {change.text}"
            yield results.info(codes.RUNTIME_BEHAVES_DIFFERENTLY, message, results.ref(resource), ("spec",))
