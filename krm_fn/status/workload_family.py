"""Groups the objects of one PodCliqueSet of Grove, and the pods of the graph of that name.

A status looks for some of them for each workload, so a search through all of them would take quadratic time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krm_fn.status.replica_status import ReplicaStatus, TemplateStatus


class WorkloadFamily:
    """The objects of one family. `clique_set` is the PodCliqueSet, `holder` the object with the pod templates; None without one."""

    def __init__(self, statuses: Iterable[ReplicaStatus] = ()) -> None:
        self.statuses = list(statuses)
        self.clique_set = next((status for status in self.statuses if status.key.kind == "PodCliqueSet"), None)
        self.holder = next((status for status in self.statuses if status.templates), None)
        self._cliques: dict[str, list[ReplicaStatus]] = {}
        self._pods: dict[str, list[ReplicaStatus]] = {}
        for status in self.statuses:
            if status.key.kind == "PodClique":
                self._cliques.setdefault(status.member, []).append(status)
            elif status.key.kind == "Pod" and status.problem:
                self._pods.setdefault(status.member, []).append(status)
        self._templates: dict[str, list[TemplateStatus]] = {}
        self._served: dict[str, list[TemplateStatus]] = {}
        self._by_clique: dict[str, TemplateStatus] = {}
        for template in self.holder.templates if self.holder else ():
            self._templates.setdefault(template.service, []).append(template)
            if template.clique:
                self._by_clique[template.clique] = template

    def cliques(self, group: str) -> Sequence[ReplicaStatus]:
        """Returns the PodCliques of a scaling group."""
        return self._cliques.get(group, ())

    def pods_with_problem(self, service: str) -> Sequence[ReplicaStatus]:
        """Returns the pods of a service that show why they are not ready."""
        return self._pods.get(service, ())

    def templates(self, service: str) -> list[TemplateStatus]:
        """Returns the templates from which pods of a service are made."""
        if service not in self._served:
            self._served[service] = [*self._templates.get("", ()), *(self._templates.get(service, ()) if service else ())]
        return self._served[service]

    def template_of(self, clique: ReplicaStatus) -> TemplateStatus | None:
        """Finds the template of a PodClique. Grove ends the name of a PodClique with the name of the clique; the longest name counts."""
        _, dash, rest = clique.key.name.partition("-")
        while dash:
            if rest in self._by_clique:
                return self._by_clique[rest]
            _, dash, rest = rest.partition("-")
        return None
