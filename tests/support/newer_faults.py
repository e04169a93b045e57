"""Inputs for the rules that only newer releases have: some that break a rule, and similar ones that do not."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, labels
from krm_fn.render.config import LeaderWorkerSetSettings
from tests.support import beta, disaggregated_faults, faults, gang_faults, given, grove_faults, role_faults, service_faults
from tests.support.faults import Case, fires, quiet

_NEWER = {"behaviour": "v1.5"}
_AT, _NEXT = "spec.components[0]", "spec.components[1]"
_POD = f"{_AT}.podTemplate.spec"
_SERVICE = "spec.services.Worker"
_NOTHING, _NOWHERE = {"name": "", "mountPoint": "/a"}, {"name": "a"}
_OVERRIDE = {"apiVersion": "grove.io/v1alpha1", "value": {}}


def older(written: Resource, **spec: Any) -> Resource:
    """A graph in v1alpha1 with one service, called `Worker`."""
    return given.graph({"Worker": written}, **spec)


def newer(*, kind: str = "worker", **fields: Any) -> Resource:
    """A graph in v1beta1 with one component, called `Worker`."""
    return beta.graph(beta.component("Worker", kind, **fields))


def _without_main(**spec: Any) -> Resource:
    return beta.graph({"name": "Worker", "type": "worker", **spec})


def _keeping(graph: Resource, text: str) -> Resource:
    """The graph with this text in the annotation of kept fields."""
    return _annotated(graph, labels.PRESERVED_GRAPH, text)


def _created(graph: Resource) -> Resource:
    """The graph as an operator of 1.5 creates it."""
    return _annotated(graph, labels.ORIGIN_VERSION, "1.5.0")


def _annotated(graph: Resource, key: str, text: str) -> Resource:
    return {**graph, "metadata": {**graph["metadata"], "annotations": {key: text}}}


_BESIDE = ({"name": "a", "image": "a:1"},)

MAIN_CONTAINERS = [
    fires(
        "DYN125",
        f"{_AT}.podTemplate.metadata.finalizers",
        "finalizers of pods",
        beta.graph(beta.component("Worker", metadata={"finalizers": ["example.com/keep"]})),
    ),
    fires("DYN450", f"{_POD}.containers", "a component without a pod", _without_main()),
    fires(
        "DYN450",
        f"{_POD}.containers[0].name",
        "a pod without a main container",
        _without_main(podTemplate={"spec": {"containers": [{"name": "a", "image": "a:1"}]}}),
    ),
    fires(
        "DYN450",
        f"{_POD}.containers",
        "no main container, although the graph has variables for it",
        beta.graph({"name": "Worker", "type": "worker"}, env=[{"name": "A", "value": "b"}]),
    ),
    fires(
        "DYN450",
        f"{_SERVICE}.extraPodSpec.mainContainer",
        "a service without a pod",
        older({"componentType": "worker"}),
        **_NEWER,
    ),
    fires(
        "DYN205",
        f"{_POD}.containers[1].image",
        "a main container without an image",
        _without_main(podTemplate={"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "main"}]}}),
    ),
    fires("DYN451", f"{_POD}.containers[0].image", "an image without a version", newer(main={"image": "dynamo:latest"})),
    fires("DYN451", f"{_POD}.containers[0].image", "an image with a digest alone", newer(main={"image": f"dynamo@sha256:{'0' * 64}"})),
    fires("DYN451", f"{_POD}.containers[0].image", "a version of two numbers", newer(main={"image": "dynamo:1.5"})),
    fires(
        "DYN451",
        f"{_SERVICE}.extraPodSpec.mainContainer.image",
        "a service whose image has no version",
        older(beta.service(main={"image": "registry.example:5000/dynamo"})),
        **_NEWER,
    ),
    quiet("an image without a version, and the version beside it", newer(main={"image": "dynamo:latest"}, runtimeVersionOverride="1.5.0")),
    quiet("a version with a prefix and a suffix", newer(main={"image": "dynamo:v1.5.1-rc1+gpu"})),
    quiet("a service whose image has a version", older(beta.service()), **_NEWER),
]

_REFERENCE = {"configMapRef": {"name": "picker", "key": "config.yaml"}}


def _picker(version: str, **fields: Any) -> Resource:
    """A graph with an endpoint picker whose image has a version."""
    return newer(kind="epp", main={"image": f"registry.example/epp:{version}"}, **fields)


_STANDALONE_PICKER = given.item(
    "DynamoComponentDeployment",
    "picker",
    api="nvidia.com/v1beta1",
    spec={"type": "epp", "podTemplate": {"spec": {"containers": [{"name": "main", "image": "epp:latest"}]}}, "eppConfig": _REFERENCE},
)


_COHERENT = _annotated(beta.graph(), labels.GROVE_UPDATE_STRATEGY, "Coherent")
_SGLANG: dict[str, Any] = {
    "main": {
        "command": ["python3", "-m", "dynamo.sglang"],
        "args": ["--model-path", "m"],
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
    }
}
_RANKED: dict[str, Any] = {"main": {**_SGLANG["main"], "env": [{"name": "DYNAMO_RANK", "value": "0"}]}}
_RUNTIME = {"name": "runtime", "image": "registry.example/dynamo:1.6.1", "restartPolicy": "Always"}
_OLD_RUNTIME = {**_RUNTIME, "image": "registry.example/dynamo:1.5.1"}
_INIT = f"{_POD}.initContainers[0]"


def _sidecar(runtime: Resource = _RUNTIME, **fields: Any) -> Resource:
    """A graph with a worker whose init container runs Dynamo."""
    return newer(pod={"initContainers": [runtime]}, **fields)


SIDECAR_MODE = [
    quiet("sidecar mode", _sidecar()),
    fires(
        "DYN496", f"{_INIT}.restartPolicy", "a runtime that ends before the engine starts", _sidecar({**_RUNTIME, "restartPolicy": "Never"})
    ),
    fires("DYN496", f"{_INIT}.name", "sidecar mode of a frontend", _sidecar(kind="frontend")),
    fires("DYN496", f"{_AT}.multinode", "sidecar mode on several nodes", _sidecar(multinode={"nodeCount": 2}, **_SGLANG)),
    fires("DYN497", f"{_INIT}.name", "sidecar mode with images before 1.6", _sidecar(_OLD_RUNTIME)),
    fires("DYN497", f"{_INIT}.name", "sidecar mode under an older release", _sidecar(), behaviour="v1.5"),
    quiet("an init container of that name that ends", _sidecar({"name": "runtime", "image": "registry.example/dynamo:1.5.1"})),
    fires(
        "DYN497", f"{_POD}.containers", "a runtime that is no init container", newer(beside=({"name": "runtime", "image": "dynamo:1.6.1"},))
    ),
]
SINCE_1_6 = [
    fires(
        "DYN495",
        f"{_POD}.containers[0].env[0]",
        "a rank of the user on several nodes",
        newer(multinode={"nodeCount": 2}, **_RANKED),
        behaviour="v1.6",
        operator_version="1.6.0",
    ),
    quiet("the same in release 1.5", newer(multinode={"nodeCount": 2}, **_RANKED), behaviour="v1.5"),
    quiet("the same on one node", newer(**_RANKED), behaviour="v1.6"),
    fires("DYN456", f"metadata.annotations['{labels.GROVE_UPDATE_STRATEGY}']", "a strategy of release 1.6", _COHERENT, behaviour="v1.5"),
    quiet("the same in release 1.6", _COHERENT, behaviour="v1.6"),
]


def _request(**fields: Any) -> Resource:
    """A request in v1beta1."""
    spec = {"model": "acme/tiny", "backend": "vllm", **fields}
    return given.item("DynamoGraphDeploymentRequest", "chat", api="nvidia.com/v1beta1", spec=spec)


_OLD_IMAGE = "profilingConfig.profilerImage"
REQUESTS = [
    fires("DYN494", "spec.image", "a request with an image of 1.0", _request(image="registry.example/profiler:1.0.0")),
    fires("DYN494", "spec.image", "a request without an image", _request()),
    fires(
        "DYN494",
        "spec.runtimeVersionOverride",
        "a tag that the override corrects",
        _request(image="profiler:mine", runtimeVersionOverride="1.5.1"),
    ),
    fires("DYN494", f"spec.{_OLD_IMAGE}", "the same in v1alpha1", faults.request(profilerImage="registry.example/profiler:1.5.1")),
    quiet("a request with an image before 1.0", faults.request(profilerImage="registry.example/profiler:0.9.1")),
    quiet("a request with an image of an unknown version", faults.request(profilerImage="registry.example/profiler:latest")),
]

PICKERS = [
    fires("DYN493", f"{_AT}.eppConfig", "a native endpoint picker with a configuration", _picker("1.5.0", eppConfig=_REFERENCE)),
    fires("DYN493", f"{_AT}.eppConfig", "the same with an empty one", _picker("1.5.0-rc1", eppConfig={})),
    quiet("a native endpoint picker", _picker("1.5.0")),
    quiet("two native endpoint pickers", _picker("1.6.1", replicas=2)),
    fires("DYN132", f"{_AT}.eppConfig", "an older endpoint picker without a configuration", _picker("1.4.9")),
    fires("DYN131", f"{_AT}.replicas", "two older endpoint pickers", _picker("1.4.9", eppConfig=_REFERENCE, replicas=2)),
    quiet("an older endpoint picker", _picker("1.4.9", eppConfig=_REFERENCE)),
    fires("DYN451", "spec.podTemplate.spec.containers[0].image", "a standalone endpoint picker of an unknown version", _STANDALONE_PICKER),
]

_KEPT = f"metadata.annotations['{labels.PRESERVED_GRAPH}']"
_SECRETS: dict[str, Any] = {"envFromSecret": "token", "main": {"envFrom": [{"configMapRef": {"name": "settings"}}]}}
_GROUPED: dict[str, Any] = {"experimental": {"grove": {"forceScalingGroup": True}}}

CONVERSIONS = [
    fires("DYN409", _KEPT, "kept fields that are no JSON", _keeping(beta.graph(), "{")),
    fires("DYN409", _KEPT, "a kept field of a wrong type", _keeping(beta.graph(), '{"version":1,"spec":{"pvcs":5}}')),
    Case(
        "5 MB of kept fields",
        [("DYN235", "metadata.annotations"), ("DYN409", _KEPT)],
        [_keeping(beta.graph(), json.dumps({"spec": {"a": "b" * 5_000_000}}))],
    ),
    fires("DYN409", _KEPT, "a service with kept fields of another version", _keeping(older(beta.service()), "[]")),
    quiet("kept fields of a service", _keeping(beta.graph(), '{"version":1,"spec":{"services":{"Worker":{"labels":{"a":"b"}}}}}')),
    fires("DYN411", f"{_AT}.experimental.grove", "a feature that 0.9 has no field for", newer(**_GROUPED), behaviour="v0.9"),
    fires(
        "DYN411", f"{_AT}.frontendSidecar", "a sidecar of one's own under 0.9", newer(frontendSidecar="a", beside=_BESIDE), behaviour="v0.9"
    ),
    quiet("a component that 0.9 has fields for", newer(sharedMemorySize="1Gi", replicas=2), behaviour="v0.9"),
    fires("DYN413", f"{_SERVICE}.envFromSecret", "a Secret beside envFrom under v1.5", older(beta.service(**_SECRETS)), **_NEWER),
    fires(
        "DYN413",
        f"{_SERVICE}.envFromSecret",
        "a Secret that the release of the images ignores",
        older(beta.service(**_SECRETS)),
        behaviour="",
    ),
    quiet("a Secret beside envFrom under v0.9", older(beta.service(**_SECRETS))),
    fires("DYN413", f"{_SERVICE}.envFromSecret", "a Secret that a newer operator ignores", _created(older(beta.service(**_SECRETS)))),
]


_GROVE: dict[str, Any] = {"orchestrator": "grove", "grove": config.GroveSettings(topology_aware_scheduling="enabled")}
_GPU = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
_VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "acme/tiny"]}
_SHARED: Resource = {"gpuMemoryService": {}}
_INTER = {"gpuMemoryService": {"mode": "InterPod"}}
_CONTAINERS = {labels.DISCOVERY_MODE: "container"}
_EXPERIMENTAL = f"{_AT}.experimental"
_MEMORY = f"{_EXPERIMENTAL}.gpuMemoryService"


def _memory(settings: Any = None, *, beside: Any = (), graph: Any = None, **experimental: Any) -> Resource:
    """A worker of vLLM with GPUs and a GPU memory service."""
    features = {"gpuMemoryService": settings or {}, **experimental}
    written = beta.component("Worker", main={**_VLLM, **_GPU}, beside=beside, experimental=features)
    return beta.graph(written, backendFramework="vllm", **(graph or {}))


GROVE_ONLY = [
    fires("DYN452", f"{_AT}.minAvailable", "a number for Grove on Deployments", newer(minAvailable=1)),
    fires("DYN452", f"{_AT}.experimental.grove.forceScalingGroup", "a group", newer(experimental={"grove": {"forceScalingGroup": True}})),
    fires("DYN452", "spec.priorityClassName", "a priority of the whole graph on Deployments", beta.graph(priorityClassName="high")),
    fires(
        "DYN452",
        "spec.experimental.kvTransferPolicy.clusterTopologyName",
        "a policy that reads Grove's topology, on Deployments",
        beta.graph(experimental={"kvTransferPolicy": {"domain": "zone", "clusterTopologyName": "zones"}}),
    ),
    fires("DYN452", f"{_MEMORY}.mode", "a GPU memory service in pods of its own, on Deployments", _memory({"mode": "InterPod"})),
    Case(
        "engines in pods of their own that take over, on Deployments: no finding about the restartPolicy that failover sets",
        [("DYN452", f"{_MEMORY}.mode"), ("DYN435", f"{_EXPERIMENTAL}.failover")],
        [_memory({"mode": "InterPod"}, failover={"mode": "InterPod"}, graph={"annotations": _CONTAINERS})],
    ),
    fires("DYN452", f"{_SERVICE}.minAvailable", "a service with a number for Grove", older(beta.service(minAvailable=1)), **_NEWER),
    fires(
        "DYN452",
        f"{_AT}.minAvailable",
        "a graph whose operator chose Deployments, whatever is configured",
        beta.graph(beta.component("Worker", minAvailable=1), annotations={labels.WORKLOAD_PROVIDER: "component"}),
        **_GROVE,
    ),
    quiet("a group that is not forced", newer(experimental={"grove": {"forceScalingGroup": False}})),
    quiet("fields of Grove on Grove", beta.graph(beta.component("Worker", minAvailable=1), priorityClassName="high"), **_GROVE),
    fires(
        "DYN453",
        "spec.topologyConstraint",
        "a topology that nobody reads",
        beta.graph(topologyConstraint={"clusterTopologyName": "racks", "packDomain": "rack"}),
    ),
]

_NO_SETS = LeaderWorkerSetSettings(enabled=False)
_BY_NAME = {"configMapRef": {"name": "a", "key": "b"}}
REPLICAS = [
    fires("DYN454", f"{_AT}.minAvailable", "more replicas than there are", newer(minAvailable=3, replicas=2), **_GROVE),
    fires("DYN454", f"{_AT}.minAvailable", "more than the one replica of the default", newer(minAvailable=2), **_GROVE),
    quiet("as many replicas as there are", newer(minAvailable=2, replicas=2), **_GROVE),
    fires("DYN455", f"{_AT}.eppConfig", "a worker with a picker's configuration", newer(eppConfig=_BY_NAME)),
    fires("DYN101", f"{_NEXT}.name", "two names in lower case", beta.graph(beta.component("A"), beta.component("a"))),
    fires("DYN144", f"{_AT}.multinode", "several nodes without a kind for them", newer(multinode={}), leader_worker_set=_NO_SETS),
]


def _noted(key: str, value: str) -> Resource:
    return beta.graph(annotations={key: value})


def _pod_annotated(key: str, value: str, **fields: Any) -> Resource:
    return newer(metadata={"annotations": {key: value}}, **fields)


def _at(key: str) -> str:
    return f"metadata.annotations['{key}']"


ANNOTATIONS = [
    *(
        fires("DYN456", _at(key), f"{key} with an unknown value", _noted(key, value))
        for key, value in (
            (labels.DISCOVERY_MODE, "Container"),
            (labels.GROVE_UPDATE_STRATEGY, "Recreate"),
            (labels.WORKLOAD_PROVIDER, "lws"),
            (labels.ORIGIN_VERSION, "main"),
        )
    ),
    quiet("known values", beta.graph(annotations={labels.DISCOVERY_MODE: "pod", labels.WORKLOAD_PROVIDER: "component"})),
    fires("DYN457", _at(labels.EXECUTOR_BACKEND), "an unknown executor", _noted(labels.EXECUTOR_BACKEND, "uni")),
    fires(
        "DYN457",
        f"{_AT}.podTemplate.{_at(labels.EXECUTOR_BACKEND)}",
        "an unknown executor of one component",
        _pod_annotated(labels.EXECUTOR_BACKEND, "uni"),
    ),
    fires(
        "DYN457",
        f"{_SERVICE}.extraPodMetadata.annotations['{labels.EXECUTOR_BACKEND}']",
        "an unknown executor of a service",
        older(beta.service(extraPodMetadata={"annotations": {labels.EXECUTOR_BACKEND: "uni"}})),
        **_NEWER,
    ),
    quiet("an executor in capital letters", _noted(labels.EXECUTOR_BACKEND, "MP")),
    *(
        fires("DYN458", f"{_AT}.podTemplate.{_at(labels.POWER_LIMIT)}", f"a limit of {limit!r}", _pod_annotated(labels.POWER_LIMIT, limit))
        for limit in ("", "0", "-5", "500W", "1.5", "\u0665")
    ),
    fires(
        "DYN458",
        f"{_AT}.podTemplate.{_at(labels.POWER_LIMIT)}",
        "a limit for claimed GPUs",
        _pod_annotated(
            labels.POWER_LIMIT,
            "500",
            main={"resources": {"claims": [{"name": "gpus"}]}},
            pod={"resourceClaims": [{"name": "gpus", "resourceClaimName": "gpus"}]},
        ),
    ),
    quiet("a limit in watts", _pod_annotated(labels.POWER_LIMIT, "500")),
]


def _cached(cache: Any, *mounts: Any, engine: str = "vllm") -> Resource:
    volumes = [{"name": mount["name"], "emptyDir": {}} for mount in mounts]
    written = beta.component("Worker", main={"volumeMounts": list(mounts)}, pod={"volumes": volumes}, compilationCache=cache)
    return beta.graph(written, backendFramework=engine)


COMPILATION_CACHE = [
    fires("DYN147", f"{_AT}.compilationCache.mountPath", "an engine without a folder", _cached({"pvcName": "cache"}, engine="sglang")),
    fires(
        "DYN147",
        f"{_SERVICE}.volumeMounts[0].mountPoint",
        "a service whose engine has no folder",
        older(beta.service(volumeMounts=[{"name": "cache", "useAsCompilationCache": True}]), backendFramework="sglang"),
        **_NEWER,
    ),
    fires(
        "DYN459",
        f"{_POD}.containers[0].volumeMounts[0].mountPath",
        "another volume in the engine's folder",
        _cached({"pvcName": "cache"}, {"name": "a", "mountPath": "/root/.cache/vllm"}),
    ),
    fires(
        "DYN459",
        f"{_POD}.containers[0].volumeMounts[0].readOnly",
        "a cache that cannot be written",
        _cached({"pvcName": "cache", "mountPath": "/c"}, {"name": "cache", "mountPath": "/c", "readOnly": True}),
    ),
    quiet("a cache that the container mounts itself", _cached({"pvcName": "cache"}, {"name": "cache", "mountPath": "/root/.cache/vllm"})),
]

SIDECARS = [
    fires("DYN460", f"{_AT}.frontendSidecar", "a sidecar that does not exist", newer(frontendSidecar="web")),
    fires("DYN460", f"{_AT}.frontendSidecar", "a sidecar of no pod", newer(frontendSidecar="web", beside=[{"name": "a", "image": "a:1"}])),
    fires("DYN139", f"{_AT}.frontendSidecar", "the main container as its own sidecar", newer(frontendSidecar="main")),
    quiet("a sidecar among the containers", newer(frontendSidecar="web", beside=[{"name": "web", "image": "a:1"}])),
]

GPU_MEMORY = [
    fires("DYN461", _MEMORY, "a frontend with a GPU memory service", newer(kind="frontend", experimental=_SHARED)),
    fires("DYN461", f"{_POD}.containers[0].resources", "a worker without GPUs", newer(experimental=_SHARED)),
    fires("DYN462", f"{_MEMORY}.extraClientContainers[0]", "a client that does not exist", _memory({"extraClientContainers": ["a"]})),
    fires("DYN462", f"{_MEMORY}.extraClientContainers[0]", "the main container as a client", _memory({"extraClientContainers": ["main"]})),
    fires(
        "DYN464",
        f"{_MEMORY}.extraClientPods",
        "clients in other pods",
        _memory({"extraClientPods": [{"name": "a", "podTemplate": {}}]}),
    ),
    fires(
        "DYN463",
        f"{_MEMORY}.extraClientContainers",
        "clients in the pod of a service that is in another pod",
        _memory({"mode": "InterPod", "extraClientContainers": ["a"]}),
        **_GROVE,
    ),
    fires(
        "DYN465",
        f"{_MEMORY}.mode",
        "an engine that is only in the command",
        beta.graph(beta.component("Worker", main={**_VLLM, **_GPU}, experimental=_INTER)),
        **_GROVE,
    ),
    fires(
        "DYN466",
        f"{_EXPERIMENTAL}.failover",
        "failover without a service",
        beta.graph(beta.component("Worker", main=_VLLM, experimental={"failover": {}}), annotations=_CONTAINERS),
    ),
    fires(
        "DYN466",
        f"{_EXPERIMENTAL}.failover",
        "failover in another mode than the service",
        _memory({"mode": "InterPod"}, failover={}, graph={"annotations": _CONTAINERS}),
        **_GROVE,
    ),
    fires(
        "DYN466",
        f"{_SERVICE}.failover",
        "failover of a service whose engine does not support it",
        older(
            beta.service(gpuMemoryService={"enabled": True}, failover={"enabled": True}, resources={"limits": {"gpu": "1"}}),
            backendFramework="sglang",
            annotations=_CONTAINERS,
        ),
        **_NEWER,
    ),
    fires("DYN467", f"{_EXPERIMENTAL}.failover", "failover that discovery does not see", _memory(failover={})),
    fires("DYN468", f"{_EXPERIMENTAL}.checkpoint", "a checkpoint", newer(experimental={"checkpoint": {"enabled": True}})),
    fires("DYN468", f"{_SERVICE}.checkpoint", "a service with a checkpoint", older(beta.service(checkpoint={"enabled": True})), **_NEWER),
    quiet("a checkpoint that is off", newer(experimental={"checkpoint": {"enabled": False}})),
    fires(
        "DYN469",
        f"{_EXPERIMENTAL}.checkpoint.job",
        "two sources of a checkpoint",
        newer(experimental={"checkpoint": {"enabled": False, "checkpointRef": "a", "job": {}}}),
    ),
]

_POLICY = "spec.experimental.kvTransferPolicy"


def _moving(**policy: Any) -> Resource:
    return beta.graph(experimental={"kvTransferPolicy": {"domain": "zone", **policy}})


TOPOLOGY = [
    fires("DYN470", f"{_AT}.topologyConstraint", "a level without a topology", newer(topologyConstraint={"packDomain": "rack"}), **_GROVE),
    fires(
        "DYN471",
        "spec.topologyConstraint.packDomain",
        "a topology without a level",
        beta.graph(topologyConstraint={"clusterTopologyName": "racks"}),
        **_GROVE,
    ),
    fires(
        "DYN471",
        "spec.topologyConstraint.packDomain",
        "the same in v1alpha1",
        older(beta.service(), topologyConstraint={"topologyProfile": "racks"}),
        **_NEWER,
        **_GROVE,
    ),
    fires("DYN472", _POLICY, "a policy that does not know where workers are", _moving()),
    fires("DYN472", _POLICY, "a policy with two sources", _moving(labelKey="zone", clusterTopologyName="zones"), **_GROVE),
    fires("DYN473", f"{_POLICY}.preferredWeight", "a preference without a weight", _moving(labelKey="zone", enforcement="preferred")),
    fires("DYN473", f"{_POLICY}.preferredWeight", "a weight without a preference", _moving(labelKey="zone", preferredWeight=0)),
    fires("DYN474", f"{_POLICY}.labelKey", "a label with a long domain", _moving(labelKey=f"{'a.' * 127}a/zone")),
]

UNSUPPORTED = [
    fires("DYN452", f"{_SERVICE}.providerOverride", "an override of a service", older(beta.service(providerOverride=_OVERRIDE)), **_NEWER),
    fires("DYN476", f"{_SERVICE}.componentType", "a type that v1beta1 lacks", older(beta.service("router")), **_NEWER),
    fires("DYN024", f"{_AT}.type", "the same type in v1beta1", newer(kind="main")),
    fires(
        "DYN477",
        f"{_POD}.containers[0].command",
        "elastic expert parallelism without a command",
        newer(main={"args": ["--model", "acme/tiny", "--enable-elastic-ep"]}),
    ),
]


def _running(*engines: str, **spec: Any) -> Resource:
    """A graph with one worker for each engine."""
    lines = [{"command": ["python3", "-m", f"dynamo.{engine}"]} for engine in engines]
    return beta.graph(*(beta.component(f"w{index}", main=line) for index, line in enumerate(lines)), **spec)


ENGINES = [
    fires("DYN121", "spec.backendFramework", "a command of another engine", _running("sglang", backendFramework="vllm")),
    fires(
        "DYN122",
        f"{_POD}.containers[0].args",
        "a command that starts two engines",
        newer(main={"args": ["python3 -m dynamo.vllm & python3 -m dynamo.sglang"]}),
    ),
    fires("DYN478", f"{_NEXT}.podTemplate.spec.containers[0].args", "two engines in a graph", _running("vllm", "sglang")),
    fires("DYN478", f"{_NEXT}.podTemplate.spec.containers[0].args", "two on Grove", _running("vllm", "sglang"), **_GROVE),
    quiet("one engine in two workers", _running("vllm", "vllm")),
]

_OLDER = {"behaviour": "v0.9"}

OLDER_FORM = [
    fires(
        "DYN123",
        f"{_SERVICE}.resources.limits.cpu",
        "an amount that the conversion drops",
        older(beta.service(resources={"limits": {"cpu": "a"}})),
        **_NEWER,
    ),
    fires(
        "DYN212",
        f"{_SERVICE}.resources.limits.gpu",
        "half a GPU of a service",
        older(beta.service(resources={"limits": {"gpu": "0.5"}})),
        **_NEWER,
    ),
    fires(
        "DYN212",
        f"{_SERVICE}.resources.limits.custom['example.com/card']",
        "half a card of a service",
        older(beta.service(resources={"limits": {"custom": {"example.com/card": "0.5"}}})),
        **_NEWER,
    ),
    fires(
        "DYN212",
        f"{_SERVICE}.extraPodSpec.mainContainer.resources.limits['nvidia.com/gpu']",
        "half a GPU of a container",
        older(beta.service(main={"resources": {"limits": {"nvidia.com/gpu": "0.5"}}}, resources={"limits": {"gpu": "1"}})),
        **_NEWER,
    ),
    fires(
        "DYN209",
        f"{_SERVICE}.volumeMounts[1].mountPoint",
        "two claims in one folder",
        older(beta.service(volumeMounts=[{"name": "a", "mountPoint": "/a"}, {"name": "b", "mountPoint": "/a"}])),
        **_NEWER,
    ),
    fires(
        "DYN214",
        f"{_SERVICE}.livenessProbe",
        "a probe of a service without a handler",
        older(beta.service(livenessProbe={"periodSeconds": 5})),
        **_NEWER,
    ),
    fires("DYN225", f"{_SERVICE}.volumeMounts[0].name", "a mount of nothing", older(beta.service(volumeMounts=[_NOTHING])), **_NEWER),
    fires("DYN225", f"{_SERVICE}.volumeMounts[0].mountPoint", "a mount nowhere", older(beta.service(volumeMounts=[_NOWHERE])), **_NEWER),
    fires("DYN116", f"{_SERVICE}.sharedMemory.size", "shared memory without a size", older(beta.service(sharedMemory={})), **_NEWER),
    fires("DYN113", f"{_SERVICE}.autoscaling", "an autoscaler that no release has", older(beta.service(autoscaling={})), **_NEWER),
    fires(
        "DYN460",
        f"{_SERVICE}.extraPodSpec.containers[0].name",
        "another container with the name of the frontend's",
        older(beta.service(frontendSidecar={"image": "a:1"}, pod={"containers": [{"name": "sidecar-frontend", "image": "b:1"}]})),
        **_NEWER,
    ),
    fires(
        "DYN220",
        f"{_SERVICE}.frontendSidecar",
        "an invalid variable of the frontend beside the engine",
        older(beta.service(frontendSidecar={"image": "a:1", "envs": [{"name": "a=b", "value": "c"}]})),
        **_NEWER,
    ),
    fires("DYN479", "spec.services['a.b']", "a name with a dot", given.graph({"a.b": beta.service()}), **_NEWER),
    fires("DYN027", f"{_AT}.name", "the same in v1beta1", beta.graph(beta.component("a.b"))),
]


def _annotating(graph: Resource) -> Resource:
    """The graph with annotations for all its pods."""
    return {**graph, "spec": {**graph["spec"], "annotations": {"a": "b"}}}


_ON_SERVICES: list[tuple[str, Any]] = [
    ("minAvailable", 1),
    ("frontendSidecar", {"image": "a:1"}),
    ("topologyConstraint", {"packDomain": "rack"}),
    ("gpuMemoryService", {"enabled": True}),
    ("failover", {"enabled": True}),
    ("checkpoint", {"enabled": True}),
    ("providerOverride", _OVERRIDE),
]
NEWER_FIELDS = [
    *(
        fires("DYN411", f"spec.{field}", f"{field} of a graph under 0.9", older(beta.service(), **{field: value}))
        for field, value in (("labels", {"a": "b"}), ("priorityClassName", "high"))
    ),
    fires(
        "DYN411",
        "spec.topologyConstraint",
        "a topology under 0.9",
        older(beta.service(), topologyConstraint={"topologyProfile": "racks", "packDomain": "rack"}),
    ),
    fires(
        "DYN411",
        "spec.experimental.kvTransferPolicy",
        "a transfer policy under 0.9",
        older(beta.service(), experimental={"kvTransferPolicy": {"domain": "zone", "labelKey": "zone"}}),
    ),
    *(
        fires("DYN411", f"{_SERVICE}.{field}", f"{field} of a service under 0.9", older(beta.service(**{field: value})))
        for field, value in _ON_SERVICES
    ),
    fires(
        "DYN411",
        f"{_AT}.roles",
        "roles in v1beta1 under 0.9",
        beta.graph(role_faults.several(roles=[{"name": "leader"}, {"name": "worker"}])),
        **_OLDER,
    ),
    fires("DYN411", _MEMORY, "a GPU memory service in v1beta1 under 0.9", _memory(), **_OLDER),
    fires("DYN411", f"{_AT}.minAvailable", "a number for Grove in v1beta1 under 0.9", newer(minAvailable=1), **_OLDER),
    fires("DYN411", "spec.annotations", "annotations for all pods under 0.9", _annotating(older(beta.service()))),
    quiet("features that are off", older(beta.service(gpuMemoryService={"enabled": False}, checkpoint={"enabled": False}))),
    quiet("the version of Dynamo in an image, which changes no pod", older(beta.service(runtimeVersionOverride="1.5.0"))),
    Case("a graph in both versions", [("DYN058", "metadata.name")] * 2, [beta.graph(), older(beta.service())], {}),
    Case(
        "a graph in both versions, with images of two releases",
        [("DYN051", "metadata.name"), ("DYN058", "metadata.name"), ("DYN058", "metadata.name")],
        [beta.graph(), older(beta.service(main={"image": "registry.example/dynamo:0.9.0"}))],
        {"discovery_backend": "etcd", "worker_hash": "none"},
    ),
]

_UNREADABLE = {"name": "DYN_DEPLOYMENT_CONFIG", "value": "{"}
_NO_AMOUNT = {"name": "DYN_DEPLOYMENT_CONFIG", "value": '{"Worker": {"ServiceArgs": {"Resources": {"CPU": "many"}}}}'}
SETTINGS = [
    fires("DYN120", f"{_POD}.containers[0].env", "settings that are no JSON", newer(main={"env": [_UNREADABLE]})),
    fires("DYN120", f"{_POD}.containers[0].env", "settings of a graph that are no JSON", beta.graph(env=[_UNREADABLE])),
    fires("DYN120", f"{_POD}.containers[0].env", "an amount in settings that is none", newer(main={"env": [_NO_AMOUNT]})),
    fires("DYN120", f"{_SERVICE}.envs", "settings of a service that are no JSON", older(beta.service(envs=[_UNREADABLE])), **_NEWER),
    quiet("settings that Grove does not read", newer(main={"env": [_UNREADABLE]}), **_GROVE),
]

ALL: list[Case] = [
    *gang_faults.ALL,
    *grove_faults.ALL,
    *disaggregated_faults.ALL,
    *MAIN_CONTAINERS,
    *SIDECAR_MODE,
    *SINCE_1_6,
    *REQUESTS,
    *PICKERS,
    *CONVERSIONS,
    *GROVE_ONLY,
    *REPLICAS,
    *ANNOTATIONS,
    *COMPILATION_CACHE,
    *SIDECARS,
    *GPU_MEMORY,
    *TOPOLOGY,
    *UNSUPPORTED,
    *role_faults.CASES,
    *service_faults.ALL,
    *ENGINES,
    *OLDER_FORM,
    *NEWER_FIELDS,
    *SETTINGS,
]
