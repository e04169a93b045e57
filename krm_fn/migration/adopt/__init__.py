"""Adopts a namespace of an operator: writes resources and configuration from an export, and verifies that no pod restarts.

Nothing here reads a Secret: the names of pull secrets come from pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.adopt import (
    adopt_findings,
    exported_objects,
    inferred_settings,
    leftovers,
    migration_files,
    observed_hashes,
    unfinished_updates,
    verification,
)
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.migration.adopt.migration_files import NamespacePart
from krm_fn.migration.adopt.verification import Verification


class Adoption(NamedTuple):
    """The files to write, by name, and the verification. `steps` is Markdown. If the export is unusable, there are findings only.

    `part` is the namespace as the steps describe it, and `leftovers` are the objects that nothing needs after the adoption. `is_steady` is
    false if a controller is still rolling something out.
    """

    files: dict[str, Resource]
    steps: str
    verification: Verification | None
    results: list[Result]
    part: NamespacePart | None = None
    leftovers: tuple[ObjectKey, ...] = ()
    is_steady: bool = True


def adopt(resources: Sequence[Resource]) -> Adoption:
    """Adopts an exported namespace. Never raises for the content of the export; each difference between pods is an error finding."""
    exported = exported_objects.with_worker_hashes(exported_objects.with_origins(exported_objects.read(resources)))
    if results.has_errors(exported.results):
        return Adoption({}, "", None, exported.results, is_steady=_is_steady(exported.results))
    inferred = inferred_settings.settings(exported)
    exported = observed_hashes.without(_leaner(exported, inferred.spec), inferred.spec)
    rendered = inferred_settings.render_with_settings(inferred.spec, exported)
    verified = verification.verify(rendered.resources, exported)
    written = [*exported.written, *exported.accounts]
    findings = [
        *exported.results,
        *adopt_findings.foreign(rendered.resources, exported),
        *inferred.results,
        *(finding for _, finding in unfinished_updates.warn_of_unobserved(exported.exported)),
        *unfinished_updates.warn_of_unsettled(resource for resource in exported.live if exported.runs(resource)),
        *rendered.results,
        *adopt_findings.of(verified, exported, complete=not results.has_errors(rendered.results)),
    ]
    files = migration_files.resources(written, inferred.spec)
    part = NamespacePart(exported, inferred.spec)
    unneeded = tuple(leftovers.of(rendered.resources, exported))
    rolling = any(unfinished_updates.in_progress(difference, exported) for difference in verified.differences)
    steps = migration_files.steps([part])
    return Adoption(files, steps, verified, sorted(findings, key=results.order), part, unneeded, not rolling and _is_steady(findings))


def _is_steady(findings: Sequence[Result]) -> bool:
    """False if two worker revisions run, a workload is missing, or an operator or a controller has not ended an update."""
    return not any(
        finding.code
        in (codes.TWO_WORKER_REVISIONS, codes.WORKLOAD_ON_ONE_SIDE_ONLY, codes.WORKLOAD_BEING_UPDATED, codes.OPERATOR_HAS_NOT_ACTED)
        for finding in findings
    )


def _leaner(exported: ExportedObjects, spec: dict[str, Any]) -> ExportedObjects:
    """The export without empty lists in the resources of users, if its pods then differ in fewer fields."""
    lean = exported._replace(written=[exported_objects.without_empty_lists(resource) for resource in exported.written])
    return lean if inferred_settings.score(spec, lean) < inferred_settings.score(spec, exported) else exported


def summary(verification: Verification) -> str:
    """Describes the outcome in one line: `9 of 9 pod templates the same, no restart`."""
    return adopt_findings.summary(verification)
