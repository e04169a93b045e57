"""Reads the `ReplicaStatus` of workloads and pods. Each module here reads the kinds of one API group, with its `READERS`.

A replica status holds all fields of a workload or a pod that the syncer caches. Each kind in the annotation `workloads` has a reader here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.syncer.status import SyncFeatures, live_fields
from krm_fn.syncer.status.field_changes import FieldChange

_LONGEST_OWNER = 512
"""Characters. A kind and a name have at most 300, and an object has one owner, except a shared account or Service."""
WITH_LABEL = (labels.NAMESPACE, f"!{labels.NAMESPACE},{labels.MANAGED_BY}={labels.MANAGER}")
"""Selects Dynamo's workloads: those with Dynamo's label, and rendered ones without it, such as those of a standalone component."""


class ReplicaCounts(NamedTuple):
    """Replica counts in the status of a workload. None: the kind has no such count."""

    replicas: int = 0
    updated: int = 0
    ready: int | None = None
    available: int | None = None
    scheduled: int | None = None


class WorkloadFailure(NamedTuple):
    """A state that waiting does not end. `reason` is one word in the style of Kubernetes."""

    reason: str
    message: str


class TemplateStatus(NamedTuple):
    """The fields of a pod template that a status depends on.

    `path` leads to its metadata, `restart` is its annotation `nvidia.com/restartAt`, or empty. `service` is set where the templates of one
    object belong to several services (PodCliqueSet). `annotated` is true if the template has annotations.
    """

    path: tuple[str | int, ...]
    restart: str = ""
    service: str = ""
    annotated: bool = False
    runtime: str = ""
    """The Dynamo namespace in which its pods register themselves: that of their label, with the worker hash of their label."""
    clique: str = ""
    """The name of the clique, or of the role of a DisaggregatedSet."""
    replicas: int | None = None
    """The pods in one replica of the clique's scaling group, or the replicas of the role."""
    is_scaled: bool = False
    """True for a role whose replicas its DisaggregatedSetRoleScaler has."""

    def serves(self, service: str) -> bool:
        """Returns True if pods of a service are made from this template."""
        return self.service in ("", service)


class WorkerPod(NamedTuple):
    """The fields of a pod of a base model that its callers need. `model` is the hash of the base model in its label."""

    uid: str
    model: str
    addresses: tuple[str, ...]
    restarts: int
    """The restarts of its containers together."""


class ReplicaStatus(NamedTuple):
    """The state of one workload, or of one pod, by its spec and its status.

    `family` is the name of the PodCliqueSet of Grove's objects, of the DisaggregatedSet of a LeaderWorkerSet or a scaler, and of the graph
    of a pod. `member` is the scaling group of a PodClique, the role of a LeaderWorkerSet or a scaler, and the service of a pod.
    """

    key: ObjectKey
    generation: int = 0
    desired: int = 1
    """`spec.replicas`; 1 if absent."""
    counts: ReplicaCounts | None = None
    """None for a pod. Zeros if the object has no status yet."""
    ready: bool = False
    problem: str = ""
    """The reason why it is not ready, for people; empty if it is ready."""
    updating: bool = False
    """True while an update of its pods is under way, or while its controller has not seen the update yet."""
    failure: WorkloadFailure | None = None
    since: str = ""
    """RFC 3339 time since when it is in this state; empty if unknown."""
    selector: str = ""
    """The label selector of its pods, if its status has one."""
    templates: tuple[TemplateStatus, ...] = ()
    family: str = ""
    member: str = ""
    revision: str = ""
    """The hash of the set's templates that the object follows, or that the set has now: of a PodCliqueSet or a DisaggregatedSet."""
    observed: int | None = None
    """`status.observedGeneration`."""
    min_available: int = 0
    """Grove: `spec.minAvailable`. With fewer replicas for a while, Grove deletes all pods of the graph."""
    defers_scaling: bool = False
    """Grove: true while a coherent update of the PodCliqueSet runs. Another number of replicas would mix the versions of the pods."""
    last_message: str = ""
    """The last line of the termination message of a pod's container, which may be a line of its log."""
    owner: str = ""
    """The resource that it belongs to, as its annotation or its label names it: `DynamoGraphDeployment/chat`."""
    changes: tuple[FieldChange, ...] | None = None
    """The fields that somebody changed after the render was applied; None if the object does not show it."""
    worker: WorkerPod | None = None
    """Set for a pod with the label of a base model, unless it has ended."""


