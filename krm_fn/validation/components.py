"""Rules over one component: names, mounts, ingress, labels, probes, account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels, merge, names
from krm_fn.kube.admission import fields
from krm_fn.manifests import backends, components, ingress

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Result


def check_names(plan: ComponentPlan) -> Iterator[Result]:
    """Names that Kubernetes does not take, with what would fit."""
    name = names.debug(plan.who.name) if plan.says(labels.STEALING_DEBUG) and not plan.placement.by_graph else plan.who.name
    if len(name) > names.SERVICE_LIMIT:
        over = len(name) - names.SERVICE_LIMIT
        message = f"makes the name {name}, {over} over the {names.SERVICE_LIMIT} characters of a Service; shorten graph or service"
        yield results.error("DYN140", message, plan.ref, plan.path)
    elif not names.SERVICE.fullmatch(name):
        message = f"makes the name {name}, which no Service can have; use letters, digits and dashes only"
        yield results.error("DYN141", message, plan.ref, plan.path)
    elif plan.who.service.startswith("-") and not plan.who.standalone:
        message = f"{plan.who.service!r} cannot be the value of a label; begin it with a letter or a digit"
        yield results.error("DYN204", message, plan.ref, plan.path)
    if len(plan.who.dynamo_namespace) > names.LABEL_LIMIT:
        told = plan.who.dynamo_namespace
        message = f"the Dynamo namespace {told} is longer than the {names.LABEL_LIMIT} characters of a label; shorten the graph's name"
        yield results.error("DYN142", message, plan.ref, ("metadata", "name"))


def check_mounts(plan: ComponentPlan) -> Iterator[Result]:
    """Mounts of claims without a name or a place."""
    for index, mount in enumerate(plan.pod.mounts):
        at = (*plan.path, "volumeMounts", index)
        if not mount.name:
            yield results.error("DYN145", "is required; name the claim to mount", plan.ref, (*at, "name"))
        if not mount.path and not mount.cache:
            yield results.error("DYN146", "is required when useAsCompilationCache is false; set it", plan.ref, (*at, "mountPoint"))
        elif not mount.path and not backends.get(plan.placement.backend).cache_dir:
            message = f"is required, since the engine {plan.placement.backend} has no default place for its compilation cache; set it"
            yield results.error("DYN147", message, plan.ref, (*at, "mountPoint"))


def check_volumes(plan: ComponentPlan) -> Iterator[Result]:
    """Two volumes of one name: the API server refuses the pod."""
    seen = {volume.get("name") for volume in plan.pod.spec.get("volumes") or components.get(plan.who.type).pod(plan).get("volumes") or ()}
    if plan.pod.shared_memory:
        seen.add("shared-memory")
    for index, mount in enumerate(plan.pod.mounts):
        if mount.name in seen:
            message = (
                f"the pod would have two volumes named {mount.name}; mount it once, and a second path under mainContainer.volumeMounts"
            )
            yield results.error("DYN148", message, plan.ref, (*plan.path, "volumeMounts", index, "name"))
        seen.add(mount.name)


def check_ingress(plan: ComponentPlan) -> Iterator[Result]:
    """An ingress without a host, or one that opens nothing."""
    at = (*plan.path, "ingress")
    if not plan.edge.ingress.enabled:
        return
    if not plan.edge.ingress.host:
        yield results.error("DYN149", "is required when ingress is enabled; set it", plan.ref, (*at, "host"))
    elif not fields.DNS_SUBDOMAIN.fullmatch(ingress.host(plan).removeprefix("*.")):
        message = f"makes the host {ingress.host(plan)!r}, which is no host name; use lower-case letters, digits, dashes and dots"
        yield results.error("DYN157", message, plan.ref, (*at, "hostSuffix") if ingress.host(plan).endswith(".") else (*at, "host"))
    for name, field in (
        (plan.edge.ingress.class_name, ("ingressControllerClassName",)),
        (plan.edge.ingress.tls_secret, ("tls", "secretName")),
    ):
        if name and ingress.makes_ingress(plan) and not fields.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is no name that Kubernetes takes; use lower-case letters, digits, dashes and dots"
            yield results.error("DYN158", message, plan.ref, (*at, *field))
    if not ingress.makes_ingress(plan) and not ingress.makes_virtual_service(plan):
        message = (
            "opens nothing; set ingressControllerClassName, or configure ingress.istioGateway and set useVirtualService with a gateway"
        )
        yield results.warning("DYN150", message, plan.ref, at)


def check_selector(plan: ComponentPlan) -> Iterator[Result]:
    """Labels by which Kubernetes finds the pods must stay what they are."""
    expected = {labels.SELECTOR: plan.who.name, labels.COMPONENT_TYPE: plan.who.type, labels.NAMESPACE: plan.who.selected_namespace}
    for key, value in plan.pod.labels.items():
        at = (*plan.path, "extraPodMetadata", "labels", key)
        if key == labels.SELECTOR and value != expected[key]:
            yield results.error("DYN151", "the Deployment would no longer find its pods; remove the label", plan.ref, at)
        elif key in expected and value != expected[key]:
            yield results.warning("DYN152", "the Service will not find these pods; remove the label", plan.ref, at)


def check_probes(plan: ComponentPlan) -> Iterator[Result]:
    """What becomes of a probe in `mainContainer` that meets a default one."""
    defaults = components.get(plan.who.type).container(plan)
    replaced = {"livenessProbe": plan.pod.liveness, "readinessProbe": plan.pod.readiness}
    for name in merge.PROBES:
        at = (*plan.path, "extraPodSpec", "mainContainer", name)
        default, written = defaults.get(name), plan.pod.container.get(name)
        if name == "startupProbe" or not default or not written or replaced.get(name) is not None:
            continue
        if merge.keeps_named_port(default, written):
            port = default["httpGet"]["port"]
            message = f"a number does not replace the default port {port}; set {name} on the service itself, or name the port"
            yield results.warning("DYN153", message, plan.ref, (*at, "httpGet", "port"))
        if {key for key in merge.HANDLERS if written.get(key)} - set(default):
            yield results.info("DYN300", "replaces the handler of the default probe; its times stay", plan.ref, at)


def check_account(plan: ComponentPlan, around: ClusterFacts) -> Iterator[Result]:
    """A discovery annotation on a service alone points its pods at an account that the graph does not make."""
    account = names.discovery(plan.who.graph)
    if plan.placement.discovery != "kubernetes" or (plan.placement.graph_discovery == "kubernetes" and plan.who.graph):
        return
    own = components.get(plan.who.type).enforce(merge.overlay(components.get(plan.who.type).pod(plan), plan.pod.spec))
    if own.get("serviceAccountName") or account in around.accounts.get(plan.who.namespace, ()):
        return
    if not plan.who.graph:
        message = "discovery through Kubernetes needs an account, and there is no graph to make one; name one, or annotate the backend etcd"
        yield results.error("DYN156", message, plan.ref, (*plan.path, "extraPodSpec", "serviceAccountName"))
        return
    message = f"needs the service account {account}, which nobody makes; set the annotation on the graph instead"
    yield results.error("DYN155", message, plan.ref, (*plan.path, "annotations", labels.DISCOVERY_BACKEND))
