"""Makes the plan of one v1beta1 component, which belongs to a graph or stands alone.

Follows the operator's `internal/dynamo/graph.go` (GenerateBasePodSpec, GenerateDynamoComponentsDeployments) for the fields that it reads,
and `internal/dra` ResolveGPUCount for GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.kubernetes import canonical, quantity
from krm_fn.render import labels
from krm_fn.render.convert import path_mapping
from krm_fn.render.convert.path_mapping import MAIN
from krm_fn.render.kinds import gates, types
from krm_fn.render.kinds.releases import SIDECAR_KEY
from krm_fn.render.plan import ComponentPlan, Identity, Mount, Placement, PodFacts
from krm_fn.render.plan.features import CheckpointPlan, FailoverPlan, Features, GPUMemory, GraphFeatures, KVTransfer, Topology
from krm_fn.render.resolve import (
    component_facts,
    deployment_config,
    graph_context,
    missing_fields,
    requested_gpus,
    runtime_version,
    v1beta1_templates,
)
from krm_fn.render.resolve.graph_context import GraphContext
from krm_fn.render.resolve.v1beta1_templates import ComponentTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.plan.features import OverridePlan, RoleSettings


_BETWEEN_PODS = "InterPod"


def component(context: GraphContext, identity: Identity, template: ComponentTemplate) -> ComponentPlan:
    """Plans one v1beta1 component, which belongs to a graph or stands alone.

    Rule replicas.default: see `krm_fn.render.plan.facts`.
    """
    written, paths = template.component, context.paths.component(identity.service)
    if template.role is not None:
        paths = path_mapping.of_role(paths, template.role, template.written)
    pods = _pod(context, identity, template)
    component_type = types.get(identity.type)
    engine = component_facts.engine(context, component_type, pods.container, paths)
    if not identity.standalone and context.per_component:
        context.findings.extend(deployment_config.check(template.component, paths))
    context.findings.extend(missing_fields.of_component(template.written, context.release, paths))
    annotations = ((written.get("podTemplate") or {}).get("metadata") or {}).get("annotations") or {}
    features = _features(template.written, sidecar_mode=context.release.sidecar_mode and component_type.runs_engine)
    opened = gates.open_gates(context.release.number, features.runtime, annotations.get(labels.ORIGIN_VERSION, ""))
    key = SIDECAR_KEY if features.sidecar_mode else component_type.key(is_configured=written.get("eppConfig") is not None)
    placement = Placement(
        workload=component_facts.workload(context, identity, written),
        nodes=component_facts.nodes(written),
        replicas=1 if written.get("replicas") is None and not identity.standalone else written.get("replicas"),
        autoscaled=written.get("scalingAdapter") is not None and not identity.standalone,
        discovery=identity.annotations.get(labels.DISCOVERY_BACKEND, context.config.discovery_backend),
        graph_discovery=context.discovery,
        finds_containers=identity.annotations.get(labels.DISCOVERY_MODE) == "container",
        names_topology=gates.TOPOLOGY_ALIASES in opened and component_facts.nodes(written) > 1,
        executor=_executor(annotations, opened),
    )
    needed = placement.nodes > 1 and engine.counts_gpus and not features.has_role_templates
    gpus = (
        pods.gpus if features.gpu_memory else requested_gpus.with_claims(context, pods, paths, needed=needed)
    )  # the service makes the claim itself
    return ComponentPlan(
        ref=context.ref,
        paths=paths,
        config=context.config,
        release=context.release,
        type=component_type,
        defaults=gates.apply_gates(component_type.defaults_in(context.release, key), key, opened),
        engine=engine.name,
        identity=identity,
        placement=placement,
        pod=pods._replace(cache=_cache(written.get("compilationCache"), engine.cache_dir), gpus=gpus),
        exposure=component_facts.exposure(context, identity, {**written, "ingress": template.v1alpha1_service.get("ingress")}),
        inventory=_component_object(context, identity, template),
        features=features,
        gates=opened,
    )


def of_roles(context: GraphContext, whole: ComponentTemplate, identity: Identity, roles: Mapping[str, Identity]) -> ComponentPlan:
    """Plans a component whose roles have pod templates of their own.

    `identity` is that of the component, and `roles` holds those of its roles.

    Rule roles.pod-templates: A component whose roles have pod templates of their own has the plan of its leader, and one plan for each
    role. (operator: internal/dynamo/graph.go)
    """
    if whole.written.get("podTemplate") is not None:
        message = "the roles have pod templates of their own, so podTemplate of the component has no effect; remove one of the two"
        context.findings.append(
            results.error(codes.REFUSED_ROLE_TEMPLATES, message, context.ref, context.paths.component(identity.service).at("podTemplate"))
        )
    plans = {name: component(context, of_role, whole.roles[name]) for name, of_role in roles.items()}
    leader = plans.get("leader") or next(iter(plans.values()))
    return leader._replace(identity=identity, inventory=_component_object(context, identity, whole), roles=plans)


def _executor(annotations: Labels, opened: tuple[gates.Gate, ...]) -> Literal["ray", "mp"]:
    """Returns the program with which vLLM runs one model on several nodes: the one in an annotation of the pods, or that of their operator.

    An operator of 1.0 or later starts processes of its own for new graphs (reference: shouldUseMpBackend).
    """
    asked = annotations.get(labels.EXECUTOR_BACKEND, "").lower()
    if asked in ("mp", "ray"):
        return "mp" if asked == "mp" else "ray"
    return "mp" if gates.MULTIPROCESSING in opened else "ray"


def _pod(context: GraphContext, identity: Identity, template: ComponentTemplate) -> PodFacts:
    """Returns the pod facts of one component.

    Rule pod.fallback-account: see `krm_fn.render.manifests.pod_template`.
    """
    written, metadata = template.component, (template.written.get("podTemplate") or {}).get("metadata") or {}
    pod: Any = (written.get("podTemplate") or {}).get("spec") or {}
    spec: Any = {**canonical.spec(pod)}
    containers = spec.pop("containers", None) or ()
    container: Any = next((container for container in containers if container.get("name") == MAIN), {})
    beside = [container for container in containers if container.get("name") != MAIN]
    runtime = runtime_version.beside_engine(written) if context.release.sidecar_mode else None
    images = [entry.get("image") or "" for entry in (container, *beside, *(spec.get("initContainers") or () if runtime else ()))]
    without_secrets = identity.annotations.get(labels.NO_PULL_SECRETS) == "true"
    secrets = [secret for image in images for secret in context.cluster.pull_secrets(context.namespace, image)]
    if beside:
        spec["containers"] = beside
    return PodFacts(
        spec=spec,
        container=container,
        enforced={} if identity.standalone else graph_context.enforced_pod_fields(context, types.get(identity.type)),
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        envs=(),
        env_from_secret="",
        liveness=None,
        readiness=None,
        resources={},
        gpus=requested_gpus.of_resources(container, context.release),
        mounts=(),
        shared_memory=_shared_memory(written.get("sharedMemorySize"), context.release.shared_memory),
        pull_secrets=() if without_secrets else tuple(dict.fromkeys(secrets)),
        fallback_account=context.cluster.fallback.get(context.namespace, "default"),
    )


def _cache(written: dict[str, Any] | None, folder: str) -> Mount | None:
    """Returns the claim with the engine's compilation cache. `folder` is where the engine keeps it by default; empty if it has none."""
    return None if written is None else Mount(written.get("pvcName") or "", written.get("mountPath") or folder, cache=True)


