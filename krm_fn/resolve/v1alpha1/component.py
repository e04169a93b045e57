"""One component, as a service of a graph or on its own, as a plan.

Follows the reference's `internal/dynamo/graph.go` GenerateDynamoComponentsDeployments and its helpers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn import results
from krm_fn.kube import canonical, labels, merge, names, quantity
from krm_fn.kube.types import EnvVar
from krm_fn.manifests import backends, components, volumes
from krm_fn.plan import ComponentPlan, EndpointPicker, Ingress, Mount
from krm_fn.resolve import placement, resources
from krm_fn.resolve.context import Identity, Shared
from krm_fn.resolve.v1alpha1 import deployment_config
from krm_fn.results import Path


def component(facts: Shared, who: Identity, written: dict[str, Any]) -> ComponentPlan:
    """The plan of one component: who it is and what carries it, then its pods."""
    kind, by_graph = written.get("componentType") or "", placement.by_graph(facts, written)
    envs, override = _envs(facts, who, written, kind)
    plan = ComponentPlan(
        service=who.service,
        name=who.name,
        graph=facts.name,
        namespace=facts.namespace,
        config=facts.config,
        ref=facts.ref,
        path=who.path,
        type=kind,
        sub_type=written.get("subComponentType") or "",
        workload=placement.name(facts, written),
        by_graph=by_graph,
        alone=who.alone,
        dynamo_namespace=names.dynamo_namespace(facts.namespace, facts.name, shared=bool(written.get("globalDynamoNamespace"))),
        selected_namespace=who.dynamo_namespace,
        graph_label=who.graph_label,
        discovery=who.annotations.get(labels.DISCOVERY_BACKEND, facts.config.discovery_backend),
        graph_discovery=facts.discovery,
        replicas=written["replicas"] if written.get("replicas") is not None else override.replicas,
        autoscaled=bool((written.get("scalingAdapter") or {}).get("enabled")),
        nodes=placement.nodes(written),
        labels=who.labels,
        annotations=who.annotations,
        service_labels=written.get("labels") or {},
        metrics=who.metrics,
        envs=tuple(envs),
        ingress=_ingress(facts, written, kind, by_graph=by_graph),
        model=(written.get("modelRef") or {}).get("name") or "",
        epp=_endpoint_picker(written.get("eppConfig") or {}),
    )
    return _with_pods(plan, facts, written, override.resources or {})


def _with_pods(plan: ComponentPlan, facts: Shared, written: dict[str, Any], over: dict[str, Any]) -> ComponentPlan:
    """The plan with what its pods are made of; `over` are amounts that win over those written."""
    extra, metadata = written.get("extraPodSpec") or {}, written.get("extraPodMetadata") or {}
    container = canonical.container(extra.get("mainContainer") or {})
    amounts = resources.overridden(written.get("resources") or {}, over)
    native = resources.native(amounts, facts.ref, plan.path, facts.found)
    silent = plan.says(labels.NO_PULL_SECRETS)
    return plan._replace(
        backend=_backend(facts, plan.type, container, plan.path),
        pod_labels=metadata.get("labels") or {},
        pod_annotations=metadata.get("annotations") or {},
        env_from_secret=written.get("envFromSecret") or "",
        liveness=written.get("livenessProbe"),
        readiness=written.get("readinessProbe"),
        resources=native,
        gpus=resources.gpus(amounts, merge.overlay(container.get("resources") or {}, native)),
        gpu_limit=(amounts.get("limits") or {}).get("gpu") or "",
        gpu_request=(amounts.get("requests") or {}).get("gpu") or "",
        mounts=tuple(_mounts(written)),
        shared_memory=_shared_memory(written.get("sharedMemory")),
        pod=canonical.spec({key: value for key, value in extra.items() if key != "mainContainer"}),
        container=container,
        pull_secrets=() if silent else facts.around.pull_secrets(facts.namespace, container.get("image") or ""),
        fallback_account=facts.around.fallback.get(facts.namespace, "default"),
    )


def _envs(facts: Shared, who: Identity, written: dict[str, Any], kind: str) -> tuple[list[EnvVar], deployment_config.Override]:
    """The component's variables, and what `DYN_DEPLOYMENT_CONFIG` among them says."""
    own, nothing = written.get("envs") or [], deployment_config.Override()
    envs = merge.envs(facts.envs, own) if facts.envs else list(own)
    place = next((index for index, variable in enumerate(envs) if variable.get("name") == deployment_config.NAME), None)
    if place is None or placement.by_graph(facts, written) or not facts.name:
        return envs, nothing
    try:
        content = deployment_config.parse(envs[place].get("value") or "")
        if components.get(kind).is_entrance:
            envs[place] = {**envs[place], "value": deployment_config.with_port(content, who.service)}
        return envs, deployment_config.override(content, who.service)
    except (ValueError, RecursionError) as problem:
        at = (*who.path, "envs") if any(variable.get("name") == deployment_config.NAME for variable in own) else ("spec", "envs")
        message = f"{deployment_config.NAME} cannot be read: {problem}; write a JSON object"
        facts.found.append(results.error("DYN120", message, facts.ref, at))
        return envs, nothing


