"""Inputs for every validation rule: some that break it, and similar ones that do not.

YAML syntax and schema violations have their own tests.
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple

from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, labels
from tests.support import beta, given

_SERVICE = "spec.services.Worker"
_POD = f"{_SERVICE}.extraPodSpec"
_MAIN = f"{_POD}.mainContainer"
_LWS = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "4"}}}
_GROVE = {"orchestrator": "grove"}
_RESTART = {"A": given.service("frontend"), "B": given.service("worker")}
_RANK = "LWS_WORKER_INDEX() { echo $LWS_WORKER_INDEX; }"
_SHARED = "/dev/shm"  # noqa: S108 - the kernel's name for it
_ALIKE = ("acme/tiny-83308", "acme/tiny-89280")
"""Two names with the same first eight digits of their SHA-256."""
_CLAIM = {"name": "weights", "create": True, "size": "10Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}


class Case(NamedTuple):
    """Items and settings. `found` holds the code and the field of every expected finding."""

    reason: str
    found: list[tuple[str, str]]
    items: list[Resource]
    settings: dict[str, Any] = {}


def fires(code: str, field: str, reason: str, *items: Resource, **settings: Any) -> Case:
    """A case that expects exactly one finding."""
    return Case(reason, [(code, field)], list(items), settings)


def quiet(reason: str, *items: Resource, **settings: Any) -> Case:
    """A case that expects no finding."""
    return Case(reason, [], list(items), settings)


def worker(*, main: Any = None, pod: Any = None, **fields: Any) -> Resource:
    """A graph with one worker, called `Worker`."""
    return given.graph({"Worker": given.service("worker", main=main, pod=pod, **fields)})


def nodes(*, main: Any = None, **fields: Any) -> Resource:
    """A graph with one worker on two nodes."""
    return worker(main={"args": ["python3 -m dynamo.sglang"], **(main or {})}, **{**_LWS, **fields})


_HEALTH = {"name": "health", "containerPort": 9090}
_SYSTEM = {"name": "system", "containerPort": 9091}
_OWN_PROBES = {probe: {"exec": {"command": ["true"]}} for probe in ("livenessProbe", "readinessProbe")}
_OWN_START = {"startupProbe": {"exec": {"command": ["true"]}}}
_LISTENING = {"name": "p", "image": "p", "ports": [_SYSTEM]}


def _probing(port: int | str) -> dict[str, Any]:
    """A sidecar with one port, `health`, and a probe of the given port."""
    return {"name": "c", "image": "c", "ports": [{**_HEALTH, "containerPort": 8080}], "readinessProbe": {"httpGet": {"port": port}}}


_FRONTEND = "spec.services.Frontend.extraPodSpec.mainContainer"
_PREFIX = {"name": "DYN_NAMESPACE_PREFIX_STRICT", "value": "true"}


def serving(name: str, version: str = "1.5.1", **fields: Any) -> Resource:
    """A graph with a frontend of a version of Dynamo."""
    frontend = given.service("frontend", main={"image": f"registry.example/dynamo-frontend:{version}"}, **fields)
    return given.graph({"Frontend": frontend}, name=name)


_SIMULATED = {"sweep": {"useAiConfigurator": True}}


def request(settings: Any = None, *, name: str = "chat", namespace: str = "team", spec: Any = None, **profiling: Any) -> Resource:
    """A request. `settings` are added to those of the profiler, `profiling` to its `profilingConfig`, and `spec` to its spec."""
    whole = {"profilerImage": "registry.example/profiler:1", "config": {**_SIMULATED, **(settings or {})}, **profiling}
    fields = {"model": "acme/tiny", "backend": "vllm", "profilingConfig": whole, **(spec or {})}
    return given.item("DynamoGraphDeploymentRequest", name, api="nvidia.com/v1alpha1", namespace=namespace, spec=fields)


def _planned(**fields: Any) -> Resource:
    """A graph with a planner and one worker, called `Worker`."""
    return given.graph({"Planner": given.service("planner"), "Worker": given.service("worker", **fields)})


def _beside(graph: Resource, name: str) -> Resource:
    """The graph with one additional worker service."""
    return {**graph, "spec": {**graph["spec"], "services": {**graph["spec"]["services"], name: given.service("worker")}}}


def _alone(name: str = "chat-worker", **fields: Any) -> Resource:
    """A standalone component."""
    component = given.service("worker", pod={"serviceAccountName": "mine"}, serviceName="Worker", backendFramework="vllm", **fields)
    return given.item("DynamoComponentDeployment", name, api="nvidia.com/v1alpha1", spec=component)


def _ephemeral(metadata: Resource) -> Resource:
    """An ephemeral volume with the given claim metadata."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"metadata": metadata, "spec": claim}}}


def lone(**fields: Any) -> Resource:
    """A component without a graph, with etcd discovery. Fields that are None are omitted."""
    annotations = {labels.DISCOVERY_BACKEND: "etcd"}
    written = given.service("worker", **{"annotations": annotations, "dynamoNamespace": "shared", **fields})
    spec = {key: value for key, value in written.items() if value is not None}
    return given.item("DynamoComponentDeployment", "alone", api="nvidia.com/v1alpha1", spec=spec)


def secret(auths: Any, name: str = "pull", **fields: Any) -> Resource:
    """A pull secret with the given `auths`."""
    text = base64.b64encode(json.dumps({"auths": auths}).encode()).decode()
    return given.item("Secret", name, **{"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": text}, **fields})


def _claimed(**claim: Any) -> Resource:
    return given.graph(pvcs=[{key: value for key, value in {**_CLAIM, **claim}.items() if value is not None}])


def _restarted(**restart: Any) -> Resource:
    return given.graph(_RESTART, restart=restart)


