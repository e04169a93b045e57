"""Config: the settings that the reference operator takes from Helm values and flags, read from the functionConfig.

`krm_fn.api.render` holds their schema. A test keeps the defaults of both modules equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.records import NamedTuple
from krm_fn.results import Result
from krm_fn.schema import check

API_VERSION = f"{labels.PREFIX}v1alpha1"
KIND = "DynamoRender"
OPERATOR = "OperatorConfiguration"
DYNAMO_GROUP = identity.DYNAMO_GROUP


class LeaderWorkerSet(NamedTuple):
    """LeaderWorkerSets in deployment mode. `enabled` is true if they run multinode services."""

    enabled: bool = True


class KaiScheduler(NamedTuple):
    """The KAI scheduler, for Grove only. `enabled` is true if it schedules the pods; `queue` is its queue."""

    enabled: bool = False
    queue: str = "dynamo"


class VolcanoScheduler(NamedTuple):
    """The Volcano scheduler, for Grove only. `enabled` is true if it schedules the pods."""

    enabled: bool = False


class Grove(NamedTuple):
    """The settings of PodCliqueSets."""

    termination_delay: str = "15m"
    kai_scheduler: KaiScheduler = KaiScheduler()
    volcano_scheduler: VolcanoScheduler = VolcanoScheduler()
    schedulers: tuple[str, ...] = ("default-scheduler", "kai-scheduler")


class Ingress(NamedTuple):
    """The default ingress of frontends without an `ingress` field."""

    class_name: str = ""
    tls_secret_name: str = ""
    host_suffix: str = ""
    istio_gateway: str = ""


class Rbac(NamedTuple):
    """The names of the ClusterRoles that the platform installs."""

    planner_role: str = "dynamo-planner"
    epp_role: str = "dynamo-epp"
    profiling_role: str = "dynamo-profiling"


class Profiling(NamedTuple):
    """The profiling Jobs of requests. `copier_image` has a shell and kubectl; it checks for the output of a Job and publishes it."""

    copier_image: str = "docker.io/alpine/k8s:1.34.1"


class PullSecret(NamedTuple):
    """An image pull secret in the cluster, and the registry that it is for."""

    registry: str = ""
    name: str = ""


class Istio(NamedTuple):
    """The TLS settings of Istio's DestinationRules."""

    tls_mode: str = "SIMPLE"
    insecure_skip_verify: bool = True
    client_certificate: str = ""
    private_key: str = ""
    ca_certificates: str = ""


class ServiceMesh(NamedTuple):
    """The service mesh between a gateway and an endpoint picker. `enabled` is true if the mesh needs a DestinationRule."""

    enabled: bool = False
    provider: str = "istio"
    istio: Istio = Istio()


class Config(NamedTuple):
    """The settings of one run. Each field has the same name in the functionConfig, in camelCase."""

    behaviour: str = ""
    operator_version: str = "1.5.0"
    worker_hash: str = "pods"
    source_version: str = "keep"
    orchestrator: str = "deployment"
    leader_worker_set: LeaderWorkerSet = LeaderWorkerSet()
    grove: Grove = Grove()
    discovery_backend: str = "kubernetes"
    nats_address: str = ""
    etcd_address: str = ""
    model_express_url: str = ""
    prometheus_endpoint: str = ""
    mpi_secret_name: str = "mpi-run-ssh-secret"  # noqa: S105 - the name of a Secret
    namespace: str = ""
    ingress: Ingress = Ingress()
    rbac: Rbac = Rbac()
    profiling: Profiling = Profiling()
    service_mesh: ServiceMesh = ServiceMesh()
    dra: bool = True
    image_pull_secrets: tuple[PullSecret, ...] = ()
    debugger_image: str = "python:3.12-slim"
    retain_volumes: bool = True
    source: str = "keep"
    components: bool = False
    unknown_fields: str = "error"
    restart: str = "render"


def key(attribute: str) -> str:
    """The name of an attribute in the functionConfig.

    >>> key("nats_address"), key("model_express_url")
    ('natsAddress', 'modelExpressURL')
    """
    first, *rest = attribute.split("_")
    return first + "".join("URL" if word == "url" else word.title() for word in rest)


def read(function_config: dict[str, Any] | None) -> tuple[Config, list[Result]]:
    """Returns the settings in a functionConfig, and all findings about it.

    The functionConfig may be a DynamoRender, a ConfigMap with the same keys as strings (`kpt fn eval -- natsAddress=…`), a Dynamo
    resource with the settings as annotations (kustomize `generators:`), the OperatorConfiguration of a Dynamo operator, or absent (KRM
    Functions Specification, `functionConfig`).
    """
    if function_config is None:
        return Config(), []
    address = results.ref(function_config)
    group = address.api_version.partition("/")[0]
    if address.kind == KIND or f"{group}/" == labels.PREFIX:
        return _typed(function_config)
    if (address.api_version, address.kind) == ("v1", "ConfigMap"):
        return _texts(function_config, function_config.get("data"), ("data",), "")
    if group == DYNAMO_GROUP:
        return _texts(function_config, labels.notes(function_config), ("metadata", "annotations"), labels.SETTINGS)
    if is_config(address):
        return _of_operator(function_config)
    said = f"functionConfig is a {address.kind or 'nameless kind'} of {address.api_version or 'no apiVersion'}"
    return Config(), [results.error("DYN040", f"{said}; write a {KIND} of {API_VERSION}, or a ConfigMap with its keys", address)]


