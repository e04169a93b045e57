"""Environment variables of every main container. `krm_fn.manifests.components` adds those of a component type.

Follows the reference's `internal/dynamo/component_common.go` and `graph.go` (addStandardEnvVars).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.behaviours import TypeFigures
    from krm_fn.config import Config
    from krm_fn.kube.types import Container, EnvVar
    from krm_fn.plan import ComponentPlan


def value(name: str, text: str) -> EnvVar:
    """A variable with a fixed value. If the value is empty, the variable has only a name, as in the reference."""
    return {"name": name, "value": text} if text else {"name": name}


def field(name: str, path: str) -> EnvVar:
    """A variable whose value Kubernetes takes from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def appended(container: Container, *variables: EnvVar) -> Container:
    """The container with variables at the end of its list. A variable of the user with the same name stays; it is reported as set twice."""
    return {**container, "env": [*(container.get("env") or ()), *variables]}


def completed(container: Container, *variables: EnvVar) -> Container:
    """The container with variables at the end of its list, except those that the user wrote."""
    written = {entry.get("name") for entry in container.get("env") or ()}
    return appended(container, *(variable for variable in variables if variable.get("name") not in written))


def replaced(container: Container, *variables: EnvVar) -> Container:
    """The container with variables at the end of its list, in place of those of the same names."""
    own = {entry.get("name") for entry in variables}
    return {**container, "env": [*(entry for entry in container.get("env") or () if entry.get("name") not in own), *variables]}


_POD = (field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace"), field("POD_UID", "metadata.uid"))


def platform(config: Config) -> list[EnvVar]:
    """The addresses of the platform's services, each only if it is configured. All other variables override them."""
    addresses = {
        "NATS_SERVER": config.nats_address,
        "ETCD_ENDPOINTS": config.etcd_address,
        "MODEL_EXPRESS_URL": config.model_express_url,
        "PROMETHEUS_ENDPOINT": config.prometheus_endpoint,
    }
    return [value(name, address) for name, address in addresses.items() if address]


def common(plan: ComponentPlan, kind: str, figures: TypeFigures) -> list[EnvVar]:
    """The identity of a component of type `kind`, its namespaces and its discovery backend.

    A frontend beside a worker in one pod has a type of its own. Of the Dynamo namespaces of workers, only those end with the generation.
    """
    variables = [
        value("DYN_NAMESPACE", plan.who.dynamo_namespace),
        value("DYN_COMPONENT", kind),
        value("DYN_PARENT_DGD_K8S_NAME", plan.who.graph),
        value("DYN_PARENT_DGD_K8S_NAMESPACE", plan.who.namespace),
        *_POD,
    ]
    if plan.placement.discovery != "etcd":  # only here, an unknown backend counts as kubernetes
        variables.append(value("DYN_DISCOVERY_BACKEND", "kubernetes"))
    if figures.finds_generations:
        variables.append(value("DYN_NAMESPACE_PREFIX", plan.who.dynamo_namespace))
    if plan.who.generation and kind == plan.who.type:
        variables.append(value("DYN_NAMESPACE_WORKER_SUFFIX", plan.who.generation))
    if plan.placement.finds_containers:
        variables += [value("CONTAINER_NAME", "main"), value("DYN_KUBE_DISCOVERY_MODE", "container")]
    return variables
