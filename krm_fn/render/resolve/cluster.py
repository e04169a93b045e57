"""Pull secrets, service accounts, ConfigMaps and base models found among the input items, in place of the operator's cluster lookups.

Follows the operator's `internal/secrets/docker.go` RefreshIndex and `controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import encryption
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.device_claims import Devices
    from krm_fn.kubernetes.types import Resource


_KINDS = ("ConfigMap", "ServiceAccount", "Secret")
_MODEL_KINDS = (dynamo_api.MODEL, dynamo_api.GRAPH, dynamo_api.COMPONENT)
_DEVICE_KINDS = ("ResourceClaimTemplate", "ResourceClaim", "DeviceClass")
NAMESPACE = "default"
"""The namespace of resources without one.

Rule metadata.default-namespace: A resource without a namespace is in the namespace `default`, unless the configuration names another.
(krm-fn)
"""
_TOPOLOGIES = ("ClusterTopologyBinding", "ClusterTopology")
_DOCKER_CONFIG = ".dockerconfigjson"


class BaseModels(NamedTuple):
    """Base models by namespace.

    `served` has namespace and name of those that a service serves. `hashes` maps a namespace and a hash to the names with this hash.
    """

    served: frozenset[tuple[str, str]] = frozenset()
    hashes: dict[tuple[str, str], tuple[str, ...]] = {}

    def alike(self, namespace: str, name: str) -> str:
        """Returns another base model of the namespace with the same hash; empty if every other one has another hash."""
        return next((other for other in self.hashes.get((namespace, names.model_hash(name)), ()) if other != name), "")


class ClusterFacts(NamedTuple):
    """Pull secrets, service accounts, ConfigMaps and base models.

    `secrets` maps namespace and registry host to Secret names; `everywhere` maps a registry host to the Secrets of the configuration.
    `accounts` maps a namespace to its ServiceAccounts; `fallback` maps it to the ServiceAccount marked for pods without an account.
    `config_maps` maps namespace and name of a ConfigMap to its keys. `outputs` maps namespace and name of a claim to the requests that
    write into it. `topologies` maps the name of a ClusterTopologyBinding to its domains. `devices` are the
    claims for devices; None if the items have none.
    """

    secrets: dict[tuple[str, str], tuple[str, ...]] = {}
    everywhere: dict[str, tuple[str, ...]] = {}
    accounts: dict[str, tuple[str, ...]] = {}
    fallback: dict[str, str] = {}
    config_maps: dict[tuple[str, str], frozenset[str]] = {}
    models: BaseModels = BaseModels()
    outputs: dict[tuple[str, str], tuple[str, ...]] = {}
    topologies: dict[str, tuple[str, ...]] = {}
    devices: Devices | None = None

    def pull_secrets(self, namespace: str, image: str) -> tuple[str, ...]:
        """Returns the Secrets for an image's registry: those among the items, then those of the configuration."""
        host = registry_host(image)
        if not host:
            return ()
        names = self.secrets.get((namespace, host), ()) + self.everywhere.get(host, ())
        return tuple(dict.fromkeys(names))


def default_namespace(config: Config) -> str:
    """Returns the namespace of resources without one."""
    return config.namespace or NAMESPACE


def namespace(resource: Resource, config: Config) -> str:
    """Returns the namespace of a resource: its own, otherwise the configured one, otherwise `default`, as in kubectl."""
    return results.ref(resource).namespace or default_namespace(config)


