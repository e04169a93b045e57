"""The worst requests that a tenant may write, in sizes, and the objects that their profiling Jobs leave in the cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.render import labels, names
from tests.support import tenants

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Object = dict[str, Any]
_GRAPH_KIND, _KIND = "DynamoGraphDeployment", "DynamoGraphDeploymentRequest"
_OLD, _NEW = "nvidia.com/v1alpha1", "nvidia.com/v1beta1"
_IMAGE = "a/vllm-runtime:1.5.1"
_OUTPUT = "config_with_planner.yaml"


def _texts(size: int) -> dict[str, str]:
    return {f"l.example.com/{number}": "x" * 20 for number in range(size)}


def _old(**spec: Any) -> Object:
    profiling = {"profilerImage": _IMAGE, "config": {}, **spec.pop("profilingConfig", {})}
    return {"apiVersion": _OLD, "spec": {"model": "m", "backend": "vllm", "profilingConfig": profiling, **spec}}


def _new(**spec: Any) -> Object:
    hardware = {"gpuSku": "h100_sxm", "vramMb": 81920, "numGpusPerNode": 8, **spec.pop("hardware", {})}
    return {"apiVersion": _NEW, "spec": {"model": "m", "backend": "vllm", "image": _IMAGE, "hardware": hardware, **spec}}


def _profiling_pod(**fields: Any) -> Object:
    return _new(overrides={"profilingJob": {"template": {"spec": {"containers": [{"name": "profiler"}], **fields}}}})


WAYS: dict[str, Callable[[int], Object]] = {
    "a configuration": lambda size: _old(profilingConfig={"config": {f"k{number}": [number, "x" * 20] for number in range(size)}}),
    "a deep configuration": lambda size: _old(profilingConfig={"config": {"sla": [[[]] * size]}}),
    "nodes of the profiler": lambda size: _old(profilingConfig={"nodeSelector": _texts(size)}),
    "tolerations of the profiler": lambda size: _old(
        profilingConfig={"tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(size)]}
    ),
    "labels of the graph": lambda size: _old(deploymentOverrides={"name": "chat", "labels": _texts(size)}),
    "annotations of the graph": lambda size: _old(deploymentOverrides={"name": "chat", "annotations": _texts(size)}),
    "a long model": lambda size: _old(model="m/" * 20 * size),
    "a long image": lambda size: _new(image="x/" * 20 * size),
    "a digit of the load": lambda size: _new(workload={"isl": "9" * 40 * size}),
    "annotations": lambda size: {**_old(), "annotations": _texts(size)},
    "a preserved request": lambda size: {**_new(), "annotations": {labels.PRESERVED_REQUEST: "[" * 100 * size}},
    "a planner": lambda size: _new(features={"planner": {f"k{number}": "x" * 20 for number in range(size)}}),
    "a graph": lambda size: _new(
        overrides={
            "dgd": {"apiVersion": _NEW, "kind": _GRAPH_KIND, "spec": {"env": [{"name": f"V{n}", "value": "x"} for n in range(size)]}}
        }
    ),
    "volumes of the profiler": lambda size: _profiling_pod(volumes=[{"name": f"v{number}", "emptyDir": {}} for number in range(size)]),
    "variables of the profiler": lambda size: _profiling_pod(
        containers=[{"name": "profiler", "env": [{"name": f"V{number}", "value": "$(V" * 10} for number in range(size)]}]
    ),
    "unknown fields": lambda size: _new(**{f"unknown{number}": number for number in range(size // 5)}),
}
"""Ways in which a request can be large, for a render."""


def request(way: str, size: int) -> Object:
    """A request that is large in one way (`WAYS`)."""
    fields = WAYS[way](size)
    metadata = tenants.named("chat", annotations=fields.pop("annotations", {}))
    return {"apiVersion": fields["apiVersion"], "kind": _KIND, "metadata": metadata, "spec": fields["spec"]}


def state(chance: Random, size: int) -> list[Object]:
    """Requests with their Jobs, pods, outputs and graphs. The first request is as large as an API server stores it."""
    ways = [chance.choice([*WAYS]) for _ in range(1 + size // 10)]
    listed = [_stored(chance, request(way, size if not number else 1), f"r{number}", size) for number, way in enumerate(ways)]
    objects: list[Object] = []
    for each in listed:
        name = each["metadata"]["name"]
        objects += [_job(chance, name), *([_output(name, size if name == "r0" else 1)] if chance.random() < 0.8 else [])]
        objects += [_deployed(name)] if chance.random() < 0.5 else []
    return [*listed, *objects, *(_pod(number) for number in range(size))]


def output(texts: list[Object]) -> str:
    """The text that a profiler writes: its documents."""
    return "\n---\n".join(json.dumps(document) for document in texts)


def _stored(chance: Random, resource: Object, name: str, size: int) -> Object:
    """A rendered request with the status of one of its steps."""
    resource["metadata"] |= {"name": name, "uid": f"uid-{name}"}
    resource["metadata"]["annotations"] = {**resource["metadata"]["annotations"], labels.PROFILE_HASH: "h"}
    resource["spec"] |= {"autoApply": chance.random() < 0.7}
    conditions = [{"type": f"C{number}", "status": "True", "message": "x" * 50} for number in range(size if name == "r0" else 1)]
    generated = tenants.graph("variables", size) if chance.random() < 0.5 else None
    field = "generatedDeployment" if resource["apiVersion"] == _OLD else "profilingResults"
    value = generated if resource["apiVersion"] == _OLD else {"selectedConfig": generated}
    return {**resource, "status": {"conditions": conditions, **({field: value} if generated else {})}}


def _job(chance: Random, name: str) -> Object:
    end = chance.choice(([], [{"type": "Complete", "status": "True"}], [{"type": "Failed", "status": "True", "message": "x" * 5000}]))
    metadata = tenants.named(names.profiling_job(name), labels={labels.REQUEST: name}, annotations={labels.PROFILE_HASH: "h"})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {}, "status": {"conditions": end}}


def _output(name: str, size: int) -> Object:
    """The output of a profiler: a graph, and ConfigMaps beside it."""
    beside = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": {"x": "y" * 50}} for number in range(size)
    ]
    text = output([*beside, tenants.graph("variables", size)])
    metadata = tenants.named(names.profiling_output(name), labels={labels.REQUEST_NAME: name}, annotations={labels.PROFILE_HASH: "h"})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {_OUTPUT: text}}


def _deployed(name: str) -> Object:
    resource = tenants.graph("variables", 1)
    marks = {labels.REQUEST_NAME: name, labels.REQUEST_NAMESPACE: tenants.NAMESPACE}
    return {**resource, "metadata": tenants.named(f"g-{name}", labels=marks)}


def _pod(number: int) -> Object:
    waiting = {"name": "profiler", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "x" * 99}}}
    marks = {labels.REQUEST: "r0", "job-name": names.profiling_job("r0"), "batch.kubernetes.io/job-name": names.profiling_job("r0")}
    status = {"phase": "Pending", "containerStatuses": [waiting]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": tenants.named(f"profile-{number}", labels=marks), "status": status}
