"""Makes the plan of one v1alpha1 component: a service of a graph, or a standalone component.

Follows the operator's `internal/dynamo/graph.go`: GenerateDynamoComponentsDeployments, its helpers, and the part of GenerateBasePodSpec
that reads fields.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import canonical, merge, quantity
from krm_fn.render import labels
from krm_fn.render.kinds import types
from krm_fn.render.plan import ComponentPlan, Exposure, GPUs, Identity, IngressPlan, Mount, Placement, PodFacts, SourcePaths
from krm_fn.render.resolve import component_facts, deployment_config, graph_context, native_resources, v1alpha1_findings
from krm_fn.render.resolve.deployment_config import Override
from krm_fn.render.resolve.graph_context import GraphContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, EnvVar, ResourceRequirements


def component(context: GraphContext, identity: Identity, written: dict[str, Any]) -> ComponentPlan:
    """Plans one v1alpha1 component, which belongs to a graph or stands alone."""
    paths = context.paths.component(identity.service)
    variables = _variables(context, identity, paths, written)
    pods = _pod(context, identity, paths.path, written, variables)
    component_type = types.get(identity.type)
    placed = Placement(
        workload=component_facts.workload(context, identity, written),
        nodes=component_facts.nodes(written),
        replicas=written["replicas"] if written.get("replicas") is not None else variables.override.replicas,
        autoscaled=bool((written.get("scalingAdapter") or {}).get("enabled")) and not identity.standalone,
        discovery=identity.annotations.get(labels.DISCOVERY_BACKEND, context.config.discovery_backend),
        graph_discovery=context.discovery,
    )
    outside = component_facts.exposure(context, identity, written)
    plan = ComponentPlan(
        ref=context.ref,
        paths=paths,
        config=context.config,
        release=context.release,
        type=component_type,
        defaults=component_type.defaults_in(context.release, component_type.key(is_configured=True)),
        engine=component_facts.engine(context, component_type, pods.container, paths).name,
        identity=identity,
        placement=placed,
        pod=pods,
        exposure=outside,
        inventory=_component_object(context, identity, (placed, pods, outside), written),
    )
    context.findings.extend([*v1alpha1_findings.of_component(plan, written), *v1alpha1_findings.of_new_fields(written, paths)])
    return plan


def _variables(context: GraphContext, identity: Identity, paths: SourcePaths, written: dict[str, Any]) -> Variables:
    """Returns the component's variables, and the override in the variable `DYN_DEPLOYMENT_CONFIG`."""
    variables = written.get("envs") or []
    envs = merge.envs(context.envs, variables) if context.envs else merge.last_of_each(variables)
    index = next((index for index, variable in enumerate(envs) if variable.get("name") == deployment_config.NAME), None)
    if index is None or not context.name or not context.per_component:
        return Variables(tuple(envs), Override())
    try:
        content = deployment_config.parse(envs[index].get("value") or "")
        if types.get(identity.type).is_frontend:
            envs[index] = {**envs[index], "value": deployment_config.with_port(content, identity.service, context.release.ports.http)}
        return Variables(tuple(envs), deployment_config.override(content, identity.service))
    except (ValueError, RecursionError) as problem:
        at = (*paths.path, "envs") if any(variable.get("name") == deployment_config.NAME for variable in variables) else ("spec", "envs")
        context.findings.append(deployment_config.unreadable(problem, context.ref, at))
        return Variables(tuple(envs), Override())


class Variables(NamedTuple):
    """The variables of a component, and the override of the user's fields in the variable DYN_DEPLOYMENT_CONFIG."""

    envs: tuple[EnvVar, ...]
    override: Override


