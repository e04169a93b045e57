"""From a graph as the user wrote it to plans: every fact is derived here, once.

Not its business: rules that span facts (`krm_fn.validation`). Only this module and `krm_fn.api` know the shape of `v1alpha1`. Follows the
reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and its helpers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from krm_fn import backends, components, deployment_config, restart, results, surroundings, volumes
from krm_fn.config import Config
from krm_fn.kube import labels, merge, names, pods, quantity
from krm_fn.kube.types import Resource
from krm_fn.plan import Claim, ComponentPlan, EndpointPicker, GraphPlan, Ingress, Mount, Restart
from krm_fn.results import Path, Ref, Result
from krm_fn.surroundings import Surroundings

_COPIED = (labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND)
_GPU = "nvidia.com/gpu"


class _Graph(NamedTuple):
    """What every service of a graph needs to know of it, and where findings go."""

    name: str
    namespace: str
    spec: dict[str, Any]
    annotations: dict[str, str]
    config: Config
    around: Surroundings
    ref: Ref
    orchestrator: str
    stamp: str
    found: list[Result]


def graph(resource: Resource, config: Config, around: Surroundings) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoGraphDeployment, and what in it cannot be read.

    `resource` must be well-formed: `krm_fn.api.check` found no error in it, or what it found has been taken out.
    """
    spec, notes = resource.get("spec") or {}, labels.notes(resource)
    asked = _restart(spec.get("restart") or {})
    shared = _Graph(
        name=results.ref(resource).name,
        namespace=surroundings.namespace(resource, config),
        spec=spec,
        annotations=notes,
        config=config,
        around=around,
        ref=results.ref(resource),
        orchestrator=_orchestrator(notes, config),
        stamp=restart.stamp(asked, config),
        found=[],
    )
    plan = GraphPlan(
        name=shared.name,
        namespace=shared.namespace,
        config=config,
        ref=shared.ref,
        orchestrator=shared.orchestrator,
        discovery=notes.get(labels.DISCOVERY_BACKEND, config.discovery_backend),
        components=tuple(_component(shared, name, service or {}) for name, service in (spec.get("services") or {}).items()),
        claims=tuple(_claims(spec)),
        restart=asked,
    )
    return plan, shared.found


def _orchestrator(notes: dict[str, str], config: Config) -> str:
    """Grove where it is installed, unless the graph opts out."""
    return "deployment" if notes.get(labels.ENABLE_GROVE, "").lower() == "false" else config.orchestrator


def _restart(written: dict[str, Any]) -> Restart | None:
    if not written.get("id"):
        return None
    strategy = written.get("strategy") or {}
    return Restart(written["id"], ordered=bool(strategy.get("order")) or strategy.get("type") == "Sequential")


def _claims(spec: dict[str, Any]) -> Iterator[Claim]:
    for claim in spec.get("pvcs") or ():
        if claim.get("name"):
            yield Claim(
                name=claim["name"],
                create=bool(claim.get("create")),
                size=_canonical(claim.get("size")),
                storage_class=claim.get("storageClass") or "",
                access_mode=claim.get("volumeAccessMode") or "",
            )


def _canonical(written: Any) -> str:
    """A quantity, or nothing where the user wrote none."""
    return quantity.canonical(written) if written is not None else ""


