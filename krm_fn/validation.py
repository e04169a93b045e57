"""Rules that span facts: each is a small generator of findings over a plan.

Not its business: types and unknown fields (`krm_fn.api.check`), and what concerns one component type only (its `check`). Follows the
reference's `internal/webhook/validation/shared.go` and `dynamographdeployment.go`, with the errors it finds at run time only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import backends, components, ingress, pod, results, workloads
from krm_fn.kube import admission, labels, merge, names, quantity

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Path, Result
    from krm_fn.surroundings import Surroundings


def graph(plan: GraphPlan, spec: dict[str, Any], around: Surroundings) -> Iterator[Result]:
    """Everything wrong with a graph, not only the first. `spec` is the resource's, for what no plan keeps."""
    yield from _services(plan)
    yield from _claims(plan, spec)
    yield from _restart(plan, spec)
    yield from _deprecated(plan, spec)
    yield from _lost(plan, spec)
    for component in plan.components:
        yield from _component(component, around)


def _component(plan: ComponentPlan, around: Surroundings) -> Iterator[Result]:
    yield from components.get(plan.type).check(plan)
    yield from workloads.get(plan.workload).check(plan)
    for rule in (_names, _mounts, _volumes, _ingress, _selector, _probes, _pods, _metadata):
        yield from rule(plan)
    yield from _account(plan, around)


def _services(plan: GraphPlan) -> Iterator[Result]:
    if not plan.components:
        yield results.error("DYN100", "a graph needs at least one service; add one", plan.ref, ("spec", "services"))
    first: dict[str, str] = {}
    for component in plan.components:
        before = first.setdefault(component.name, component.service)
        if before != component.service:
            message = f"makes the same objects as service {before}, since names are written in lower case; rename one of them"
            yield results.error("DYN101", message, plan.ref, component.path)
    if len([component for component in plan.components if component.type == "epp"]) > 1:
        yield results.error(
            "DYN102", "a graph has at most one endpoint picker; keep one service of type epp", plan.ref, ("spec", "services")
        )