class WorkloadFamily:
    """The objects of one PodCliqueSet or DisaggregatedSet, and the pods of the graph of that name.

    `clique_set` is the PodCliqueSet, and `holder` the object with the pod templates; None without one. A status looks for some of them for
    each workload, so a search through all of them would take quadratic time.
    """

    def __init__(self, statuses: Iterable[ReplicaStatus] = ()) -> None:
        self.statuses = list(statuses)
        self.clique_set = next((status for status in self.statuses if status.key.kind == "PodCliqueSet"), None)
        self.holder = next((status for status in (self.clique_set, *self.statuses) if status and status.templates), None)
        self._members: dict[str, list[ReplicaStatus]] = {}
        self._pods: dict[str, list[ReplicaStatus]] = {}
        for status in self.statuses:
            if status.key.kind == "Pod":
                if status.problem:
                    self._pods.setdefault(status.member, []).append(status)
            elif status.member:
                self._members.setdefault(status.member, []).append(status)
        self._templates: dict[str, list[TemplateStatus]] = {}
        self._served: dict[str, list[TemplateStatus]] = {}
        self._by_clique: dict[str, TemplateStatus] = {}
        for template in self.holder.templates if self.holder else ():
            self._templates.setdefault(template.service, []).append(template)
            if template.clique:
                self._by_clique[template.clique] = template

    def members(self, member: str) -> Sequence[ReplicaStatus]:
        """Returns the PodCliques of a scaling group, or the LeaderWorkerSets and the scaler of a role, each kind sorted by name."""
        return self._members.get(member, ())

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


