"""Rules about a Dynamo resource as a whole: its namespace and name, and the services, claims and restart of a graph."""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krm_fn.base.results import Ref, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.manifests.ownership import Owner
    from krm_fn.render.plan import Claim, GraphPlan, RestartPlan

_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def check_namespace(ref: Ref, namespace: str, config: Config) -> Iterator[Result]:
    """Checks the namespace. A render needs it, because it writes the namespace into the environment of pods."""
    if not ref.namespace and not config.namespace:
        message = f"no namespace is set, using {namespace}; set it here, in the layer of the function or in the configuration, or use -n"
        yield results.info(codes.NAMESPACE_NOT_SET, message, ref, ("metadata", "namespace"))
    if not name_formats.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error(codes.INVALID_NAMESPACE, message, ref, ("metadata", "namespace"))


def with_valid_name(resource: Resource) -> Resource | None:
    """Returns a graph or a component with a name that Kubernetes accepts; None for another kind, and if its own name is valid."""
    metadata = resource.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if resource.get("kind") not in (dynamo_api.GRAPH, dynamo_api.COMPONENT) or not isinstance(name, str):
        return None
    valid = re.sub("[^a-z0-9.]+", "-", name.lower()).strip("-.")
    is_fixed = bool(valid) and not name_formats.DNS_SUBDOMAIN.fullmatch(name) and bool(name_formats.DNS_SUBDOMAIN.fullmatch(valid))
    return {**resource, "metadata": {**resource["metadata"], "name": valid}} if is_fixed else None


def check_name(resource: Resource, renamed: Resource, others: Iterable[Result]) -> list[Result]:
    """Returns the error about the name of a resource, and `others`, the findings about it with the name of `renamed`.

    So one error is in place of those about each object whose name begins with that of the resource.
    """
    ref, valid = results.ref(resource), renamed["metadata"]["name"]
    message = f"{ref.name!r} is not a valid name of a resource; use lower-case letters, digits and dashes: {valid}"
    error = results.error(codes.INVALID_NATIVE_NAME, message, ref, ("metadata", "name"), current=ref.name, proposed=valid)
    return [error, *(finding._replace(ref=ref) for finding in others)]


def check_metadata(resource: Resource) -> Iterator[Result]:
    """Reports labels and annotations of a Dynamo resource that an API server rejects. It never gets resources for tools alone."""
    written, annotations = labels.of(resource), labels.annotations(resource)
    if (written or annotations) and not labels.is_local(resource):
        for rejection in name_formats.validate_metadata(written, annotations):
            yield results.error(rejection.code, rejection.message, results.ref(resource), ("metadata", *rejection.path))


def check_duplicates(by_owner: Mapping[Owner, Sequence[Resource]]) -> Iterator[Result]:
    """Reports Dynamo resources of the same kind and name that resolve to the same namespace, one written and one defaulted.

    They would generate the same objects.
    """
    for (kind, _, namespace), duplicates in by_owner.items():
        for resource in duplicates if len(duplicates) > 1 else ():
            message = f"another {kind} has the same name and is also in namespace {namespace}; rename one, or set the namespace of both"
            if len({results.ref(duplicate).api_version for duplicate in duplicates}) > 1:
                message = f"this {kind} is here in two API versions, and a cluster keeps one object of a name; remove one of the two"
            yield results.error(codes.DUPLICATE_DYNAMO_RESOURCE, message, results.ref(resource), ("metadata", "name"))


def check_dynamo_namespaces(by_owner: Mapping[Owner, Sequence[Resource]], config: Config) -> Iterator[Result]:
    """Reports graphs of different namespaces that have one Dynamo namespace: `a-b`/`c` and `a`/`b-c`. Every release joins the two names.

    Kubernetes discovery looks into the namespace of a pod only, so the finding is a note without etcd.
    """
    graphs: dict[str, list[Owner]] = {}
    for owner in by_owner:
        if owner[0] == dynamo_api.GRAPH:
            graphs.setdefault(names.dynamo_namespace(owner[2], owner[1], shared=False), []).append(owner)
    for shared, owners in graphs.items():
        for owner in owners if len(owners) > 1 else ():
            yield from _shared_namespace(shared, owner, [other for other in owners if other != owner], by_owner, config)


def _shared_namespace(
    shared: str, owner: Owner, others: Sequence[Owner], by_owner: Mapping[Owner, Sequence[Resource]], config: Config
) -> Iterator[Result]:
    """Reports one of several graphs with the same Dynamo namespace."""
    uses_etcd = any(_uses_etcd(resource, config) for graph in (owner, *others) for resource in by_owner[graph])
    listed = ", ".join(f"{kind} {name} of namespace {namespace}" for kind, name, namespace in others[:3])
    rest = f" and {len(others) - 3} more" if len(others) > 3 else ""
    effect = "with etcd discovery, the frontends of each find the workers of the others"
    message = f"this graph has the same Dynamo namespace, {shared}, as {listed}{rest}; {effect}; rename one of them"
    report = results.warning if uses_etcd else results.info
    for resource in by_owner[owner]:
        yield report(codes.SHARED_DYNAMO_NAMESPACE, message, results.ref(resource), ("metadata", "name"))


def _uses_etcd(graph: Resource, config: Config) -> bool:
    return bool(labels.annotations(graph).get(labels.DISCOVERY_BACKEND, config.discovery_backend) == "etcd")


