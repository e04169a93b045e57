"""Rules about one component: names, mounts, ingress, labels, probes, service account, runtime discovery."""

from __future__ import annotations

import re
from collections.abc import Iterator

from krm_fn.base import codes, report, results
from krm_fn.kubernetes import merge
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render import engines, labels, names
from krm_fn.render.kinds import dynamo_images
from krm_fn.render.manifests import component_defaults, ingress, volumes, workloads
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan
    from krm_fn.render.resolve.cluster import ClusterFacts

_BEFORE_1 = re.compile(r"v?0\.[0-9]+([.+_a-z-].*)?")
_STORES = ("ETCD_ENDPOINTS", "DYN_STORE_KV")


def check(plan: ComponentPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Yields the findings about one component and its main container."""
    if plan.type.picks_workers:
        yield from _check_picker(plan)
    yield from _check_names(plan)
    if plan.pod.mounts:
        yield from _check_mounts(plan)
        yield from _check_volumes(plan)
    if plan.exposure.ingress.enabled:
        yield from _check_ingress(plan)
    if plan.pod.labels and not plan.release.pod_metadata.protected:
        yield from _check_selector(plan)
    if plan.release.merges_probes:
        yield from _check_probes(plan)
    yield from _check_account(plan, cluster)


def _check_picker(plan: ComponentPlan) -> Iterator[Result]:
    """Reports endpoint pickers with several nodes, and other problems that depend on the version of their image.

    Follows the operator's `internal/webhook/validation/shared.go` validateEPPConfig.
    """
    if plan.placement.nodes > 1:
        yield rule_messages.error(codes.MULTINODE_ENDPOINT_PICKER, plan.ref, plan.at("multinode"), nodes=plan.word("multinode"))
    from krm_fn.render.kinds import gates  # noqa: PLC0415 - few graphs have an endpoint picker

    if gates.NATIVE_PICKER not in plan.gates:
        yield from _check_configured(plan)
    elif plan.exposure.picker.is_configured:
        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

        message = f"a native endpoint picker, which images have since 1.5.0, reads no configuration; remove {plan.word('eppConfig')}"
        yield results.error(
            codes.NATIVE_ENDPOINT_PICKER_WITH_CONFIG, message, plan.ref, plan.at("eppConfig"), edit=edits.Edit(edits.Removal())
        )


def _check_configured(plan: ComponentPlan) -> Iterator[Result]:
    """Reports endpoint pickers without one configuration, or with several replicas."""
    picker = plan.exposure.picker
    if plan.placement.replicas not in (None, 1):
        yield rule_messages.error(codes.ENDPOINT_PICKER_REPLICAS, plan.ref, plan.at("replicas"))._replace(proposed=1)
    config, reference = plan.word("eppConfig", "config"), plan.word("eppConfig", "configMapRef")
    if picker.config is None and not picker.by_reference:
        yield rule_messages.error(codes.ENDPOINT_PICKER_WITHOUT_CONFIG, plan.ref, plan.at("eppConfig"), config=config, reference=reference)
    elif picker.config is not None and picker.by_reference:
        yield rule_messages.error(
            codes.ENDPOINT_PICKER_WITH_TWO_CONFIGS, plan.ref, plan.at("eppConfig", "configMapRef"), config=config, reference=reference
        )
    elif picker.by_reference and not picker.config_map:
        yield rule_messages.error(codes.CONFIG_MAP_REF_WITHOUT_NAME, plan.ref, plan.at("eppConfig", "configMapRef", "name"))


def _check_names(plan: ComponentPlan) -> Iterator[Result]:
    """Reports names that Kubernetes does not accept."""
    name = [plan.service_name, *workloads.get(plan.placement.workload).services(plan)][-1]
    if len(name) > names.SERVICE_LIMIT:
        over = len(name) - names.SERVICE_LIMIT
        message = f"the Service would be named {name}, which is {over} over the limit of {names.SERVICE_LIMIT} characters"
        yield results.error(
            codes.SERVICE_NAME_TOO_LONG, f"{message}; shorten the graph's or the component's name", plan.ref, plan.at("name")
        )
    elif not names.SERVICE.fullmatch(name):
        message = f"the Service would be named {name}, which is not a valid name; use letters, digits and dashes only"
        yield results.error(codes.INVALID_SERVICE_NAME, message, plan.ref, plan.at("name"))
    elif plan.identity.service.startswith("-") and not plan.identity.standalone:
        message = f"{plan.identity.service!r} is not a valid label value; begin it with a letter or a digit"
        yield results.error(codes.INVALID_LABEL_VALUE, message, plan.ref, plan.at("name"))
    elif not name_formats.DNS_SUBDOMAIN.fullmatch(plan.ref.name):
        message = f"{plan.ref.name!r} is not a valid name of a resource; use lower-case letters, digits and dashes"
        yield results.error(codes.INVALID_NATIVE_NAME, message, plan.ref, ("metadata", "name"))
    if len(plan.identity.dynamo_namespace) > names.LABEL_LIMIT:
        message = (
            f"the Dynamo namespace {plan.identity.dynamo_namespace} is longer than the {names.LABEL_LIMIT} characters of a label value"
        )
        yield results.error(codes.DYNAMO_NAMESPACE_TOO_LONG, f"{message}; shorten the graph's name", plan.ref, ("metadata", "name"))


def _check_mounts(plan: ComponentPlan) -> Iterator[Result]:
    """Reports mounts of claims without a name or a path."""
    for index, mount in enumerate(plan.pod.mounts):
        path = plan.at("volumeMounts", index, "mountPoint")
        if not mount.name:
            yield rule_messages.error(codes.MOUNT_WITHOUT_CLAIM, plan.ref, plan.at("volumeMounts", index, "name"))
        if not mount.path and not mount.cache:
            cache = plan.at("volumeMounts", index, "useAsCompilationCache")
            yield rule_messages.error(codes.MOUNT_WITHOUT_PATH, plan.ref, path, field=f"{path[-1]}", cache=f"{cache[-1]}")
        elif not mount.path and not engines.get(plan.engine).cache_dir:
            yield cache_without_path(plan, path)


def cache_without_path(plan: ComponentPlan, path: Path) -> Result:
    """Returns the finding about a compilation cache without a folder, which the field at `path` sets."""
    message = f"{path[-1]} is required, because the engine {plan.engine} has no default folder for its compilation cache"
    return results.error(codes.COMPILATION_CACHE_WITHOUT_PATH, f"{message}; set it", plan.ref, path)


def _check_volumes(plan: ComponentPlan) -> Iterator[Result]:
    """Reports two volumes with the same name, because an API server rejects the pod."""
    names = {volume.get("name") for volume in plan.pod.spec.get("volumes") or component_defaults.pod(plan).get("volumes") or ()}
    if plan.pod.shared_memory:
        names.add(volumes.SHARED_MEMORY)
    for index, mount in enumerate(plan.pod.mounts):
        if mount.name in names:
            message = f"the pod would have two volumes named {mount.name}"
            fix = f"mount the claim once here, and write further mounts under {plan.word('main', 'volumeMounts')}"
            yield results.error(codes.CLAIM_NAMED_LIKE_VOLUME, f"{message}; {fix}", plan.ref, plan.at("volumeMounts", index, "name"))
        names.add(mount.name)


def _check_ingress(plan: ComponentPlan) -> Iterator[Result]:
    """Reports an ingress without a host, with invalid names, or without effect."""
    exposure = plan.exposure.ingress
    if not exposure.host:
        yield rule_messages.error(codes.INGRESS_WITHOUT_HOST, plan.ref, plan.at("ingress", "host"))
    elif not name_formats.DNS_SUBDOMAIN.fullmatch(ingress.host(plan).removeprefix("*.")):
        from krm_fn.render.rules import ingress_hosts  # noqa: PLC0415 - only a finding needs it

        yield ingress_hosts.invalid(plan)
    for field, name in ((("ingressControllerClassName",), exposure.class_name), (("tls", "secretName"), exposure.tls_secret)):
        if name and ingress.makes_ingress(plan) and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name; use lower-case letters, digits, dashes and dots"
            yield results.error(codes.INVALID_INGRESS_NAME, message, plan.ref, plan.at("ingress", *field))
    if not ingress.makes_ingress(plan) and not ingress.makes_virtual_service(plan):
        message = (
            f"the ingress has no effect; set {plan.word('ingress', 'ingressControllerClassName')}, or configure ingress.istioGateway "
            f"and set {plan.word('ingress', 'useVirtualService')} and {plan.word('ingress', 'virtualServiceGateway')}"
        )
        yield results.warning(codes.INGRESS_WITHOUT_EFFECT, message, plan.ref, plan.at("ingress"))


def _check_selector(plan: ComponentPlan) -> Iterator[Result]:
    """Reports user labels that override a label of a selector, if the release lets them."""
    expected = {labels.SELECTOR: plan.identity.workload_name, **plan.identity.selector}
    for key, value in plan.pod.labels.items():
        path = plan.at("podTemplate", "metadata", "labels", key)
        if key == labels.SELECTOR and value != expected[key]:
            yield results.error(
                codes.LABEL_OVERRIDES_WORKLOAD_SELECTOR,
                f"the workload selects its pods by {key}={expected[key]}; remove the label",
                plan.ref,
                path,
            )
        elif key in expected and value != expected[key]:
            yield results.warning(
                codes.LABEL_OVERRIDES_SERVICE_SELECTOR,
                f"the Service selects its pods by {key}={expected[key]}; remove the label",
                plan.ref,
                path,
            )


def _check_probes(plan: ComponentPlan) -> Iterator[Result]:
    """Reports probes of the main container whose port or handler is merged with that of a default probe."""
    defaults = component_defaults.container(plan, plan.type, plan.defaults)
    replaced = {"livenessProbe": plan.pod.liveness, "readinessProbe": plan.pod.readiness}
    for name in merge.PROBES:
        default, probe = defaults.get(name), plan.pod.container.get(name)
        if name == "startupProbe" or not default or not probe or replaced.get(name) is not None:
            continue
        if merge.keeps_named_port(default, probe):
            port = default["httpGet"]["port"]
            message = f"the default port {port} stays, because a number does not replace a named port"
            fix = f"set {name} on the service itself, or name the port"
            yield results.warning(codes.NAMED_PORT_NOT_REPLACED, f"{message}; {fix}", plan.ref, plan.at("main", name, "httpGet", "port"))
        if {key for key in merge.HANDLERS if probe.get(key)} - set(default):
            message = "this handler replaces the handler of the default probe; the default's times stay"
            yield results.info(codes.PROBE_HANDLER_REPLACED, message, plan.ref, plan.at("main", name))


def _check_account(plan: ComponentPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Reports a discovery annotation on a service only: its pods use a ServiceAccount that the graph does not create."""
    account = names.discovery(plan.identity.graph)
    if plan.placement.discovery != "kubernetes" or (plan.placement.graph_discovery == "kubernetes" and plan.identity.has_graph):
        return
    spec = {**merge.overlay(component_defaults.pod(plan), plan.pod.spec), **plan.pod.enforced}
    if spec.get("serviceAccountName") or account in cluster.accounts.get(plan.identity.namespace, ()):
        return
    if not plan.identity.has_graph:
        # Without the name of a graph there is no account that a user could create.
        finding, create = (results.warning, f"create {account}, ") if plan.identity.graph else (results.error, "")
        message = "Kubernetes discovery needs a service account, and only a graph creates one"
        fix = f"{create}set serviceAccountName, or the annotation {labels.DISCOVERY_BACKEND}: etcd"
        yield finding(codes.COMPONENT_WITHOUT_SERVICE_ACCOUNT, f"{message}; {fix}", plan.ref, plan.at("pod", "serviceAccountName"))
        return
    message = f"the pods need the service account {account}, which this graph does not create; set the annotation on the graph"
    yield results.error(codes.MISSING_SERVICE_ACCOUNT, message, plan.ref, plan.at("annotations", labels.DISCOVERY_BACKEND))


def check_stores(components: Iterable[Pods]) -> Iterator[Result]:
    """Warns once of a graph with runtimes before 1.0 that exit at their start, because they cannot connect to etcd.

    Observed with 0.8.1, 0.9.0 and 0.9.1 and Kubernetes discovery: without DYN_STORE_KV, their key-value store is etcd. 1.0.0 and 1.5.1 need
    no store.
    """
    plans = [pods.plan for pods in components if _lacks_store(pods)]
    if plans:
        rest = f" and {report.pluralize(len(plans) - 1, 'other component')}" if len(plans) > 1 else ""
        whose = f"{plans[0].identity.service}{rest}"
        message = (
            f"the Dynamo runtime before 1.0 of {whose} connects to etcd at its start, also with Kubernetes discovery, and no address of "
            "etcd is set; use images of 1.0 or later, or set etcdAddress in the configuration, or natsAddress there and the variable "
            "DYN_STORE_KV to mem"
        )
        yield results.warning(codes.MISSING_ETCD_ADDRESS, message, plans[0].ref, plans[0].at("main", "image"))


def _lacks_store(pods: Pods) -> bool:
    """Returns true for a runtime before 1.0 without a store. In sidecar mode, the main container runs no Dynamo."""
    plan, container = pods.plan, pods.main
    return (
        plan.placement.discovery != "etcd"
        and not plan.features.sidecar_mode
        and bool(_BEFORE_1.fullmatch(dynamo_images.parts(container.get("image") or "").tag))
        and not _knows_store(container)
    )


def _knows_store(container: Container) -> bool:
    """Returns true if a variable or a flag sets the store or the address of etcd, or a ConfigMap may contain such variables."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    return (
        any(entry.get("name") in _STORES and (entry.get("value") or "valueFrom" in entry) for entry in container.get("env") or ())
        or any("configMapRef" in entry for entry in container.get("envFrom") or ())
        or any("--store-kv" in word for word in words)
    )
