"""Reports resources that an operator or a controller has not rolled out: an export of that moment has pods of two states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import workloads

_WAIT = "wait until it is done, and export again"


def unsettled(live: Iterable[Resource]) -> Iterator[Result]:
    """Warns of each workload whose status shows an update that has not ended. A workload without a status is skipped."""
    for workload in filter(workloads.is_workload, live):
        if problem := _problem(workload):
            yield results.warning("DYN589", f"{problem}; {_WAIT}", results.ref(workload))


def unobserved(resources: Iterable[Resource]) -> Iterator[tuple[Resource, Result]]:
    """Yields each Dynamo resource whose last change the operator has not acted on, with a warning that says so.

    Sources: `metadata.generation`, which an API server raises with each change of a spec, and `status.observedGeneration`.
    """
    for resource in filter(dynamo_api.is_dynamo, resources):
        generation = _number(mapping(resource.get("metadata")).get("generation"))
        observed = _number(mapping(resource.get("status")).get("observedGeneration"))
        if generation is not None and observed is not None and observed < generation:
            message = f"the operator has acted on generation {observed} of this resource, and its spec is of generation {generation}"
            fix = "wait until status.observedGeneration is that of metadata, and export again"
            yield resource, results.warning("DYN749", f"{message}; {fix}", results.ref(resource))


def _problem(workload: Resource) -> str:
    """The part of an update that is missing; empty if the workload is settled, or if nothing says that it is not."""
    status, spec = mapping(workload.get("status")), mapping(workload.get("spec"))
    generation, observed = _number(workload["metadata"].get("generation")), _number(status.get("observedGeneration"))
    if generation is not None and observed is not None and observed < generation:
        return "the controller of this workload has not rolled out its last change"
    progress = mapping(status.get("updateProgress"))
    if progress and not progress.get("updateEndedAt"):
        return "Grove is updating the pods of this set"
    if observed is None or ("template" in spec and "cliques" in mapping(spec["template"])):
        return ""
    desired = _number(spec.get("replicas", 1))
    updated, current = _number(status.get("updatedReplicas", 0)), _number(status.get("replicas", 0))
    if desired is None or updated is None or current is None or desired == updated == current:
        return ""
    return f"{desired} replicas are desired, {current} exist, and {updated} of them are of the last change"


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