def _configured(text: str) -> Resource:
    return given.graph(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": text}])


def _picked(**fields: Any) -> Resource:
    return given.graph({"Worker": given.picker(**fields)})


def _opened(**ingress: Any) -> Resource:
    return given.graph({"Worker": given.service("frontend", ingress={"enabled": True, "host": "chat", **ingress})})


def _probed(probe: Any, name: str = "livenessProbe", *, on: str = "main") -> Resource:
    return worker(main={name: probe}) if on == "main" else worker(**{name: probe})


def _asking(limits: Any, requests: Any) -> Resource:
    return worker(main={"resources": {"limits": limits, "requests": requests}})


def _described(resource: Resource, **metadata: Any) -> Resource:
    """The resource with more metadata."""
    return {**resource, "metadata": {**resource["metadata"], **metadata}}


def model(base: str, name: str = "a", **spec: Any) -> Resource:
    """A DynamoModel."""
    return given.item("DynamoModel", name, api="nvidia.com/v1alpha1", spec={"modelName": "a", "baseModelName": base, **spec})


def _serving(*models: str) -> Resource:
    """A graph of v1beta1 with a worker for each base model."""
    return beta.graph(*(beta.component(f"Worker{index}", modelRef={"name": name}) for index, name in enumerate(models)))


def _adapter(name: str = "a", uri: str = "s3://models/a") -> list[Resource]:
    """A LoRA adapter, and the graph that serves its base model."""
    served = worker(modelRef={"name": "acme/tiny"})
    return [served, model("acme/tiny", modelName=name, modelType="lora", source={"uri": uri})]


ITEMS = [
    fires(
        "DYN050",
        "data['.dockerconfigjson']",
        "a pull secret that is not JSON",
        secret({}, data={".dockerconfigjson": "bm8="}),
        given.graph(),
    ),
    fires(
        "DYN050",
        "data['.dockerconfigjson']",
        "a pull secret that is encrypted",
        secret({}, data={".dockerconfigjson": "ENC[x]"}),
        given.graph(),
    ),
    fires("DYN050", "data['.dockerconfigjson']", "a pull secret without data", secret({}, data={}), given.graph()),
    fires("DYN050", "data['.dockerconfigjson']", "a registry without a host", secret({"nginx:latest": {}}), given.graph()),
    quiet("a pull secret that can be read", secret({"https://registry.example/v1/": {}}), given.graph()),
    quiet("a secret of another type", secret({}, type="Opaque", data={".dockerconfigjson": "bm8="}), given.graph()),
    fires(
        "DYN051",
        "metadata.name",
        "two graphs with a claim of one name and two sizes",
        _claimed(),
        given.graph(name="other", pvcs=[{**_CLAIM, "size": "1Gi"}]),
    ),
    quiet("two graphs that share a claim", _claimed(), given.graph(name="other", pvcs=[_CLAIM])),
    fires(
        "DYN052", "metadata.name", "the user's object in the place of a generated one", given.item("Service", "chat-worker"), given.graph()
    ),
    fires(
        "DYN052",
        "metadata.name",
        "the same for an object without a namespace",
        given.item("Service", "chat-worker", namespace=""),
        given.graph(),
        namespace="team",
    ),
    quiet("the user's object in another namespace", given.item("Service", "chat-worker", namespace="other"), given.graph()),
    quiet("the user's object of another kind", given.item("ConfigMap", "chat-worker"), given.graph()),
    fires(
        "DYN053",
        "",
        "a generated object whose graph is gone",
        given.item("Service", "old", annotations={labels.OWNER: "DynamoGraphDeployment/gone"}),
    ),
    fires(
        "DYN081",
        "",
        "an object with an owner annotation and without the label of generated objects",
        given.graph(),
        given.item("Service", "old", annotations={labels.OWNER: "DynamoGraphDeployment/chat"}),
    ),
    quiet("a kind of another product", given.item("ClusterPolicy", "a", api="nvidia.com/v1")),
    fires("DYN057", "metadata.namespace", "a graph without a namespace", given.graph(namespace="")),
    quiet("a graph whose namespace is configured", given.graph(namespace=""), namespace="prod"),
    Case(
        "two graphs with the same name after the default namespace",
        [("DYN058", "metadata.name")] * 2,
        [given.graph(namespace=""), given.graph(namespace="prod")],
        {"namespace": "prod"},
    ),
    Case(
        "two graphs with one Dynamo namespace",
        [("DYN700", "metadata.name")] * 2,
        [given.graph(name="c", namespace="a-b"), given.graph(name="b-c", namespace="a")],
        {"discovery_backend": "etcd"},
    ),
    fires(
        "DYN701",
        f"{_FRONTEND}.image",
        "a graph whose name begins with that of another one",
        serving("foo"),
        given.graph(name="foo-bar"),
        behaviour="v1.5",
    ),
    fires("DYN701", f"{_FRONTEND}.image", "a longer name without a dash", serving("foo"), given.graph(name="foobar"), behaviour="v1.5"),
    fires(
        "DYN701",
        f"{_FRONTEND}.image",
        "a frontend of 1.6 under an operator of 1.5",
        serving("foo", "1.6.1"),
        given.graph(name="foo-bar"),
        behaviour="v1.5",
    ),
    fires(
        "DYN701",
        f"{_FRONTEND}.image",
        "a graph of another namespace, with etcd",
        serving("c"),
        given.graph(name="d", namespace="team-c"),
        discovery_backend="etcd",
        behaviour="v1.5",
    ),
    quiet("a longer name of another namespace", serving("c"), given.graph(name="d", namespace="team-c"), behaviour="v1.5"),
    quiet("a longer name and a frontend of 1.6", serving("foo", "1.6.1"), given.graph(name="foo-bar"), behaviour="v1.6"),
    quiet("a longer name and a graph without a frontend", given.graph(name="foo"), given.graph(name="foo-bar"), behaviour="v1.5"),
    quiet("another name", serving("foo"), given.graph(name="fo-o"), given.graph(name="bar-foo"), behaviour="v1.5"),
    quiet("a longer name, and a prefix of the user", serving("foo", envs=[_PREFIX]), given.graph(name="foo-bar"), behaviour="v1.5"),
    Case(
        "two graphs with one Dynamo namespace, of which one uses etcd",
        [("DYN700", "metadata.name")] * 2,
        [
            given.graph(name="b-c", namespace="a"),
            given.graph(name="c", namespace="a-b", annotations={labels.DISCOVERY_BACKEND: "etcd"}),
        ],
        {},
    ),
    quiet(
        "graphs whose namespaces and names differ in another way",
        given.graph(name="c", namespace="a-b"),
        given.graph(name="c", namespace="a"),
    ),
    fires("DYN059", "metadata.namespace", "an invalid namespace", given.graph(namespace="a.b")),
    quiet("two graphs of one name in two namespaces", given.graph(namespace="prod"), given.graph(namespace="test")),
]

GRAPHS = [
    fires("DYN100", "spec.services", "a graph without services", given.graph({})),
    fires(
        "DYN026",
        "spec.services",
        "more services than a graph can have",
        given.graph({f"s{index}": given.service("worker") for index in range(26)}),
    ),
    fires(
        "DYN101",
        "spec.services.WORKER",
        "services that differ only in case",
        given.graph({"Worker": given.service("worker"), "WORKER": given.service("worker")}),
    ),
    fires("DYN102", "spec.services", "two endpoint pickers", given.graph({"A": given.picker(), "B": given.picker()})),
    quiet(
        "one endpoint picker, and services of many types",
        given.graph({"A": given.picker(), "B": given.service("frontend"), "C": given.service("planner"), "D": given.service("other")}),
    ),
    fires("DYN103", "spec.pvcs[0].name", "a claim whose name is empty", given.graph(pvcs=[{"name": ""}])),
    fires("DYN080", "spec.pvcs[1].name", "a claim listed twice", given.graph(pvcs=[{"name": "weights"}, {"name": "weights"}])),
    *(
        fires("DYN105", f"spec.pvcs[0].{field}", f"a claim to create with {field} {value!r}", _claimed(**{field: value}))
        for field, value in (("storageClass", None), ("storageClass", ""), ("size", None), ("size", "0Gi"), ("volumeAccessMode", None))
    ),
    quiet("a claim to create", _claimed()),
    *(
        fires("DYN117", f"spec.pvcs[0].{field}", f"a claim to create with {field} {value!r}", _claimed(**{field: value}))
        for field, value in (("name", "A_b"), ("storageClass", "A_b"), ("size", "-1Gi"), ("volumeAccessMode", "RWX"))
    ),
    quiet("claims that exist already", given.graph(pvcs=[{"name": "weights"}, {"name": "cache", "create": False, "size": "0"}])),
    fires(
        "DYN107",
        "spec.restart.strategy.order",
        "a parallel restart with an order",
        _restarted(id="1", strategy={"type": "Parallel", "order": ["A", "B"]}),
    ),
    fires(
        "DYN108",
        "spec.restart.strategy.order[2]",
        "an order with an unknown service",
        _restarted(id="1", strategy={"order": ["B", "A", "C"]}),
        restart="sync",
    ),
    fires(
        "DYN109",
        "spec.restart.strategy.order[1]",
        "an order that names a service twice",
        _restarted(id="1", strategy={"order": ["B", "B", "A"]}),
        restart="sync",
    ),
    fires(
        "DYN110",
        "spec.restart.strategy.order",
        "an order that leaves a service out",
        _restarted(id="1", strategy={"order": ["B"]}),
        restart="sync",
    ),
    fires("DYN111", "spec.restart.strategy", "an order, which a build cannot keep", _restarted(id="1", strategy={"order": ["B", "A"]})),
    fires(
        "DYN111",
        "spec.restart.strategy",
        "a sequential restart, which a build cannot do",
        _restarted(id="1", strategy={"type": "Sequential"}),
    ),
    fires("DYN111", "spec.restart.strategy", "an order under Grove", _restarted(id="1", strategy={"order": ["B", "A"]}), **_GROVE),
    fires("DYN119", "spec.restart", "a restart of Grove by the syncer", _restarted(id="1"), restart="sync", **_GROVE),
    quiet("a restart of Grove by the render", _restarted(id="1"), **_GROVE),
    quiet("an order that the syncer keeps", _restarted(id="1", strategy={"order": ["B", "A"]}), restart="sync"),
    quiet("a parallel restart", _restarted(id="1", strategy={"type": "Parallel", "order": []})),
    quiet("a restart without a strategy", _restarted(id="1")),
    fires("DYN118", f"{_SERVICE}.scalingAdapter", "a planner whose worker has no adapter", _planned()),
    fires("DYN118", f"{_SERVICE}.scalingAdapter", "a planner whose adapter is off", _planned(scalingAdapter={"enabled": False})),
    quiet("a planner whose worker has an adapter", _planned(scalingAdapter={"enabled": True})),
    quiet("a worker without an adapter and without a planner", worker()),
    fires("DYN120", "spec.envs", "a deployment configuration that is not JSON", _configured("no")),
    fires("DYN120", "spec.envs", "an empty deployment configuration", _configured("")),
    fires("DYN120", "spec.envs", "a deployment configuration with 100,000 nested lists", _configured("[" * 100_000)),
    fires(
        "DYN120",
        f"{_SERVICE}.envs",
        "a deployment configuration of the service",
        worker(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "[]"}]),
    ),
    fires("DYN120", "spec.envs", "a negative number of workers", _configured('{"Worker": {"ServiceArgs": {"workers": -1}}}')),
    quiet("a deployment configuration", _configured('{"Worker": {"ServiceArgs": {"workers": 2}}}')),
]