def _component(shared: _Graph, name: str, service: dict[str, Any]) -> ComponentPlan:
    """One service. The reference makes a DynamoComponentDeployment of it first; these are that one's fields."""
    path: Path = ("spec", "services", name)
    kind = service.get("componentType") or ""
    annotations = _annotations(shared, service)
    dynamo_namespace = names.dynamo_namespace(shared.namespace, shared.name, shared=bool(service.get("globalDynamoNamespace")))
    envs, override = _envs(shared, name, service, kind, path)
    extra, nodes = (
        service.get("extraPodSpec") or {},
        (service.get("multinode") or {}).get("nodeCount") or (2 if "multinode" in service else 1),
    )
    container = pods.container(extra.get("mainContainer") or {})
    metadata = service.get("extraPodMetadata") or {}
    resources = _resources(shared, service.get("resources") or {}, override, path)
    silent = annotations.get(labels.NO_PULL_SECRETS) == "true"
    return ComponentPlan(
        service=name,
        name=names.component(shared.name, name),
        graph=shared.name,
        namespace=shared.namespace,
        config=shared.config,
        ref=shared.ref,
        path=path,
        type=kind,
        sub_type=service.get("subComponentType") or "",
        backend=_backend(shared, kind, container, path),
        workload=_workload(shared, nodes),
        dynamo_namespace=dynamo_namespace,
        discovery=annotations.get(labels.DISCOVERY_BACKEND, shared.config.discovery_backend),
        graph_discovery=shared.annotations.get(labels.DISCOVERY_BACKEND, shared.config.discovery_backend),
        replicas=service["replicas"] if service.get("replicas") is not None else override.replicas,
        autoscaled=bool((service.get("scalingAdapter") or {}).get("enabled")),
        nodes=nodes,
        labels={labels.COMPONENT: name, labels.NAMESPACE: dynamo_namespace, labels.GRAPH: shared.name},
        annotations=annotations,
        pod_labels=metadata.get("labels") or {},
        pod_annotations=metadata.get("annotations") or {},
        envs=tuple(envs),
        env_from_secret=service.get("envFromSecret") or "",
        liveness=service.get("livenessProbe"),
        readiness=service.get("readinessProbe"),
        resources=resources,
        gpus=_gpus((service.get("resources") or {}).get("limits") or {}, merge.overlay(container.get("resources") or {}, resources)),
        mounts=tuple(_mounts(service)),
        shared_memory=_shared_memory(service.get("sharedMemory")),
        pod=pods.spec({key: value for key, value in extra.items() if key != "mainContainer"}),
        container=container,
        pull_secrets=() if silent else shared.around.pull_secrets(shared.namespace, container.get("image") or ""),
        fallback_account=shared.around.fallback.get(shared.namespace, "default"),
        ingress=_ingress(shared, service, kind),
        model=(service.get("modelRef") or {}).get("name") or "",
        epp=_endpoint_picker(service.get("eppConfig") or {}),
    )


def _annotations(shared: _Graph, service: dict[str, Any]) -> dict[str, str]:
    """The service's own, below the two that a graph hands down and the restart that was asked for."""
    handed = {key: shared.annotations[key] for key in _COPIED if key in shared.annotations}
    stamp = {labels.RESTART_AT: shared.stamp} if shared.stamp else {}
    return {**(service.get("annotations") or {}), **handed, **stamp}


def _envs(
    shared: _Graph, name: str, service: dict[str, Any], kind: str, path: Path
) -> tuple[list[dict[str, Any]], deployment_config.Override]:
    """The component's variables, and what `DYN_DEPLOYMENT_CONFIG` among them says."""
    own, common = service.get("envs") or [], shared.spec.get("envs") or []
    envs = merge.envs(common, own) if common else list(own)
    place = next((index for index, variable in enumerate(envs) if variable.get("name") == deployment_config.NAME), None)
    if place is None:
        return envs, deployment_config.Override()
    try:
        content = deployment_config.parse(envs[place].get("value") or "")
        if components.get(kind).is_entrance:
            envs[place] = {**envs[place], "value": deployment_config.with_port(content, name)}
        return envs, deployment_config.override(content, name)
    except (ValueError, RecursionError) as problem:
        at = (*path, "envs") if any(variable.get("name") == deployment_config.NAME for variable in own) else ("spec", "envs")
        shared.found.append(
            results.error("DYN120", f"{deployment_config.NAME} cannot be read: {problem}; write a JSON object", shared.ref, at)
        )
        return envs, deployment_config.Override()


def _backend(shared: _Graph, kind: str, container: dict[str, Any], path: Path) -> str:
    """The engine: what the command line starts, else what the graph says (reference: determineBackendFramework)."""
    if not components.get(kind).runs_engine:
        return "noop"
    said = shared.spec.get("backendFramework") or ""
    detected = backends.detect([*(container.get("command") or ()), *(container.get("args") or ())])
    where = (*path, "extraPodSpec", "mainContainer", "args")
    if len(detected) == 1 and said and said != detected[0]:
        message = f"the command starts {detected[0]}, but spec.backendFramework says {said}; make them agree"
        shared.found.append(results.error("DYN121", message, shared.ref, where))
    if len(detected) > 1 and not said:
        message = f"the command starts {' and '.join(detected)}; set spec.backendFramework to the one that counts"
        shared.found.append(results.error("DYN122", message, shared.ref, where))
    return detected[0] if len(detected) == 1 else said or "noop"


