"""Inputs for the rules about Services and their clients: some that break a rule, and similar ones that do not."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

_KV = {"args": ["--router-mode", "kv"], "command": ["python3", "-m", "dynamo.frontend"]}
_OWN = {probe: {"exec": {"command": ["true"]}} for probe in ("livenessProbe", "readinessProbe")}
_OWN_START = {"startupProbe": {"exec": {"command": ["true"]}}}
_WEB = {"ports": [{"name": "web", "containerPort": 80}], **_OWN}
_FIELD = {"fieldRef": {"fieldPath": "metadata.annotations['port']"}}
_B = "spec.services.B.extraPodSpec.mainContainer"
_GROVE = {"orchestrator": "grove"}
_LATER = {"behaviour": "v1.5"}
_INGRESS = {"enabled": True, "ingressControllerClassName": "nginx", "host": "llm"}


def _frontends(first: Any = None, second: Any = None, **fields: Any) -> Resource:
    """A graph with two frontends, of which the second routes otherwise unless `second` says something else."""
    second = {"main": _KV} if second is None else second
    return given.graph({"A": given.service("frontend", **(first or {}), **fields), "B": given.service("frontend", **second, **fields)})


def _shared(name: str, *, frontend: str = "Frontend", main: Any = None) -> Resource:
    """A graph with a frontend in the Dynamo namespace that several graphs share."""
    return beta.graph(beta.component(frontend, "frontend", main=main, globalDynamoNamespace=True), name=name)


def _each(code: str, *fields: str) -> list[tuple[str, str]]:
    return [(code, field) for field in fields]


UNTYPED = [
    fires("DYN106", "spec.services.A.componentType", "a service without a type", given.graph({"A": given.service()})),
    fires("DYN106", "spec.services.A.componentType", "the same under Grove", given.graph({"A": given.service()}), **_GROVE),
    fires("DYN106", "spec.components[0].type", "a component without a type", beta.graph(beta.component("A", ""))),
    quiet(
        "no type, with a label that the Service selects",
        given.graph({"A": given.service(extraPodMetadata={"labels": {labels.COMPONENT_TYPE: ""}})}),
    ),
    quiet("no type and no Service", beta.graph(beta.component("A", ""), annotations={labels.DISCOVERY_BACKEND: "etcd"})),
]
FORMER = [
    fires("DYN104", "spec.services.A.componentType", "the former name of frontend", given.graph({"A": given.service("main")})),
    fires("DYN104", "spec.services.A.componentType", "the same later", given.graph({"A": given.service("main")}), behaviour="v1.5"),
    quiet("its name of today", given.graph({"A": given.service("frontend")})),
]

SHARED = [
    Case("two frontends of one graph", _each("DYN126", "spec.services.A", "spec.services.B"), [_frontends()]),
    Case("the same under Grove", _each("DYN126", "spec.services.A", "spec.services.B"), [_frontends()], _GROVE),
    quiet("the same since 1.0, whose Services select by name", _frontends(), behaviour="v1.2"),
    quiet("two frontends that answer alike", _frontends(second={"replicas": 3})),
    Case(
        "another frontend without the port, which only has the requests of its own Service sent elsewhere",
        [("DYN126", "spec.services.B"), ("DYN128", f"{_B}.ports"), ("DYN300", f"{_B}.livenessProbe"), ("DYN300", f"{_B}.readinessProbe")],
        [_frontends(second={"main": {**_KV, **_WEB}})],
    ),
    quiet("two workers, whose Services nobody calls", given.graph({"A": given.service("worker"), "B": given.service("worker", main=_KV)})),
    Case(
        "a worker with an ingress, beside another",
        _each("DYN126", "spec.services.A"),
        [given.graph({"A": given.service("worker", ingress=_INGRESS), "B": given.service("worker", main=_KV)})],
    ),
    Case(
        "frontends of two graphs with one name and one Dynamo namespace",
        _each("DYN126", "spec.components[0].name", "spec.components[0].name"),
        [_shared("chat"), _shared("code", main=_KV)],
    ),
    quiet("the same with two names", _shared("chat"), _shared("code", main=_KV, frontend="Other")),
    quiet(
        "the same in two namespaces",
        _shared("chat"),
        {**(code := _shared("code", main=_KV)), "metadata": {**code["metadata"], "namespace": "b"}},
    ),
]

_VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "acme/tiny"]}
_SERVICE = "spec.services.Worker"
_MAIN = f"{_SERVICE}.extraPodSpec.mainContainer"
_AT_8081 = {"env": [{"name": "DYN_SYSTEM_PORT", "value": "8081"}]}
_SYSTEM = {"name": "system", "containerPort": 9090}
_PORT_8081 = {"ports": [{"name": "system", "containerPort": 8081}]}


def _worker(*, main: Any = None, **fields: Any) -> Resource:
    return given.graph({"Worker": given.service("worker", main={**_VLLM, **(main or {})}, **fields)})


def _web(*args: str, main: Any = None, **fields: Any) -> Resource:
    """A frontend, which runs `dynamo.frontend` with these arguments."""
    command = {"command": ["python3", "-m", "dynamo.frontend"], "args": [*args]}
    return given.graph({"Worker": given.service("frontend", main={**command, **(main or {})}, **fields)})


def _variable(value: str) -> Resource:
    return {"env": [{"name": "DYN_SYSTEM_PORT", "value": value}]}


_HEALTH_PATH = {"name": "DYN_SYSTEM_HEALTH_PATH", "value": "/ready"}


def _asks(port: int | str, **fields: Any) -> dict[str, Any]:
    return {"livenessProbe": {"httpGet": {"path": "/live", "port": port, **fields}}}


def _shell(line: str) -> Resource:
    return {"command": ["sh", "-c"], "args": [line]}


PORTS = [
    fires("DYN129", f"{_MAIN}.env[0]", "a variable that moves the system server", _worker(main=_AT_8081)),
    fires("DYN129", f"{_MAIN}.env[0]", "the same under Grove", _worker(main=_AT_8081), **_GROVE),
    fires("DYN129", f"{_MAIN}.env[0]", "a variable that turns the server off", _worker(main=_variable("-1"))),
    fires("DYN129", f"{_MAIN}.env[0]", "a variable without a value, which turns it off", _worker(main=_variable(""))),
    fires("DYN129", f"{_MAIN}.env[0]", "a random port", _worker(main=_variable("0"))),
    fires("DYN129", "spec.services.Worker.envs[0]", "a variable of the service", _worker(envs=_AT_8081["env"])),
    fires("DYN129", f"{_MAIN}.ports[0].containerPort", "a port that the server does not have", _worker(main=_PORT_8081)),
    fires(
        "DYN129",
        "spec.components[0].podTemplate.spec.containers[0].env[0]",
        "a component of v1beta1 with the program of its image",
        beta.graph(beta.component("Worker", main=_AT_8081)),
    ),
    quiet("the variable and the port moved together", _worker(main={**_AT_8081, **_PORT_8081})),
    quiet("the default, written out", _worker(main=_variable("9090"))),
    quiet("a value that only the cluster knows", _worker(main={"env": [{"name": "DYN_SYSTEM_PORT", "valueFrom": _FIELD}]})),
    quiet("a reference to another variable", _worker(main=_variable("$(OTHER)"))),
    quiet("a shell that sets the variable again", _worker(main={**_AT_8081, **_shell("DYN_SYSTEM_PORT=9090 python3 -m dynamo.vllm")})),
    quiet("another program on another port", _worker(main={**_PORT_8081, "command": ["serve"], "args": []})),
    quiet("probes that ask something else", _worker(main={**_AT_8081, **_OWN_START}, **_OWN)),
    fires("DYN129", f"{_MAIN}.args[0]", "a flag that moves the server of a frontend", _web("--http-port", "9000")),
    fires("DYN129", f"{_MAIN}.args[0]", "the value in the flag", _web("--http-port=9000")),
    fires("DYN129", f"{_MAIN}.args[0]", "a line for a shell", _web(main=_shell("exec python3 -m dynamo.frontend --http-port 9000"))),
    fires("DYN129", f"{_MAIN}.env[0]", "a variable that moves it", _web(main={"env": [{"name": "DYN_HTTP_PORT", "value": "9000"}]})),
    fires("DYN129", f"{_MAIN}.args[0]", "own probes, and the port of the Service", _web("--http-port=9000", main=_OWN_START, **_OWN)),
    quiet("the flag over the variable", _web("--http-port=8000", main={"env": [{"name": "DYN_HTTP_PORT", "value": "9000"}]})),
    quiet("the flag and the port", _web("--http-port=9000", main={"ports": [{"name": "http", "containerPort": 9000}]})),
    quiet("a flag with a variable", _web(main=_shell("python3 -m dynamo.frontend --http-port $PORT"))),
    quiet("a flag of two programs", _web(main=_shell("python3 -m dynamo.frontend --http-port 9000 & python3 -m web --http-port 8000"))),
    quiet("a flag of another program", _web(main={"command": ["gateway"], "args": ["--http-port", "9000"]})),
    fires("DYN129", "spec.services.Worker.envs[0]", "a variable of the service, later", _worker(envs=_AT_8081["env"]), behaviour="v1.5"),
    fires("DYN129", "spec.env[0]", "a variable of the graph", beta.graph(beta.component("Worker", main=_VLLM), env=_AT_8081["env"])),
    fires("DYN129", f"{_SERVICE}.livenessProbe.httpGet.port", "a probe with another number", _worker(**_asks(8081)), **_LATER),
    fires("DYN129", f"{_SERVICE}.livenessProbe.httpGet.port", "the same of a frontend", _web(**_asks(8080)), **_LATER),
    fires(
        "DYN129",
        f"{_SERVICE}.livenessProbe.httpGet.port",
        "a number that a default variable has",
        _web(**_asks(9090)),
        **_LATER,
        prometheus_endpoint="http://prometheus:9090",
    ),
    quiet("a probe with the number of the server", _worker(**_asks(9090)), **_LATER),
    quiet("a number among the ports", _worker(**_asks(8081), main={"ports": [_SYSTEM, {"containerPort": 8081}]}), **_LATER),
    quiet("a number in the command line", _worker(**_asks(8081), main={"args": ["--model", "m", "--port", "8081"]}), **_LATER),
    quiet("a number in a variable", _worker(**_asks(8081), main={"env": [{"name": "PORT", "value": "8081"}]}), **_LATER),
    quiet("another host", _worker(**_asks(8081, host="192.0.2.1")), **_LATER),
    fires(
        "DYN129",
        f"{_SERVICE}.livenessProbe.httpGet.path",
        "a path of another server",
        _worker(**_asks("system", path="/healthz")),
        **_LATER,
    ),
    fires("DYN129", f"{_SERVICE}.livenessProbe.httpGet.path", "the same of a frontend", _web(**_asks(8000, path="/livez")), **_LATER),
    fires("DYN129", f"{_SERVICE}.livenessProbe.httpGet.scheme", "a probe by HTTPS", _worker(**_asks("system", scheme="HTTPS")), **_LATER),
    quiet("a probe by HTTP", _worker(**_asks("system", scheme="HTTP")), **_LATER),
    quiet("a frontend with a certificate", _web("--tls-cert-path", "/tls/tls.crt", **_asks(8000, scheme="HTTPS")), **_LATER),
    quiet("the path of the metrics", _worker(**_asks("system", path="/metrics")), **_LATER),
    quiet("a path that a variable moves", _worker(**_asks(9090, path="/ready"), main={"env": [_HEALTH_PATH]}), **_LATER),
    quiet("a path of a ConfigMap", _worker(**_asks(9090, path="/ready"), main={"envFrom": [{"configMapRef": {"name": "e"}}]}), **_LATER),
    quiet("a path of another program", _worker(**_asks(9090, path="/ready"), main={"command": ["serve"], "args": []}), **_LATER),
    quiet("a sidecar, which may listen", _worker(**_asks(8081), pod={"containers": [{"name": "proxy", "image": "proxy"}]}), **_LATER),
    quiet("another program with a probe", _worker(**_asks(8081), main={"command": ["serve"], "args": []}), **_LATER),
    quiet("a worker, whose DYN_HTTP_PORT nobody reads", _worker(main={"env": [{"name": "DYN_HTTP_PORT", "value": "9000"}]})),
]

_PLANNER = {"command": ["python3", "-m", "dynamo.planner"]}


def _planned(config: Any, *replicas: int, args: Any = None, program: Any = None) -> Resource:
    """A graph with a planner and engines with two GPUs a replica. `config` is the planner's `--config`."""
    arguments = ["--config", config if isinstance(config, str) else json.dumps(config)] if args is None else args
    gpus = {"scalingAdapter": {}, "main": {**_VLLM, "resources": {"limits": {"nvidia.com/gpu": "2"}}}}
    engines = [
        beta.component(f"E{number}", "decode" if number else "prefill", replicas=count, **gpus) for number, count in enumerate(replicas)
    ]
    return beta.graph(
        beta.component("Planner", "planner", main={**(program or _PLANNER), "args": arguments}), beta.component("F", "frontend"), *engines
    )


