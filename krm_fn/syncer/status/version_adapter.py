"""Converts the fields that a status depends on between v1alpha1 and v1beta1. No other module of the status logic reads or writes v1alpha1.

All others read specs and write statuses in v1beta1, the hub version. `hub_spec` and `hub_request_spec` convert a spec when its resource
enters the cache; `desired_status` and `request_status` convert a status when it leaves. `krm_fn.render.convert` converts whole resources;
here the bytes of a written status are those of the operator in each version, and only the cached fields are converted. A stored status is
cached as it is, because v1alpha1 has fields that v1beta1 lacks: the backend of a request and the namespace and state of its graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.syncer.status import live_fields

NOT_READY = "some_resources_are_not_ready"
NO_CAPACITY, UPDATING, PODS_NOT_READY, MIXED = "insufficient_capacity", "updating", "pods_not_ready", "mixed_not_ready_reasons"
SCALING_DEFERRED = "ScalingDeferred"
"""Reasons of Ready under Grove. v1alpha1 has only NOT_READY."""
SUCCEEDED = "Succeeded"
"""The condition of a request that sums up the others. v1alpha1 does not have it."""
PENDING, PROFILING, DEPLOYING, READY, DELETED, FAILED = "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed"
DEPLOYED = "Deployed"
"""The phase of v1beta1 for READY with a deployed graph."""
_SAME_FIELDS = ("replicas", "desiredReplicas", "restart", "modelRef")
_V1BETA1_REASONS = (NO_CAPACITY, UPDATING, PODS_NOT_READY, MIXED, SCALING_DEFERRED)
_NOT_IN_FIRST_RELEASE = ("componentNames", "scheduledReplicas", "runtimeNamespace")
"""Fields of v1alpha1 that the operator of release 0.9 does not write."""


class PlannedComponent(NamedTuple):
    """A component of a graph with a planner. `position` is its index in the components of the graph."""

    name: str
    replicas: int | None
    position: int


class FieldNames(NamedTuple):
    """Fields in the version of a resource, for messages. `generated_graph` is a path below `status`."""

    adapter_target: str
    adapter_switch: str
    graph_metadata: str
    generated_graph: tuple[str, ...]


FIELDS = {
    dynamo_api.ALPHA1: FieldNames(
        "spec.dgdRef.serviceName", "scalingAdapter.enabled: true", "spec.deploymentOverrides", ("generatedDeployment",)
    ),
    dynamo_api.BETA1: FieldNames(
        "spec.dgdRef.componentName", "scalingAdapter: {}", "spec.overrides.dgd.metadata", ("profilingResults", "selectedConfig")
    ),
}


class RequestProgress(NamedTuple):
    """The state of a request, from which the status of each version is written. `graph` and `deployed` are empty until there is one.

    `message` explains the state. `job` and `output` are names; `job` is empty until a Job is known. `deployed` is `status.deployment` of
    v1alpha1, and `graph_status` is the status of the graph that was deployed.
    """

    state: str
    backend: str
    job: str
    output: str
    message: str
    graph: Resource
    deployed: dict[str, Any]
    graph_status: dict[str, Any]

    @property
    def phase(self) -> str:
        """The phase of v1beta1."""
        if self.state == DELETED:
            return FAILED
        return DEPLOYED if self.state == READY and self.deployed else self.state


def version_of(resource: Resource) -> str:
    """Returns the version of a Dynamo resource. A version that is not known has the fields of v1alpha1."""
    return dynamo_api.BETA1 if results.ref(resource).api_version == dynamo_api.V1BETA1 else dynamo_api.ALPHA1


def hub_spec(resource: Resource) -> dict[str, Any]:
    """Converts the cached fields of the spec of a graph, a component or a scaling adapter. Any field may have any type."""
    spec = values.mapping(resource, "spec")
    if version_of(resource) == dynamo_api.BETA1:
        return spec
    target = values.mapping(spec, "dgdRef")
    return {
        **{field: spec[field] for field in _SAME_FIELDS if field in spec},
        "name": spec.get("serviceName"),
        "components": [_component(str(name), values.mapping(service)) for name, service in values.mapping(spec, "services").items()],
        "dgdRef": {"name": target.get("name"), "componentName": target.get("serviceName")} if target else {},
    }


def hub_request_spec(resource: Resource) -> dict[str, Any]:
    """Converts the cached fields of the spec of a request. Any field may have any type."""
    spec = values.mapping(resource, "spec")
    if version_of(resource) == dynamo_api.BETA1:
        return spec
    return {
        "backend": spec.get("backend"),
        "autoApply": spec.get("autoApply") is True,
        "features": {"mocker": {"enabled": spec.get("useMocker")}},
        "overrides": {"dgd": {"metadata": values.mapping(spec, "deploymentOverrides")}},
    }


def stored_counts(status: dict[str, Any], version: str, component: str = "") -> dict[str, Any]:
    """Returns the stored fields of a component of a graph, or without a name, of a component itself."""
    if component:
        return values.mapping(status, "components" if version == dynamo_api.BETA1 else "services", component)
    return values.mapping(status, "component" if version == dynamo_api.BETA1 else "service")


def desired_status(stored: dict[str, Any], fields: dict[str, Any], version: str, *, first_release: bool = False) -> dict[str, Any]:
    """Merges the desired fields of a graph or a component into a stored status of a version. The value None removes a field.

    `first_release` is true if the pods follow release 0.9, whose operator writes fewer fields.
    """
    desired = {**stored, **(fields if version == dynamo_api.BETA1 else _v1alpha1(fields, first_release=first_release))}
    return {field: value for field, value in desired.items() if value is not None}


def request_status(stored: dict[str, Any], progress: RequestProgress, shared: dict[str, Any], version: str) -> dict[str, Any]:
    """Writes the status of a request in a version. `shared` are the fields that both have, among them the conditions."""
    if version == dynamo_api.BETA1:
        fields = _request_v1beta1(stored, progress)
    else:
        fields = _request_v1alpha1(progress)
        shared = {**shared, "conditions": [entry for entry in shared["conditions"] if entry["type"] != SUCCEEDED]}
    return {field: value for field, value in {**stored, **fields, **shared}.items() if value not in (None, "")}


def request_state(status: dict[str, Any], version: str) -> str:
    """Reads the state of a request, in v1beta1 its phase; empty before the first."""
    return values.text(status.get("phase" if version == dynamo_api.BETA1 else "state"))


def generated_graph(status: dict[str, Any], version: str) -> Resource:
    """Reads the generated graph in the status of a request; empty if there is none."""
    return values.mapping(status, *FIELDS[version].generated_graph)


def deployed_graph(status: dict[str, Any], version: str, namespace: str) -> tuple[str, str]:
    """Reads namespace and name of the graph that a request deployed; the name is empty if it deployed none.

    The status of v1beta1 has no field for the namespace, which is `namespace` then.
    """
    if version == dynamo_api.BETA1:
        return namespace, values.text(status.get("dgdName"))
    deployment = values.mapping(status, "deployment")
    return values.text(deployment.get("namespace")), values.text(deployment.get("name")) if deployment.get("created") is True else ""


def replicas_patch(planned: Iterable[PlannedComponent], replicas: Mapping[str, int], version: str) -> dict[str, Any] | list[dict[str, Any]]:
    """Writes the replicas of components of a graph: a merge patch of its spec in v1alpha1, a JSON patch in v1beta1.

    A merge patch cannot change one component of a list. A JSON patch can, by its index.
    """
    if version == dynamo_api.ALPHA1:
        return {"services": {name: {"replicas": count} for name, count in replicas.items()}}
    paths = {f"/spec/components/{component.position}/replicas": component.name for component in planned}
    return [{"op": "add", "path": path, "value": replicas[name]} for path, name in paths.items() if name in replicas]


def _component(name: str, service: dict[str, Any]) -> dict[str, Any]:
    fields = {field: service[field] for field in _SAME_FIELDS if field in service}
    return {"name": name, "type": service.get("componentType"), **fields}


def _v1alpha1(fields: dict[str, Any], *, first_release: bool) -> dict[str, Any]:
    """Converts the status of a graph or a component."""
    converted = values.rename_fields(fields, {"components": "services", "component": "service"})
    if services := converted.get("services"):
        converted["services"] = {name: _v1alpha1_counts(counts, first_release=first_release) for name, counts in services.items()}
    if service := converted.get("service"):
        converted["service"] = _v1alpha1_counts(service, first_release=first_release)
    return {**converted, "conditions": [_v1alpha1_condition(entry) for entry in fields["conditions"]]}


def _v1alpha1_counts(counts: dict[str, Any], *, first_release: bool) -> dict[str, Any]:
    """Converts the fields of a component. v1alpha1 names the first of its workloads."""
    left_out = _NOT_IN_FIRST_RELEASE if first_release else ()
    kept = {field: value for field, value in counts.items() if field not in left_out}
    return {"componentKind": counts["componentKind"], "componentName": counts["componentNames"][0], **kept}


def _v1alpha1_condition(condition: dict[str, Any]) -> dict[str, Any]:
    is_v1beta1_reason = condition["type"] == "Ready" and condition.get("reason") in _V1BETA1_REASONS
    return {**condition, "reason": NOT_READY} if is_v1beta1_reason else condition


def _request_v1alpha1(progress: RequestProgress) -> dict[str, Any]:
    fields: dict[str, Any] = {"state": progress.state, "backend": progress.backend}
    if progress.graph:
        fields |= {"generatedDeployment": progress.graph, "profilingResults": f"configmap/{progress.output}"}
    return fields | ({"deployment": progress.deployed} if progress.deployed else {})


def _request_v1beta1(stored: dict[str, Any], progress: RequestProgress) -> dict[str, Any]:
    fields: dict[str, Any] = {"phase": progress.phase, "profilingJobName": progress.job or stored.get("profilingJobName")}
    if progress.graph:
        fields["profilingResults"] = {**values.mapping(stored, "profilingResults"), "selectedConfig": progress.graph}
    if progress.deployed:
        fields |= {"dgdName": progress.deployed["name"], "deploymentInfo": _totals(progress.graph_status)}
    return fields


def _totals(status: dict[str, Any]) -> dict[str, int] | None:
    """Adds the replica counts of all components of a graph, by its status in any version; None if it has none."""
    listed = [counts for field in ("components", "services") for counts in values.mapping(status, field).values()]
    components = [counts for counts in listed if isinstance(counts, dict)]
    names = ("replicas", "availableReplicas")
    return {name: sum(live_fields.count(counts.get(name)) for counts in components) for name in names} if components else None
