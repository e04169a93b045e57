"""The rules that PodCliques and PodCliqueScalingGroups share.

Follows the reference's `internal/dynamo/grove.go` CheckPodCliqueReady and CheckPCSGReady. Their `observedGeneration` does not move when a
template changes. Newer versions of Grove write the hash of all templates into the status of the PodCliqueSet and of each object that
follows it, and the PodCliqueSet observes its generation only at the end of an update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import fields, observe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.status.observe import Counts, Observation, Template

SELECTOR = f"{labels.MANAGED_BY}={labels.GROVE_MANAGER}"
GROUP = "grove.io"
VERSION = "v1alpha1"
LEAST_REPLICAS = 1
"""Of an object without `minAvailable`."""


def observed(own: Observation, resource: Resource, counts: Counts, word: str) -> Observation:
    """Completes an observation. `word` names the count that tells readiness: `ready` or `available`."""
    status = values.mapping(resource, "status")
    why = _why(own, counts, word)
    return own._replace(
        counts=counts,
        ready=not why,
        why=why,
        updating=own.observed is None or bool(observe.behind(own)) or counts.updated != own.desired,
        family=fields.label(resource, labels.PART_OF),
        revision=revision(status, "currentPodCliqueSetGenerationHash"),
        least=fields.number(values.mapping(resource, "spec").get("minAvailable")) or LEAST_REPLICAS,
    )


def revision(status: dict[str, Any], field: str) -> str:
    """A hash of templates in a status."""
    return fields.shared(status.get(field))


def together(own: Observation, family: Sequence[Observation]) -> Observation:
    """An object is not ready before its PodCliqueSet says that the newest templates run."""
    whole = whole_of(family)
    if whole is None and own.revision:
        why = own.why or f"PodCliqueSet {own.family} not found"
        return own._replace(ready=False, why=why, updating=True)
    if whole is None or not whole.revision:
        return own
    why = own.why or _late(whole) or _stale(own, whole) or _left(own)
    return own._replace(ready=not why, why=why, updating=own.updating or whole.updating or own.revision != whole.revision)


def whole_of(family: Sequence[Observation]) -> Observation | None:
    """The PodCliqueSet of a family; None if it does not exist."""
    return next((each for each in family if each.key.kind == "PodCliqueSet"), None)


def template_of(own: Observation, whole: Observation) -> Template | None:
    """The clique of a PodClique. Grove ends the name of a PodClique with the name of the clique."""
    found = [each for each in whole.templates if each.clique and own.key.name.endswith(f"-{each.clique}")]
    return max(found, key=lambda each: len(each.clique), default=None)


def _why(own: Observation, counts: Counts, word: str) -> str:
    """The first check that fails, in the order and the words of the reference."""
    if own.observed is None:
        return "observedGeneration is nil"
    if late := observe.behind(own):
        return late
    if own.desired == 0:
        return ""
    up = getattr(counts, word)
    if up != own.desired:
        return f"desired={own.desired}, {word}={up}"
    if counts.updated != own.desired:
        return f"desired={own.desired}, updated={counts.updated}"
    if counts.replicas != own.desired:
        return f"performing rolling update: desired={own.desired}, replicas={counts.replicas}"
    return ""


def _late(whole: Observation) -> str:
    if whole.observed == whole.generation:
        return ""
    return f"PodCliqueSet {whole.key.name} is not yet updated: generation={whole.generation}, observedGeneration={whole.observed or 0}"


def _stale(own: Observation, whole: Observation) -> str:
    return "" if own.revision == whole.revision else "the templates of the PodCliqueSet are newer than those of its pods"


def _left(own: Observation) -> str:
    """Replicas that remain after scaling to 0."""
    remaining = own.counts.replicas if own.counts and own.desired == 0 else 0
    return f"desired=0, replicas={remaining}" if remaining else ""