def _shared_memory(written: Any, default: str) -> str:
    """Returns the size of /dev/shm; empty if the user wrote 0."""
    if written is None:
        return default
    return quantity.canonical(written) if quantity.value(written) else ""


def _features(written: dict[str, Any], *, sidecar_mode: bool) -> Features:
    """Returns the features of a component. `written` is as its author wrote it, without what its graph adds.

    `sidecar_mode` is true if the release and the component type have it.
    """
    experimental, names = written.get("experimental") or {}, tuple(_containers(written))
    return Features(
        runtime=runtime_version.of_component(written, sidecar_mode=sidecar_mode),
        sidecar_mode=sidecar_mode and runtime_version.beside_engine(written) is not None,
        min_available=written.get("minAvailable"),
        frontend_sidecar=written.get("frontendSidecar") or "",
        topology=_topology(written.get("topologyConstraint")),
        gpu_memory=_gpu_memory(experimental.get("gpuMemoryService")),
        failover=_failover(experimental.get("failover")),
        checkpoint=_checkpoint(experimental.get("checkpoint")),
        grouped=bool((experimental.get("grove") or {}).get("forceScalingGroup")),
        override=_override(written),
        roles=_roles(written),
        containers=names,
        written_main=MAIN in names,
        foreign_tag=runtime_version.is_foreign(written, sidecar_mode=sidecar_mode),
    )


