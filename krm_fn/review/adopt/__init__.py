"""Adopts a namespace of an operator: from an export, the resources that users wrote, the configuration, and a proof that no pod restarts.

Nothing here reads a Secret: the names of pull secrets come from pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.records import NamedTuple
from krm_fn.review.adopt import documents, edits, findings, foreign, generations, infer, inventory, prove, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.adopt.inventory import Inventory
    from krm_fn.review.adopt.prove import Proof


class Adopted(NamedTuple):
    """The files to write, by name, and the proof. `steps` is Markdown. If the export is unusable, there are findings only."""

    files: dict[str, Resource]
    steps: str
    proof: Proof | None
    results: list[Result]


def adopt(resources: Sequence[Resource]) -> Adopted:
    """Adopts an exported namespace. Never raises for the content of the export; each difference between pods is an error finding."""
    found = generations.keep(inventory.read(resources))
    if results.failed(found.results):
        return Adopted({}, "", None, found.results)
    inferred = infer.settings(found)
    found = _leaner(found, inferred.spec)
    rendered = infer.rendered(inferred.spec, found)
    proof = prove.prove(rendered.resources, found)
    written = [*found.written, *found.accounts]
    said = [
        *found.results,
        *foreign.check(rendered.resources, found),
        *inferred.results,
        *rendered.results,
        *findings.of(proof, complete=not results.failed(rendered.results)),
    ]
    files = documents.resources(written, inferred.spec)
    return Adopted(files, steps.write(found, inferred.spec), proof, sorted(said, key=results.order))


def _leaner(found: Inventory, spec: dict[str, Any]) -> Inventory:
    """The export without empty lists in what users wrote, if its pods then differ in fewer fields."""
    lean = found._replace(written=[edits.without_empty_lists(each) for each in found.written])
    return lean if infer.misses(spec, lean) < infer.misses(spec, found) else found


def summary(proof: Proof) -> str:
    """The outcome in one line: `9 of 9 pod templates the same, no restart`."""
    return findings.summary(proof)
