"""Resources that violate the schema in one place, and valid twins: types, values, fields and list keys.

Rules between fields are in `tests/support/faults.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from krm_fn.base import results

MAIN = ("spec", "services", "Worker")
CONTAINER = (*MAIN, "extraPodSpec", "mainContainer")
PROBE = {"httpGet": {"path": "/health", "port": 8000}}


def graph(spec: Any, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "llm"}, "spec": spec, **more}


def worker(**fields: Any) -> dict[str, Any]:
    return graph({"services": {"Worker": fields}})


def container(**fields: Any) -> dict[str, Any]:
    return worker(extraPodSpec={"mainContainer": fields})


class Case(NamedTuple):
    """An input and its only expected finding; no finding if `code` is empty."""

    reason: str
    given: dict[str, Any]
    code: str = ""
    path: results.Path = ()
    says: str = ""
    proposed: Any = None


TYPES = [
    Case("a whole number is an integer", worker(replicas=2)),
    Case(
        "an integer in quotes",
        worker(replicas="2"),
        "DYN021",
        (*MAIN, "replicas"),
        'not the string "2"; write 2 without quotes',
        proposed=2,
    ),
    Case(
        "permissions in quotes, which are octal",
        worker(extraPodSpec={"volumes": [{"name": "token", "secret": {"secretName": "token", "defaultMode": "0400"}}]}),
        "DYN021",
        (*MAIN, "extraPodSpec", "volumes", 0, "secret", "defaultMode"),
        "write 0400 without quotes, which YAML reads as octal, or the decimal number 256",
        proposed=256,
    ),
    Case("text for an integer", worker(replicas="two"), "DYN021", (*MAIN, "replicas"), "; write a whole number"),
    Case("a fraction for an integer", worker(replicas=1.5), "DYN021", (*MAIN, "replicas"), "the number 1.5; write a whole number"),
    Case("true for an integer, which Python would accept", worker(replicas=True), "DYN021", (*MAIN, "replicas"), "the boolean true"),
    Case("a string is a string", worker(envs=[{"name": "A", "value": "1"}])),
    Case(
        "a number for a string",
        worker(envs=[{"name": "A", "value": 1}]),
        "DYN021",
        (*MAIN, "envs", 0, "value"),
        "takes a string, not a number; put the value in quotes",
    ),
    Case(
        "true for a string",
        worker(envs=[{"name": "A", "value": True}]),
        "DYN021",
        (*MAIN, "envs", 0, "value"),
        "not a boolean; put the value in quotes",
    ),
    Case("resources are strings", worker(resources={"limits": {"gpu": "1"}})),
    Case(
        "a number of GPUs",
        worker(resources={"limits": {"gpu": 1}}),
        "DYN021",
        (*MAIN, "resources", "limits", "gpu"),
        'gpu: "1"',
        proposed="1",
    ),
    Case("a boolean is a boolean", worker(scalingAdapter={"enabled": True})),
    Case(
        "a boolean in quotes",
        worker(scalingAdapter={"enabled": "yes"}),
        "DYN021",
        (*MAIN, "scalingAdapter", "enabled"),
        "write true without quotes",
        proposed=True,
    ),
    Case(
        "zero for false",
        worker(scalingAdapter={"enabled": 0}),
        "DYN021",
        (*MAIN, "scalingAdapter", "enabled"),
        "; write false",
        proposed=False,
    ),
    Case(
        "text for a boolean", worker(scalingAdapter={"enabled": "perhaps"}), "DYN021", (*MAIN, "scalingAdapter", "enabled"), "write true or"
    ),
    Case("a list of arguments", container(args=["--model", "x"])),
    Case(
        "arguments in one string",
        container(args="--model x"),
        "DYN021",
        (*CONTAINER, "args"),
        "takes a list, not a string; write a list",
    ),
    Case(
        "an argument that YAML reads as an object",
        container(args=[{"--a": 1}]),
        "DYN021",
        (*CONTAINER, "args", 0),
        "write two entries without the colon, - --a, and below it its value in quotes",
    ),
    Case("an image in brackets", container(image=["x"]), "DYN021", (*CONTAINER, "image"), 'image: "x"', proposed="x"),
    Case("null in a list is a value", container(args=["--model", None]), "DYN021", (*CONTAINER, "args", 1), "not null; remove the entry"),
    Case(
        "an object for a list",
        worker(envs={"A": "1"}),
        "DYN021",
        (*MAIN, "envs"),
        "not an object; write - name: A, and below it value: with its value",
    ),
    Case(
        "names and numbers for a list of ports",
        container(ports={"http": 8000, "web": 80}),
        "DYN021",
        (*CONTAINER, "ports"),
        "write - name: http, and below it containerPort: 8000; write web in the same way",
        proposed=[{"name": "http", "containerPort": 8000}, {"name": "web", "containerPort": 80}],
    ),
    Case(
        "volumes by name",
        worker(extraPodSpec={"volumes": {"cache": {"emptyDir": {}}}}),
        "DYN021",
        (*MAIN, "extraPodSpec", "volumes"),
        "write - name: cache, and its other lines below it",
    ),
    Case(
        "an entry without its dash",
        graph({"pvcs": {"name": "x"}}),
        "DYN021",
        ("spec", "pvcs"),
        "put a dash before",
        proposed=[{"name": "x"}],
    ),
    Case("text for a list of objects", worker(envs="A=1"), "DYN021", (*MAIN, "envs"), "write a list, with a dash"),
    Case("services need no fields", graph({"services": {"Worker": {}}})),
    Case("an empty list of services", graph({"services": []}), "DYN021", ("spec", "services"), "not a list; write {}", {}),
    Case("a list of services", graph({"services": [{"name": "Web"}, {"name": "Worker"}]}), "DYN021", ("spec", "services"), "write Web: in"),
    Case(
        "a list of services without names",
        graph({"services": [{}]}),
        "DYN021",
        ("spec", "services"),
        "write each entry as name: …, without dashes",
    ),
    Case(
        "an amount for an object",
        worker(sharedMemory="40Gi"),
        "DYN021",
        (*MAIN, "sharedMemory"),
        "write size: 40Gi below it",
        {"size": "40Gi"},
    ),
    Case("a flag for an object", worker(ingress=True), "DYN021", (*MAIN, "ingress"), "its fields below it, for example enabled, host"),
    Case(
        "a flag for an object with one switch",
        worker(scalingAdapter=True),
        "DYN021",
        (*MAIN, "scalingAdapter"),
        "write enabled: true below it",
        proposed={"enabled": True},
    ),
    Case(
        "a list of labels",
        worker(labels=["app=llm", {"tier": "web"}, {"name": "team", "value": "a"}]),
        "DYN021",
        (*MAIN, "labels"),
        "write app: llm, tier: web, …, without dashes",
        proposed={"app": "llm", "tier": "web", "team": "a"},
    ),
    Case(
        "a list of limits",
        worker(extraPodSpec={"mainContainer": {"resources": {"limits": [{"nvidia.com/gpu": "2"}]}}}),
        "DYN021",
        (*MAIN, "extraPodSpec", "mainContainer", "resources", "limits"),
        'write nvidia.com/gpu: "2", without dashes',
        proposed={"nvidia.com/gpu": "2"},
    ),
    Case("text for a map", worker(labels="a=b"), "DYN021", (*MAIN, "labels"), "write lines of name: value"),
    Case("a port by number", worker(livenessProbe=PROBE)),
    Case("a port by name", worker(livenessProbe={"tcpSocket": {"port": "http"}})),
    Case(
        "a fraction for a port",
        worker(livenessProbe={"tcpSocket": {"port": 0.5}}),
        "DYN021",
        (*MAIN, "livenessProbe", "tcpSocket", "port"),
        "a whole number",
    ),
    Case("a quantity as an integer", container(resources={"limits": {"cpu": 4}})),
    Case("a quantity as text", container(resources={"limits": {"cpu": "500m", "memory": "1.5Gi", "nvidia.com/gpu": "1e3"}})),
    Case(
        "a quantity with a point, which CRDs refuse as a number",
        container(resources={"limits": {"cpu": 0.5}}),
        "DYN021",
        (*CONTAINER, "resources", "limits", "cpu"),
        'cpu: "0.5"',
        proposed="0.5",
    ),
    Case("spec is an object", graph("x"), "DYN021", ("spec",), "for example backendFramework, services"),
    Case("annotations are strings", graph({}, metadata={"annotations": {"a": "true"}})),
    Case(
        "a flag for an annotation",
        graph({}, metadata={"annotations": {"a": True}}),
        "DYN021",
        ("metadata", "annotations", "a"),
        'a: "true"',
    ),
    Case("a number for a label", graph({}, metadata={"labels": {"a": 1}}), "DYN021", ("metadata", "labels", "a"), 'a: "1"', proposed="1"),
]

VALUES = [
    Case("a known engine", graph({"backendFramework": "trtllm"})),
    Case(
        "an unknown engine",
        graph({"backendFramework": "vlm"}),
        "DYN024",
        ("spec", "backendFramework"),
        "; write vllm",
        proposed="vllm",
    ),
    Case("a word unlike any allowed one", graph({"backendFramework": "x"}), "DYN024", ("spec", "backendFramework"), "; write one of them"),
    Case("an empty word in a field without an empty value", graph({"backendFramework": ""}), "DYN024", ("spec", "backendFramework"), '""'),
    Case("an optional native word may be empty", container(imagePullPolicy="")),
    Case(
        "an unknown word in a native field",
        container(imagePullPolicy="Allways"),
        "DYN024",
        (*CONTAINER, "imagePullPolicy"),
        "write Always, or set unknownFields: warn",
        proposed="Always",
    ),
    Case("0 replicas", worker(replicas=0)),
    Case("negative replicas", worker(replicas=-1), "DYN025", (*MAIN, "replicas"), "-1 is less than the minimum 0; write 0 or more"),
    Case("two nodes", worker(multinode={"nodeCount": 2})),
    Case("multinode with one node", worker(multinode={"nodeCount": 1}), "DYN025", (*MAIN, "multinode", "nodeCount"), "write 2 or more"),
    Case("a number of nodes has a default", worker(multinode={})),
    Case("the largest 32-bit number", worker(replicas=2**31 - 1)),
    Case("the largest 32-bit number plus one", worker(replicas=2**31), "DYN025", (*MAIN, "replicas"), "does not fit into 32 bits"),
    Case("the largest 64-bit number", worker(extraPodSpec={"activeDeadlineSeconds": 2**63 - 1})),
    Case(
        "the largest 64-bit number plus one",
        worker(extraPodSpec={"activeDeadlineSeconds": 2**63}),
        "DYN025",
        (*MAIN, "extraPodSpec", "activeDeadlineSeconds"),
        "64",
    ),
    Case("a restart", graph({"restart": {"id": "1"}})),
    Case("a restart without a name", graph({"restart": {"id": ""}}), "DYN026", ("spec", "restart", "id"), "must not be empty"),
    Case("25 services", graph({"services": {f"s{i}": {} for i in range(25)}})),
    Case(
        "26 services", graph({"services": {f"s{i}": {} for i in range(26)}}), "DYN026", ("spec", "services"), "26 entries, but at most 25"
    ),
    Case(
        "25 services and one that is null",
        graph({"services": {f"s{i}": {} if i else None for i in range(26)}}),
        "DYN028",
        ("spec", "services", "s0"),
    ),
    Case("100 claims", graph({"pvcs": [{"name": f"x{i}"} for i in range(100)]})),
    Case("101 claims", graph({"pvcs": [{"name": f"x{i}"} for i in range(101)]}), "DYN026", ("spec", "pvcs"), "remove 1"),
    Case("a size", graph({"pvcs": [{"name": "x", "size": "100Gi"}]})),
    Case(
        "a size that Kubernetes has no unit for",
        worker(sharedMemory={"size": "16GB"}),
        "DYN027",
        (*MAIN, "sharedMemory", "size"),
        "; write 16G",
        "16G",
    ),
    Case("a time", graph({}, metadata={"creationTimestamp": "2026-01-31T12:00:00Z"})),
    Case(
        "a time and a line break",
        graph({}, metadata={"creationTimestamp": "2026-01-31T12:00:00Z\n"}),
        "DYN027",
        ("metadata", "creationTimestamp"),
    ),
    Case("a date", graph({}, metadata={"creationTimestamp": "2026-01-31"}), "DYN027", ("metadata", "creationTimestamp"), "is not a time"),
]

FIELDS = [
    Case("a required field", worker(modelRef={"name": "x"})),
    Case("without it", worker(modelRef={}), "DYN022", (*MAIN, "modelRef", "name"), "name is required, but missing; write it"),
    Case("with null instead", worker(modelRef={"name": None}), "DYN022", (*MAIN, "modelRef", "name"), "name is required, but null"),
    Case("the main container needs no name", container(image="x")),
    Case(
        "a sidecar needs a name",
        worker(extraPodSpec={"containers": [{"image": "x"}]}),
        "DYN022",
        (*MAIN, "extraPodSpec", "containers", 0, "name"),
        "name",
    ),
    Case("a pod without sidecars", worker(extraPodSpec={"hostNetwork": True})),
    Case("a misspelt field", worker(replica=1), "DYN023", (*MAIN, "replica"), "; write replicas"),
    Case("another convention", worker(readiness_probe=PROBE), "DYN023", (*MAIN, "readiness_probe"), "; write readinessProbe"),
    Case("a field like no other", worker(zzz=1), "DYN023", (*MAIN, "zzz"), "; remove it"),
    Case("a field among few", graph({"restart": {"id": "1", "zzz": 1}}), "DYN023", ("spec", "restart", "zzz"), "write one of id, strategy"),
    Case("a container's field beside it", worker(image="x"), "DYN023", (*MAIN, "image"), "it belongs in extraPodSpec.mainContainer.image"),
    Case("a pod's field outside it", worker(nodeSelector={}), "DYN023", (*MAIN, "nodeSelector"), "it belongs in extraPodSpec.nodeSelector"),
    Case("env for envs", worker(env=[]), "DYN023", (*MAIN, "env"), "; write envs"),
    Case("a service's field in the graph", graph({"replicas": 1}), "DYN023", ("spec", "replicas"), "it belongs in a service, as replicas"),
    Case(
        "a full resource name",
        worker(resources={"limits": {"nvidia.com/gpu": "1"}}),
        "DYN023",
        (*MAIN, "resources", "limits", "nvidia.com/gpu"),
        "gpu",
    ),
    Case(
        "another full resource name",
        worker(resources={"limits": {"rdma/ib": "1"}}),
        "DYN023",
        (*MAIN, "resources", "limits", "rdma/ib"),
        "it below custom",
    ),
    Case("a full resource name in custom", worker(resources={"limits": {"custom": {"rdma/ib": "1"}}})),
    Case("a field of spec beside spec", graph({}, services={}), "DYN023", ("services",), "it belongs in spec.services"),
    Case("a misspelt native field", container(imag="x"), "DYN029", (*CONTAINER, "imag"), "; write image, or set unknownFields: warn"),
    Case("a misspelt field in metadata", graph({}, metadata={"lables": {}}), "DYN029", ("metadata", "lables"), "; write labels, or set"),
    Case(
        "a picker's configuration keeps unknown fields", worker(eppConfig={"config": {"plugins": [], "schedulingProfiles": [], "new": 1}})
    ),
    Case(
        "a plugin takes any settings",
        worker(eppConfig={"config": {"plugins": [{"type": "a", "parameters": {"x": [1, {"y": 1.5}]}}], "schedulingProfiles": []}}),
    ),
    Case(
        "settings of a plugin that are not an object",
        worker(eppConfig={"config": {"plugins": [{"type": "a", "parameters": "x"}], "schedulingProfiles": []}}),
        "DYN021",
        (*MAIN, "eppConfig", "config", "plugins", 0, "parameters"),
        "takes an object",
    ),
    Case(
        "a list of capabilities",
        container(securityContext={"capabilities": ["IPC_LOCK", "SYS_PTRACE"]}),
        "DYN021",
        (*CONTAINER, "securityContext", "capabilities"),
        'write add: ["IPC_LOCK", "SYS_PTRACE"] below it',
        proposed={"add": ["IPC_LOCK", "SYS_PTRACE"]},
    ),
    Case("null counts as absent", worker(labels=None), "DYN028", (*MAIN, "labels"), "remove the line"),
    Case("null in a map", worker(labels={"a": None}), "DYN028", (*MAIN, "labels", "a"), "remove the line"),
    Case("null in a native part", container(resources=None), "DYN028", (*CONTAINER, "resources"), "remove the line"),
    Case("a service may be null", graph({"services": {"a": None}}), "DYN028", ("spec", "services", "a"), "remove the line"),
    Case("a null creationTimestamp, which tools write", graph({}, metadata={"creationTimestamp": None})),
    Case("status is not checked", graph({}, status={"anything": 1})),
]

ADDRESSES = [
    Case("a native kind", {"apiVersion": "v1", "kind": "Service", "spec": 1}),
    Case("a neighbour in the API group", {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy"}),
    Case("an unknown kind in our API version, unlike our kinds", {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver"}),
    Case("no kind at all", {}),
    Case(
        "a version that does not exist",
        {"apiVersion": "nvidia.com/v1", "kind": "DynamoGraphDeployment"},
        "DYN020",
        ("apiVersion",),
        "write nvidia.com/v1alpha1",
        proposed="nvidia.com/v1alpha1",
    ),
    Case(
        "a version that another kind has",
        {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoModel"},
        "DYN020",
        ("apiVersion",),
        "write nvidia.com/v1alpha1",
        proposed="nvidia.com/v1alpha1",
    ),
    Case("no version", {"kind": "DynamoGraphDeployment"}, "DYN020", ("apiVersion",), "null", proposed="nvidia.com/v1alpha1"),
    Case(
        "a slip in the kind",
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymnet"},
        "DYN020",
        ("kind",),
        "write DynamoGraphDeployment",
        proposed="DynamoGraphDeployment",
    ),
    Case(
        "the beginning of a kind",
        {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeploy"},
        "DYN020",
        ("kind",),
        "write DynamoGraphDeployment",
        proposed="DynamoGraphDeployment",
    ),
    Case("a kind of early releases", {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoComponent"}),
]

LISTS = [
    Case("two variables", worker(envs=[{"name": "A"}, {"name": "B"}])),
    Case("one variable twice", worker(envs=[{"name": "A"}, {"name": "A"}]), "DYN085", (*MAIN, "envs", 1, "name"), "the last entry wins"),
    Case("one claim twice", graph({"pvcs": [{"name": "x"}, {"name": "x"}]}), "DYN080", ("spec", "pvcs", 1, "name"), "keep one of the two"),
    Case("one variable twice in a native list", container(env=[{"name": "A"}, {"name": "A"}]), "DYN080", (*CONTAINER, "env", 1, "name")),
    Case(
        "two containers of one name",
        worker(extraPodSpec={"containers": [{"name": "a", "image": "b", "args": ["c"]}, {"name": "a", "image": "d", "args": ["e"]}]}),
        "DYN080",
        (*MAIN, "extraPodSpec", "containers", 1, "name"),
        "give this entry another name, or keep one of the two",
    ),
    Case("one port for two protocols", container(ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}])),
    Case(
        "one port twice, the second time with the default's name",
        container(ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]),
        "DYN080",
        (*CONTAINER, "ports", 1),
        '[1, "TCP"] is in entry 0 too',
    ),
    Case("a secret without a name", worker(extraPodSpec={"imagePullSecrets": [{}]})),
    Case(
        "two secrets without a name",
        worker(extraPodSpec={"imagePullSecrets": [{}, {}]}),
        "DYN080",
        (*MAIN, "extraPodSpec", "imagePullSecrets", 1, "name"),
    ),
    Case("two tolerations, which have no key", worker(extraPodSpec={"tolerations": [{"key": "a"}, {"key": "a"}]})),
    Case("arguments may stand twice", container(args=["a", "a"])),
    Case("a set of exit codes", container(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 2]}}])),
    Case(
        "one exit code twice",
        container(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 1]}}]),
        "DYN080",
        (*CONTAINER, "restartPolicyRules", 0, "exitCodes", "values", 1),
        "1 is in entry 0 too",
    ),
    Case(
        "an entry with another fault is not compared",
        worker(envs=[{"name": 1}, {"name": "A"}]),
        "DYN021",
        (*MAIN, "envs", 0, "name"),
        proposed="1",
    ),
]

REQUEST: dict[str, Any] = {"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "p:1", "config": {}}}
PROFILING = ("spec", "profilingConfig")


def other(kind: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "llm"}, "spec": spec}


def request(**profiling: Any) -> dict[str, Any]:
    return other("DynamoGraphDeploymentRequest", {**REQUEST, "profilingConfig": {**REQUEST["profilingConfig"], **profiling}})


def model(**fields: Any) -> dict[str, Any]:
    return other("DynamoModel", {"modelName": "a", "baseModelName": "b", **fields})


OTHERS = [
    Case("a request", request()),
    Case("a profiler's settings are its own", request(config={"sla": {"ttft": 50.5}, "any": [1, None]})),
    Case("but they are an object", request(config=[]), "DYN021", (*PROFILING, "config"), "takes an object", {}),
    Case("and needed", request(config=None), "DYN022", (*PROFILING, "config"), "config is required, but null"),
    Case("a profiler without an image", request(profilerImage=""), "DYN026", (*PROFILING, "profilerImage"), "must not be empty"),
    Case("a ConfigMap has a default key", request(configMapRef={"name": "c"})),
    Case("a ConfigMap has no default name", request(configMapRef={"key": "c"}), "DYN022", (*PROFILING, "configMapRef", "name")),
    Case("native parts are checked", request(tolerations=[{"ky": "a"}]), "DYN029", (*PROFILING, "tolerations", 0, "ky"), "; write key"),
    Case("an engine is needed", other("DynamoGraphDeploymentRequest", {**REQUEST, "backend": None}), "DYN022", ("spec", "backend")),
    Case("a field beside spec", {**request(), "autoApply": True}, "DYN023", ("autoApply",), "it belongs in spec.autoApply"),
    Case("a request says what it wants", {**request(), "spec": None}, "DYN022", ("spec",), "spec is required, but null"),
    Case(
        "a container's field in a component without a graph",
        other("DynamoComponentDeployment", {"image": "x"}),
        "DYN023",
        ("spec", "image"),
        "it belongs in extraPodSpec.mainContainer.image",
    ),
    Case("a model", model()),
    Case("an adapter", model(modelType="lora", source={"uri": "hf://a/b"})),
    Case("a word in capitals", model(modelType="LoRA"), "DYN024", ("spec", "modelType"), "; write lora", proposed="lora"),
    Case("a source is an object", model(source="hf://a/b"), "DYN021", ("spec", "source"), "for example uri"),
    Case("a model has a name", model(modelName=""), "DYN026", ("spec", "modelName"), "must not be empty"),
    Case("a model has a base model", model(baseModelName=None), "DYN022", ("spec", "baseModelName"), "required"),
    Case("metadata of a worker", other("DynamoWorkerMetadata", {"data": {"endpoints": [1, {"a": None}]}})),
    Case("metadata of a worker without data", other("DynamoWorkerMetadata", {}), "DYN022", ("spec", "data"), "missing"),
]

AT = ("spec", "components", 0)


def newer(spec: Any) -> dict[str, Any]:
    """A graph in v1beta1."""
    return {**graph(spec), "apiVersion": "nvidia.com/v1beta1"}


def component(**fields: Any) -> dict[str, Any]:
    """A graph in v1beta1 with one component."""
    return newer({"components": [{"name": "Worker", **fields}]})


def pod(**fields: Any) -> dict[str, Any]:
    """A graph in v1beta1 with a pod."""
    return component(podTemplate={"spec": {"containers": [{"name": "main"}], **fields}})


def _lost(field: str, mend: str) -> Case:
    """A component with a field of the other version or of another object."""
    return Case(f"{field} in the wrong place", component(**{field: {}}), "DYN023", (*AT, field), f"unknown field; {mend}")


NEWER = [
    Case(
        "capabilities of a pod",
        pod(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}),
        "DYN029",
        (*AT, "podTemplate", "spec", "securityContext", "capabilities"),
        "it belongs in the securityContext of the container, as capabilities",
    ),
    Case("a component", component(type="worker", replicas=1)),
    Case("a flag that is an object", component(scalingAdapter=True), "DYN021", (*AT, "scalingAdapter"), "write {}", {}),
    Case("and one that is off", component(scalingAdapter=False), "DYN021", (*AT, "scalingAdapter"), "; remove it"),
    Case("no name", newer({"components": [{}]}), "DYN022", (*AT, "name"), "name is required"),
    Case("a name with a dot", component(name="a.b"), "DYN027", (*AT, "name"), '"a.b" is not in the required form'),
    Case("one name twice", newer({"components": [{"name": "a"}, {"name": "a"}]}), "DYN080", ("spec", "components", 1, "name")),
    Case("a type of v1alpha1", component(type="main"), "DYN024", (*AT, "type"), "is not one of decode, epp, frontend"),
    Case("a version of two numbers", component(runtimeVersionOverride="1.5"), "DYN027", (*AT, "runtimeVersionOverride")),
    Case(
        "one node",
        component(multinode={"nodeCount": 1}),
        "DYN025",
        (*AT, "multinode", "nodeCount"),
        "less than the minimum 2; remove multinode",
    ),
    Case(
        "two shadows",
        component(experimental={"failover": {"numShadows": 2}}),
        "DYN025",
        (*AT, "experimental", "failover", "numShadows"),
        "2 is more than the maximum 1; write 1 or less",
    ),
    Case(
        "one container twice",
        component(experimental={"gpuMemoryService": {"extraClientContainers": ["a", "a"]}}),
        "DYN080",
        (*AT, "experimental", "gpuMemoryService", "extraClientContainers", 1),
    ),
    Case("no containers", component(podTemplate={"spec": {}}), "DYN022", (*AT, "podTemplate", "spec", "containers")),
    Case(
        "services beside components",
        newer({"components": [{"name": "a"}], "services": {"b": {}}}),
        "DYN023",
        ("spec", "services"),
        "components has the components in this apiVersion, so move the entries of services there, or remove services",
    ),
    Case(
        "components beside services",
        graph({"components": [{"name": "a"}], "services": {"b": {}}}),
        "DYN023",
        ("spec", "components"),
        "services has the components in this apiVersion, so move the entries of components there, or remove components",
    ),
    Case(
        "services alone",
        newer({"services": {}}),
        "DYN023",
        ("spec", "services"),
        "write components, a list of entries with names, or apiVersion: nvidia.com/v1alpha1",
    ),
    Case(
        "components alone",
        graph({"components": []}),
        "DYN023",
        ("spec", "components"),
        "write services, a map from names to components, or apiVersion: nvidia.com/v1beta1",
    ),
    _lost("extraPodSpec", "write podTemplate.spec, and its mainContainer as the container main"),
    _lost("envs", "write env in the container main of podTemplate"),
    _lost("componentType", "write type"),
    _lost("ingress", "write an Ingress as a resource of its own"),
    _lost("resources", "it belongs in the container main of podTemplate, as resources"),
    _lost("tolerations", "it belongs in podTemplate.spec.tolerations"),
    _lost("failover", "it belongs in experimental.failover"),
    _lost("forceScalingGroup", "it belongs in experimental.grove.forceScalingGroup"),
    Case(
        "a switch of v1alpha1",
        component(scalingAdapter={"enabled": True}),
        "DYN023",
        (*AT, "scalingAdapter", "enabled"),
        "remove it, because the object itself switches the feature on",
    ),
    Case("a main container of v1alpha1", pod(mainContainer={}), "DYN029", (*AT, "podTemplate", "spec", "mainContainer"), "with name: main"),
    Case(
        "replicas in a pod", pod(replicas=1), "DYN029", (*AT, "podTemplate", "spec", "replicas"), "it belongs in the component, as replicas"
    ),
    Case("a pod of v1beta1", worker(podTemplate={}), "DYN023", (*MAIN, "podTemplate"), "write extraPodSpec and extraPodMetadata"),
]

ALL = [*TYPES, *VALUES, *FIELDS, *LISTS, *OTHERS, *ADDRESSES, *NEWER]
