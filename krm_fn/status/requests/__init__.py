"""A DynamoGraphDeploymentRequest as the status logic sees it, and its steps: profiling, generation of a graph, deployment.

Each file here judges one step by the objects that exist now, or makes the objects that follow from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, labels, names, values
from krm_fn.kube.identity import DYNAMO_GROUP, ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields
from krm_fn.status.requests import forms
from krm_fn.status.requests.forms import DELETED, DEPLOYING, FAILED, PENDING, PROFILING, READY

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.profiling.output import Output
    from krm_fn.status.conditions import Condition
    from krm_fn.status.job import Job
    from krm_fn.status.requests.forms import Form
    from krm_fn.status.subject import Subject

__all__ = ("DELETED", "DEPLOYING", "FAILED", "PENDING", "PROFILING", "READY", "Request", "Seen", "Step", "read")


class Step(NamedTuple):
    """One step. `state` is the state of a request that has come to this step and no further, or that has done all steps.

    `condition` is None if the step has not begun. `stalled` is true if waiting does not help. `value` is what the step writes into the
    status: the generated graph, or `status.deployment`.
    """

    state: str
    condition: Condition | None = None
    done: bool = False
    stalled: bool = False
    value: dict[str, Any] | None = None


class Request(NamedTuple):
    """One request. `managed` is true if a render wrote the annotation `profile-hash`: nobody else judges the request then.

    `profile_hash` is the value of that annotation. `overrides` has the name, namespace, labels and annotations of the graph. `wrong` says
    why its spec is refused. `status` is the status as it is stored now.
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
    form: Form = forms.OLDER

    @property
    def state(self) -> str:
        """The state in the stored status; empty before the first. In v1beta1 it is the phase."""
        return values.text(self.status.get(self.form.state))

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
        return forms.generated(self.status, self.form)

    @property
    def deployed(self) -> ObjectKey | None:
        """The key of the graph that was deployed, by the stored status; None if none was."""
        namespace, name = forms.deployed(self.status, self.form)
        if self.form is forms.NEWER:
            namespace = values.text(self.overrides.get("namespace")) or self.key.namespace
        return ObjectKey(DYNAMO_GROUP, identity.GRAPH, namespace, name) if name else None

    def choose(self, output: Output | None) -> Resource | None:
        """The generated graph: that of the output if it can be used, else the one in the stored status; None if there is none."""
        return output.graph if output and output.graph and not output.edited else self.generated or None

    def place(self, graph: Resource) -> ObjectKey:
        """The key that a generated graph gets. Its name is empty if neither the request nor the graph has one."""
        namespace = values.text(self.overrides.get("namespace")) or self.key.namespace
        name = values.text(self.overrides.get("name")) or identity.key(graph).name
        return ObjectKey(DYNAMO_GROUP, identity.GRAPH, namespace, name)


class Seen(NamedTuple):
    """The objects of a request as they are now; None for each that does not exist. `graph` is the graph at `deployment.target`.

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
    metadata, annotations, form = values.mapping(resource, "metadata"), labels.notes(resource), forms.of(resource)
    return Request(
        identity.key(resource, home),
        fields.number(metadata.get("generation")) or 0,
        labels.PROFILE_HASH in annotations,
        values.text(annotations.get(labels.PROFILE_HASH)),
        *forms.wanted(resource, form),
        "deletionTimestamp" in metadata,
        status=values.mapping(resource, "status"),
        form=form,
    )
