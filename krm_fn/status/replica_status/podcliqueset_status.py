"""PodCliqueSets: whole graphs under Grove.

No entry of the annotation `workloads` names them, but the objects that Grove makes depend on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import live_fields, replica_status
from krm_fn.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, _grove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.status.replica_status import TemplateStatus


class PodCliqueSetReader(StatusReader):
    """Holds the pod templates of all services."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodCliqueSet"
    resource = "podcliquesets"

    def read(self, resource: Resource) -> ReplicaStatus:
        """Ready if Grove has processed the newest spec."""
        status = values.mapping(resource, "status")
        result = self.common(resource)
        problem = "observedGeneration is nil" if result.observed is None else replica_status.unprocessed(result)
        fields = ("replicas", "updatedReplicas", "availableReplicas")
        replicas, updated, available = (live_fields.count(status.get(field)) for field in fields)
        return result._replace(
            counts=ReplicaCounts(replicas, updated, available=available),
            ready=not problem,
            problem=problem,
            updating=bool(problem),
            templates=tuple(_cliques(resource)),
            family=result.key.name,
            revision=_grove.revision(status, "currentGenerationHash"),
        )


def _cliques(resource: Resource) -> Iterator[TemplateStatus]:
    """Reads the cliques. A clique holds labels and annotations of its pods itself."""
    cliques = values.mapping(resource, "spec", "template").get("cliques")
    for index, clique in enumerate(cliques if isinstance(cliques, list) else ()):
        template = replica_status.template(values.mapping(clique), ("spec", "template", "cliques", index))
        yield template._replace(
            service=live_fields.interned(values.mapping(clique, "labels").get(labels.COMPONENT)),
            clique=live_fields.interned(values.mapping(clique).get("name")),
            replicas=live_fields.whole_number(values.mapping(clique, "spec").get("replicas")),
        )


READER = PodCliqueSetReader()
