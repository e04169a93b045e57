"""Sorts an export of a namespace: Dynamo resources that users wrote, and the objects and pod templates that a cluster has beside them.

Edits the resources that users wrote, so that a render of them makes the pods that run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Labels, Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.migration.adopt import declared_settings
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import workloads
from krm_fn.render.resolve import release_choice, v1_worker_hash
from krm_fn.render.schema import invalid_fields, schema_check
from krm_fn.review import pods
from krm_fn.review.live import cluster_export, server_fields
from krm_fn.review.pods import Template

_WRITTEN = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.MODEL)
_ADD = "to the kinds of `kubectl get`"


class TemplateKey(NamedTuple):
    """A pod template: its workload, and the name of the template in it. A Deployment has one template, without a name."""

    workload: ObjectKey
    template: str


class ExportedObjects(NamedTuple):
    """The objects of one namespace, without its Secrets.

    `namespace` is the namespace of all its resources. `written` are the cleaned resources that users wrote: graphs, standalone components,
    and models. `accounts` are the cleaned ServiceAccounts that pods without an account get. `live` are all objects that are not
    Dynamo's. `exported` are all objects as the cluster has them. `declared` is the `spec` of a DynamoRender with the settings that the
    operator declares, if the export has the operator.
    """

    namespace: str
    exported: list[Resource]
    written: list[Resource]
    accounts: list[Resource]
    live: list[Resource]
    results: list[Result]
    declared: Mapping[str, Any] = {}

    def runs(self, workload: Resource) -> bool:
        """True if a live workload belongs to one of the graphs or components."""
        names = {(resource["kind"], resource["metadata"]["name"]) for resource in self.written}
        owners = [(kind, owner(workload, kind)) for kind in (dynamo_api.GRAPH, dynamo_api.COMPONENT)]
        return bool(names.intersection([*owners, (dynamo_api.GRAPH, text(labels.of(workload).get(labels.GRAPH)))]))


def read(values: Sequence[Any]) -> ExportedObjects:
    """Sorts the values of an export. Never raises; a finding reports what makes an export unusable."""
    read_export = cluster_export.read(values)
    export = read_export._replace(objects=declared_settings.without_operators(read_export.objects))
    written = [_in_live_order(server_fields.as_written(resource), export.objects) for resource in export.objects if is_written(resource)]
    accounts = [server_fields.as_written(resource) for resource in export.objects if _is_default_account(resource)]
    live = [resource for resource in export.objects if not dynamo_api.is_dynamo(resource)]
    findings = export.results
    if not findings:
        findings = [
            *_check_kinds(export.objects, written, live),
            *_check_namespaces(export, written),
            *_check_names([*written, *accounts]),
        ]
    namespace = next(iter(export.namespaces), "")
    declared = declared_settings.declared_spec(read_export.objects, namespace)
    return ExportedObjects(namespace, export.objects, written, accounts, live, findings, declared)


def is_written(resource: Resource) -> bool:
    """Returns true for a Dynamo resource of a user: those of an operator are owned by their graph."""
    return dynamo_api.is_dynamo(resource) and resource["kind"] in _WRITTEN and not owner(resource, dynamo_api.GRAPH)


def templates_of(resources: Iterable[Resource], default_namespace: str) -> dict[TemplateKey, Template]:
    """Returns the pod templates of all workloads among the resources. `default_namespace` is the namespace of resources without one."""
    return {
        TemplateKey(identity.key(resource, default_namespace), _template_name(resource, template.path)): template
        for resource in filter(workloads.is_workload, resources)
        for template in pods.of(resource)
    }


def _template_name(workload: Resource, path: Path) -> str:
    """The name of the list entry that holds a template, as of a clique, or the role of a template in a LeaderWorkerSet."""
    entries = [path[: index + 1] for index, step in enumerate(path) if isinstance(step, int)]
    if entries:
        return f"{paths.at(workload, (*entries[-1], 'name'))}"
    return "" if path[-2] == "template" else f"{path[-2]}"


def owner(resource: Resource, kind: str) -> str:
    """Returns the name of the owner of a kind; empty if the resource has none."""
    owners = objects(resource["metadata"].get("ownerReferences"))
    return next((name_of(reference) for reference in owners if reference.get("kind") == kind), "")


def _is_default_account(resource: Resource) -> bool:
    return resource.get("kind") == "ServiceAccount" and labels.of(resource).get(labels.COMPONENT_POD) == "true"


def _check_kinds(exported: list[Resource], written: list[Resource], live: list[Resource]) -> Iterator[Result]:
    """Reports an export without graphs or without workloads, or with the components of a graph and without the graph."""
    graphs = {resource["metadata"]["name"] for resource in written if resource["kind"] == dynamo_api.GRAPH}
    owners = {owner(resource, dynamo_api.GRAPH) for resource in exported if dynamo_api.is_dynamo(resource)} - {""}
    missing = sorted(owners - graphs)
    fix = ""
    if missing:
        fix = f"the export has objects of the graph {missing[0]}, but not the graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not any(resource["kind"] != dynamo_api.MODEL for resource in written):
        fix = f"the export has no graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not templates_of(live, ""):
        fix = f"the export has no workload of a graph; add deployments, leaderworkersets and podcliquesets {_ADD}"
    if fix:
        yield results.error(codes.UNUSABLE_EXPORT, fix)


def _check_names(written: Sequence[Resource]) -> Iterator[Result]:
    """Reports names that no cluster has. Names become names of files and words of commands."""
    for address in map(results.ref, written):
        is_namespace = not address.namespace or name_formats.DNS_LABEL.fullmatch(address.namespace)
        if not (is_namespace and name_formats.DNS_SUBDOMAIN.fullmatch(address.name)):
            message = "no cluster accepts this name or its namespace; export the resource with `kubectl get --output yaml`"
            yield results.error(codes.UNUSABLE_EXPORT, message, address, ("metadata",))


def _check_namespaces(export: cluster_export.Export, written: list[Resource]) -> Iterator[Result]:
    if any(not results.ref(resource).namespace for resource in written):
        yield results.error(
            codes.EXPORT_OF_WRONG_NAMESPACES,
            "a graph has no namespace, so it is not from a cluster; export it with `kubectl get --output yaml`",
        )
    elif len(export.namespaces) > 1:
        message = f"the export has objects of the namespaces {', '.join(export.namespaces)}"
        yield results.error(
            codes.EXPORT_OF_WRONG_NAMESPACES, f"{message}; export each of them with `--namespace`, and adopt each into a folder of its own"
        )


def _in_live_order(graph: Resource, live: Iterable[Resource]) -> Resource:
    """Orders the services of a graph like the pod templates of the live object that holds all of them, such as a PodCliqueSet.

    A render writes cliques in the order of the services, and Grove rejects another order if the cliques start in an order. In v1alpha1,
    services are an object: the operator writes their cliques in random order, and an export has them in the order of the alphabet.
    """
    services = mapping(graph.get("spec")).get("services")
    kinds = {workloads.get(name).fixed_services for name in workloads.names()} - {""}
    holders = [resource for resource in live if resource.get("kind") in kinds and resource["metadata"]["name"] == graph["metadata"]["name"]]
    if not holders or not isinstance(services, dict):
        return graph
    live_order = dict.fromkeys(template.service for template in pods.of(holders[0]))
    names = [*(name for name in live_order if name in services), *(name for name in services if name not in live_order)]
    return {**graph, "spec": {**graph["spec"], "services": {name: services[name] for name in names}}}


def add_annotations(resource: Resource, annotations: Labels) -> Resource:
    """Returns the resource with further annotations."""
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), **annotations}}}


def without_empty_lists(value: Any) -> Any:
    """Removes fields that hold an empty list. An operator's client leaves them out, and Grove counts one as a change of pods."""
    if isinstance(value, dict):
        return {key: without_empty_lists(inner) for key, inner in value.items() if inner != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


def with_origins(exported: ExportedObjects) -> ExportedObjects:
    """Annotates each graph that lacks its origin version with the version that all its live pods have.

    An operator writes the version into the pods of Grove only (reference: `internal/dynamo/graph.go`).
    """
    return exported._replace(written=[_with_origin(resource, exported) for resource in exported.written])


def _with_origin(resource: Resource, exported: ExportedObjects) -> Resource:
    if resource["kind"] != dynamo_api.GRAPH or labels.ORIGIN_VERSION in labels.annotations(resource):
        return resource
    of_graph = exported._replace(written=[resource])
    pod_templates = templates_of(filter(of_graph.runs, exported.live), exported.namespace).values()
    origins = {text(template.annotations.get(labels.ORIGIN_VERSION)) for template in pod_templates}
    return add_annotations(resource, {labels.ORIGIN_VERSION: origins.pop()}) if len(origins) == 1 and origins != {""} else resource


def with_worker_hashes(exported: ExportedObjects) -> ExportedObjects:
    """Annotates each graph whose workers' names end with a hash that no annotation of the graph has, as a newer operator does.

    A graph with two hashes is in the middle of an update: the operator still runs both worker revisions, and a render makes only one.
    """
    written: list[Resource] = []
    findings: list[Result] = []
    for resource in exported.written:
        hashes = _hashes_in_names(resource, exported)
        known = {labels.annotations(resource).get(key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2)}
        if len(hashes) > 1:
            findings.append(_updating(resource, hashes))
        written.append(_with_worker_hash(resource, hashes[0]) if len(hashes) == 1 and hashes[0] not in known else resource)
    return exported._replace(written=written, results=[*exported.results, *findings])


def _hashes_in_names(graph: Resource, exported: ExportedObjects) -> list[str]:
    """The hashes at the end of the names of a graph's live workers."""
    if graph["kind"] != dynamo_api.GRAPH:
        return []
    of_graph = exported._replace(written=[graph])
    workers = [resource for resource in exported.live if workloads.is_workload(resource) and of_graph.runs(resource)]
    pairs = [(labels.of(resource).get(labels.WORKER_HASH, ""), resource["metadata"]["name"]) for resource in workers]
    return sorted({worker_hash for worker_hash, name in pairs if worker_hash and f"-{worker_hash}" in name})


def _with_worker_hash(graph: Resource, worker_hash: str) -> Resource:
    """The graph with the hash of its workers' names, in the annotation of the version that computes it.

    The annotation of version 1 has priority, so it is removed if the hash is not of version 1. Releases with version 2 do not compare
    version 1 with the workers, so that unchanged pods keep it.
    """
    annotations = {key: value for key, value in labels.annotations(graph).items() if key != labels.WORKER_HASH_V1}
    without_older = {**graph, "metadata": {**graph["metadata"], "annotations": annotations}}
    key = labels.WORKER_HASH_V1 if worker_hash in _hashes_of_version_1(graph) else labels.WORKER_HASH_V2
    return add_annotations(without_older, {key: worker_hash})


def _hashes_of_version_1(graph: Resource) -> set[str]:
    """The hashes of version 1 of a graph: one for each release with this version; empty if the graph is not valid."""
    if results.has_errors([*schema_check.resource(graph, unknown="warning")]):
        return set()
    hashing = [release for release in release_choice.every_release() if release.hashes_v1alpha1]
    return {v1_worker_hash.worker_hash(invalid_fields.without_nulls(graph), release) for release in hashing}


def _updating(graph: Resource, hashes: Sequence[str]) -> Result:
    message = (
        f"workers of the hashes {' and '.join(hashes)} run, because the operator is in the middle of an update, and a render makes one "
        "generation only; wait until the operator has finished, and export again"
    )
    return results.error(codes.TWO_WORKER_REVISIONS, message, results.ref(graph))
