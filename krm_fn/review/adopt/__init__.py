"""Adopts a namespace of an operator: from an export, the resources that users wrote, the configuration, and a proof that no pod restarts.

Nothing here reads a Secret: the names of pull secrets come from pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.records import NamedTuple
from krm_fn.review.adopt import (
    adopt_findings,
    edits,
    exported_objects,
    foreign_objects,
    inferred_settings,
    migration_documents,
    migration_steps,
    verification,
    worker_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.adopt.exported_objects import Inventory
    from krm_fn.review.adopt.verification import Proof


class Adopted(NamedTuple):
    """The files to write, by name, and the proof. `steps` is Markdown. If the export is unusable, there are findings only."""

    files: dict[str, Resource]
    steps: str
    proof: Proof | None
    results: list[Result]


def adopt(resources: Sequence[Resource]) -> Adopted:
    """Adopts an exported namespace. Never raises for the content of the export; each difference between pods is an error finding."""
    inventory = worker_names.keep(exported_objects.read(resources))
    if results.failed(inventory.results):
        return Adopted({}, "", None, inventory.results)
    inferred = inferred_settings.settings(inventory)
    inventory = _leaner(inventory, inferred.spec)
    rendered = inferred_settings.rendered(inferred.spec, inventory)
    proof = verification.prove(rendered.resources, inventory)
    written = [*inventory.written, *inventory.accounts]
    findings = [
        *inventory.results,
        *foreign_objects.check(rendered.resources, inventory),
        *inferred.results,
        *rendered.results,
        *adopt_findings.of(proof, complete=not results.failed(rendered.results)),
    ]
    files = migration_documents.resources(written, inferred.spec)
    return Adopted(files, migration_steps.write(inventory, inferred.spec), proof, sorted(findings, key=results.order))


def _leaner(inventory: Inventory, spec: dict[str, Any]) -> Inventory:
    """The export without empty lists in what users wrote, if its pods then differ in fewer fields."""
    lean = inventory._replace(written=[edits.without_empty_lists(resource) for resource in inventory.written])
    return lean if inferred_settings.misses(spec, lean) < inferred_settings.misses(spec, inventory) else inventory


def summary(proof: Proof) -> str:
    """The outcome in one line: `9 of 9 pod templates the same, no restart`."""
    return adopt_findings.summary(proof)