def _workload(shared: _Graph, nodes: int) -> str:
    """The carrier."""
    if shared.orchestrator != "deployment":
        return shared.orchestrator
    return "leaderworkerset" if nodes > 1 and shared.config.leader_worker_set.enabled else "deployment"


def _resources(shared: _Graph, written: dict[str, Any], override: deployment_config.Override, path: Path) -> dict[str, Any]:
    """Dynamo's resources as native ones (reference: controller_common/resource.go GetResourcesConfig)."""
    over = override.resources or {}
    native: dict[str, Any] = {}
    for side in ("limits", "requests"):
        amounts = _amounts(written.get(side) or {}, over, gpus=side == "limits")
        native[side] = {}
        for name, (key, amount) in amounts.items():
            try:
                native[side][name] = quantity.parse(amount).text
            except ValueError as problem:
                shared.found.append(
                    results.error("DYN123", f"{problem}; write for example 500m, 2 or 4Gi", shared.ref, (*path, "resources", side, *key))
                )
    return {**native, "claims": written.get("claims") or []}


def _amounts(written: dict[str, Any], over: dict[str, Any], *, gpus: bool) -> dict[str, tuple[Path, str]]:
    """Native resource names with the user's field and amount. GPUs count as limits only; Kubernetes derives the request."""
    merged = {**written, **over}
    named = {"cpu": "cpu", "memory": "memory", **({"gpu": merged.get("gpuType") or _GPU} if gpus else {})}
    amounts: dict[str, tuple[Path, str]] = {named[field]: ((field,), merged[field]) for field in named if merged.get(field)}
    for name, amount in (merged.get("custom") or {}).items():
        amounts[name] = (("custom", name), amount)
    return amounts


def _gpus(written: dict[str, Any], native: dict[str, Any]) -> int:
    """How many GPUs one pod asks for, whoever asks."""
    amount = native.get("limits", {}).get(written.get("gpuType") or _GPU, "0")
    return quantity.value(amount) // quantity.UNIT


def _mounts(service: dict[str, Any]) -> Iterator[Mount]:
    for mount in service.get("volumeMounts") or ():
        yield Mount(mount.get("name") or "", mount.get("mountPoint") or "", bool(mount.get("useAsCompilationCache")))


def _shared_memory(written: dict[str, Any] | None) -> str:
    """The size of /dev/shm; empty where the user has none of it."""
    if written is None:
        return volumes.DEFAULT_SHARED_MEMORY
    if written.get("disabled"):
        return ""
    return _canonical(written.get("size")) if quantity.value(written.get("size")) else volumes.DEFAULT_SHARED_MEMORY


def _ingress(shared: _Graph, service: dict[str, Any], kind: str) -> Ingress:
    """The service's own ingress, or for an entrance the installation's (reference: GenerateDefaultIngressSpec)."""
    written, default = service.get("ingress"), shared.config.ingress
    if written is not None:
        return Ingress(
            enabled=bool(written.get("enabled")),
            host=written.get("host") or "",
            prefix=written.get("hostPrefix") or "",
            suffix=written.get("hostSuffix"),
            class_name=written.get("ingressControllerClassName"),
            tls=written.get("tls") is not None,
            tls_secret=(written.get("tls") or {}).get("secretName") or "",
            virtual_service=bool(written.get("useVirtualService")),
            gateway=written.get("virtualServiceGateway"),
            labels=written.get("labels") or {},
            annotations=written.get("annotations") or {},
        )
    if not components.get(kind).is_entrance:
        return Ingress()
    return Ingress(
        enabled=bool(default.class_name or default.istio_gateway),
        host=shared.name,
        suffix=default.host_suffix or None,
        class_name=default.class_name or None,
        tls=bool(default.tls_secret_name),
        tls_secret=default.tls_secret_name,
        virtual_service=bool(default.istio_gateway),
        gateway=default.istio_gateway or None,
    )


def _endpoint_picker(written: dict[str, Any]) -> EndpointPicker:
    by_name = written.get("configMapRef")
    return EndpointPicker(
        config=written.get("config"),
        by_reference=by_name is not None,
        config_map=(by_name or {}).get("name") or "",
        key=(by_name or {}).get("key") or "",
    )