def is_config(address: results.Ref) -> bool:
    """True for a kind that only configures: a DynamoRender, and the OperatorConfiguration of a Dynamo operator."""
    return address.kind == KIND or (address.kind == OPERATOR and address.api_version.partition("/")[0].endswith(f".{DYNAMO_GROUP}"))


def _typed(function_config: dict[str, Any]) -> tuple[Config, list[Result]]:
    spec = function_config.get("spec")
    if not isinstance(spec, dict):
        return Config(), list(check.config(function_config))
    if "behaviour" in spec:
        spec = {**spec, "behaviour": _release(spec["behaviour"])}
    found = list(check.config({**function_config, "spec": spec}))
    if results.failed(found):  # the namespace stays, or DYN057 would follow from a mistake in another setting
        namespace = spec.get("namespace")
        return Config(namespace=namespace if isinstance(namespace, str) else ""), found
    config: Config = _fill(Config, spec)
    return config, [*found, *_check_mesh(config.service_mesh, results.ref(function_config))]


def _check_mesh(mesh: ServiceMesh, address: results.Ref) -> Iterator[Result]:
    """Reports a TLS mode without its files: Istio refuses such a DestinationRule."""
    files = {"clientCertificate": mesh.istio.client_certificate, "privateKey": mesh.istio.private_key}
    for name, file in files.items() if mesh.enabled and mesh.istio.tls_mode == "MUTUAL" else ():
        if not file:
            message = f"{name} is required with tlsMode: MUTUAL; name a file in the proxies, or use another mode"
            yield results.error("DYN429", message, address, ("spec", "serviceMesh", "istio", name))


def _of_operator(function_config: dict[str, Any]) -> tuple[Config, list[Result]]:
    """Reads an OperatorConfiguration. Annotations on it set the keys that it does not have, and override the others."""
    from krm_fn import operator_config  # noqa: PLC0415 - most configurations are of other kinds

    spec, found = operator_config.read(function_config)
    config, wrong = _texts(function_config, labels.notes(function_config), ("metadata", "annotations"), labels.SETTINGS, spec)
    return config, [*found, *wrong]


def _release(written: Any) -> Any:
    """A release as a text that starts with `v`. YAML reads `0.9` as a number."""
    text = str(written) if isinstance(written, float | int) and not isinstance(written, bool) else written
    return f"v{text}" if isinstance(text, str) and text[:1].isdigit() else text


def _texts(
    holder: dict[str, Any], data: Any, at: results.Path, prefix: str, base: dict[str, Any] | None = None
) -> tuple[Config, list[Result]]:
    """Reads settings that are written as strings, and adds them to those of `base`. A dot in a key separates the levels of a setting."""
    spec: dict[str, Any] = base or {}
    spelled: dict[results.Path, str] = {}
    for name, text in (data if isinstance(data, dict) else {}).items():
        if not name.startswith(prefix):
            continue
        steps = tuple(name.removeprefix(prefix).split("."))
        spelled[steps] = name
        inner = spec
        for step in steps[:-1]:
            nested = inner.setdefault(step, {})
            inner = nested if isinstance(nested, dict) else {}
        inner[steps[-1]] = _value(Config, steps, text)
    address = results.ref(holder)
    config, found = _typed({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "texts"}, "spec": spec})
    return config, [*_moved(found, address, at, spelled), *_twice(address, at, spelled)]


def _moved(found: list[Result], address: results.Ref, at: results.Path, spelled: dict[results.Path, str]) -> Iterator[Result]:
    """Moves findings about the typed form to the key that the user wrote."""
    for result in found:
        steps = tuple(str(step) for step in result.path[1:])
        name = next((name for key, name in spelled.items() if key[: len(steps)] == steps[: len(key)]), "")
        yield result._replace(ref=address, path=(*at, name) if name else at)


def _twice(address: results.Ref, at: results.Path, spelled: dict[results.Path, str]) -> Iterator[Result]:
    """Reports a nested setting whose parent is also set, because the order of the keys would decide which one wins."""
    for steps, name in spelled.items():
        for whole in (spelled[steps[:length]] for length in range(1, len(steps)) if steps[:length] in spelled):
            yield results.error("DYN041", f"{name} is also set by {whole}; keep one of the two", address, (*at, name))


def _value(kind: type, steps: results.Path, text: Any) -> Any:
    """Converts a text to the type of the setting. An unreadable text stays text, and the schema check reports it."""
    default = _default(kind, steps)
    if not isinstance(text, str) or isinstance(default, str) or default is None:
        return text
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text, text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _default(kind: Any, steps: results.Path) -> Any:
    value = kind()
    for step in steps:
        attribute = next((name for name in getattr(value, "_fields", ()) if key(name) == step), None)
        if attribute is None:
            return None
        value = getattr(value, attribute)
    return value


def _fill(kind: Any, spec: dict[str, Any]) -> Any:
    """Makes a settings tuple from its checked dict. Missing and null fields keep their defaults."""
    written = {name: spec[key(name)] for name in kind._fields if spec.get(key(name)) is not None}
    defaults = kind._field_defaults
    for name, value in written.items():
        if hasattr(defaults[name], "_fields"):
            written[name] = _fill(type(defaults[name]), value)
        elif isinstance(defaults[name], tuple):
            written[name] = tuple(_fill(PullSecret, entry) if isinstance(entry, dict) else entry for entry in value)
    return kind(**written)
