"""The fields of a DynamoGraphDeploymentRequest that the syncer caches, and the inputs and steps of its status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.dynamo_api import GROUP
from krm_fn.syncer.status import live_fields, version_adapter
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.conditions import StatusCondition
from krm_fn.syncer.status.version_adapter import FieldNames

if TYPE_CHECKING:
    from krm_fn.syncer.profiler_output import ProfilerOutput


class RequestStep(NamedTuple):
    """A step of a request: profiling, generation of a graph, or deployment.

    `state` is the state of a request that has come to this step and no further, or that has done all steps. `condition` is None if the step
    has not begun. `stalled` is true if waiting does not help. `value` is what the step writes into the status: the generated graph, or
    `status.deployment`.
    """

    state: str
    condition: StatusCondition | None = None
    done: bool = False
    stalled: bool = False
    value: dict[str, Any] | None = None


class CachedRequest(NamedTuple):
    """A request. `managed` is true if a render wrote the annotation `profile-hash`: no other program writes its status then.

    `profile_hash` is the value of that annotation. `overrides` has the name, namespace, labels and annotations of the graph. `problem` is
    the reason why its spec is rejected. `status` is the stored status, in `version`.
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
    problem: str = ""
    status: dict[str, Any] = {}
    version: str = dynamo_api.ALPHA1

    @property
    def state(self) -> str:
        """The state in the stored status, in v1beta1 the phase; empty before the first."""
        return version_adapter.request_state(self.status, self.version)

    @property
    def field_names(self) -> FieldNames:
        """The fields of a request in its version, for messages."""
        return version_adapter.FIELDS[self.version]

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
        return version_adapter.generated_graph(self.status, self.version)

    @property
    def deployed(self) -> ObjectKey | None:
        """The key of the graph that was deployed, by the stored status; None if none was."""
        namespace, name = version_adapter.deployed_graph(self.status, self.version, self._graph_namespace)
        return ObjectKey(GROUP, dynamo_api.GRAPH, namespace, name) if name else None

    def usable_graph(self, output: ProfilerOutput | None) -> Resource | None:
        """Returns the graph of the output if it can be used, else the one in the stored status; None if there is none."""
        return output.graph if output and output.graph and not output.edited else self.generated or None

    def graph_key(self, graph: Resource) -> ObjectKey:
        """Returns the key that a generated graph gets. Its name is empty if neither the request nor the graph has one."""
        name = values.text(self.overrides.get("name")) or identity.key(graph).name
        return ObjectKey(GROUP, dynamo_api.GRAPH, self._graph_namespace, name)

    @property
    def _graph_namespace(self) -> str:
        return values.text(self.overrides.get("namespace")) or self.key.namespace


class ProfilingJob(NamedTuple):
    """A Job. `request` is its label `dgdr`, `profile_hash` its annotation. `failure` is the reason of a Job that failed, for people."""

    key: ObjectKey
    request: str = ""
    profile_hash: str = ""
    complete: bool = False
    failure: str = ""
    suspended: bool = False


class RequestInputs(NamedTuple):
    """The live objects of a request; None for each that does not exist. `graph` is the graph at `request_deployment.target`.

    `pod` is the problem of a pod of the Job. `rejected` is the reason why the graph is not applied, and `problem` the error of an attempt
    to apply it, both for people.
    """

    job: ProfilingJob | None = None
    output: ProfilerOutput | None = None
    graph: CachedObject | None = None
    pod: str = ""
    rejected: str = ""
    problem: str = ""


def read(resource: Resource, default_namespace: str = "") -> CachedRequest:
    """Reads a request. `default_namespace` is that of a resource without one. Never raises for what a user wrote."""
    metadata, annotations = values.mapping(resource, "metadata"), labels.annotations(resource)
    spec = version_adapter.hub_request_spec(resource)
    return CachedRequest(
        identity.key(resource, default_namespace),
        live_fields.whole_number(metadata.get("generation")) or 0,
        labels.PROFILE_HASH in annotations,
        values.text(annotations.get(labels.PROFILE_HASH)),
        values.text(spec.get("backend")),
        values.mapping(spec, "features", "mocker").get("enabled") is True,
        spec.get("autoApply") is not False,
        _overrides(resource, spec),
        "deletionTimestamp" in metadata,
        status=values.mapping(resource, "status"),
        version=version_adapter.version_of(resource),
    )


def _overrides(resource: Resource, spec: dict[str, Any]) -> dict[str, Any]:
    """Reads the metadata of the graph in the spec; without any, the `deploymentOverrides` that a conversion preserved."""
    metadata = values.mapping(spec, "overrides", "dgd").get("metadata")
    if isinstance(metadata, dict):
        return metadata
    try:
        preserved = json.loads(values.text(labels.annotations(resource).get(labels.PRESERVED_REQUEST)) or "{}")
    except (ValueError, RecursionError):
        return {}
    return values.mapping(preserved, "spec", "deploymentOverrides") or values.mapping(preserved, "deploymentOverrides")