COMPONENTS = [
    fires("DYN112", f"{_SERVICE}.dynamoNamespace", "a Dynamo namespace in a graph", worker(dynamoNamespace="mine")),
    quiet("an empty Dynamo namespace", worker(dynamoNamespace="")),
    fires("DYN113", f"{_SERVICE}.autoscaling", "the field autoscaling", worker(autoscaling={})),
    fires("DYN114", f"{_SERVICE}.labels", "labels of a service, in deployment mode", worker(labels={"tier": "gold"})),
    quiet("no labels", worker(labels={})),
    quiet("labels of a service, under Grove", worker(labels={"tier": "gold"}), **_GROVE),
    fires("DYN115", f"{_SERVICE}.resources.requests.gpu", "a request for GPUs", worker(resources={"requests": {"gpu": "1"}})),
    fires(
        "DYN115",
        f"{_SERVICE}.resources.requests.gpuType",
        "a request with a gpuType",
        worker(resources={"requests": {"gpuType": "amd.com/gpu"}}),
    ),
    quiet("a limit of GPUs", worker(resources={"limits": {"gpu": "1", "gpuType": "amd.com/gpu"}, "requests": {"cpu": "1", "gpu": ""}})),
    fires("DYN116", f"{_SERVICE}.sharedMemory.size", "shared memory without a size", worker(sharedMemory={})),
    fires("DYN116", f"{_SERVICE}.sharedMemory.size", "shared memory of size 0", worker(sharedMemory={"size": "0Mi"})),
    fires("DYN226", f"{_SERVICE}.sharedMemory.size", "shared memory of a negative size", worker(sharedMemory={"size": "-1Mi"})),
    quiet("shared memory with a size", worker(sharedMemory={"size": "1Mi", "disabled": False})),
    quiet("disabled shared memory", worker(sharedMemory={"disabled": True})),
    fires(
        "DYN121",
        "spec.backendFramework",
        "a command of another engine",
        given.graph({"Worker": given.service("worker", main={"args": ["python3 -m dynamo.vllm"]})}, backendFramework="sglang"),
    ),
    quiet(
        "a command of the same engine",
        given.graph({"Worker": given.service("worker", main={"args": ["python3 -m dynamo.vllm"]})}, backendFramework="vllm"),
    ),
    quiet(
        "a command without an engine", given.graph({"Worker": given.service("worker", main={"args": ["./run"]})}, backendFramework="vllm")
    ),
    quiet(
        "a frontend with the command of an engine",
        given.graph({"Worker": given.service("frontend", main={"args": ["python3 -m dynamo.vllm"]})}, backendFramework="sglang"),
    ),
    fires(
        "DYN122", f"{_MAIN}.args", "a command of two engines", worker(main={"args": ["python3 -m dynamo.vllm; python3 -m dynamo.sglang"]})
    ),
    quiet(
        "a command of two engines and backendFramework",
        given.graph(
            {"Worker": given.service("worker", main={"args": ["python3 -m dynamo.vllm; python3 -m dynamo.sglang"]})},
            backendFramework="vllm",
        ),
    ),
    fires("DYN123", f"{_SERVICE}.resources.limits.cpu", "an invalid amount", worker(resources={"limits": {"cpu": "many"}})),
    fires(
        "DYN123",
        f"{_SERVICE}.resources.requests.custom['rdma/ib']",
        "an invalid amount of a custom resource",
        worker(resources={"requests": {"custom": {"rdma/ib": "x"}}}),
    ),
    fires("DYN124", "spec.dynamoNamespace", "a component without a graph and without a Dynamo namespace", lone(dynamoNamespace=None)),
    quiet("a component without a graph", lone()),
    fires("DYN125", "spec.scalingAdapter", "an adapter of a component without a graph", lone(scalingAdapter={"enabled": True})),
    quiet("no adapter of a component without a graph", lone(scalingAdapter={"enabled": False})),
    fires(
        "DYN125",
        "spec.eppConfig.config",
        "the configuration of an endpoint picker without a graph",
        lone(**{**given.picker(), "dynamoNamespace": "shared"}),
    ),
    fires(
        "DYN125",
        f"{_SERVICE}.eppConfig.configMapRef.optional",
        "an endpoint picker whose configuration may be missing",
        _picked(eppConfig={"configMapRef": {"name": "picker", "key": "config.yaml", "optional": True}}),
    ),
    fires(
        "DYN130",
        f"{_SERVICE}.multinode",
        "an endpoint picker on several nodes",
        _picked(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}),
        **_GROVE,
    ),
    fires("DYN131", f"{_SERVICE}.replicas", "two endpoint pickers in one service", _picked(replicas=2)),
    fires("DYN131", f"{_SERVICE}.replicas", "no endpoint picker in a service", _picked(replicas=0)),
    quiet("one endpoint picker", _picked(replicas=1)),
    fires("DYN132", f"{_SERVICE}.eppConfig", "an endpoint picker without a configuration", given.graph({"Worker": given.service("epp")})),
    fires("DYN132", f"{_SERVICE}.eppConfig", "an endpoint picker with an empty configuration", _picked(eppConfig={})),
    fires(
        "DYN133",
        f"{_SERVICE}.eppConfig.configMapRef",
        "an endpoint picker with two configurations",
        _picked(eppConfig={**given.picker()["eppConfig"], "configMapRef": {"name": "a", "key": "b"}}),
    ),
    fires(
        "DYN134",
        f"{_SERVICE}.eppConfig.configMapRef.name",
        "a ConfigMap without a name",
        _picked(eppConfig={"configMapRef": {"name": "", "key": "b"}}),
    ),
    quiet("a ConfigMap with a name", _picked(eppConfig={"configMapRef": {"name": "a", "key": "b"}})),
    quiet("another type with a configuration for pickers", given.graph({"Worker": given.service("worker", eppConfig={})})),
    fires("DYN140", f"spec.services.{'w' * 59}", "a name of 64 characters", given.graph({"w" * 59: given.service("worker")})),
    quiet("a name of 63 characters", given.graph({"w" * 58: given.service("worker")})),
    fires(
        "DYN140",
        f"spec.services.{'w' * 57}",
        "a name that only its debug Deployment makes too long",
        given.graph({"w" * 57: given.service("worker", annotations={labels.STEALING_DEBUG: "true"})}),
    ),
    fires("DYN141", "spec.services.a_b", "a name with an underscore", given.graph({"a_b": given.service("worker")})),
    fires("DYN141", "spec.services.Worker", "a graph whose name starts with a digit", given.graph(name="2chat")),
    fires("DYN204", "spec.services.-w", "a service that cannot be the value of a label", given.graph({"-w": given.service("worker")})),
    fires("DYN142", "metadata.name", "a Dynamo namespace of 64 characters", given.graph(namespace="n" * 59)),
    fires("DYN251", "metadata.name", "a graph whose name ends with a dash", given.graph(name="a-")),
    fires(
        "DYN251",
        "metadata.name",
        "capitals and an underscore, one error for all objects",
        given.graph({"Worker": given.service("worker"), "Decode": given.service("worker")}, name="Chat_Prod"),
    ),
    fires("DYN251", "metadata.name", "a request whose name begins with a dash", request(name="-1")),
    fires("DYN251", "metadata.name", "a component with a name in capitals", _alone("Lt"), behaviour="v1.5"),
    fires("DYN204", "spec.dynamoNamespace", "a Dynamo namespace with a slash", _alone(dynamoNamespace="a/b"), behaviour="v1.5"),
    fires("DYN203", "spec.labels['..']", "a label key of a component", _alone(labels={"..": "a"}), behaviour="v1.5"),
    fires(
        "DYN204",
        f"{_SERVICE}.labels.team",
        "a label value of a service that reaches its objects only",
        worker(labels={"team": "/"}),
        behaviour="v1.5",
    ),
    quiet("a Dynamo namespace of 63 characters", given.graph(namespace="n" * 58)),
    quiet(
        "the global Dynamo namespace beside a long name",
        given.graph({"Worker": given.service("worker", globalDynamoNamespace=True)}, namespace="n" * 58),
    ),
    fires(
        "DYN145",
        f"{_SERVICE}.volumeMounts[0].name",
        "a mount whose name is empty",
        worker(sharedMemory={"disabled": True}, volumeMounts=[{"name": "", "mountPoint": "/a"}]),
    ),
    fires("DYN146", f"{_SERVICE}.volumeMounts[0].mountPoint", "a mount without a path", worker(volumeMounts=[{"name": "weights"}])),
    fires(
        "DYN147",
        f"{_SERVICE}.volumeMounts[0].mountPoint",
        "a compilation cache without a path of the engine",
        worker(main={"args": ["python3 -m dynamo.sglang"]}, volumeMounts=[{"name": "cache", "useAsCompilationCache": True}]),
    ),
    quiet(
        "a compilation cache at the engine's path",
        worker(main={"args": ["python3 -m dynamo.vllm"]}, volumeMounts=[{"name": "cache", "useAsCompilationCache": True}]),
    ),
    fires(
        "DYN080",
        f"{_SERVICE}.volumeMounts[1].name",
        "a claim mounted twice",
        worker(volumeMounts=[{"name": "a", "mountPoint": "/a"}, {"name": "a", "mountPoint": "/b"}]),
    ),
    fires(
        "DYN148",
        f"{_SERVICE}.volumeMounts[0].name",
        "a claim with the name of the user's volume",
        worker(pod={"volumes": [{"name": "a", "emptyDir": {}}]}, volumeMounts=[{"name": "a", "mountPoint": "/a"}]),
    ),
    fires(
        "DYN148",
        f"{_SERVICE}.volumeMounts[0].name",
        "a claim with the name of the shared memory",
        worker(volumeMounts=[{"name": "shared-memory", "mountPoint": "/a"}]),
    ),
    fires(
        "DYN206",
        f"{_SERVICE}.volumeMounts[0].name",
        "a claim whose name is not valid for a volume",
        worker(volumeMounts=[{"name": "a.b", "mountPoint": "/a"}]),
    ),
    fires(
        "DYN207",
        f"{_SERVICE}.volumeMounts[0].name",
        "a claim with the name of the engine's volume",
        nodes(main={"args": ["python3 -m dynamo.trtllm"]}, volumeMounts=[{"name": "mpi-run-ssh-secret", "mountPoint": "/a"}]),
    ),
    quiet("claims of two names", worker(volumeMounts=[{"name": "a", "mountPoint": "/a"}, {"name": "b", "mountPoint": "/b"}])),
    fires("DYN149", f"{_SERVICE}.ingress.host", "an ingress without a host", _opened(host="", ingressControllerClassName="nginx")),
    fires("DYN150", f"{_SERVICE}.ingress", "an ingress without a class", _opened()),
    fires(
        "DYN150",
        f"{_SERVICE}.ingress",
        "a gateway that the installation does not have",
        _opened(useVirtualService=True, virtualServiceGateway="istio/a"),
    ),
    quiet("an ingress with a class", _opened(ingressControllerClassName="nginx")),
    quiet(
        "an ingress through a gateway",
        _opened(useVirtualService=True, virtualServiceGateway="istio/a"),
        ingress=config.IngressSettings(istio_gateway="istio/b"),
    ),
    quiet("an ingress that is off", given.graph({"Worker": given.service("frontend", ingress={"enabled": False})})),
    fires(
        "DYN151",
        f"{_SERVICE}.extraPodMetadata.labels['{labels.SELECTOR}']",
        "another value of the selector's label",
        worker(extraPodMetadata={"labels": {labels.SELECTOR: "x"}}),
    ),
    fires(
        "DYN152",
        f"{_SERVICE}.extraPodMetadata.labels['{labels.COMPONENT_TYPE}']",
        "another value of the Service's label",
        worker(extraPodMetadata={"labels": {labels.COMPONENT_TYPE: "x"}}),
    ),
    quiet(
        "the same values, and other labels",
        worker(extraPodMetadata={"labels": {labels.SELECTOR: "chat-worker", labels.COMPONENT_TYPE: "worker", "a": "b"}}),
    ),
    fires(
        "DYN153",
        f"{_MAIN}.livenessProbe.httpGet.port",
        "a port as a number, where the default has a name",
        _probed({"httpGet": {"port": 81}}),
    ),
    quiet("a port by name", _probed({"httpGet": {"port": "system"}})),
    quiet("a port as a number where the service itself says so", _probed({"httpGet": {"port": 81}}, on="service")),
    quiet("a port as a number in a start-up probe, which replaces the default", _probed({"httpGet": {"port": 81}}, "startupProbe")),
    fires("DYN300", f"{_MAIN}.livenessProbe", "a handler of another kind than the default's", _probed({"exec": {"command": ["true"]}})),
    quiet("a handler of another kind on the service itself", _probed({"exec": {"command": ["true"]}}, on="service")),
    fires(
        "DYN155",
        f"{_SERVICE}.annotations['{labels.DISCOVERY_BACKEND}']",
        "Kubernetes discovery on one service only",
        worker(annotations={labels.DISCOVERY_BACKEND: "kubernetes"}),
        discovery_backend="etcd",
    ),
    quiet(
        "Kubernetes discovery on one service with an account",
        worker(pod={"serviceAccountName": "mine"}, annotations={labels.DISCOVERY_BACKEND: "kubernetes"}),
        discovery_backend="etcd",
    ),
    quiet(
        "Kubernetes discovery on one service, with the account among the items",
        given.item("ServiceAccount", "chat-k8s-service-discovery"),
        worker(annotations={labels.DISCOVERY_BACKEND: "kubernetes"}),
        discovery_backend="etcd",
    ),
    quiet(
        "Kubernetes discovery on the whole graph",
        given.graph(annotations={labels.DISCOVERY_BACKEND: "kubernetes"}),
        discovery_backend="etcd",
    ),
    fires(
        "DYN156",
        "spec.extraPodSpec.serviceAccountName",
        "a component without a graph, with Kubernetes discovery and without an account",
        lone(annotations={}),
    ),
    quiet(
        "a component without a graph, with Kubernetes discovery and an account", lone(annotations={}, pod={"serviceAccountName": "mine"})
    ),
    fires(
        "DYN157",
        f"{_SERVICE}.ingress.hostSuffix",
        "a host that ends with a dot",
        _opened(ingressControllerClassName="nginx", hostSuffix=""),
    ),
    fires("DYN157", f"{_SERVICE}.ingress.host", "a host with an underscore", _opened(ingressControllerClassName="nginx", host="my_chat")),
    fires("DYN150", f"{_SERVICE}.ingress", "an empty class", _opened(ingressControllerClassName="")),
    fires(
        "DYN158",
        f"{_SERVICE}.ingress.ingressControllerClassName",
        "an invalid name of an ingress class",
        _opened(ingressControllerClassName="A b"),
    ),
    fires(
        "DYN158",
        f"{_SERVICE}.ingress.tls.secretName",
        "an invalid name of a certificate's Secret",
        _opened(ingressControllerClassName="nginx", tls={"secretName": "A b"}),
    ),
    *(
        fires(
            "DYN159", f"{_SERVICE}.annotations['{labels.MAX_SURGE}']", f"a surge of {step!r}", worker(annotations={labels.MAX_SURGE: step})
        )
        for step in ("many", "-1", "1.5", "2147483648", "٣", "")
    ),
    fires(
        "DYN159",
        f"{_SERVICE}.extraPodMetadata.annotations['{labels.MAX_SURGE}']",
        "an invalid surge in the pods' annotations",
        worker(extraPodMetadata={"annotations": {labels.MAX_SURGE: "x"}}),
    ),
    fires(
        "DYN159",
        f"{_SERVICE}.annotations['{labels.MAX_UNAVAILABLE}']",
        "maxSurge and maxUnavailable of 0",
        worker(annotations={labels.MAX_SURGE: "0", labels.MAX_UNAVAILABLE: "0%"}),
    ),
    quiet("maxSurge of 0 and maxUnavailable of 1", worker(annotations={labels.MAX_SURGE: "0", labels.MAX_UNAVAILABLE: "1"})),
    quiet("steps of an update that does not roll", worker(annotations={labels.STRATEGY: "Recreate", labels.MAX_SURGE: "x"})),
    quiet("a wildcard host with a suffix", _opened(ingressControllerClassName="nginx", host="*", hostSuffix="example.org")),
]

