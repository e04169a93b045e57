"""The services that restart only because their graph's other workers change, and the sentence that says why.

All workers of a graph share a hash of their pod templates (`krm_fn.render.resolve.worker_revisions`), so a change of one changes the
hash in the pods of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import krm_fn
from krm_fn.base.results import Path
from krm_fn.review.diff import diff_report, headline
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.forecast.rollouts import Service

PAGE = f"{krm_fn.PAGES}/releases.md#worker-revisions"
"""The page that explains the hash."""


def reason(diffs: Sequence[Diff]) -> str:
    """Returns the sentence about services that restart because of the hash alone; empty without one."""
    services = [service for diff in diffs for service in services_with_hash_only(diff)]
    if not services:
        return ""
    verb = "restarts" if len({*services}) == 1 else "restart"
    return f"{headline.titles(diffs, services)} {verb}, because all workers of a graph share a hash of their pod templates."


def services_with_hash_only(diff: Diff) -> Iterator[Service]:
    """Yields the services whose pods are replaced, and whose pod templates have no other change than the hash."""
    for change, outcome in zip(diff.changes, diff.forecast.outcomes, strict=True):
        hashes = {*diff_report.hash_fields(change.fields)}
        for service in outcome.restarting if hashes else ():
            fields = diff_report.service_fields(change, service, is_only=len(outcome.shares) == 1)
            causes = [number for number in fields if _is_cause(change.fields[number].path, outcome.causes)]
            if causes and hashes.issuperset(causes):
                yield service


def _is_cause(path: Path, causes: Iterable[Path]) -> bool:
    """True if a field, or a part of it, replaces the pods."""
    return any(path[: len(cause)] == cause or cause[: len(path)] == path for cause in causes)