def _backend(facts: Shared, kind: str, container: dict[str, Any], path: Path) -> str:
    """The engine: what the command line starts, else what the graph says (reference: determineBackendFramework)."""
    if not components.get(kind).runs_engine:
        return "noop"
    detected = backends.detect([*(container.get("command") or ()), *(container.get("args") or ())])
    where = (*path, "extraPodSpec", "mainContainer", "args")
    if len(detected) == 1 and facts.framework and facts.framework != detected[0]:
        message = f"the command starts {detected[0]}, but spec.backendFramework says {facts.framework}; make them agree"
        facts.found.append(results.error("DYN121", message, facts.ref, where))
    if len(detected) > 1 and not facts.framework:
        message = f"the command starts {' and '.join(detected)}; set spec.backendFramework to the one that counts"
        facts.found.append(results.error("DYN122", message, facts.ref, where))
    return detected[0] if len(detected) == 1 else facts.framework or "noop"


def _mounts(written: dict[str, Any]) -> Iterator[Mount]:
    for mount in written.get("volumeMounts") or ():
        yield Mount(mount.get("name") or "", mount.get("mountPoint") or "", bool(mount.get("useAsCompilationCache")))


def _shared_memory(written: dict[str, Any] | None) -> str:
    """The size of /dev/shm; empty where the user has none of it."""
    if written is None:
        return volumes.DEFAULT_SHARED_MEMORY
    if written.get("disabled"):
        return ""
    return quantity.canonical(written["size"]) if quantity.value(written.get("size")) else volumes.DEFAULT_SHARED_MEMORY


def _ingress(facts: Shared, written: dict[str, Any], kind: str, *, by_graph: bool) -> Ingress:
    """The component's own ingress, or for the entrance of a graph the installation's (reference: GenerateDefaultIngressSpec)."""
    own, default, entrance = written.get("ingress"), facts.config.ingress, components.get(kind).is_entrance
    if by_graph and not entrance:
        return Ingress()
    if own is not None:
        return Ingress(
            enabled=bool(own.get("enabled")),
            host=own.get("host") or "",
            prefix=own.get("hostPrefix") or "",
            suffix=own.get("hostSuffix"),
            class_name=own.get("ingressControllerClassName"),
            tls=own.get("tls") is not None,
            tls_secret=(own.get("tls") or {}).get("secretName") or "",
            virtual_service=bool(own.get("useVirtualService")),
            gateway=own.get("virtualServiceGateway"),
            labels=own.get("labels") or {},
            annotations=own.get("annotations") or {},
        )
    if not entrance or not facts.name:
        return Ingress()
    return Ingress(
        enabled=bool(default.class_name or default.istio_gateway),
        host=facts.name,
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