def read(resources: Sequence[Resource], config: Config) -> tuple[ClusterFacts, list[Result]]:
    """Reads the facts from the items that a user wrote, and reports the Secrets that cannot be read.

    An unreadable Secret is a warning, and the other Secrets are used; the operator discards all Secrets then. Objects that an earlier run
    generated must not be among the items, because this run may remove them.
    """
    findings: list[Result] = []
    secrets: dict[tuple[str, str], list[str]] = {}
    accounts: dict[str, list[str]] = {}
    fallback: dict[str, str] = {}
    config_maps: dict[tuple[str, str], frozenset[str]] = {}
    cluster_objects = [resource for resource in resources if resource.get("kind") in _KINDS]
    for resource in sorted(cluster_objects, key=lambda item: results.ref(item).name):
        address, resource_namespace = results.ref(resource), namespace(resource, config)
        if (address.api_version, address.kind) == ("v1", "ServiceAccount"):
            accounts.setdefault(resource_namespace, []).append(address.name)
            if labels.of(resource).get(labels.COMPONENT_POD) == "true":
                fallback.setdefault(resource_namespace, address.name)
        elif (address.api_version, address.kind) == ("v1", "ConfigMap"):
            data = resource.get("data")
            config_maps[resource_namespace, address.name] = frozenset(data if isinstance(data, dict) else ())
        elif address.kind == "Secret" and resource.get("type") == "kubernetes.io/dockerconfigjson":
            if encryption.is_encrypted(resource):
                findings += _note_encrypted(resource, config)
                continue
            try:
                for host in _hosts(resource):
                    secrets.setdefault((resource_namespace, host), []).append(address.name)
            except ValueError as problem:
                message = (
                    f"{problem}, so no image is pulled with this Secret; correct it, or name it under imagePullSecrets in the settings"
                )
                findings.append(results.warning(codes.UNREADABLE_PULL_SECRET, message, address, ("data", _DOCKER_CONFIG)))
    everywhere: dict[str, tuple[str, ...]] = {}
    for entry in config.image_pull_secrets:
        host = registry_host(entry.registry) or entry.registry
        everywhere[host] = (*everywhere.get(host, ()), entry.name)
    models = _base_models((namespace(resource, config), resource) for resource in resources if _names_models(resource))
    outputs = _outputs((namespace(resource, config), resource) for resource in resources if _is_request(resource))
    bindings = [resource for resource in resources if resource.get("kind") in _TOPOLOGIES]
    levels, devices = _domains(bindings), _devices(resources, config)
    return ClusterFacts(_frozen(secrets), everywhere, _frozen(accounts), fallback, config_maps, models, outputs, levels, devices), findings


def _note_encrypted(resource: Resource, config: Config) -> Iterator[Result]:
    """Yields the note about an encrypted Secret, whose registry is unknown. The configuration can name the registry."""
    address = results.ref(resource)
    if address.name not in {entry.name for entry in config.image_pull_secrets}:
        message = "the Secret is encrypted, so krm-fn adds it to no image; if pods need it, name it under imagePullSecrets in the settings"
        yield results.info(codes.UNREADABLE_PULL_SECRET, message, address, ("data", _DOCKER_CONFIG))


def _devices(resources: Sequence[Resource], config: Config) -> Devices | None:
    """Returns the claims and device classes among the items."""
    devices = [resource for resource in resources if resource.get("kind") in _DEVICE_KINDS]
    if not devices:
        return None
    from krm_fn.kubernetes import device_claims  # noqa: PLC0415 - few inputs hold claims

    return device_claims.read((namespace(resource, config), resource) for resource in devices)


def _is_request(resource: Resource) -> bool:
    return resource.get("kind") == dynamo_api.REQUEST and dynamo_api.is_dynamo(resource)


def _names_models(resource: Resource) -> bool:
    """True for a Dynamo resource that a user wrote and that names base models."""
    return resource.get("kind") in _MODEL_KINDS and dynamo_api.is_dynamo(resource)


def registry_host(image: str) -> str:
    """Returns host and port of an image, or of a key of `auths`; empty if it has none (reference: common/url.go GetHost).

    >>> registry_host("nvcr.io/nvidia/x:1"), registry_host("localhost:5000/a:b"), registry_host("ubuntu:22.04")
    ('nvcr.io', 'localhost:5000', '')
    """
    rest = image.partition("://")[2] if "://" in image else image
    for stop in "/?#":
        rest = rest.partition(stop)[0]
    host = rest.rpartition("@")[2]
    port = host.rpartition(":")[2] if ":" in host else ""
    return host if not port or (port.isascii() and port.isdigit()) else ""


