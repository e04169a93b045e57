"""Graphs of frontends and mock engines that need no GPU, in both API versions."""

from __future__ import annotations

from typing import Any, NamedTuple

Object = dict[str, Any]

MODEL = "/models/tiny"
CLAIM = "models"
FOLDER = "/models"
_MODEL_ARGUMENTS = ("--model-path", MODEL, "--model-name", MODEL)
_MOCKER = ("python3", "-m", "dynamo.mocker")
_FRONTEND = ("python3", "-m", "dynamo.frontend")
_VLLM = ("python3", "-m", "dynamo.vllm")

# How a mock engine is told its part in a disaggregated graph, by the release of the runtime.
_PARTS = {
    ("0.9.0", "prefill"): ("--is-prefill-worker",),
    ("0.9.0", "decode"): ("--is-decode-worker",),
    **{(release, part): ("--disaggregation-mode", part) for release in ("1.5.1", "1.6.1") for part in ("prefill", "decode")},
}


class Service(NamedTuple):
    """A service of a graph. Its `kind` is frontend, worker, prefill, decode or planner. Without a `command`, the rendered default runs.

    Without an `image`, its image is that of the release.
    """

    name: str
    kind: str
    replicas: int = 1
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    adapter: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    drain: int = 0
    """Seconds between the deletion of a pod and its SIGTERM, in which its callers learn that it goes."""
    image: str = ""
    readiness: Object | None = None
    """Its readiness probe. None: the rendered default."""


def image(release: str) -> str:
    """The image of a release, for pods that the test bed runs."""
    return f"example.com/dynamo:{release}"


def planner_image(release: str) -> str:
    """The image of the planner of a release."""
    return f"example.com/planner:{release}"


def vllm_image(release: str) -> str:
    """The image of a release that has vLLM."""
    return f"example.com/vllm:{release}"


def frontend(replicas: int = 1, *, router: str = "", adapter: bool = False) -> Service:
    """A frontend; `router` is its router mode, such as `kv`."""
    plain = Service("Frontend", "frontend", replicas, adapter=adapter)
    return plain._replace(command=_FRONTEND, arguments=("--router-mode", router)) if router else plain


def worker(replicas: int = 1, *more: str, kind: str = "worker", release: str = "", adapter: bool = False) -> Service:
    """A mock engine with further arguments. A `kind` of prefill or decode depends on the release."""
    part = _PARTS[release, kind] if kind != "worker" else ()
    return Service(kind.capitalize(), kind, replicas, _MOCKER, (*_MODEL_ARGUMENTS, *part, *more), adapter)


def vllm(release: str, replicas: int = 1, *more: str) -> Service:
    """A worker that runs vLLM, with further arguments. With numbers of 16 bits, vLLM would use AMX without asking Linux for it."""
    arguments = ("--model", MODEL, "--max-model-len", "512", "--enforce-eager", "--dtype", "float32", *more)
    return Service("Worker", "worker", replicas, _VLLM, arguments, image=vllm_image(release))


def disaggregated(release: str) -> tuple[Service, Service]:
    """A mock engine for prefill and one for decode."""
    return worker(kind="prefill", release=release), worker(kind="decode", release=release)


def planner(release: str, program: str, *arguments: str) -> Service:
    """A planner that runs this Python module."""
    return Service("Planner", "planner", command=("python3", "-m", program), arguments=arguments, image=planner_image(release))


def v1alpha1(name: str, release: str, *services: Service, **variables: str) -> Object:
    """A graph; all its containers have these environment variables, and do not ask a model hub."""
    spec = {
        "backendFramework": "vllm",
        "envs": _variables(variables),
        "pvcs": [{"name": CLAIM}],
        "services": {each.name: _service(each, release) for each in services},
    }
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": name}, "spec": spec}


def v1beta1(name: str, release: str, *services: Service, **variables: str) -> Object:
    """The same graph as `v1alpha1`."""
    components = [_component(each, release) for each in services]
    spec = {"backendFramework": "vllm", "env": _variables(variables), "components": components}
    return {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": name}, "spec": spec}


def _variables(more: dict[str, str]) -> list[Object]:
    return [{"name": name, "value": value} for name, value in {"HF_HUB_OFFLINE": "1", **more}.items()]


def _service(service: Service, release: str) -> Object:
    part = {"subComponentType": service.kind} if service.kind in ("prefill", "decode") else {}
    return {
        "componentType": "worker" if part else service.kind,
        **part,
        "replicas": service.replicas,
        "scalingAdapter": {"enabled": service.adapter},
        "volumeMounts": [{"name": CLAIM, "mountPoint": FOLDER}],
        "extraPodSpec": {"mainContainer": _container(service, release)},
    }


def _component(service: Service, release: str) -> Object:
    container = {"name": "main", **_container(service, release), "volumeMounts": [{"name": CLAIM, "mountPath": FOLDER}]}
    volume = {"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}
    adapter: Object = {"scalingAdapter": {}} if service.adapter else {}
    pod = {"spec": {"volumes": [volume], "containers": [container]}}
    return {"name": service.name, "type": service.kind, "replicas": service.replicas, **adapter, "podTemplate": pod}


def _container(service: Service, release: str) -> Object:
    """What both API versions say about the main container. The release is known from the tag of its image."""
    said = {"image": service.image or image(release), "command": list(service.command), "args": list(service.arguments)}
    more = {
        "env": [{"name": name, "value": value} for name, value in service.variables],
        "lifecycle": {"preStop": {"sleep": {"seconds": service.drain}}} if service.drain else {},
        "readinessProbe": service.readiness,
    }
    return {key: value for key, value in (said | more).items() if value}