SEVERAL_NODES = [
    fires(
        "DYN143",
        f"spec.services.{'w' * 44}",
        "a group whose name is too long",
        given.graph({"w" * 44: nodes()["spec"]["services"]["Worker"]}),
    ),
    quiet("a group whose name just fits", given.graph({"w" * 43: nodes()["spec"]["services"]["Worker"]})),
    fires(
        "DYN144",
        f"{_SERVICE}.multinode",
        "several nodes without an orchestrator",
        nodes(),
        leader_worker_set=config.LeaderWorkerSetSettings(enabled=False),
    ),
    quiet("several nodes with LeaderWorkerSets", nodes()),
    quiet("several nodes under Grove", nodes(), **_GROVE),
    fires("DYN160", f"{_MAIN}.name", "a main container of another name", nodes(main={"name": "engine"})),
    quiet("a main container of that name on one node", worker(main={"name": "engine"})),
    fires("DYN161", f"{_MAIN}.args", "several nodes without arguments", nodes(main={"args": []})),
    fires("DYN162", f"{_SERVICE}.resources.limits.gpu", "several nodes without GPUs", nodes(resources={})),
    quiet("0 replicas of a multinode service", nodes(main={"args": [], "name": "engine"}, resources={}, replicas=0)),
    fires(
        "DYN163",
        f"spec.services.{'w' * 42}",
        "a name that is too long for Grove",
        given.graph({"w" * 42: given.service("worker")}),
        **_GROVE,
    ),
    quiet("a name that just fits Grove", given.graph({"w" * 41: given.service("worker")}), **_GROVE),
    fires(
        "DYN163",
        f"spec.services.{'w' * 19}",
        "a group whose names are too long for Grove",
        given.graph({"w" * 19: nodes()["spec"]["services"]["Worker"]}),
        **_GROVE,
    ),
    quiet("a group whose names just fit Grove", given.graph({"w" * 18: nodes()["spec"]["services"]["Worker"]}), **_GROVE),
    fires("DYN164", f"{_SERVICE}.replicas", "0 replicas under Grove", worker(replicas=0), **_GROVE),
    fires("DYN164", f"{_SERVICE}.replicas", "0 replicas of a multinode service under Grove", nodes(replicas=0), **_GROVE),
    quiet("0 replicas in a Deployment", worker(replicas=0)),
    quiet("a rank that the shell computes, in a LeaderWorkerSet", nodes(main={"args": ["python3 -m dynamo.vllm --data-parallel-size 8"]})),
    quiet("a rank that the shell computes, under Grove", nodes(main={"args": ["python3 -m dynamo.vllm --data-parallel-size 8"]}), **_GROVE),
    quiet(
        "a rank that the shell computes, in a LeaderWorkerSet of release 1.5",
        nodes(main={"args": ["python3 -m dynamo.vllm --data-parallel-size 8"]}),
        behaviour="v1.5",
        worker_hash="none",
    ),
    quiet(
        "a function with the name of the variable, in a LeaderWorkerSet of release 1.5",
        nodes(main={"command": ["sh", "-c"], "args": [f"{_RANK}; python3 -m dynamo.vllm --data-parallel-size 8"]}),
        behaviour="v1.5",
        worker_hash="none",
    ),
    fires(
        "DYN166",
        f"{_MAIN}.args[2]",
        "an argument with blanks in a shell command",
        nodes(main={"command": ["python3"], "args": ["-m", "dynamo.sglang", "a b"]}),
    ),
    quiet(
        "arguments that a shell does not change",
        nodes(main={"command": ["python3"], "args": ["-m", "dynamo.sglang", "ab", '{"a": "b c"}']}),
    ),
    fires(
        "DYN172",
        f"{_MAIN}.securityContext.runAsUser",
        "user 0 without HOME",
        nodes(main={"args": ["python3 -m dynamo.trtllm"], "securityContext": {"runAsUser": 0}}),
    ),
    quiet(
        "user 0 with HOME",
        nodes(main={"args": ["python3 -m dynamo.trtllm"], "securityContext": {"runAsUser": 0}}, envs=[{"name": "HOME", "value": "/root"}]),
    ),
    fires("DYN174", f"{_SERVICE}.scalingAdapter", "an adapter of LeaderWorkerSets", nodes(scalingAdapter={"enabled": True})),
    fires("DYN174", f"{_SERVICE}.scalingAdapter", "an adapter of 0 LeaderWorkerSets", nodes(scalingAdapter={"enabled": True}, replicas=0)),
    quiet("an adapter of a multinode service under Grove", nodes(scalingAdapter={"enabled": True}), **_GROVE),
    fires("DYN173", f"{_MAIN}.image", "a runtime before 1.0 without a store", worker(main={"image": "example.org/dynamo:0.9.1"})),
    quiet("a runtime before 1.0 with an etcd", worker(main={"image": "example.org/dynamo:0.9.1"}), etcd_address="etcd:2379"),
    quiet("a runtime of 1.0", worker(main={"image": "example.org/dynamo:1.0.0"})),
    fires(
        "DYN167",
        "spec.services.B.extraPodSpec.schedulerName",
        "two schedulers in one set",
        given.graph({"A": given.service("frontend"), "B": given.service("worker", pod={"schedulerName": "mine"})}),
        grove=config.GroveSettings(schedulers=("default-scheduler", "mine")),
        **_GROVE,
    ),
    quiet(
        "one scheduler in one set",
        given.graph({name: given.service("worker", pod={"schedulerName": "mine"}) for name in ("A", "B")}),
        grove=config.GroveSettings(schedulers=("default-scheduler", "mine")),
        **_GROVE,
    ),
    fires("DYN168", f"{_POD}.nodeName", "pods on a named node, under Grove", worker(pod={"nodeName": "node-1"}), **_GROVE),
    quiet("pods of a Deployment on a named node", worker(pod={"nodeName": "node-1"})),
    fires(
        "DYN168",
        f"{_POD}.topologySpreadConstraints",
        "an empty topologySpreadConstraints, under Grove",
        worker(pod={"topologySpreadConstraints": []}),
        **_GROVE,
    ),
    fires("DYN190", "spec.services.Worker-0", "a service with the name of a LeaderWorkerSet", _beside(nodes(replicas=3), "Worker-0")),
    fires("DYN190", "spec.services.Worker-2", "a service with the name of the last replica", _beside(nodes(replicas=3), "Worker-2")),
    quiet("a service with the name of a replica above the count", _beside(nodes(replicas=3), "Worker-3")),
    quiet("a service with a name like that beside a service on one node", _beside(worker(replicas=3), "Worker-0")),
    fires("DYN190", "spec.services.Worker-ldr", "a service with the name of a clique", _beside(nodes(), "Worker-ldr"), **_GROVE),
    fires("DYN190", "spec.services.Worker-wkr", "a service with the name of the workers", _beside(nodes(), "Worker-wkr"), **_GROVE),
    quiet("a service with a name like that beside a service on one node, under Grove", _beside(worker(), "Worker-ldr"), **_GROVE),
    fires("DYN190", "spec.services.0-worker", "two cliques that Grove cannot tell apart", _beside(worker(), "0-worker"), **_GROVE),
    fires(
        "DYN190",
        "spec.services.7-worker-wkr",
        "a clique with the name of a clique in the eighth replica",
        _beside(nodes(), "7-worker-wkr"),
        **_GROVE,
    ),
    quiet("cliques whose names Grove can tell apart", _beside(worker(), "my-worker"), **_GROVE),
    fires("DYN190", "spec.services.0", "a service with the name of the Service of all pods", _beside(worker(), "0"), **_GROVE),
    fires("DYN191", f"{_POD}.schedulerName", "a scheduler that Grove does not know", worker(pod={"schedulerName": "volcano"}), **_GROVE),
    quiet("a scheduler that Grove does not know, on a Deployment", worker(pod={"schedulerName": "volcano"})),
    quiet(
        "a scheduler that this Grove knows",
        worker(pod={"schedulerName": "volcano"}),
        grove=config.GroveSettings(schedulers=("volcano",)),
        **_GROVE,
    ),
    quiet(
        "any scheduler, with an empty list of schedulers",
        worker(pod={"schedulerName": "volcano"}),
        grove=config.GroveSettings(schedulers=()),
        **_GROVE,
    ),
    fires("DYN192", f"{_POD}.schedulerName", "the KAI scheduler without a queue", worker(pod={"schedulerName": "kai-scheduler"}), **_GROVE),
    quiet(
        "the KAI scheduler with a queue of the user's",
        worker(pod={"schedulerName": "kai-scheduler"}, extraPodMetadata={"labels": {identity.KAI_QUEUE: "gold"}}),
        **_GROVE,
    ),
    quiet(
        "the KAI scheduler with the installation's queue",
        worker(pod={"schedulerName": "kai-scheduler"}),
        grove=config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True)),
        **_GROVE,
    ),
    fires(
        "DYN193",
        f"{_POD}.volumes[0].ephemeral.volumeClaimTemplate.metadata",
        "labels of an ephemeral volume's claim, under Grove",
        worker(pod={"volumes": [_ephemeral({"labels": {"team": "red"}})]}),
        **_GROVE,
    ),
    quiet("labels of an ephemeral volume's claim, in a Deployment", worker(pod={"volumes": [_ephemeral({"labels": {"team": "red"}})]})),
    quiet("an ephemeral volume without metadata", worker(pod={"volumes": [_ephemeral({})]}), **_GROVE),
]