def _hosts(secret: Resource) -> Iterator[str]:
    from binascii import a2b_base64  # noqa: PLC0415 - few inputs hold pull secrets

    data, plain = secret.get("data"), secret.get("stringData")
    try:
        if isinstance(plain, dict) and isinstance(plain.get(_DOCKER_CONFIG), str):
            content = json.loads(plain[_DOCKER_CONFIG])
        else:
            lines = data[_DOCKER_CONFIG].split() if isinstance(data, dict) else []
            content = json.loads(a2b_base64("".join(lines), strict_mode=True))
    except (KeyError, AttributeError, ValueError, RecursionError) as problem:
        raise ValueError(f"{_DOCKER_CONFIG} is missing or is not JSON in base64") from problem
    auths = content.get("auths") if isinstance(content, dict) else None
    for number, key in enumerate(auths if isinstance(auths, dict) else ()):
        if not registry_host(key):
            raise ValueError(f"key {number} of auths, counted from 0, has no registry host")  # the key may hold a password
        yield registry_host(key)


def _frozen(index: dict[Any, list[str]]) -> dict[Any, tuple[str, ...]]:
    return {key: tuple(dict.fromkeys(names)) for key, names in index.items()}


def _base_models(placed: Iterable[tuple[str, Resource]]) -> BaseModels:
    """Reads the base models of resources, each with its namespace. The resources may be malformed; what cannot be read is left out."""
    served: set[tuple[str, str]] = set()
    hashes: dict[tuple[str, str], dict[str, None]] = {}
    for namespace, resource in placed:
        for name in filter(None, _names(resource)):
            hashes.setdefault((namespace, names.model_hash(name)), {})[name] = None
            if resource["kind"] != dynamo_api.MODEL:
                served.add((namespace, name))
    return BaseModels(frozenset(served), {key: tuple(names_of_hash) for key, names_of_hash in hashes.items()})


def _names(resource: Resource) -> Iterator[str]:
    """Yields the base models that a resource names; empty texts among them."""
    spec = resource.get("spec")
    if resource["kind"] == dynamo_api.MODEL:
        yield _text(spec, "baseModelName")
    elif resource["kind"] == dynamo_api.COMPONENT:
        yield _text(_inner(spec, "modelRef"), "name")
    else:
        services, components = _inner(spec, "services"), _inner(spec, "components")
        named = (services.values() if isinstance(services, dict) else (), components if isinstance(components, list) else ())
        for component in (component for version in named for component in version):
            yield _text(_inner(component, "modelRef"), "name")


def _text(value: Any, key: str) -> str:
    text = _inner(value, key)
    return text if isinstance(text, str) else ""


def _inner(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _outputs(placed: Iterable[tuple[str, Resource]]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Maps namespace and name of a claim to the requests that write into it. The requests may be malformed; those are left out."""
    requests_by_claim: dict[tuple[str, str], tuple[str, ...]] = {}
    for namespace, request in placed:
        spec = request.get("spec")
        profiling = spec.get("profilingConfig") if isinstance(spec, dict) else None
        claim = profiling.get("outputPVC") if isinstance(profiling, dict) else None
        if isinstance(claim, str) and claim:
            requests_by_claim[namespace, claim] = (*requests_by_claim.get((namespace, claim), ()), results.ref(request).name)
    return requests_by_claim


def _domains(resources: Iterable[Resource]) -> dict[str, tuple[str, ...]]:
    """Returns the domains of each topology of Grove by its name. Broken levels are left out."""
    domains: dict[str, tuple[str, ...]] = {}
    for resource in resources:
        address = results.ref(resource)
        if address.api_version.partition("/")[0] == "grove.io":
            spec = resource.get("spec")
            levels = spec.get("levels") if isinstance(spec, dict) else None
            named = (level.get("domain") for level in levels if isinstance(level, dict)) if isinstance(levels, list) else ()
            domains[address.name] = tuple(domain for domain in named if isinstance(domain, str))
    return domains