_ARGS = "spec.components[0].podTemplate.spec.containers[0].args"
BUDGETS = [
    fires("DYN138", f"{_ARGS}[0]", "more GPUs than the budget", _planned({"max_gpu_budget": 7}, 2, 2)),
    quiet("as many as the budget", _planned({"max_gpu_budget": 8}, 2, 2)),
    fires("DYN138", f"{_ARGS}[0]", "more than the budget of the default", _planned({"mode": "disagg"}, 2, 3)),
    quiet("no budget", _planned({"max_gpu_budget": -1}, 20, 20)),
    fires("DYN138", f"{_ARGS}[0]", "the value in the flag", _planned({}, 2, 2, args=['--config={"max_gpu_budget":1}'])),
    fires("DYN138", f"{_ARGS}[0]", "the flag of Dynamo 0.9", _planned({}, 2, 2, args=["--max-gpu-budget", "4"])),
    quiet("a planner that only observes", _planned({"max_gpu_budget": 4, "advisory": True}, 2, 2)),
    quiet("the same in Dynamo 0.9", _planned({}, 2, 2, args=["--max-gpu-budget=4", "--no-operation"])),
    quiet("a planner that asks a global one", _planned({"max_gpu_budget": 4, "environment": "global-planner"}, 2, 2)),
    quiet("one of two phases", _planned({"max_gpu_budget": 4, "mode": "prefill"}, 2, 9)),
    fires("DYN138", f"{_ARGS}[0]", "the phase of the planner", _planned({"max_gpu_budget": 4, "mode": "decode"}, 2, 9)),
    quiet(
        "engines with fewer GPUs for the planner",
        _planned({"max_gpu_budget": 4, "prefill_engine_num_gpu": 1, "decode_engine_num_gpu": 1}, 2, 2),
    ),
    quiet("a file", _planned("/etc/planner.yaml", 9, 9)),
    quiet("no JSON object", _planned("[1]", 9, 9)),
    quiet("a budget of another type", _planned({"max_gpu_budget": "4"}, 9, 9)),
    quiet("another program", _planned({"max_gpu_budget": 1}, 2, 2, program={"command": ["scale"]})),
]

