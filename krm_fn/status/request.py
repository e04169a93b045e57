"""The status of a DynamoGraphDeploymentRequest.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go`. One difference in principle: the state follows
from the objects that exist now. The stored status counts only for what the objects no longer tell: the generated graph, whether it was
deployed, and whether it was ready.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, labels, names
from krm_fn.kube.identity import DYNAMO_GROUP, ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import conditions, fields, requests, subject
from krm_fn.status.conditions import READY, RECONCILING, STALLED, Condition
from krm_fn.status.requests import deployment, generation, profiling, validation
from krm_fn.status.requests.deployment import target

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.profiling.output import Output
    from krm_fn.status.features import Features
    from krm_fn.status.job import Job
    from krm_fn.status.requests import Step
    from krm_fn.status.subject import Subject

__all__ = ["Request", "Seen", "read", "status", "target"]

OWNED = (validation.TYPE, profiling.TYPE, generation.TYPE, deployment.TYPE, READY, RECONCILING, STALLED)


class Request(NamedTuple):
    """One request. `managed` is true if a render wrote the annotation `profile-hash`: nobody else judges the request then.

    `profile_hash` is the value of that annotation. `overrides` is `spec.deploymentOverrides`. `wrong` says why its spec is refused.
    `status` is the status as it is stored now.
    """

    key: ObjectKey
    generation: int = 0
    managed: bool = False
    profile_hash: str = ""
    backend: str = ""
    mocker: bool = False
    auto_apply: bool = False
    overrides: dict[str, Any] = {}
    deleted: bool = False
    wrong: str = ""
    status: dict[str, Any] = {}

    @property
    def job(self) -> ObjectKey:
        """The key of its profiling Job."""
        return ObjectKey("batch", "Job", self.key.namespace, names.profiling_job(self.key.name))

    @property
    def output(self) -> ObjectKey:
        """The key of the ConfigMap with its output."""
        return ObjectKey("", "ConfigMap", self.key.namespace, names.profiling_output(self.key.name))

    @property
    def generated(self) -> Resource:
        """The generated graph in the stored status; empty if there is none."""
        return fields.mapping(self.status, "generatedDeployment")

    @property
    def deployed(self) -> ObjectKey | None:
        """The key of the graph that was deployed, by the stored status; None if none was."""
        found = fields.mapping(self.status, "deployment")
        if found.get("created") is not True or not fields.text(found.get("name")):
            return None
        return ObjectKey(DYNAMO_GROUP, subject.GRAPH, fields.text(found.get("namespace")), fields.text(found.get("name")))

    def choose(self, output: Output | None) -> Resource | None:
        """The generated graph: that of the output if it can be used, else the one in the stored status; None if there is none."""
        return output.graph if output and output.graph and not output.edited else self.generated or None

    def place(self, graph: Resource) -> ObjectKey:
        """The key that a generated graph gets. Its name is empty if neither the request nor the graph has one."""
        namespace = fields.text(self.overrides.get("namespace")) or self.key.namespace
        name = fields.text(self.overrides.get("name")) or identity.key(graph).name
        return ObjectKey(DYNAMO_GROUP, subject.GRAPH, namespace, name)


class Seen(NamedTuple):
    """The objects of a request as they are now; None for each that does not exist. `graph` is the graph at `target`.

    `pod` is the detail of a pod of the Job (`krm_fn.status.job`). `refused` says why the graph is not applied, and
    `problem` why an attempt to apply it failed, both for people.
    """

    job: Job | None = None
    output: Output | None = None
    graph: Subject | None = None
    pod: str = ""
    refused: str = ""
    problem: str = ""


def read(resource: Resource, home: str = "") -> Request:
    """Reads one request. `home` is the namespace of a resource without one. Never raises for what a user wrote."""
    spec, metadata, annotations = fields.mapping(resource, "spec"), fields.mapping(resource, "metadata"), labels.notes(resource)
    return Request(
        identity.key(resource, home),
        fields.number(metadata.get("generation")) or 0,
        labels.PROFILE_HASH in annotations,
        fields.text(annotations.get(labels.PROFILE_HASH)),
        fields.text(spec.get("backend")),
        spec.get("useMocker") is True,
        spec.get("autoApply") is True,
        fields.mapping(spec, "deploymentOverrides"),
        "deletionTimestamp" in metadata,
        status=fields.mapping(resource, "status"),
    )


def status(request: Request, seen: Seen, now: str, features: Features) -> dict[str, Any]:
    """The whole `.status` of a request. `now` is an RFC 3339 time.

    A request without the annotation `profile-hash` keeps its status, because another program may write it. So does one that is deleted.
    """
    if not request.managed or request.deleted:
        return request.status
    life = _judge(request, seen, features)
    told = conditions.merge(request.status.get("conditions"), _conditions(life), OWNED, request.generation, now)
    written = {
        **request.status,
        "observedGeneration": request.generation or None,
        "state": life.state,
        "backend": fields.text(request.status.get("backend")) if life.refusal else request.backend,
        "conditions": told,
    }
    if life.generated.value:
        written |= {"generatedDeployment": life.generated.value, "profilingResults": f"configmap/{request.output.name}"}
    if life.deployed.value:
        written |= {"deployment": life.deployed.value}
    return {key: value for key, value in written.items() if value not in (None, "")}


class _Life(NamedTuple):
    """The judged steps of a request. `last` is the step that it has come to, `refusal` the condition that refuses its newest spec."""

    profiled: Step
    generated: Step
    deployed: Step
    last: Step
    state: str
    refusal: Condition | None


def _judge(request: Request, seen: Seen, features: Features) -> _Life:
    profiled = profiling.step(request, seen)
    generated = generation.step(request, seen, profiled)
    deployed = deployment.step(request, seen, features, due=profiled.done and generated.done)
    undone = next((each for each in (profiled, generated, deployed) if not each.done), deployed)
    last = deployed if deployed.value and request.auto_apply else undone
    begun = profiled.state != requests.PENDING
    refusal = validation.refusal(request, seen, last.state, begun=begun)
    state = requests.FAILED if request.wrong and not begun else last.state
    return _Life(profiled, generated, deployed, last, state, refusal)


def _conditions(life: _Life) -> list[Condition]:
    """The conditions of the steps, and those for kstatus."""
    steps = [each.condition for each in (life.profiled, life.generated, life.deployed) if each.condition]
    cause = life.refusal or life.last.condition or steps[-1]
    ready = life.state == requests.READY and not life.refusal
    found = [*([life.refusal] if life.refusal else []), *steps, Condition(READY, ready, cause.reason, cause.message)]
    if not ready:
        found.append(Condition(STALLED if life.refusal or life.last.stalled else RECONCILING, True, cause.reason, cause.message))
    return found
