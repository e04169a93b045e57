"""Objects of the measurements: graphs with their rendered Deployments, and statuses of Deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.render.config import Config
from krm_fn.render.expand import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

_SETTINGS = 17  # with the variables of Dynamo, a container has 30
_IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
_SINCE = "2026-01-01T00:00:00Z"

Resource = dict[str, Any]


def deployment_status(*, ready: bool) -> Resource:
    """The status of a Deployment whose only pod is ready or not ready."""
    available = {"status": "True", "reason": "MinimumReplicasAvailable", "message": "Deployment has minimum availability."}
    missing = {"status": "False", "reason": "MinimumReplicasUnavailable", "message": "Deployment does not have minimum availability."}
    done = {
        "type": "Progressing",
        "status": "True",
        "reason": "NewReplicaSetAvailable",
        "message": "ReplicaSet has successfully progressed.",
    }
    times = {"lastTransitionTime": _SINCE, "lastUpdateTime": _SINCE}
    return {
        "observedGeneration": 1,
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": int(ready),
        "availableReplicas": int(ready),
        "unavailableReplicas": int(not ready),
        "conditions": [{"type": "Available", **(available if ready else missing), **times}, done | times],
    }


def expanded(resource: Resource) -> list[Resource]:
    """A graph with the annotation `workloads`, and its Deployments. Raises ValueError if the render refuses it."""
    result = expand([resource], Config(nats_address="nats://nats.dynamo:4222"))
    errors = [finding.message for finding in result.results if finding.severity == "error"]
    if errors:
        raise ValueError(errors)
    return [rendered for rendered in result.resources if rendered["kind"] in {"DynamoGraphDeployment", "Deployment"}]


def graph(name: str, names: Sequence[str], namespace: str) -> Resource:
    """A graph whose services share the settings and the volume, as people write them."""
    services = {service: _service("frontend" if service == "Frontend" else "worker") for service in names}
    settings = [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(_SETTINGS)]
    spec = {"backendFramework": "vllm", "envs": settings, "pvcs": [{"name": "models", "create": False}], "services": services}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": spec}


def _service(component_type: str) -> Resource:
    container = {"image": _IMAGE, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model=Qwen/Qwen3-0.6B"]}
    return {
        "componentType": component_type,
        "replicas": 1,
        "resources": {"limits": {"gpu": "1"}},
        "volumeMounts": [{"name": "models", "mountPoint": "/models"}],
        "extraPodSpec": {"mainContainer": container},
    }