_OLD = {"dynamoNamespace": "shared"}


def _part(name: str, kind: str, **fields: Any) -> Resource:
    """One of several graphs, with one service whose ignored `dynamoNamespace` is that of the others."""
    written = {key: value for key, value in {**_OLD, **fields}.items() if value is not None}
    return given.graph({"A": given.service(kind, **written)}, name=name)


_IGNORED = ("DYN112", "spec.services.A.dynamoNamespace")
_UNTYPED = ("DYN106", "spec.services.A.componentType")
_APART = ("DYN137", "spec.services")
FRONTENDS = [
    Case(
        "frontend and worker in two graphs with one dynamoNamespace",
        [_APART, _IGNORED, _APART, _IGNORED],
        [_part("web", "frontend"), _part("model", "worker")],
    ),
    Case("the same with two values", [_IGNORED] * 2, [_part("web", "frontend"), _part("model", "worker", dynamoNamespace="other")]),
    Case("the name of one begins that of the other", [_IGNORED] * 2, [_part("chat", "frontend"), _part("chat-model", "worker")]),
    Case(
        "a variable that names the other's",
        [_IGNORED] * 2,
        [_part("web", "frontend", envs=[{"name": "DYN_NAMESPACE", "value": "team-model"}]), _part("model", "worker")],
    ),
    Case(
        "a graph of Dynamo 0.3",
        [_APART, _UNTYPED],
        [_part("old", "", main=_shell("dynamo serve graphs.agg:Frontend"), dynamoNamespace=None)],
    ),
    Case("a graph of later releases", [_UNTYPED], [_part("old", "", main=_shell("python3 -m dynamo.frontend"), dynamoNamespace=None)]),
]

ALL: list[Case] = [*UNTYPED, *FORMER, *SHARED, *PORTS, *BUDGETS, *FRONTENDS]
