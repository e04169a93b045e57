"""What the workloads of a graph say about themselves: each file reads one Kubernetes kind, and its `OBSERVER` makes the observations.

An observation is all that the syncer keeps of an object. Every kind in the annotation `workloads` has a file here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry
from krm_fn.kube import labels, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.status.features import Features


LABELLED = (labels.NAMESPACE, f"!{labels.NAMESPACE},{labels.MANAGED_BY}={labels.MANAGER}")
"""Selects Dynamo's workloads: those with Dynamo's label, and rendered ones without it, such as those of a component alone."""


class Counts(NamedTuple):
    """Replica counts from a workload's status. None: the kind has no such number."""

    replicas: int = 0
    updated: int = 0
    ready: int | None = None
    available: int | None = None
    scheduled: int | None = None


class Failure(NamedTuple):
    """A state that does not end by waiting. `reason` is one word in the style of Kubernetes."""

    reason: str
    message: str


class Template(NamedTuple):
    """One pod template. `path` leads to its metadata, `restarted` is its annotation `nvidia.com/restartAt`, or empty.

    `service` is set where the templates of one object belong to several services (PodCliqueSet). `annotated` is true if the template has
    annotations.
    """

    path: tuple[str | int, ...]
    restarted: str = ""
    service: str = ""
    annotated: bool = False
    runtime: str = ""
    """The Dynamo namespace in which its pods register themselves: that of their label, with the worker hash of their label."""
    clique: str = ""
    """The name of the clique."""
    replicas: int | None = None
    """The number of pods in one replica of the clique's scaling group."""

    def serves(self, service: str) -> bool:
        """True if pods of a service are made from this template."""
        return self.service in ("", service)


class Peer(NamedTuple):
    """A pod that serves a base model, as a program that calls it must know it. `model` is the hash of the base model in its label."""

    uid: str
    model: str
    addresses: tuple[str, ...]
    restarts: int
    """The restarts of its containers together."""


class Observation(NamedTuple):
    """One workload, or one pod, as its spec and status describe it.

    `family` is the name of the PodCliqueSet of Grove's objects, and the name of the graph of a pod. `member` is the scaling group of a
    PodClique, and the service of a pod.
    """

    key: ObjectKey
    generation: int = 0
    desired: int = 1
    """`spec.replicas`; 1 if absent."""
    counts: Counts | None = None
    """None for a pod. Zeros if the object has no status yet."""
    ready: bool = False
    why: str = ""
    """Why it is not ready, for people; empty if it is ready."""
    updating: bool = False
    """True while an update of its pods is under way or not yet seen by its controller."""
    failure: Failure | None = None
    since: str = ""
    """RFC 3339 time since when it is in this state; empty if unknown."""
    selector: str = ""
    """The label selector of its pods, if its status has one."""
    templates: tuple[Template, ...] = ()
    family: str = ""
    member: str = ""
    revision: str = ""
    """Grove: the hash of the PodCliqueSet's templates that the object follows, or that the set has now."""
    observed: int | None = None
    """`status.observedGeneration`."""
    least: int = 0
    """Grove: `spec.minAvailable`. With fewer replicas for a while, Grove deletes all pods of the graph."""
    said: str = ""
    """The last line of the termination message of a pod's container, which may be a line of its log."""
    peer: Peer | None = None
    """Set for a pod with the label of a base model, unless it has ended."""


class Observer:
    """The hooks of one Kubernetes kind."""

    group = ""
    version = "v1"
    kind = ""
    resource = ""
    """The plural name in API paths."""
    label_selectors: tuple[str, ...] = ("",)
    """Limit what the syncer watches: see `selectors`."""
    has_deadline = False
    """True if its controller reports an update that does not end. For other kinds, the pods tell it."""
    scaled_by_syncer = False
    """True if a changed `replicas` in the rendered object does not reach the object that runs."""
    least_replicas: int | None = None
    """The smallest number of replicas that a scale request may set. None: the kind cannot be scaled."""
    scaled_by_adapters_only = False
    """True if a number in Git stands for one object, so that only a render adds replicas."""

    def selectors(self, features: Features) -> tuple[str, ...]:
        """The label selectors of the objects that the syncer watches with these features. No two of them select the same object."""
        return self.label_selectors

    def observe(self, resource: Resource) -> Observation:
        """Reads one object. Missing and absurd values never raise: they make the object not ready."""
        raise NotImplementedError

    def judge(self, own: Observation, family: Sequence[Observation]) -> Observation:
        """Adds what other objects of the same PodCliqueSet say about this one. By default: nothing."""
        return own

    def reported(self, graph: str, name: str) -> tuple[str, str]:
        """The resource that a message of the graph names, and the part of it. By default: the object itself, as a whole.

        `graph` is the name of the graph, or of its PodCliqueSet, in the name of the object.
        """
        return name, ""

    def available(self, *, ready: bool) -> tuple[str, str]:
        """Reason and message of the condition `Available` of a component with such workloads."""
        return (f"{self.kind}Ready", f"{self.kind} is ready") if ready else (f"{self.kind}NotReady", f"{self.kind} is not ready")

    def start(self, resource: Resource) -> Observation:
        """An observation with the fields that are the same for all kinds. `observe` completes it."""
        place = values.mapping(resource, "metadata")
        key = ObjectKey(self.group, self.kind, fields.shared(place.get("namespace")), values.text(place.get("name")))
        observed = fields.number(values.mapping(resource, "status").get("observedGeneration"))
        wanted = fields.replicas(values.mapping(resource, "spec"))
        return Observation(key, fields.number(place.get("generation")) or 0, wanted, observed=observed)


def names() -> tuple[str, ...]:
    """The file names of all observers."""
    return registry.entries(sys.modules[__name__])


def get(kind: str) -> Observer:
    """The observer of a Kubernetes kind. Raises KeyError for a kind without one."""
    observer: Observer = registry.get(sys.modules[__name__], kind.lower()).OBSERVER
    return observer


def find(group: str, kind: str) -> Observer | None:
    """The observer of a kind in a group; None if no file here observes it."""
    if kind.lower() not in names():
        return None
    found = get(kind)
    return found if (found.group, found.kind) == (group, kind) else None


def behind(own: Observation) -> str:
    """Says that a controller has not seen the newest spec; empty if it has, or if its status does not tell."""
    if own.observed is None or own.observed >= own.generation:
        return ""
    return f"spec not yet processed: generation={own.generation}, observedGeneration={own.observed}"