def _claims(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    seen: set[str] = set()
    for index, claim in enumerate(spec.get("pvcs") or ()):
        at: Path = ("spec", "pvcs", index)
        if not claim.get("name"):
            yield results.error("DYN103", "is required; name the claim", plan.ref, (*at, "name"))
        elif claim["name"] in seen:
            yield results.error("DYN104", f"the claim {claim['name']} is listed twice; keep one", plan.ref, (*at, "name"))
        seen.add(claim.get("name") or "")
        if claim.get("create"):
            for field, example in (("storageClass", "standard"), ("size", "100Gi"), ("volumeAccessMode", "ReadWriteMany")):
                if not (quantity.value(claim.get(field)) if field == "size" else claim.get(field)):
                    message = f"is required when create is true; set it, for example to {example}"
                    yield results.error("DYN105", message, plan.ref, (*at, field))


def _restart(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    written = spec.get("restart")
    if written is None:
        return
    at: Path = ("spec", "restart")
    if not written.get("id"):
        yield results.error("DYN106", "is required; write any text, a new one for each restart", plan.ref, (*at, "id"))
    strategy = written.get("strategy") or {}
    order, services = strategy.get("order") or [], {component.service for component in plan.components}
    where = (*at, "strategy", "order")
    if order and strategy.get("type") == "Parallel":
        yield results.error("DYN107", "cannot be given when type is Parallel; leave one of the two out", plan.ref, where)
    elif order:
        for index, name in enumerate(order):
            if name not in services:
                yield results.error(
                    "DYN108", f"the graph has no service {name}; write one of {', '.join(sorted(services))}", plan.ref, (*where, index)
                )
            elif name in order[:index]:
                yield results.error("DYN109", f"{name} stands twice; name each service once", plan.ref, (*where, index))
        if missing := sorted(services - set(order)):
            yield results.error("DYN110", f"leaves out {', '.join(missing)}; name every service", plan.ref, where)
    if plan.restart and plan.restart.ordered and plan.config.restart == "render":
        message = (
            "all services restart at once, since a build has no order; set restart: sync in the configuration and let the syncer do it"
        )
        yield results.warning("DYN111", message, plan.ref, (*at, "strategy"))


def _deprecated(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    for component, service in _written(plan, spec):
        if service.get("dynamoNamespace") and not plan.alone:
            message = f"is deprecated and ignored: the value is {component.dynamo_namespace}; remove the field"
            yield results.warning("DYN112", message, plan.ref, (*component.path, "dynamoNamespace"))
        if service.get("autoscaling") is not None:
            message = "is deprecated and ignored; set scalingAdapter.enabled and let an autoscaler scale the adapter"
            yield results.warning("DYN113", message, plan.ref, (*component.path, "autoscaling"))


def _written(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[tuple[ComponentPlan, dict[str, Any]]]:
    """Each component with what the user wrote of it."""
    services = spec.get("services") or {}
    for component in plan.components:
        yield component, spec if plan.alone else services.get(component.service) or {}


def _lost(plan: GraphPlan, spec: dict[str, Any]) -> Iterator[Result]:
    """What the reference drops without a word."""
    for component, service in _written(plan, spec):
        path = component.path
        if service.get("labels") and not component.by_graph and not plan.alone:
            message = "reach no pod in deployment mode; write them under extraPodMetadata.labels"
            yield results.warning("DYN114", message, plan.ref, (*path, "labels"))
        requests = (service.get("resources") or {}).get("requests") or {}
        for field in ("gpu", "gpuType"):
            if requests.get(field):
                message = "reaches no pod, Kubernetes takes the request from the limit; write it under resources.limits"
                yield results.warning("DYN115", message, plan.ref, (*path, "resources", "requests", field))
        memory = service.get("sharedMemory")
        if memory is not None and not memory.get("disabled") and not quantity.value(memory.get("size")):
            message = "is required when disabled is false; set a size such as 16Gi, or disabled: true"
            yield results.error("DYN116", message, plan.ref, (*path, "sharedMemory", "size"))


def _names(plan: ComponentPlan) -> Iterator[Result]:
    if len(plan.name) > names.SERVICE_LIMIT:
        over = len(plan.name) - names.SERVICE_LIMIT
        message = f"makes the name {plan.name}, {over} over the {names.SERVICE_LIMIT} characters of a Service; shorten graph or service"
        yield results.error("DYN140", message, plan.ref, plan.path)
    elif not names.SERVICE.fullmatch(plan.name):
        message = f"makes the name {plan.name}, which no Service can have; use letters, digits and dashes only"
        yield results.error("DYN141", message, plan.ref, plan.path)
    if len(plan.dynamo_namespace) > names.LABEL_LIMIT:
        message = (
            f"the Dynamo namespace {plan.dynamo_namespace} is over the {names.LABEL_LIMIT} characters of a label; shorten the graph's name"
        )
        yield results.error("DYN142", message, plan.ref, ("metadata", "name"))


def _mounts(plan: ComponentPlan) -> Iterator[Result]:
    for index, mount in enumerate(plan.mounts):
        at = (*plan.path, "volumeMounts", index)
        if not mount.name:
            yield results.error("DYN145", "is required; name the claim to mount", plan.ref, (*at, "name"))
        if not mount.path and not mount.cache:
            yield results.error("DYN146", "is required when useAsCompilationCache is false; set it", plan.ref, (*at, "mountPoint"))
        elif not mount.path and not backends.get(plan.backend).cache_dir:
            message = f"is required, since the engine {plan.backend} has no default place for its compilation cache; set it"
            yield results.error("DYN147", message, plan.ref, (*at, "mountPoint"))


def _volumes(plan: ComponentPlan) -> Iterator[Result]:
    """Two volumes of one name: the API server refuses the pod."""
    seen = {volume.get("name") for volume in plan.pod.get("volumes") or components.get(plan.type).pod(plan).get("volumes") or ()}
    if plan.shared_memory:
        seen.add("shared-memory")
    for index, mount in enumerate(plan.mounts):
        if mount.name in seen:
            message = (
                f"the pod would have two volumes named {mount.name}; mount it once, and a second path under mainContainer.volumeMounts"
            )
            yield results.error("DYN148", message, plan.ref, (*plan.path, "volumeMounts", index, "name"))
        seen.add(mount.name)


def _ingress(plan: ComponentPlan) -> Iterator[Result]:
    at = (*plan.path, "ingress")
    if not plan.ingress.enabled:
        return
    if not plan.ingress.host:
        yield results.error("DYN149", "is required when ingress is enabled; set it", plan.ref, (*at, "host"))
    if not ingress.makes_ingress(plan) and not ingress.makes_virtual_service(plan):
        message = (
            "opens nothing; set ingressControllerClassName, or configure ingress.istioGateway and set useVirtualService with a gateway"
        )
        yield results.warning("DYN150", message, plan.ref, at)


def _selector(plan: ComponentPlan) -> Iterator[Result]:
    """Labels by which Kubernetes finds the pods must stay what they are."""
    expected = {labels.SELECTOR: plan.name, labels.COMPONENT_TYPE: plan.type, labels.NAMESPACE: plan.selected_namespace}
    for key, value in plan.pod_labels.items():
        at = (*plan.path, "extraPodMetadata", "labels", key)
        if key == labels.SELECTOR and value != expected[key]:
            yield results.error("DYN151", "the Deployment would no longer find its pods; remove the label", plan.ref, at)
        elif key in expected and value != expected[key]:
            yield results.warning("DYN152", "the Service will not find these pods; remove the label", plan.ref, at)


def _probes(plan: ComponentPlan) -> Iterator[Result]:
    """What becomes of a probe in `mainContainer` that meets a default one."""
    defaults = components.get(plan.type).container(plan)
    replaced = {"livenessProbe": plan.liveness, "readinessProbe": plan.readiness}
    for name in merge.PROBES:
        at = (*plan.path, "extraPodSpec", "mainContainer", name)
        default, written = defaults.get(name), plan.container.get(name)
        if name == "startupProbe" or not default or not written or replaced.get(name) is not None:
            continue
        if merge.keeps_named_port(default, written):
            port = default["httpGet"]["port"]
            message = f"a number does not replace the default port {port}; set {name} on the service itself, or name the port"
            yield results.warning("DYN153", message, plan.ref, (*at, "httpGet", "port"))
        if {key for key in merge.HANDLERS if written.get(key)} - set(default):
            yield results.info("DYN300", "replaces the handler of the default probe; its times stay", plan.ref, at)


def _pods(plan: ComponentPlan) -> Iterator[Result]:
    """What an API server would refuse in the pods, at the field where the user can mend it."""
    carrier = workloads.get(plan.workload)
    mine = {mount.name for mount in plan.mounts}
    for role in carrier.roles(plan):
        spec = pod.spec(role)
        for fault in admission.pod(spec):
            if fault.code == "DYN207" and fault.path[0] == "volumes" and spec["volumes"][fault.path[1]].get("name") in mine:
                continue  # said already, of the mount
            yield results.error(fault.code, fault.message, plan.ref, _origin(plan, fault.path))
        policy = spec.get("restartPolicy")
        if carrier.only_always and policy != "Always":
            message = f"{policy!r} does not fit pods that are to stay; write Always, or remove it"
            yield results.error("DYN223", message, plan.ref, (*plan.path, "extraPodSpec", "restartPolicy"))


def _origin(plan: ComponentPlan, path: Path) -> Path:
    """Where in the user's resource a field of the finished pod comes from."""
    extra: Path = (*plan.path, "extraPodSpec")
    if path[:2] != ("containers", len(plan.pod.get("containers") or ())):
        return (*extra, *path)
    rest, main = path[2:], (*extra, "mainContainer")
    if rest[:1] == ("livenessProbe",) and plan.liveness is not None or rest[:1] == ("readinessProbe",) and plan.readiness is not None:
        return (*plan.path, *rest)
    if rest[:1] == ("resources",) and not plan.container.get("resources"):
        return (*plan.path, *rest)
    if rest[:1] == ("env",):
        return (*plan.path, "envs")
    return (*main, *rest)


def _metadata(plan: ComponentPlan) -> Iterator[Result]:
    """Labels and annotations that Kubernetes would not take."""
    where: Path = (*plan.path, "extraPodMetadata")
    checks = (
        (admission.labels(plan.pod_labels), (*where, "labels")),
        (admission.annotation_keys(plan.pod_annotations), (*where, "annotations")),
        (admission.annotation_keys(plan.annotations), (*plan.path, "annotations")),
        (admission.labels(plan.service_labels if plan.by_graph else {}), (*plan.path, "labels")),
    )
    for faults, at in checks:
        for fault in faults:
            yield results.error(fault.code, fault.message, plan.ref, (*at, *fault.path))


def _account(plan: ComponentPlan, around: Surroundings) -> Iterator[Result]:
    """A discovery annotation on a service alone points its pods at an account that the graph does not make."""
    account = names.discovery(plan.graph)
    if plan.discovery != "kubernetes" or (plan.graph_discovery == "kubernetes" and plan.graph):
        return
    own = components.get(plan.type).enforce(merge.overlay(components.get(plan.type).pod(plan), plan.pod))
    if own.get("serviceAccountName") or account in around.accounts.get(plan.namespace, ()):
        return
    if not plan.graph:
        message = "discovery through Kubernetes needs an account, and there is no graph to make one; name one, or annotate the backend etcd"
        yield results.error("DYN156", message, plan.ref, (*plan.path, "extraPodSpec", "serviceAccountName"))
        return
    message = f"needs the service account {account}, which nobody makes; set the annotation on the graph instead"
    yield results.error("DYN155", message, plan.ref, (*plan.path, "annotations", labels.DISCOVERY_BACKEND))