GPU_NAMES = [
    fires(
        "DYN154",
        f"{_MAIN}.resources.limits['nvidia/gpu']",
        "a group without its domain",
        worker(main={"resources": {"limits": {"nvidia/gpu": "1"}}}),
    ),
    fires(
        "DYN154",
        f"{_MAIN}.resources.limits['nvidia.com/gpus']",
        "a plural for the resource of GPUs",
        worker(main={"resources": {"limits": {"nvidia.com/gpus": "2"}, "requests": {"nvidia.com/gpus": "2"}}}),
    ),
    fires(
        "DYN154",
        f"{_SERVICE}.resources.limits.custom['nvidia.com/GPU']",
        "upper case in the resource of GPUs",
        worker(resources={"limits": {"custom": {"nvidia.com/GPU": "1"}}}),
    ),
    fires(
        "DYN154",
        f"{_SERVICE}.resources.limits.gpuType",
        "a missing letter in the type of GPUs",
        worker(resources={"limits": {"gpu": "1", "gpuType": "nvida.com/gpu"}}),
    ),
    fires(
        "DYN154",
        f"{_POD}.containers[0].resources.limits['amd.com/gup']",
        "two letters in the wrong order in a sidecar",
        worker(pod={"containers": [{"name": "a", "image": "a", "resources": {"limits": {"amd.com/gup": "1"}}}]}),
    ),
    *(
        quiet(f"the resource {name}", worker(main={"resources": {"limits": {name: "1"}}}))
        for name in (
            "nvidia.com/gpu",
            "example/gpu",
            "nvidia.com/gpu.shared",
            "nvidia.com/mig-1g.10gb",
            "nvidia.com/pgpu",
            "nvidia.com/gpu-2",
            "rdma/ib",
        )
    ),
]
MODELS = [
    quiet("a model and the graph that serves it", worker(modelRef={"name": "acme/tiny"}), model("acme/tiny")),
    quiet("a model and the component that serves it", lone(modelRef={"name": "acme/tiny"}), model("acme/tiny")),
    fires("DYN175", "spec.baseModelName", "a model without a graph", model("acme/tiny")),
    quiet("a model and the graph of v1beta1 that serves it", _serving("acme/tiny"), model("acme/tiny")),
    Case(
        "two components of v1beta1 with two base models of one hash",
        [("DYN176", f"spec.components[{index}].modelRef.name") for index in (0, 1)],
        [_serving(*_ALIKE)],
    ),
    fires("DYN175", "spec.baseModelName", "a model of another name", worker(modelRef={"name": "acme/tiny"}), model("Acme/tiny")),
    fires(
        "DYN175",
        "spec.baseModelName",
        "a model in another namespace than its graph",
        given.graph({"Worker": given.service("worker", modelRef={"name": "acme/tiny"})}, namespace="other"),
        model("acme/tiny"),
    ),
    fires(
        "DYN175", "spec.baseModelName", "a base model that only another model names", model("acme/tiny"), model("acme/tiny", "b")
    )._replace(found=[("DYN175", "spec.baseModelName")] * 2),
    Case(
        "a service and a model with two base models of one hash",
        [("DYN176", f"{_SERVICE}.modelRef.name"), ("DYN176", "spec.baseModelName"), ("DYN175", "spec.baseModelName")],
        [worker(modelRef={"name": _ALIKE[0]}), model(_ALIKE[1])],
    ),
    Case(
        "two services with two base models of one hash",
        [("DYN176", f"spec.services.{name}.modelRef.name") for name in "AB"],
        [given.graph({name: given.service("worker", modelRef={"name": model}) for name, model in zip("AB", _ALIKE, strict=True)})],
    ),
    quiet(
        "two base models of one hash in two namespaces",
        worker(modelRef={"name": _ALIKE[0]}),
        given.graph({"Worker": given.service("worker", modelRef={"name": _ALIKE[1]})}, namespace="other"),
    ),
    fires("DYN177", "spec.source.uri", "an adapter outside its folder", *_adapter(uri="s3://models/../secrets/a")),
    fires("DYN177", "spec.source.uri", "an adapter outside its folder, with an encoded dot", *_adapter(uri="hf://a/%2E./b")),
    fires("DYN177", "spec.source.uri", "a source with a line end", *_adapter(uri="s3://models/a\n")),
    quiet("a source with dots in a name", *_adapter(uri="s3://models/v1..2/a...b/.hidden")),
    fires("DYN178", "spec.modelName", "an adapter that is called ..", *_adapter("..")),
    fires("DYN178", "spec.modelName", "an adapter with a control character in its name", *_adapter("a\tb")),
    quiet("an adapter with a name of several parts", *_adapter("../../org/Größe 1")),
]

