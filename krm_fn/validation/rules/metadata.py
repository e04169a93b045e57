"""Rules about labels and annotations: those of a graph for all its objects, and those that this release overrides or ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.kube.admission import metadata
from krm_fn.manifests import pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.admission import Refusal
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.plan.address import GraphField
    from krm_fn.results import Result

_DEBUG_MODES = (labels.DEBUG, labels.STEALING_DEBUG)


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports labels and annotations that an API server refuses, and those of components that have no effect."""
    checks: tuple[tuple[Iterator[Refusal], GraphField], ...] = (
        (metadata.labels(plan.features.labels), "labels"),
        (metadata.annotation_keys(plan.features.annotations), "annotations"),
    )
    for refusals, field in checks:
        for refusal in refusals:
            yield results.error(refusal.code, refusal.message, plan.ref, plan.at(field, *refusal.path))
    for each in made:
        yield from _overridden(each)
        yield from _debugging(each)


def _overridden(made: Pods) -> Iterator[Result]:
    """Warns of labels of pods that Dynamo sets itself, because the user's value would be lost silently."""
    plan, found = made.plan, pod.labels_of(made.roles[0].role) if made.roles else {}
    for key, value in plan.pod.labels.items():
        if found.get(key, value) != value:
            message = f"Dynamo sets this label on the pods itself, to {found[key]}; remove it"
            yield results.warning("DYN425", message, plan.ref, plan.at("pod.labels", key))


def _debugging(made: Pods) -> Iterator[Result]:
    """Warns of debug modes, which this release does not have."""
    plan = made.plan
    for key in _DEBUG_MODES:
        if plan.who.annotations.get(key) == "true":
            message = "the annotation has no effect, because this release of Dynamo has no debug mode; remove it, and use kubectl debug"
            yield results.warning("DYN426", message, plan.ref, plan.annotation(key))
