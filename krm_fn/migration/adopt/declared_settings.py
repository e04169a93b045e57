"""The settings that an operator itself declares: its flags, or its configuration file from 1.0 on (docs/operator-map.md).

An export can have the Deployment of the operator, and its OperatorConfiguration as `krm_fn.repository.files.cluster_reading` reads it. They
say what no object of a graph shows yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krm_fn.base import results
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.migration.adopt.observed_settings import Setting, with_setting
from krm_fn.render import labels, operator_config

SELECTOR = {labels.APP_NAME: "dynamo-operator", "control-plane": "controller-manager"}
"""The labels of the Deployment of an operator."""

FLAGS: dict[str, Setting] = {
    "natsAddr": ("natsAddress",),
    "etcdAddr": ("etcdAddress",),
    "model-express-url": ("modelExpressURL",),
    "prometheus-endpoint": ("prometheusEndpoint",),
    "discovery-backend": ("discoveryBackend",),
    "mpi-run-ssh-secret-name": ("mpiSecretName",),
    "ingress-controller-class-name": ("ingress", "className"),
    "ingress-controller-tls-secret-name": ("ingress", "tlsSecretName"),
    "ingress-host-suffix": ("ingress", "hostSuffix"),
    "istio-virtual-service-gateway": ("ingress", "istioGateway"),
    "grove-termination-delay": ("grove", "terminationDelay"),
}
"""The settings of the flags that change objects. The ClusterRoles of the flags belong to the chart of the operator."""

_FILE = "OperatorConfiguration"
_DEBUGGER_IMAGE = "INTERNAL_IMAGES_DEBUGGER"
_SEEN = ("behaviour", "orchestrator", "rbac")
"""Settings of the file that are left out: live objects show them, or the chart of the operator owns the objects that they name."""


def is_operator(resource: Resource) -> bool:
    """Returns true for the Deployment of a Dynamo operator."""
    return resource.get("kind") == "Deployment" and SELECTOR.items() <= labels.of(resource).items()


def container(operator: Resource) -> Resource:
    """Returns the container in which an operator runs; empty without one."""
    containers = objects(mapping(operator.get("spec"), "template", "spec").get("containers"))
    return next((container for container in containers if name_of(container) == "manager"), {})


def flags(operator: Resource) -> dict[str, str]:
    """Returns the flags of an operator, without dashes, with their values."""
    arguments = container(operator).get("args")
    pairs = (text(argument).lstrip("-").partition("=") for argument in (arguments if isinstance(arguments, list) else ()))
    return {flag: value for flag, _, value in pairs}


def watches(operator: Resource, namespace: str) -> bool:
    """Returns true if an operator watches a namespace."""
    return flags(operator).get("restrictedNamespace") in {None, "", namespace}


def without_operators(exported: Iterable[Resource]) -> list[Resource]:
    """Returns an export without operators and their configuration, which belong to no graph."""
    return [resource for resource in exported if not is_operator(resource) and resource.get("kind") != _FILE]


def declared_spec(exported: Iterable[Resource], namespace: str) -> dict[str, Any]:
    """Returns the `spec` of a DynamoRender with the declared settings of the operator of a namespace.

    Empty if the export does not have exactly one operator that watches the namespace.
    """
    resources = [*exported]
    operators = [resource for resource in resources if is_operator(resource) and watches(resource, namespace)]
    if len(operators) != 1:
        return {}
    (operator,) = operators
    if "config" in flags(operator):
        return _of_file(operator, resources)
    spec: dict[str, Any] = {}
    for flag, value in flags(operator).items():
        if value and flag in FLAGS:
            spec = with_setting(spec, FLAGS[flag], value)
    images = [text(variable.get("value")) for variable in objects(container(operator).get("env")) if name_of(variable) == _DEBUGGER_IMAGE]
    return {**spec, **({"debuggerImage": images[0]} if any(images) else {})}


def _of_file(operator: Resource, resources: Iterable[Resource]) -> dict[str, Any]:
    """The settings of the configuration of an operator, which has the name and the namespace of its Deployment; empty without one."""
    address = results.ref(operator)[2:]
    files = [resource for resource in resources if resource.get("kind") == _FILE and results.ref(resource)[2:] == address]
    spec = operator_config.read({**files[0], "metadata": {"name": address[0]}})[0] if files else {}
    return {key: value for key, value in spec.items() if key not in _SEEN}


def parts(spec: dict[str, Any], at: Setting = ()) -> list[tuple[Setting, Any]]:
    """Returns the single settings of a `spec`, each with its path."""
    nested = [parts(value, (*at, key)) if isinstance(value, dict) else [((*at, key), value)] for key, value in spec.items()]
    return [part for inner in nested for part in inner]
