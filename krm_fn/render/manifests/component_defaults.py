"""The defaults of a component: pod, main container, variables and Service port, and the extra objects of its type.

Follows the operator's `internal/dynamo/component_*.go`, and `graph.go` (addStandardEnvVars).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from krm_fn.kubernetes import env

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, EnvVar, PodSpec, Probe
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.kinds.releases import ProbeDefaults, TypeDefaults
    from krm_fn.render.kinds.types import ComponentType
    from krm_fn.render.plan import ComponentPlan

_POD = (env.field("POD_NAME", "metadata.name"), env.field("POD_NAMESPACE", "metadata.namespace"), env.field("POD_UID", "metadata.uid"))
"""The variables about the pod itself.

Rule env.pod: Each main container knows the name, the namespace and the UID of its pod. (operator: internal/dynamo/component_common.go)
"""


def container(plan: ComponentPlan, component_type: ComponentType, defaults: TypeDefaults) -> Container:
    """Returns the default main container of a component.

    The fields of the user override it. Its `env` overrides the common variables.

    Rule container.defaults: The main container runs its arguments with `/bin/sh -c` unless the user sets a command. (operator:
    internal/dynamo/component_common.go)
    """
    below = standard(defaults)
    if component_type.picks_workers:
        from krm_fn.render.manifests import inference_pool  # noqa: PLC0415 - few graphs have an endpoint picker

        return inference_pool.container(plan, below)
    default: Container = {}
    if component_type.command:
        default["command"] = list(component_type.command)
    if component_type.args:
        default["args"] = list(component_type.args)
    return {**default, **below}


def pod(plan: ComponentPlan) -> PodSpec:
    """Returns the default pod spec of a component.

    Rule pod.defaults: A pod restarts its containers always and has the grace period of its component type. (operator:
    internal/dynamo/component_common.go)
    """
    default: PodSpec = {"restartPolicy": "Always", "terminationGracePeriodSeconds": plan.defaults.grace_period}
    if plan.type.picks_workers:
        from krm_fn.render.manifests import inference_pool  # noqa: PLC0415 - few graphs have an endpoint picker

        return {**default, **inference_pool.pod(plan)}
    return {**default, **plan.type.account_field} if plan.type.account else default


def objects(plan: ComponentPlan) -> Iterator[Resource]:
    """Yields the objects of a component's type beside workload and Service: a ServiceAccount with its RoleBinding, an InferencePool."""
    if plan.type.account:
        from krm_fn.render.manifests import rbac  # noqa: PLC0415 - few types have an account

        yield from rbac.bound_account(plan.type.account, plan.identity.namespace, getattr(plan.config.rbac, plan.type.cluster_role))
    if plan.type.picks_workers:
        from krm_fn.render.manifests import inference_pool  # noqa: PLC0415 - few graphs have an endpoint picker

        yield from inference_pool.objects(plan)


def service_port(plan: ComponentPlan) -> dict[str, Any]:
    """Returns the port of each Service of a component.

    Rule service.port: A Service has one port: that of the component type. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateService)
    """
    name, ports = plan.type.service_port, dict(plan.defaults.ports)
    number = ports.get(name, plan.release.ports.system)
    return {"name": name, "port": number, "targetPort": number if plan.type.port_by_number else name, "protocol": "TCP"}


@lru_cache(maxsize=64)  # all components of a type share one value; it is never changed, because merging makes new objects
def standard(defaults: TypeDefaults) -> Container:
    """Returns the ports, variables and probes of a component type. In sidecar mode, they are those of the container that runs Dynamo.

    Rule container.type-defaults: The main container has the ports, variables and probes of its component type, unless the user sets them.
    (operator: internal/dynamo/component_common.go)
    """
    standard: Container = {}
    if defaults.ports:
        standard["ports"] = [{"name": name, "containerPort": number, "protocol": "TCP"} for name, number in defaults.ports]
    if defaults.env:
        standard["env"] = env.values(defaults.env)
    for field, probe in defaults.probes:
        standard[field] = _probe(probe)
    return standard


def _probe(defaults: ProbeDefaults) -> Probe:
    """Makes a default probe.

    Rule probes.form: A default probe asks an HTTP path or a gRPC service of its port, with the figures of the component type. (operator:
    internal/dynamo/component_*.go)
    """
    probe: Probe = {"httpGet": {"path": defaults.target, "port": defaults.port}}
    if defaults.handler == "grpc":
        probe = {"grpc": {"port": int(defaults.port), "service": defaults.target}}
    if defaults.delay is not None:
        probe["initialDelaySeconds"] = defaults.delay
    probe["periodSeconds"] = defaults.period
    if defaults.timeout is not None:
        probe["timeoutSeconds"] = defaults.timeout
    if defaults.failures is not None:
        probe["failureThreshold"] = defaults.failures
    return probe


def platform_variables(config: Config) -> list[EnvVar]:
    """Returns the variables with the addresses of the platform.

    All other variables override them.

    Rule env.platform: Each main container gets those addresses of NATS, etcd, ModelExpress and Prometheus that the configuration has.
    (operator: internal/dynamo/graph.go AddStandardEnvVars)
    """
    addresses = {
        "NATS_SERVER": config.nats_address,
        "ETCD_ENDPOINTS": config.etcd_address,
        "MODEL_EXPRESS_URL": config.model_express_url,
        "PROMETHEUS_ENDPOINT": config.prometheus_endpoint,
    }
    return env.values([(name, address) for name, address in addresses.items() if address])


def common_variables(plan: ComponentPlan, type_name: str, defaults: TypeDefaults, sidecar: str = "") -> list[EnvVar]:
    """Returns the variables that all components have.

    A frontend beside a worker in one pod has a type of its own. With discovery of containers, each knows the name of its container:
    `sidecar`, or that of the main container if it is empty. Of the Dynamo namespaces of workers, only those end with the generation.

    Rule env.component: Each main container knows the type of its component, its namespaces, its graph and its discovery backend. (operator:
    internal/dynamo/component_common.go)
    """
    identity = {
        "DYN_NAMESPACE": plan.identity.dynamo_namespace,
        "DYN_COMPONENT": type_name,
        "DYN_PARENT_DGD_K8S_NAME": plan.identity.graph,
        "DYN_PARENT_DGD_K8S_NAMESPACE": plan.identity.namespace,
    }
    discovery = {}
    if plan.placement.discovery != "etcd":  # only here, an unknown backend counts as kubernetes
        discovery["DYN_DISCOVERY_BACKEND"] = "kubernetes"
    if defaults.finds_generations:
        discovery["DYN_NAMESPACE_PREFIX"] = plan.identity.dynamo_namespace
    if plan.identity.generation and type_name == plan.identity.type:
        discovery["DYN_NAMESPACE_WORKER_SUFFIX"] = plan.identity.generation
    if plan.placement.finds_containers:
        discovery |= {"CONTAINER_NAME": sidecar or "main", "DYN_KUBE_DISCOVERY_MODE": "container"}
    return [*platform_variables(plan.config), *env.values(identity.items()), *_POD, *env.values(discovery.items())]