def _pod(context: GraphContext, identity: Identity, path: Path, written: dict[str, Any], variables: Variables) -> PodFacts:
    """Returns the pod facts of one component. `path` is its path in the resource.

    Rule pod.fallback-account: see `krm_fn.render.manifests.pod_template`.
    """
    extra: Any = written.get("extraPodSpec") or {}
    metadata = written.get("extraPodMetadata") or {}
    main: Any = extra.get("mainContainer") or {}
    container = canonical.container(main)
    amounts = native_resources.overridden(written.get("resources") or {}, variables.override.resources or {})
    native = native_resources.native(amounts, context.ref, path, context.findings)
    without_secrets = identity.annotations.get(labels.NO_PULL_SECRETS) == "true"
    return PodFacts(
        spec=canonical.spec(merge.without(extra, "mainContainer")),
        container=container,
        enforced={} if identity.standalone else graph_context.enforced_pod_fields(context, types.get(identity.type)),
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        envs=variables.envs,
        env_from_secret=written.get("envFromSecret") or "",
        liveness=written.get("livenessProbe"),
        readiness=written.get("readinessProbe"),
        resources=native,
        gpus=_gpus(amounts, container, native),
        mounts=tuple(_mounts(written)),
        shared_memory=_shared_memory(written.get("sharedMemory"), context.release.shared_memory),
        pull_secrets=() if without_secrets else context.cluster.pull_secrets(context.namespace, container.get("image") or ""),
        fallback_account=context.cluster.fallback.get(context.namespace, "default"),
    )


def _gpus(amounts: dict[str, Any], container: Container, native: ResourceRequirements) -> GPUs:
    return GPUs(
        number=native_resources.gpus(amounts, merge.overlay(container.get("resources") or {}, native)),
        limit=(amounts.get("limits") or {}).get("gpu") or "",
        request=(amounts.get("requests") or {}).get("gpu") or "",
    )


def _mounts(written: dict[str, Any]) -> Iterator[Mount]:
    for mount in written.get("volumeMounts") or ():
        yield Mount(mount.get("name") or "", mount.get("mountPoint") or "", bool(mount.get("useAsCompilationCache")))


def _shared_memory(written: dict[str, Any] | None, default: str) -> str:
    """Returns the size of /dev/shm; empty if the user disabled it."""
    if written is None:
        return default
    if written.get("disabled"):
        return ""
    return quantity.canonical(written["size"]) if quantity.value(written.get("size")) else default


def _component_object(
    context: GraphContext, identity: Identity, parts: tuple[Placement, PodFacts, Exposure], written: dict[str, Any]
) -> dict[str, Any] | None:
    """Returns the spec of the DynamoComponentDeployment of a service.

    Returns None if the configuration does not enable the inventory.

    Rule components.inventory-spec: The DynamoComponentDeployment of a component has the component as written, and what its graph adds to
    it. (operator: internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    placed, pods, exposure = parts
    if not context.config.components or identity.standalone or not context.per_component:
        return None
    kind = types.get(identity.type)
    extra = {**(written.get("extraPodSpec") or {}), **kind.enforced}
    opens = kind.is_frontend and written.get("ingress") is None
    decided = merge.present(
        backendFramework=context.framework or None,
        serviceName=identity.service,
        dynamoNamespace=identity.dynamo_namespace,
        labels=identity.labels,
        annotations=identity.annotations or None,
        replicas=placed.replicas,
        envs=list(pods.envs) or None,
        extraPodSpec=extra or None,
        ingress=_default_ingress(exposure.ingress) if opens else None,
    )
    return {**written, **decided}


def _default_ingress(ingress: IngressPlan) -> dict[str, Any]:
    """Returns the configured ingress as a field of a DynamoComponentDeployment.

    Rule components.inventory-ingress: The DynamoComponentDeployment of a frontend has the configured ingress. (operator:
    internal/dynamo/graph.go GenerateDefaultIngressSpec)
    """
    return merge.present(
        enabled=ingress.enabled or None,
        host=ingress.host,
        hostSuffix=ingress.suffix,
        ingressControllerClassName=ingress.class_name,
        tls={"secretName": ingress.tls_secret} if ingress.tls else None,
        useVirtualService=ingress.virtual_service or None,
        virtualServiceGateway=ingress.gateway,
    )