PODS = [
    fires(
        "DYN200", f"{_POD}.ephemeralContainers", "ephemeral containers", worker(pod={"ephemeralContainers": [{"name": "a", "image": "b"}]})
    ),
    fires("DYN201", f"{_POD}.activeDeadlineSeconds", "a deadline", worker(pod={"activeDeadlineSeconds": 5})),
    fires("DYN202", f"{_POD}.serviceAccountName", "an invalid name of a ServiceAccount", worker(pod={"serviceAccountName": "Mine"})),
    quiet("an account", worker(pod={"serviceAccountName": "mine.example"})),
    fires(
        "DYN203",
        f"{_SERVICE}.extraPodMetadata.labels.a b",
        "a label's key with a blank",
        worker(extraPodMetadata={"labels": {"a b": "c"}}),
    ),
    fires(
        "DYN203",
        f"{_SERVICE}.extraPodMetadata.annotations['_a/b']",
        "an annotation's key with a broken domain",
        worker(extraPodMetadata={"annotations": {"_a/b": "c"}}),
    ),
    fires("DYN203", f"{_SERVICE}.annotations['/a']", "a key without a domain before its slash", worker(annotations={"/a": "b"})),
    fires(
        "DYN204", f"{_SERVICE}.extraPodMetadata.labels.a", "a label's value with a blank", worker(extraPodMetadata={"labels": {"a": "b c"}})
    ),
    fires("DYN713", f"{_SERVICE}.componentType", "a misspelt type", given.graph({"Worker": given.service("wroker")})),
    fires(
        "DYN713",
        f"{_SERVICE}.componentType",
        "another type with GPUs",
        given.graph({"Worker": {**given.service("backend"), "resources": {"limits": {"gpu": "1"}}}}),
    ),
    fires("DYN713", f"{_SERVICE}.subComponentType", "a misspelt subtype", worker(subComponentType="prefil")),
    fires("DYN713", f"{_SERVICE}.subComponentType", "another subtype", worker(subComponentType="encode")),
    fires("DYN204", f"{_SERVICE}.subComponentType", "a type that cannot be a label's value", worker(subComponentType="a b")),
    fires(
        "DYN204", f"{_SERVICE}.componentType", "a main type that cannot be a label's value", given.graph({"Worker": given.service("a b")})
    ),
    fires(
        "DYN204", f"{_SERVICE}.ingress.labels.a", "a label of an ingress", _opened(ingressControllerClassName="nginx", labels={"a": "b c"})
    ),
    fires(
        "DYN204",
        "spec.labels.a",
        "a label of a component without a graph",
        lone(labels={"a": "b c"}),
    ),
    quiet(
        "labels and annotations",
        worker(extraPodMetadata={"labels": {"example.org/a": "", "b": "C_d.e"}, "annotations": {"a": "b c\n"}}, subComponentType="decode"),
    ),
    fires("DYN205", f"{_MAIN}.image", "no image", given.graph({"Worker": {"componentType": "worker"}})),
    fires("DYN205", f"{_POD}.containers[0].image", "a sidecar without an image", worker(pod={"containers": [{"name": "a"}]})),
    fires(
        "DYN206", f"{_POD}.containers[0].name", "a sidecar with an invalid name", worker(pod={"containers": [{"name": "A", "image": "b"}]})
    ),
    fires("DYN206", f"{_POD}.volumes[0].name", "a volume with an invalid name", worker(pod={"volumes": [{"name": "a_b", "emptyDir": {}}]})),
    fires(
        "DYN207",
        f"{_MAIN}.name",
        "a sidecar with the name of the main container",
        worker(pod={"containers": [{"name": "main", "image": "b"}]}),
    ),
    fires(
        "DYN207",
        f"{_POD}.containers[0].name",
        "a sidecar with the name of an init container",
        worker(pod={"initContainers": [{"name": "a", "image": "b"}], "containers": [{"name": "a", "image": "b"}]}),
    ),
    fires("DYN080", f"{_POD}.volumes[1].name", "two volumes of one name", worker(pod={"volumes": [{"name": "a", "emptyDir": {}}] * 2})),
    quiet(
        "a volume with the name of a container",
        worker(pod={"containers": [{"name": "a", "image": "b"}], "volumes": [{"name": "a", "emptyDir": {}}]}),
    ),
    fires(
        "DYN208",
        f"{_MAIN}.volumeMounts[0].name",
        "a mount without a volume",
        worker(main={"volumeMounts": [{"name": "a", "mountPath": "/a"}]}),
    ),
    fires(
        "DYN208",
        f"{_POD}.initContainers[0].volumeMounts[0].name",
        "the same in an init container",
        worker(pod={"initContainers": [{"name": "a", "image": "b", "volumeMounts": [{"name": "a", "mountPath": "/a"}]}]}),
    ),
    quiet(
        "a mount of a claim",
        worker(main={"volumeMounts": [{"name": "a", "mountPath": "/b"}]}, volumeMounts=[{"name": "a", "mountPoint": "/a"}]),
    ),
    fires(
        "DYN207",
        f"{_POD}.volumes[0].name",
        "a volume with the name of the shared memory",
        worker(pod={"volumes": [{"name": "shared-memory", "emptyDir": {}}]}),
    ),
    fires(
        "DYN209",
        f"{_SERVICE}.volumeMounts[0].mountPoint",
        "a claim at the path of the shared memory",
        worker(volumeMounts=[{"name": "a", "mountPoint": _SHARED}]),
    ),
    fires(
        "DYN209",
        f"{_MAIN}.volumeMounts[0].mountPath",
        "a second mount at the path of the shared memory",
        worker(main={"volumeMounts": [{"name": "a", "mountPath": _SHARED}]}, pod={"volumes": [{"name": "a", "emptyDir": {}}]}),
    ),
    quiet(
        "the only mount at that path",
        worker(
            main={"volumeMounts": [{"name": "a", "mountPath": _SHARED}]},
            pod={"volumes": [{"name": "a", "emptyDir": {}}]},
            sharedMemory={"disabled": True},
        ),
    ),
    fires(
        "DYN210",
        f"{_MAIN}.resources.limits['nvidia.com/gpu']",
        "a device with a request but no limit",
        _asking({}, {"nvidia.com/gpu": "1"}),
    ),
    fires("DYN211", f"{_MAIN}.resources.requests.cpu", "a request above the limit", _asking({"cpu": "500m"}, {"cpu": "1"})),
    fires(
        "DYN211",
        f"{_MAIN}.resources.requests['nvidia.com/gpu']",
        "a request for devices below the limit",
        _asking({"nvidia.com/gpu": "2"}, {"nvidia.com/gpu": "1"}),
    ),
    fires(
        "DYN211",
        f"{_SERVICE}.resources.requests.cpu",
        "the same on the service",
        worker(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
    ),
    quiet(
        "requests below and at the limits",
        _asking({"cpu": "1", "nvidia.com/gpu": "1"}, {"cpu": "500m", "nvidia.com/gpu": "1", "memory": "1Gi"}),
    ),
    fires("DYN212", f"{_MAIN}.resources.limits.cpu", "a negative amount", _asking({"cpu": "-1"}, {})),
    fires("DYN212", f"{_MAIN}.resources.limits['nvidia.com/gpu']", "half a device", _asking({"nvidia.com/gpu": "500m"}, {})),
    quiet("half a processor", _asking({"cpu": "500m"}, {})),
    fires(
        "DYN213",
        f"{_SERVICE}.resources.claims[0].name",
        "a resource claim that the pod lacks",
        worker(resources={"claims": [{"name": "gpu"}]}),
    ),
    quiet(
        "a resource claim that the pod has",
        worker(resources={"claims": [{"name": "gpu"}]}, pod={"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}),
    ),
    fires("DYN214", f"{_SERVICE}.readinessProbe", "a probe without a handler", _probed({}, "readinessProbe", on="service")),
    fires("DYN214", f"{_MAIN}.startupProbe", "a start-up probe without a handler", _probed({"periodSeconds": 5}, "startupProbe")),
    quiet("a probe that takes its handler from the default", _probed({"periodSeconds": 5})),
    fires(
        "DYN215",
        f"{_MAIN}.startupProbe",
        "a probe with two handlers",
        _probed({"exec": {"command": ["true"]}, "tcpSocket": {"port": 1}}, "startupProbe"),
    ),
    fires("DYN216", f"{_MAIN}.livenessProbe.periodSeconds", "a negative period", _probed({"periodSeconds": -1})),
    quiet("a period of 0, which selects the default", _probed({"periodSeconds": 0})),
    fires("DYN217", f"{_MAIN}.livenessProbe.successThreshold", "two successes for a liveness probe", _probed({"successThreshold": 2})),
    fires(
        "DYN217",
        f"{_MAIN}.readinessProbe.terminationGracePeriodSeconds",
        "a readiness probe with a termination grace period",
        _probed({"terminationGracePeriodSeconds": 2}, "readinessProbe"),
    ),
    quiet("two successes for a readiness probe", _probed({"successThreshold": 2}, "readinessProbe")),
    fires(
        "DYN218",
        f"{_MAIN}.ports[0].containerPort",
        "a port above 65535",
        worker(main={"ports": [{"name": "system", "containerPort": 70000}]}),
    ),
    fires(
        "DYN219",
        f"{_MAIN}.ports[0].name",
        "a port's name of 16 characters",
        worker(main={"ports": [{"name": "a" * 16, "containerPort": 9090}, _SYSTEM]}),
    ),
    fires(
        "DYN219",
        f"{_MAIN}.ports[1].name",
        "two ports of one name",
        worker(main={"ports": [{"name": "system", "containerPort": 9090}, {"name": "system", "containerPort": 9091}]}),
    ),
    quiet(
        "ports with and without names",
        worker(main={"ports": [{"name": "system", "containerPort": 9090}, {"containerPort": 1}, {"containerPort": 2}]}),
    ),
    fires("DYN220", f"{_SERVICE}.envs[0].name", "a variable with an invalid name", worker(envs=[{"name": "a=b"}])),
    fires(
        "DYN221",
        f"{_SERVICE}.envs[0].name",
        "a variable that the engine sets too",
        worker(
            main={"args": ["python3 -m dynamo.vllm"]},
            envs=[{"name": "VLLM_CACHE_ROOT", "value": "/a"}],
            volumeMounts=[{"name": "cache", "mountPoint": "/c", "useAsCompilationCache": True}],
        ),
    ),
    fires(
        "DYN080",
        f"{_POD}.containers[0].env[1].name",
        "a sidecar's variable that stands twice",
        worker(pod={"containers": [{"name": "a", "image": "b", "env": [{"name": "A"}, {"name": "A"}]}]}),
    ),
    fires("DYN085", f"{_SERVICE}.envs[1].name", "a variable that stands twice", worker(envs=[{"name": "A"}, {"name": "A"}])),
    quiet("a variable of the container and of the service", worker(main={"env": [{"name": "A"}]}, envs=[{"name": "A"}])),
    fires(
        "DYN222",
        f"{_SERVICE}.envs[0].valueFrom",
        "a variable with a value and a source",
        worker(envs=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
    ),
    fires(
        "DYN224",
        f"{_POD}.volumes[0]",
        "a volume of two kinds",
        worker(pod={"volumes": [{"name": "a", "emptyDir": {}, "hostPath": {"path": "/a"}}]}),
    ),
    fires("DYN225", f"{_MAIN}.startupProbe.exec.command", "a probe without a command", _probed({"exec": {}}, "startupProbe")),
    fires("DYN226", f"{_POD}.securityContext.runAsUser", "a negative user ID", worker(pod={"securityContext": {"runAsUser": -1}})),
    fires(
        "DYN227", f"{_POD}.tolerations[0].operator", "a toleration with a value but no key", worker(pod={"tolerations": [{"value": "a"}]})
    ),
    quiet("a toleration of all taints", worker(pod={"tolerations": [{"operator": "Exists"}]})),
    fires(
        "DYN228",
        f"{_MAIN}.volumeMounts[0].subPath",
        "a subPath outside the volume",
        worker(
            main={"volumeMounts": [{"name": "a", "mountPath": "/a", "subPath": "../b"}]}, pod={"volumes": [{"name": "a", "emptyDir": {}}]}
        ),
    ),
    fires("DYN229", f"{_MAIN}.resources.limits.gpu", "an invalid resource name", _asking({"gpu": "1"}, {})),
    fires(
        "DYN230",
        f"{_POD}.containers[0].env[0].valueFrom.fieldRef.fieldPath",
        "a variable from an unsupported field",
        worker(
            pod={"containers": [{"name": "a", "image": "b", "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]}]}
        ),
    ),
    fires(
        "DYN231",
        f"{_POD}.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values",
        "a selector without values",
        worker(
            pod={
                "affinity": {
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
                        ]
                    }
                }
            }
        ),
    ),
    fires(
        "DYN232",
        f"{_MAIN}.securityContext.allowPrivilegeEscalation",
        "a privileged container without privileges",
        worker(main={"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}}),
    ),
    fires(
        "DYN232",
        f"{_POD}.initContainers[0].livenessProbe",
        "an init container with a probe",
        worker(pod={"initContainers": [{"name": "a", "image": "b", "livenessProbe": {"exec": {"command": ["a"]}}}]}),
    ),
    fires("DYN233", f"{_POD}.os.name", "an operating system that is not known", worker(pod={"os": {"name": "ubuntu"}})),
    fires(
        "DYN234",
        f"{_POD}.dnsConfig.nameservers[0]",
        "a name server that is a name",
        worker(pod={"dnsConfig": {"nameservers": ["dns.example.com"]}}),
    ),
    fires(
        "DYN235",
        f"{_POD}.dnsConfig.nameservers",
        "four name servers",
        worker(pod={"dnsConfig": {"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]}}),
    ),
    fires(
        "DYN236",
        f"{_POD}.resources.limits.memory",
        "a limit of the pod below that of its container",
        worker(pod={"resources": {"limits": {"memory": "4Gi"}}}, main={"resources": {"limits": {"memory": "8Gi"}}}),
    ),
    fires(
        "DYN237",
        f"{_MAIN}.ports[1].hostPort",
        "a port of the node twice",
        worker(main={"ports": [*({"containerPort": port, "hostPort": 80} for port in (8000, 8001)), _SYSTEM]}),
    ),
    fires(
        "DYN238",
        f"{_SERVICE}.extraPodMetadata.annotations['controller.kubernetes.io/pod-deletion-cost']",
        "a cost that is no number",
        worker(extraPodMetadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "high"}}),
    ),
    fires("DYN204", "metadata.labels.tier", "a label of the graph itself", _described(worker(), labels={"tier": "a b"})),
    fires("DYN203", "metadata.annotations.a b", "an annotation of the graph itself", _described(worker(), annotations={"a b": "c"})),
    fires("DYN235", "metadata.annotations", "annotations that are too large", _described(worker(), annotations={"a": "b" * 2**18})),
    Case(
        "a label of a model",
        [("DYN204", "metadata.labels.tier"), ("DYN175", "spec.baseModelName")],
        [_described(model("acme/tiny"), labels={"tier": "-"})],
    ),
    quiet(
        "a label of a graph that is never applied",
        _described(worker(), labels={"tier": "a b"}, annotations={"config.kubernetes.io/local-config": "true"}),
    ),
    fires("DYN127", f"{_MAIN}.ports", "ports that lack the port of the default probes", worker(main={"ports": [_HEALTH]})),
    fires("DYN127", f"{_MAIN}.ports", "the same on several nodes", nodes(main={"ports": [_HEALTH]})),
    fires("DYN127", f"{_MAIN}.ports", "the same under Grove", worker(main={"ports": [_HEALTH]}), **_GROVE),
    fires(
        "DYN127",
        f"{_SERVICE}.readinessProbe.httpGet.port",
        "a probe of the service with another name",
        worker(readinessProbe={"httpGet": {"path": "/", "port": "web"}}),
    ),
    fires(
        "DYN127",
        f"{_MAIN}.startupProbe.tcpSocket.port",
        "a probe of a socket",
        worker(main={"startupProbe": {"tcpSocket": {"port": "web"}}}),
    ),
    fires(
        "DYN127",
        f"{_MAIN}.lifecycle.preStop.httpGet.port",
        "a hook",
        worker(main={"lifecycle": {"preStop": {"httpGet": {"path": "/", "port": "web"}}}}),
    ),
    fires(
        "DYN127",
        f"{_POD}.containers[0].readinessProbe.httpGet.port",
        "the name of a port of another container of the pod",
        worker(pod={"containers": [_probing("system")]}),
    ),
    fires(
        "DYN127",
        f"{_POD}.initContainers[0].readinessProbe.httpGet.port",
        "an init container that runs beside the others",
        worker(pod={"initContainers": [{**_probing("system"), "restartPolicy": "Always"}]}),
    ),
    fires(
        "DYN127",
        "spec.components[0].podTemplate.spec.containers[0].ports",
        "a component of v1beta1",
        beta.graph(beta.component("worker", main={"ports": [_HEALTH]})),
    ),
    quiet("probes by the name of a port that their container has", worker(pod={"containers": [_probing("health")]})),
    quiet("a port by number", worker(pod={"containers": [_probing(8080)]})),
    fires("DYN128", f"{_MAIN}.ports", "no port for the Service", worker(main={"ports": [_HEALTH], **_OWN_START}, **_OWN_PROBES)),
    quiet(
        "the port for the Service in another container of the pod",
        worker(main={"ports": [_HEALTH], **_OWN_START}, pod={"containers": [_LISTENING]}, **_OWN_PROBES),
    ),
    quiet(
        "a planner, whose Service has no port as with the operator", given.graph({"P": given.service("planner", main={"ports": [_HEALTH]})})
    ),
    fires("DYN223", f"{_POD}.restartPolicy", "restartPolicy Never in a Deployment", worker(pod={"restartPolicy": "Never"})),
    quiet("restartPolicy Never under Grove", worker(pod={"restartPolicy": "Never"}), **_GROVE),
]

_PROFILING = "spec.profilingConfig"
_SETTINGS = f"{_PROFILING}.config"
_CACHE = f"{_SETTINGS}.deployment.modelCache"
_OVERRIDES = "spec.deploymentOverrides"
_BASE = given.item("ConfigMap", "base", data={"graph.yaml": ""})


def _cached(cache: Any) -> Resource:
    return request({"deployment": {"modelCache": cache}})


def _aiming(**targets: Any) -> Resource:
    return request({"sla": targets})


def _overriding(**fields: Any) -> Resource:
    return request(spec={"deploymentOverrides": fields})


REQUESTS = [
    quiet("a request with nothing but what is required", request()),
    quiet("two requests of one namespace share the account of their Jobs", request(), request(name="other")),
    quiet("a request without a role to bind", request(), rbac=config.RbacSettings(profiling_role="")),
    fires("DYN057", "metadata.namespace", "a request without a namespace", request(namespace="")),
    quiet("a request whose namespace is configured", request(namespace=""), namespace="prod"),
    fires("DYN059", "metadata.namespace", "a request in an invalid namespace", request(namespace="a.b")),
    fires(
        "DYN052",
        "metadata.name",
        "the user's Job in the place of a generated one",
        request(),
        given.item("Job", "profile-chat", api="batch/v1"),
    ),
    quiet("the user's own account for the Jobs", request(), given.item("ServiceAccount", "dgdr-profiling-job", imagePullSecrets=[])),
    fires(
        "DYN054",
        "metadata.name",
        "the user's binding of the account to another role",
        request(),
        given.item("RoleBinding", "dgdr-profiling-job-binding", api="rbac.authorization.k8s.io/v1", subjects=[]),
    ),
    fires(
        "DYN181",
        "spec.enableGpuDiscovery",
        "nodes are read without a role",
        request(spec={"enableGpuDiscovery": True}),
        rbac=config.RbacSettings(profiling_role=""),
    ),
    quiet("nodes are read with a role", request(spec={"enableGpuDiscovery": True})),
    fires("DYN180", f"{_SETTINGS}.engine.backend", "another engine in the settings", request({"engine": {"backend": "sglang"}})),
    fires("DYN182", f"{_SETTINGS}.deployment", "deployment is a text", request({"deployment": "x"})),
    fires("DYN182", f"{_SETTINGS}.engine", "engine is a list", request({"engine": []})),
    quiet("deployment and engine are null", request({"deployment": None, "engine": None})),
    fires("DYN183", "metadata.name", "the name of the Job has 64 characters", request(name="a" * 56)),
    quiet("the name of the Job has 63 characters", request(name="a" * 55)),
    fires("DYN183", "metadata.name", "the name of the Job is not valid", request(name="A")),
    fires("DYN184", f"{_SETTINGS}.output_dir", "the profiler writes beside the volume", request({"output_dir": "/tmp"})),  # noqa: S108
    fires("DYN184", f"{_SETTINGS}.output_dir", "the profiler writes below the folder of the volume", request({"output_dir": "/data/a"})),
    quiet("the profiler writes to the volume", request({"output_dir": "/data/"})),
    quiet("null is no folder", request({"output_dir": None})),
    fires("DYN135", "spec.model", "an empty model", request(spec={"model": ""})),
    fires("DYN135", f"{_SETTINGS}.sla.isl", "a length that is no number", _aiming(isl="3k")),
    fires("DYN135", f"{_SETTINGS}.sla.osl", "a length of zero", _aiming(osl=0)),
    fires("DYN135", f"{_SETTINGS}.sla.ttft", "a negative latency", _aiming(ttft=-5)),
    fires("DYN135", f"{_SETTINGS}.sla.itl", "a latency that is a list", _aiming(itl=[20])),
    fires("DYN135", f"{_SETTINGS}.sla", "targets without an object", request({"sla": None})),
    fires(
        "DYN135", f"{_SETTINGS}.hardware.numGpusPerNode", "a number of GPUs in words", request({"hardware": {"numGpusPerNode": "eight"}})
    ),
    fires("DYN135", f"{_SETTINGS}.engine.max_context_length", "a length with a unit", request({"engine": {"max_context_length": "32k"}})),
    quiet("texts that are numbers", _aiming(isl="3000", osl=150, ttft="500.5", itl=30)),
    quiet(
        "settings in both forms of their names",
        request({"sweep": {"useAiConfigurator": True, "aic_system": "h200_sxm"}, "planner": {"x": 1}}),
    ),
    fires("DYN136", f"{_SETTINGS}.slo", "a misspelt part of the settings", request({"slo": {"isl": 3000}})),
    fires("DYN136", f"{_SETTINGS}.sla.max_isl", "an unknown target", _aiming(max_isl=3000)),
    fires(
        "DYN136",
        f"{_SETTINGS}.sweep.useAIConfigurator",
        "a misspelt switch",
        request({"sweep": {**_SIMULATED["sweep"], "useAIConfigurator": True}}),
    ),
    quiet("an unknown setting that is like no other", request({"sweep": {**_SIMULATED["sweep"], "rounds": 3}})),
    fires("DYN185", _CACHE, "a model cache that is a text", _cached("models")),
    fires("DYN185", f"{_CACHE}.pvcName", "a model cache without a claim", _cached({"mountPath": "/models"})),
    fires("DYN185", f"{_CACHE}.mountPath", "a model cache with a number as its path", _cached({"pvcName": "models", "mountPath": 1})),
    quiet("a model cache", _cached({"pvcName": "models", "mountPath": "/models", "pvcPath": "a"})),
    fires("DYN186", f"{_OVERRIDES}.name", "an invalid name for the graph", _overriding(name="A")),
    fires("DYN186", f"{_OVERRIDES}.namespace", "an invalid namespace for the graph", _overriding(namespace="a.b")),
    quiet("name and namespace for the graph", _overriding(name="chat", namespace="prod")),
    quiet("an empty name overrides nothing", _overriding(name="", namespace="")),
    fires("DYN203", f"{_OVERRIDES}.annotations.a b", "an invalid annotation for the graph", _overriding(annotations={"a b": ""})),
    fires("DYN204", f"{_OVERRIDES}.labels.team", "an invalid label for the graph", _overriding(labels={"team": "a b"})),
    fires("DYN187", f"{_PROFILING}.configMapRef.key", "a ConfigMap without the default key", request(configMapRef={"name": "base"}), _BASE),
    quiet("a ConfigMap with the key", request(configMapRef={"name": "base", "key": "graph.yaml"}), _BASE),
    quiet("a ConfigMap that only the cluster has", request(configMapRef={"name": "other"}), _BASE),
    fires("DYN189", _SETTINGS, "a profiler that measures on GPUs", request({"sweep": {}})),
    fires(
        "DYN189",
        _SETTINGS,
        "one that creates its graphs in the same namespace",
        request({"sweep": {}, "deployment": {"namespace": "team"}}),
    ),
    quiet("one that creates its graphs elsewhere", request({"sweep": {}, "deployment": {"namespace": "trials"}})),
    Case(
        "two requests that write into one claim",
        [("DYN188", f"{_PROFILING}.outputPVC")] * 2,
        [request(outputPVC="profiles"), request(name="other", outputPVC="profiles")],
    ),
    quiet(
        "two requests that write into claims of one name in two namespaces", request(outputPVC="a"), request(namespace="b", outputPVC="a")
    ),
    quiet(
        "a request with all volumes, amounts, tolerations and settings",
        request(
            {
                "deployment": {"modelCache": {"pvcName": "models", "mountPath": "/models"}},
                "text": "ü 'x' $(A)\n" * 300,
                "none": [None, 1.5],
            },
            name="a" * 55,
            outputPVC="profiles",
            configMapRef={"name": "graph", "key": "a.yaml"},
            resources={"requests": {"cpu": "1"}, "limits": {"cpu": 2, "memory": "1Gi", "nvidia.com/gpu": "1"}},
            tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 300}],
            spec={"enableGpuDiscovery": True},
        ),
        nats_address="nats://nats:4222",
        image_pull_secrets=(config.PullSecret("registry.example", "pull"),),
    ),
    fires(
        "DYN209", f"{_CACHE}.mountPath", "a model cache in the place of the output", _cached({"pvcName": "models", "mountPath": "/data"})
    ),
    fires(
        "DYN210",
        f"{_PROFILING}.resources.limits['nvidia.com/gpu']",
        "a profiler that requests GPUs without a limit",
        request(resources={"requests": {"nvidia.com/gpu": "1"}}),
    ),
    fires(
        "DYN211",
        f"{_PROFILING}.resources.requests.cpu",
        "a profiler that requests more than its limit",
        request(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
    ),
    fires(
        "DYN213",
        f"{_PROFILING}.resources.claims[0].name",
        "a resource claim that the pod lacks",
        request(resources={"claims": [{"name": "a"}]}),
    ),
    fires(
        "DYN227",
        f"{_PROFILING}.tolerations[0].operator",
        "a toleration of a Job with a value but no key",
        request(tolerations=[{"value": "a"}]),
    ),
]

_IMAGE = "registry.example/dynamo:1.5.0"
_HASHES = "metadata.annotations"
_OLD_IMAGES = {"behaviour": "v1.5", "discovery_backend": "etcd", "etcd_address": "etcd:2379"}
_COMPUTED = "b777c676"
"""The hash of the worker below."""


def _generation(
    image: str = "registry.example/dynamo:1.5.0", entrance: str = "registry.example/dynamo:1.5.0", **annotations: str
) -> Resource:
    """A graph with a frontend and a worker, and with the annotations `nvidia.com/current-worker-hash…` of an operator."""
    services = {
        "Frontend": given.service("frontend", main={"image": entrance}),
        "Worker": given.service("worker", main={"image": image, "command": ["python3", "-m", "dynamo.vllm"]}),
    }
    written = {f"nvidia.com/current-{key.replace('_', '-')}": value for key, value in annotations.items()}
    return given.graph(services, annotations=written)


def _hashed(setting: str) -> Resource:
    """A graph with `workerHash` in an annotation."""
    graph = _generation()
    graph["metadata"]["annotations"] = {labels.WORKER_HASH_SETTING: setting}
    return graph


GENERATIONS = [
    quiet("workers of a new graph", _generation(), behaviour="v1.5"),
    quiet("workers without a generation, of any image", _generation("a:0.9.0", "a:0.9.0"), worker_hash="none", **_OLD_IMAGES),
    quiet("workers without a generation of a graph with a hash", _generation(worker_hash="0a1b2c3d"), worker_hash="none"),
    quiet("workers that the operator has not named", _generation(worker_hash="legacy")),
    quiet("names with a hash that the operator gave", _generation(worker_hash_v2=_COMPUTED), worker_hash="names"),
    quiet("names of an older formula", _generation(worker_hash="0a1b2c3d", worker_hash_v2=_COMPUTED)),
    quiet("names with a hash in a PodCliqueSet", _generation(), behaviour="v1.5", worker_hash="names", **_GROVE),
    fires("DYN415", f"{_HASHES}['nvidia.com/current-worker-hash-v2']", "workers that changed", _generation(worker_hash_v2="0a1b2c3d")),
    fires("DYN416", "", "names that follow the hash", _generation(), behaviour="v1.5", worker_hash="names"),
    fires("DYN417", f"{_MAIN}.image", "a worker before 1.0", _generation("a:0.9.1"), **_OLD_IMAGES),
    fires(
        "DYN417",
        "spec.services.Frontend.extraPodSpec.mainContainer.image",
        "a frontend before 1.0",
        _generation(entrance="registry.example/dynamo:v0.9.1-rc1"),
        **_OLD_IMAGES,
    ),
    fires("DYN418", f"{_HASHES}['nvidia.com/current-worker-hash']", "a hash that ends no name", _generation(worker_hash="A_b")),
    fires("DYN418", f"{_HASHES}['nvidia.com/current-worker-hash-v2']", "a hash longer than a label", _generation(worker_hash_v2="a" * 64)),
    fires("DYN419", f"{_HASHES}['nvidia.com/current-worker-hash']", "a hash of an older formula", _generation(worker_hash="0a1b2c3d")),
    fires("DYN585", f"{_HASHES}['{labels.WORKER_HASH_SETTING}']", "another word", _hashed("never"), behaviour="v1.5"),
    quiet("a graph whose annotation leaves the hash out", _hashed("none"), behaviour="v1.5"),
]

ALL = [*ITEMS, *GRAPHS, *COMPONENTS, *SEVERAL_NODES, *GPU_NAMES, *MODELS, *PODS, *REQUESTS, *GENERATIONS]