class StatusReader:
    """The hooks of one Kubernetes kind."""

    group = ""
    version = "v1"
    kind = ""
    resource = ""
    """The plural name in API paths."""
    label_selectors: tuple[str, ...] = ("",)
    """The label selectors of the watches: see `selectors`."""
    has_deadline = False
    """True if its controller reports an update that does not end. For other kinds, the pods show it."""
    scaled_by_syncer = False
    """True if a changed `replicas` in the rendered object does not reach the object that runs."""
    min_replicas: int | None = None
    """The smallest replica count that a scale request may set. None: the kind cannot be scaled."""
    scaled_by_adapters_only = False
    """True if a count in Git means one object, so that only a render adds replicas."""
    labels_services = True
    """True if the Services of its components have a label of Dynamo, by which the syncer selects Services."""

    def selectors(self, features: SyncFeatures) -> tuple[str, ...]:
        """Returns the label selectors of the objects that the syncer watches with these features. No two select the same object."""
        return self.label_selectors

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one object. Missing and invalid values never raise: they make the object not ready."""
        raise NotImplementedError

    def read_cached(self, resource: Resource) -> ReplicaStatus:
        """Reads the fields of one object that `krm-fn sync` caches: all but the time, which only `krm-fn status` shows."""
        return self.read(resource)._replace(since="")

    def with_family(self, status: ReplicaStatus, family: WorkloadFamily, service: str = "") -> ReplicaStatus:
        """Adds the observations on the other objects of the same set, for a service of the graph. By default: nothing."""
        return status

    def scale_target(self, status: ReplicaStatus, family: WorkloadFamily, service: str) -> ReplicaStatus | None:
        """Returns the object whose subresource `scale` has the replicas of a service; None if it does not exist. By default: the object."""
        return status

    def reported_as(self, graph: str, name: str) -> tuple[str, str]:
        """Returns the resource that a message of the graph names, and the part of it. By default: the object itself, as a whole.

        `graph` is the name of the graph, or of its PodCliqueSet, in the name of the object.
        """
        return name, ""

    def available(self, *, ready: bool) -> tuple[str, str]:
        """Returns reason and message of the condition `Available` of a component with such workloads."""
        return (f"{self.kind}Ready", f"{self.kind} is ready") if ready else (f"{self.kind}NotReady", f"{self.kind} is not ready")

    def common(self, resource: Resource) -> ReplicaStatus:
        """Reads the fields that are the same for all kinds. `read` completes them."""
        metadata = values.mapping(resource, "metadata")
        key = ObjectKey(self.group, self.kind, live_fields.intern_text(metadata.get("namespace")), values.text(metadata.get("name")))
        observed = live_fields.whole_number(values.mapping(resource, "status").get("observedGeneration"))
        desired = live_fields.desired_replicas(values.mapping(resource, "spec"))
        return ReplicaStatus(key, live_fields.whole_number(metadata.get("generation")) or 0, desired, observed=observed)


def kinds() -> tuple[str, ...]:
    """Lists the kinds that have a reader, in lower case."""
    return tuple(_readers())


def get(kind: str) -> StatusReader:
    """Returns the reader of a Kubernetes kind. Raises KeyError for a kind without one."""
    return _readers()[kind.lower()]


def find(group: str, kind: str) -> StatusReader | None:
    """Finds the reader of a kind in a group; None if no module here reads it."""
    reader = _readers().get(kind.lower())
    return reader if reader and (reader.group, reader.kind) == (group, kind) else None


def explain_unprocessed(status: ReplicaStatus) -> str:
    """Explains that a controller has not processed the newest spec; empty if it has, or if its status does not show it."""
    if status.observed is None or status.observed >= status.generation:
        return ""
    return f"spec not yet processed: generation={status.generation}, observedGeneration={status.observed}"


def owner(resource: Resource) -> str:
    """Reads the owner of a workload: its annotation `owner`, or without one the graph in its label. Empty if it names none."""
    written = values.text(labels.annotations(resource).get(labels.OWNER))
    if not written and (graph := live_fields.label(resource, labels.GRAPH)):
        written = f"{dynamo_api.GRAPH}/{graph}"
    return live_fields.intern_text(written) if len(written) <= _LONGEST_OWNER else ""


def names_owner(written: str, key: ObjectKey) -> bool:
    """Returns True if an owner as `owner` reads it is the resource `key`. Several owners are separated by commas."""
    return f"{key.kind}/{key.name}" in written.split(",")


def template(metadata: dict[str, Any], path: Path) -> TemplateStatus:
    """Reads the pod template whose metadata is at a path of an object. Most objects share one value, because few carry a restart."""
    annotations, pod_labels = values.mapping(metadata, "annotations"), values.mapping(metadata, "labels")
    parts = (values.text(pod_labels.get(key)) for key in (labels.NAMESPACE, labels.WORKER_HASH))
    restart = live_fields.intern_text(annotations.get(labels.RESTART_AT))
    return _template(path, restart, bool(annotations), "-".join(filter(None, parts)))


@cache
def _readers() -> dict[str, StatusReader]:
    """Maps the kinds, in lower case and sorted, to their readers."""
    package = sys.modules[__name__]
    readers = [reader for module in registry.entries(package) for reader in registry.get(package, module).READERS]
    return {reader.kind.lower(): reader for reader in sorted(readers, key=lambda reader: reader.kind)}


@lru_cache(maxsize=4096)
def _template(path: Path, restart: str, annotated: bool, runtime: str) -> TemplateStatus:
    return TemplateStatus(path, restart, annotated=annotated, runtime=runtime)