def check(plan: GraphPlan) -> Iterator[Result]:
    """Yields the findings about a graph as a whole."""
    yield from _check_services(plan)
    if plan.claims:
        yield from _check_claims(plan)
    if plan.restart is not None:
        yield from _check_restart(plan, plan.restart)
    yield from _check_planner(plan)


def _check_services(plan: GraphPlan) -> Iterator[Result]:
    """Reports a graph without services, services with the same objects, and a second endpoint picker."""
    if not plan.components:
        yield rule_messages.error(codes.GRAPH_WITHOUT_COMPONENTS, plan.ref, plan.at("components"), parts=plan.part_words()[0])
    first: dict[str, str] = {}
    for component in plan.components:
        service = component.identity.service
        first_service = first.setdefault(component.identity.name, service)
        if first_service != service:
            yield rule_messages.error(
                codes.COMPONENT_NAMES_COLLIDE,
                plan.ref,
                component.at("name"),
                services=f"{plan.part_words()[0]} {first_service} and {service}",
            )
    if len([component for component in plan.components if component.type.singleton]) > 1:
        yield rule_messages.error(codes.SEVERAL_ENDPOINT_PICKERS, plan.ref, plan.at("components"), part=plan.part_words()[1])


def _check_claims(plan: GraphPlan) -> Iterator[Result]:
    """Reports claims without a name, and claims to be created that lack fields."""
    for index, claim in enumerate(plan.claims):
        if not claim.name:
            yield rule_messages.error(codes.PVC_WITHOUT_NAME, plan.ref, plan.at("pvcs", index, "name"))
        for field, value, example in _required_fields(claim):
            if not value:
                yield rule_messages.error(
                    codes.UNCREATABLE_PVC, plan.ref, plan.at("pvcs", index, field), field=plan.word("pvcs", field), example=example
                )
        if claim.create:
            for field, message in _unusable(claim):
                yield results.error(codes.INVALID_PVC, message, plan.ref, plan.at("pvcs", index, field))


def _required_fields(claim: Claim) -> Iterator[tuple[str, object, str]]:
    """Yields each field that a claim to be created needs, with its value and an example."""
    if claim.create:
        yield "storageClass", claim.storage_class, "standard"
        yield "size", quantity.value(claim.size or None), "100Gi"
        yield "volumeAccessMode", claim.access_mode, "ReadWriteMany"


def _unusable(claim: Claim) -> Iterator[tuple[str, str]]:
    """Yields the fields of a claim that an API server rejects, each with its message."""
    names: tuple[tuple[str, str], ...] = (("name", claim.name), ("storageClass", claim.storage_class))
    for field, name in names:
        if name and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            yield field, f"{name!r} is not a valid name; use lower-case letters, digits, dashes and dots"
    if claim.access_mode and claim.access_mode not in _ACCESS_MODES:
        yield "volumeAccessMode", f"{claim.access_mode} is not an access mode; write one of {', '.join(_ACCESS_MODES)}"
    if quantity.value(claim.size or None) < 0:
        yield "size", f"size {claim.size} is negative; write a positive amount"


def _check_restart(plan: GraphPlan, restart: RestartPlan) -> Iterator[Result]:
    """Checks that the order of a restart lists each service once. Warns that a render restarts all services at once."""
    if restart.order and restart.parallel:
        yield rule_messages.error(codes.PARALLEL_RESTART_WITH_ORDER, plan.ref, plan.at("restart", "strategy", "order"))
    elif restart.order:
        yield from _check_order(plan, restart.order)
    if restart.id and restart.sequential and plan.config.restart == "render":
        fix = "set restart: sync in the configuration, and the syncer restarts them in order"
        if plan.orchestrator == "grove":
            fix = "write type: Parallel, or remove the strategy"
        parts, _ = plan.part_words()
        message = f"all {parts} restart at once, because a render cannot wait between {parts}"
        yield results.warning(codes.IGNORED_RESTART_ORDER, f"{message}; {fix}", plan.ref, plan.at("restart", "strategy"))


def _check_order(plan: GraphPlan, order: tuple[str, ...]) -> Iterator[Result]:
    services, (_, part) = {component.identity.service for component in plan.components}, plan.part_words()
    for index, name in enumerate(order):
        path = plan.at("restart", "strategy", "order", index)
        if name not in services:
            known = ", ".join(sorted(services))
            yield rule_messages.error(codes.UNKNOWN_COMPONENT_IN_RESTART_ORDER, plan.ref, path, part=part, name=name, services=known)
        elif name in order[:index]:
            yield rule_messages.error(codes.DUPLICATE_COMPONENT_IN_RESTART_ORDER, plan.ref, path, name=name, part=part)
    if missing := sorted(services - set(order)):
        yield rule_messages.error(
            codes.INCOMPLETE_RESTART_ORDER, plan.ref, plan.at("restart", "strategy", "order"), part=part, services=", ".join(missing)
        )


def _check_planner(plan: GraphPlan) -> Iterator[Result]:
    """Warns about engines that the planner of their graph cannot scale, because they have no scaling adapter."""
    planners = [component.identity.service for component in plan.components if component.type.scales]
    for component in plan.components if planners else ():
        if component.type.runs_engine and not component.placement.autoscaled:
            from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

            message = f"{planners[0]} cannot scale this component, because it has no scaling adapter"
            fix = component.fix("scaling adapter")
            edit = edits.Edit(edits.Addition({"enabled": True} if plan.ref.api_version == dynamo_api.V1ALPHA1 else {}))
            yield results.warning(codes.PLANNER_CANNOT_SCALE, f"{message}; {fix}", plan.ref, component.at("scalingAdapter"), edit=edit)
