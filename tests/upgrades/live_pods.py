"""Applies the workloads of fleets, waits until their controllers have nothing left to do, and reads the pods of each service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import identity
from krm_fn.review.forecast import object_rules
from tests.running import cliques
from tests.testbed import api, server
from tests.upgrades import grove_pods

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.identity import ObjectKey
    from krm_fn.kubernetes.types import Resource
    from krm_fn.review.forecast.rollouts import Service
    from tests.testbed.control_plane import ControlPlane

Object = dict[str, Any]
Workloads = dict["ObjectKey", "Resource"]

_ROLE = "disaggregatedset.x-k8s.io/role"

DISAGGREGATED = "/apis/disaggregatedset.x-k8s.io/v1/disaggregatedsets"
_PATHS = {
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
    "PodCliqueSet": grove_pods.SETS,
    "DisaggregatedSet": DISAGGREGATED,
}
"""The kinds whose objects make pods. Other objects of a render restart none, and are left out."""
_HOLDERS = ("PodCliqueSet", "DisaggregatedSet")
"""The kinds whose objects hold several services. Their status says nothing here."""


def workloads(resources: Iterable[Resource]) -> Workloads:
    """The objects that make pods, by key."""
    return {identity.key(resource): resource for resource in resources if resource["kind"] in _PATHS}


class LivePods:
    """The pods of a control plane with the controllers of Kubernetes and of LeaderWorkerSets, and with Grove played."""

    def __init__(self, plane: ControlPlane) -> None:
        self._client = plane.client

    def move(self, old: Workloads, new: Workloads) -> None:
        """Applies the new workloads that differ, then deletes those that are gone, as GitOps tools do."""
        for key, resource in new.items():
            if old.get(key) != resource:
                answer = self._client.apply(resource, dry_run=False)
                assert answer.ok, f"{key}: {answer.message}"
        for key, resource in old.items():
            if key not in new:
                answer = self._client.request("DELETE", f"{self._client.path(resource)}?propagationPolicy=Background")
                assert answer.ok, f"{key}: {answer.message}"

    def scale(self, resources: Workloads, replicas: int) -> int:
        """Scales the Deployments without replicas of their own, as an autoscaler does; returns their number."""
        chosen = [resource for resource in resources.values() if resource["kind"] == "Deployment" and "replicas" not in resource["spec"]]
        for resource in chosen:
            answer = self._client.request("PATCH", f"{self._client.path(resource)}/scale", {"spec": {"replicas": replicas}}, api.MERGE)
            assert answer.ok, answer.message
        return len(chosen)

    def settle(self) -> None:
        """Waits until each workload has its pods, all of the newest template, and no other pod is left."""
        try:
            server.eventually(lambda: not self._unfinished())
        except TimeoutError as late:
            late.add_note("; ".join(self._unfinished()[:20]))
            raise

    def _unfinished(self) -> list[str]:
        """The workloads and pods that are not as wanted."""
        unfinished = [] if grove_pods.reconcile(self._client) else ["PodCliqueSets"]
        live = {kind: self._client.get(path)["items"] for kind, path in _PATHS.items()}
        pods = self._client.get("/api/v1/pods")["items"]
        sets = [*self._client.get("/apis/apps/v1/replicasets")["items"], *live["StatefulSet"]]
        unfinished += [_name(entry) for kind, entries in live.items() if kind not in _HOLDERS for entry in entries if not _is_done(entry)]
        unfinished += [_name(entry) for entry in live["DisaggregatedSet"] if not _has_its_sets(entry, live["LeaderWorkerSet"])]
        applied = {entry["metadata"]["uid"] for kind, entries in live.items() if kind != "StatefulSet" for entry in entries}
        owned = _owned(applied, [*sets, *pods])
        unfinished += [_name(entry) for entry in (*sets, *pods) if entry["metadata"]["uid"] not in owned]
        return unfinished + [_name(pod) for pod in pods if pod["metadata"].get("deletionTimestamp") or not cliques.is_ready(pod)]

    def pods(self) -> dict[Service, frozenset[str]]:
        """The UIDs of the pods of each service."""
        found: dict[Service, set[str]] = {}
        for pod in self._client.get("/api/v1/pods")["items"]:
            service = object_rules.service_of_labels(pod["metadata"], pod["metadata"]["namespace"])
            assert service is not None, pod["metadata"]
            found.setdefault(service, set()).add(pod["metadata"]["uid"])
        return {service: frozenset(uids) for service, uids in found.items()}


def _name(resource: Object) -> str:
    return f"{resource.get('kind', 'object')} {resource['metadata']['namespace']}/{resource['metadata']['name']}"


def _owned(owners: set[str], members: list[Object]) -> set[str]:
    """The UIDs of the objects that these owners own, also through other objects: a LeaderWorkerSet owns pods that own StatefulSets."""
    owned: set[str] = set()
    following = owners
    while following:
        following = {
            member["metadata"]["uid"]
            for member in members
            if any(reference["uid"] in following for reference in member["metadata"].get("ownerReferences") or ())
        }
        owned |= following
    return owned


def _is_done(resource: Object) -> bool:
    """True if the controller has seen the newest generation, and all replicas have its template and are ready."""
    status, replicas = resource.get("status") or {}, resource["spec"].get("replicas", 1)
    if status.get("observedGeneration") != resource["metadata"]["generation"]:
        return False
    if resource["metadata"].get("deletionTimestamp"):
        return False
    return all(status.get(name, 0) == replicas for name in ("replicas", "readyReplicas", "updatedReplicas"))


def _has_its_sets(joined: Object, sets: list[Object]) -> bool:
    """True if the LeaderWorkerSets of a DisaggregatedSet are one of each role, of the newest pod templates and with its replicas."""
    uid = joined["metadata"]["uid"]
    of_set = [entry for entry in sets if any(reference["uid"] == uid for reference in entry["metadata"].get("ownerReferences") or ())]
    states = [(entry["metadata"]["labels"][_ROLE], _revision(entry), entry["spec"]["replicas"]) for entry in of_set]
    return sorted(states) == sorted((role["name"], _revision(role), role["spec"]["replicas"]) for role in joined["spec"]["roles"])


def _revision(part: Object) -> str:
    return str(part["metadata"]["annotations"]["dynamo.krm-fn.io/revision"])