def graph_features(spec: dict[str, Any]) -> GraphFeatures:
    """Returns the features of a graph."""
    return GraphFeatures(
        framework=spec.get("backendFramework") or "",
        labels=spec.get("labels") or {},
        annotations=spec.get("annotations") or {},
        priority_class=spec.get("priorityClassName") or "",
        topology=_topology(spec.get("topologyConstraint")),
        kv_transfer=_kv_transfer((spec.get("experimental") or {}).get("kvTransferPolicy")),
        override=_override(spec),
    )


def _override(part: dict[str, Any]) -> OverridePlan | None:
    if part.get("providerOverride") is None:
        return None
    from krm_fn.render.resolve import component_roles  # noqa: PLC0415 - few graphs have an override

    return component_roles.override(part)


def _roles(written: dict[str, Any]) -> tuple[RoleSettings, ...]:
    if not written.get("roles"):
        return ()
    from krm_fn.render.resolve import component_roles  # noqa: PLC0415 - few components have roles

    return component_roles.of_component(written)


def _containers(written: dict[str, Any]) -> Iterator[str]:
    """Yields the names of the containers of the pod."""
    for container in ((written.get("podTemplate") or {}).get("spec") or {}).get("containers") or ():
        yield container.get("name") or ""


def _topology(written: dict[str, Any] | None) -> Topology | None:
    return None if written is None else Topology(written.get("packDomain") or "", written.get("clusterTopologyName") or "")


def _gpu_memory(written: dict[str, Any] | None) -> GPUMemory | None:
    if written is None:
        return None
    return GPUMemory(
        between_pods=written.get("mode") == _BETWEEN_PODS,
        device_class=written.get("deviceClassName") or "gpu.nvidia.com",
        clients=tuple(written.get("extraClientContainers") or ()),
        client_pods=bool(written.get("extraClientPods")),
    )


def _failover(written: dict[str, Any] | None) -> FailoverPlan | None:
    return None if written is None else FailoverPlan(written.get("mode") == _BETWEEN_PODS, written.get("numShadows") or 1)


def _checkpoint(written: dict[str, Any] | None) -> CheckpointPlan | None:
    if written is None:
        return None
    return CheckpointPlan(bool(written.get("enabled")), written.get("checkpointRef") or "", written.get("job") is not None)


def _kv_transfer(written: dict[str, Any] | None) -> KVTransfer | None:
    if written is None:
        return None
    return KVTransfer(
        domain=written.get("domain") or "",
        label_key=written.get("labelKey") or "",
        topology=written.get("clusterTopologyName") or "",
        enforcement=written.get("enforcement") or "required",
        weight=written.get("preferredWeight"),
    )


def _component_object(context: GraphContext, identity: Identity, template: ComponentTemplate) -> dict[str, Any] | None:
    """Returns the spec of the DynamoComponentDeployment of a component.

    Returns None if the configuration does not enable the inventory.

    Rule components.inventory-spec: see `krm_fn.render.resolve.v1alpha1_components`.
    """
    if not context.config.components or identity.standalone or not context.per_component:
        return None
    written = {"replicas": 1, **template.component}
    if enforced := types.get(identity.type).enforced:
        written = v1beta1_templates.with_pod(written, lambda pod: {**pod, "spec": {**(pod.get("spec") or {}), **enforced}})
    return {**({"backendFramework": context.framework} if context.framework else {}), **written}
