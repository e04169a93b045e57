"""The form of a request in each version of the API: what the status logic reads of its spec, and how its status is written.

The phases and the condition `Succeeded` of v1beta1 follow the reference's `dynamographdeploymentrequest_controller.go`. One difference:
the name of a graph stays in the status after somebody has deleted the graph, so that it is not deployed again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, labels, values
from krm_fn.records import NamedTuple
from krm_fn.status import fields
from krm_fn.status.conditions import Condition

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

SUCCEEDED = "Succeeded"
PENDING, PROFILING, DEPLOYING, READY, DELETED, FAILED = "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed"
_DEPLOYED = "Deployed"
_GOOD = {READY: "SpecGenerated", _DEPLOYED: _DEPLOYED}
"""The phases in which a request has succeeded, and their reasons. The reason of another phase is its name."""


class Form(NamedTuple):
    """The names of one version.

    `state` is the field with the state. `result` leads to the generated graph in the status. `overrides` is the field of the spec with the
    name, the namespace, the labels and the annotations of the graph.
    """

    state: str
    result: tuple[str, ...]
    overrides: str

    @property
    def place(self) -> str:
        """The field with the generated graph, for people."""
        return ".".join(("status", *self.result))


OLDER = Form("state", ("generatedDeployment",), "spec.deploymentOverrides")
NEWER = Form("phase", ("profilingResults", "selectedConfig"), "spec.overrides.dgd.metadata")


class Wanted(NamedTuple):
    """What the spec of a request says to the status logic. `overrides` has the name, namespace, labels and annotations of the graph."""

    backend: str
    mocker: bool
    auto_apply: bool
    overrides: dict[str, Any]


class Told(NamedTuple):
    """What a status tells besides its conditions. `graph` and `deployed` are empty as long as there is none.

    `why` explains the state. `job` and `output` are names; `job` is empty as long as no Job is known. `counts` is the status of the graph
    that was deployed.
    """

    state: str
    backend: str
    job: str
    output: str
    why: str
    graph: Resource
    deployed: dict[str, Any]
    counts: dict[str, Any]


def of(resource: Resource) -> Form:
    """The form of a request. A version that is not known has the form of the older one."""
    return NEWER if results.ref(resource).api_version == identity.V1BETA1 else OLDER


def wanted(resource: Resource, form: Form) -> Wanted:
    """Reads the spec. Any field may have any type."""
    spec = values.mapping(resource, "spec")
    backend = values.text(spec.get("backend"))
    if form is OLDER:
        return Wanted(backend, spec.get("useMocker") is True, spec.get("autoApply") is True, values.mapping(spec, "deploymentOverrides"))
    mocker = values.mapping(spec, "features", "mocker").get("enabled") is True
    return Wanted(backend, mocker, spec.get("autoApply") is not False, _overrides(resource, spec))


def generated(status: dict[str, Any], form: Form) -> Resource:
    """The generated graph in a status; empty if there is none."""
    return values.mapping(status, *form.result)


def deployed(status: dict[str, Any], form: Form) -> tuple[str, str]:
    """The namespace and the name of the graph that was deployed, by a status; the name is empty if none was.

    The namespace is empty in v1beta1, whose status has no place for it.
    """
    if form is NEWER:
        return "", values.text(status.get("dgdName"))
    found = values.mapping(status, "deployment")
    return values.text(found.get("namespace")), values.text(found.get("name")) if found.get("created") is True else ""


def written(before: dict[str, Any], told: Told, form: Form) -> dict[str, Any]:
    """The status of before with what is told now, without conditions. Values may be None or empty."""
    return (_older if form is OLDER else _newer)(before, told)


def summary(told: Told, form: Form) -> list[Condition]:
    """The condition of v1beta1 that sums up the others."""
    if form is OLDER:
        return []
    phase = _phase(told)
    return [Condition(SUCCEEDED, phase in _GOOD, _GOOD.get(phase, phase), told.why)]


def _older(before: dict[str, Any], told: Told) -> dict[str, Any]:
    found = {**before, "state": told.state, "backend": told.backend}
    if told.graph:
        found |= {"generatedDeployment": told.graph, "profilingResults": f"configmap/{told.output}"}
    return found | ({"deployment": told.deployed} if told.deployed else {})


def _newer(before: dict[str, Any], told: Told) -> dict[str, Any]:
    found = {**before, "phase": _phase(told), "profilingJobName": told.job or before.get("profilingJobName")}
    if told.graph:
        found["profilingResults"] = {**values.mapping(before, "profilingResults"), "selectedConfig": told.graph}
    if told.deployed:
        found |= {"dgdName": told.deployed["name"], "deploymentInfo": _counted(told.counts)}
    return found


def _phase(told: Told) -> str:
    if told.state == DELETED:
        return FAILED
    return _DEPLOYED if told.state == READY and told.deployed else told.state


def _counted(status: dict[str, Any]) -> dict[str, int] | None:
    """The replicas of all components of a graph, by its status; None if it tells none."""
    counts = [each for part in ("components", "services") for each in values.mapping(status, part).values() if isinstance(each, dict)]
    names = ("replicas", "availableReplicas")
    return {name: sum(fields.count(each.get(name)) for each in counts) for name in names} if counts else None


def _overrides(resource: Resource, spec: dict[str, Any]) -> dict[str, Any]:
    """The metadata of the graph in the spec; without any, what a conversion kept of `deploymentOverrides`."""
    found = values.mapping(spec, "overrides", "dgd").get("metadata")
    if isinstance(found, dict):
        return found
    try:
        kept = json.loads(values.text(labels.notes(resource).get(labels.PRESERVED_REQUEST)) or "{}")
    except (ValueError, RecursionError):
        return {}
    return values.mapping(kept, "spec", "deploymentOverrides") or values.mapping(kept, "deploymentOverrides")
