"""Rules about one component: names, mounts, ingress, labels, probes, service account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels, merge, names
from krm_fn.kube.admission import fields
from krm_fn.manifests import assemblies, backends, components, ingress, volumes, workloads
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from krm_fn.plan import ComponentPlan
    from krm_fn.plan.address import Field
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Path, Result


def check_names(plan: ComponentPlan) -> Iterator[Result]:
    """Reports names that Kubernetes does not accept."""
    name = [plan.service_name, *workloads.get(plan.placement.workload).services(plan)][-1]
    if len(name) > names.SERVICE_LIMIT:
        over = len(name) - names.SERVICE_LIMIT
        message = f"the Service would be named {name}, which is {over} over the limit of {names.SERVICE_LIMIT} characters"
        yield results.error("DYN140", f"{message}; shorten the graph's or the service's name", plan.ref, plan.at("component"))
    elif not names.SERVICE.fullmatch(name):
        message = f"the Service would be named {name}, which is not a valid name; use letters, digits and dashes only"
        yield results.error("DYN141", message, plan.ref, plan.at("component"))
    elif plan.who.service.startswith("-") and not plan.who.standalone:
        message = f"{plan.who.service!r} is not a valid label value; begin it with a letter or a digit"
        yield results.error("DYN204", message, plan.ref, plan.at("component"))
    if len(plan.who.dynamo_namespace) > names.LABEL_LIMIT:
        message = f"the Dynamo namespace {plan.who.dynamo_namespace} is longer than the {names.LABEL_LIMIT} characters of a label value"
        yield results.error("DYN142", f"{message}; shorten the graph's name", plan.ref, ("metadata", "name"))


def check_mounts(plan: ComponentPlan) -> Iterator[Result]:
    """Reports mounts of claims without a name or a path."""
    for index, mount in enumerate(plan.pod.mounts):
        name, path = plan.at("mount.name", index), plan.at("mount.path", index)
        if not mount.name:
            yield sentences.error("DYN145", plan.ref, name)
        if not mount.path and not mount.cache:
            cache = plan.at("mount.cache", index)
            yield sentences.error("DYN146", plan.ref, path, field=f"{path[-1]}", cache=f"{cache[-1]}")
        elif not mount.path and not backends.get(plan.placement.backend).cache_dir:
            yield cache_without_path(plan, path)


def cache_without_path(plan: ComponentPlan, path: Path) -> Result:
    """The finding about a compilation cache without a folder, which the field at `path` sets."""
    message = f"{path[-1]} is required, because the engine {plan.placement.backend} has no default folder for its compilation cache"
    return results.error("DYN147", f"{message}; set it", plan.ref, path)


def check_volumes(plan: ComponentPlan) -> Iterator[Result]:
    """Reports two volumes with the same name, because an API server refuses the pod."""
    seen = {volume.get("name") for volume in plan.pod.spec.get("volumes") or components.get(plan.who.type).pod(plan).get("volumes") or ()}
    if plan.pod.shared_memory:
        seen.add(volumes.SHARED_MEMORY)
    for index, mount in enumerate(plan.pod.mounts):
        if mount.name in seen:
            message = f"the pod would have two volumes named {mount.name}"
            mend = f"mount the claim once here, and write further mounts under {plan.word('main', 'volumeMounts')}"
            yield results.error("DYN148", f"{message}; {mend}", plan.ref, plan.at("mount.name", index))
        seen.add(mount.name)


def check_ingress(plan: ComponentPlan) -> Iterator[Result]:
    """Reports an ingress without a host, with invalid names, or without effect."""
    wanted = plan.edge.ingress
    if not wanted.enabled:
        return
    if not wanted.host:
        yield sentences.error("DYN149", plan.ref, plan.at("ingress.host"))
    elif not fields.DNS_SUBDOMAIN.fullmatch((host := ingress.host(plan)).removeprefix("*.")):
        message = f"the host would be {host!r}, which is not a valid host name; use lower-case letters, digits, dashes and dots"
        yield results.error("DYN157", message, plan.ref, plan.at("ingress.suffix" if host.endswith(".") else "ingress.host"))
    named: tuple[tuple[Field, str | None], ...] = (("ingress.class", wanted.class_name), ("ingress.tls", wanted.tls_secret))
    for field, name in named:
        if name and ingress.makes_ingress(plan) and not fields.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name; use lower-case letters, digits, dashes and dots"
            yield results.error("DYN158", message, plan.ref, plan.at(field))
    if not ingress.makes_ingress(plan) and not ingress.makes_virtual_service(plan):
        message = (
            f"the ingress has no effect; set {plan.word('ingress.class')}, or configure ingress.istioGateway "
            f"and set {plan.word('ingress.virtual_service')} and {plan.word('ingress.gateway')}"
        )
        yield results.warning("DYN150", message, plan.ref, plan.at("ingress"))


def check_selector(plan: ComponentPlan) -> Iterator[Result]:
    """Reports user labels that override a label of a selector, if the release lets them."""
    if plan.behaviour.pod_metadata.protected:
        return
    expected = {labels.SELECTOR: plan.who.workload_name, **plan.who.selector}
    for key, value in plan.pod.labels.items():
        at = plan.at("pod.labels", key)
        if key == labels.SELECTOR and value != expected[key]:
            yield results.error("DYN151", f"the workload selects its pods by {key}={expected[key]}; remove the label", plan.ref, at)
        elif key in expected and value != expected[key]:
            yield results.warning("DYN152", f"the Service selects its pods by {key}={expected[key]}; remove the label", plan.ref, at)


def check_probes(plan: ComponentPlan) -> Iterator[Result]:
    """Reports probes of the main container whose port or handler is merged with that of a default probe."""
    if not assemblies.get(plan).merges_probes:
        return
    defaults = components.get(plan.who.type).container(plan)
    replaced = {"livenessProbe": plan.pod.liveness, "readinessProbe": plan.pod.readiness}
    for name in merge.PROBES:
        default, written = defaults.get(name), plan.pod.container.get(name)
        if name == "startupProbe" or not default or not written or replaced.get(name) is not None:
            continue
        if merge.keeps_named_port(default, written):
            port = default["httpGet"]["port"]
            message = f"the default port {port} stays, because a number does not replace a named port"
            mend = f"set {name} on the service itself, or name the port"
            yield results.warning("DYN153", f"{message}; {mend}", plan.ref, plan.at("main", name, "httpGet", "port"))
        if {key for key in merge.HANDLERS if written.get(key)} - set(default):
            message = "this handler replaces the handler of the default probe; the default's times stay"
            yield results.info("DYN300", message, plan.ref, plan.at("main", name))


def check_account(plan: ComponentPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Reports a discovery annotation on a service only: its pods use a ServiceAccount that the graph does not create."""
    account, component = names.discovery(plan.who.graph), components.get(plan.who.type)
    if plan.placement.discovery != "kubernetes" or (plan.placement.graph_discovery == "kubernetes" and plan.who.has_graph):
        return
    own = {**merge.overlay(component.pod(plan), plan.pod.spec), **plan.pod.enforced}
    if own.get("serviceAccountName") or account in cluster.accounts.get(plan.who.namespace, ()):
        return
    if not plan.who.has_graph:
        # Without the name of a graph there is no account that a user could create.
        say, create = (results.warning, f"create {account}, ") if plan.who.graph else (results.error, "")
        message = "Kubernetes discovery needs a service account, and only a graph creates one"
        mend = f"{create}set serviceAccountName, or the annotation {labels.DISCOVERY_BACKEND}: etcd"
        yield say("DYN156", f"{message}; {mend}", plan.ref, plan.at("pod", "serviceAccountName"))
        return
    message = f"the pods need the service account {account}, which this graph does not create; set the annotation on the graph"
    yield results.error("DYN155", message, plan.ref, plan.at("annotations", labels.DISCOVERY_BACKEND))
