"""PodCliqueSets: whole graphs under Grove.

No entry of the annotation `workloads` names them, but the objects that Grove makes depend on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import fields, observe
from krm_fn.status.observe import Counts, Observation, Observer, _grove, _templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.status.observe import Template


class PodCliqueSet(Observer):
    """Holds the pod templates of all services."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodCliqueSet"
    resource = "podcliquesets"

    def observe(self, resource: Resource) -> Observation:
        """Ready if Grove has processed the newest spec."""
        status = values.mapping(resource, "status")
        own = self.start(resource)
        why = "observedGeneration is nil" if own.observed is None else observe.behind(own)
        replicas, updated, available = (fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "availableReplicas"))
        return own._replace(
            counts=Counts(replicas, updated, available=available),
            ready=not why,
            why=why,
            updating=bool(why),
            templates=tuple(_cliques(resource)),
            family=own.key.name,
            revision=_grove.revision(status, "currentGenerationHash"),
        )


def _cliques(resource: Resource) -> Iterator[Template]:
    """A clique holds labels and annotations of its pods itself."""
    listed = values.mapping(resource, "spec", "template").get("cliques")
    for index, clique in enumerate(listed if isinstance(listed, list) else ()):
        yield _templates.read(values.mapping(clique), ("spec", "template", "cliques", index))._replace(
            service=fields.shared(values.mapping(clique, "labels").get(labels.COMPONENT)),
            clique=fields.shared(values.mapping(clique).get("name")),
            replicas=fields.number(values.mapping(clique, "spec").get("replicas")),
        )


OBSERVER = PodCliqueSet()
