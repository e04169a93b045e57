"""Sorts an export of a namespace: the Dynamo resources that users wrote, and the objects that a cluster has beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.admission import name_formats
from krm_fn.kube.values import name_of, objects, text
from krm_fn.records import NamedTuple
from krm_fn.review.adopt import edits, exported_pods
from krm_fn.review.live import cluster_export, server_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_WRITTEN = (identity.GRAPH, identity.COMPONENT, identity.MODEL)
_ADD = "to the kinds of `kubectl get`"


class Inventory(NamedTuple):
    """The objects of one namespace, without its Secrets.

    `namespace` is the namespace of all its resources. `written` are the cleaned resources that users wrote: graphs, components without a
    graph, and models. `accounts` are the cleaned ServiceAccounts that pods without an account get. `live` are all objects that are not
    Dynamo's. `exported` are all objects as the cluster has them.
    """

    namespace: str
    exported: list[Resource]
    written: list[Resource]
    accounts: list[Resource]
    live: list[Resource]
    results: list[Result]

    def runs(self, workload: Resource) -> bool:
        """True if a live workload belongs to one of the graphs or components."""
        names = {(resource["kind"], resource["metadata"]["name"]) for resource in self.written}
        known = [(kind, owner(workload, kind)) for kind in (identity.GRAPH, identity.COMPONENT)]
        return bool(names.intersection([*known, (identity.GRAPH, text(labels.of(workload).get(labels.GRAPH)))]))


def read(values: Sequence[Any]) -> Inventory:
    """Sorts the values of an export. Never raises; a finding says what makes an export unusable."""
    exported = cluster_export.read(values)
    found_objects = exported.objects
    written = [
        edits.in_order_of_cliques(server_fields.written(resource), found_objects) for resource in found_objects if _is_written(resource)
    ]
    accounts = [server_fields.written(resource) for resource in found_objects if _is_default_account(resource)]
    live = [resource for resource in found_objects if not identity.is_dynamo(resource)]
    wrong = exported.results
    if not wrong:
        wrong = [*_check_kinds(found_objects, written, live), *_check_namespaces(exported, written), *_check_names([*written, *accounts])]
    return Inventory(next(iter(exported.namespaces), ""), found_objects, written, accounts, live, wrong)


def owner(resource: Resource, kind: str) -> str:
    """The name of the owner of a kind; empty if the resource has none."""
    owners = objects(resource["metadata"].get("ownerReferences"))
    return next((name_of(reference) for reference in owners if reference.get("kind") == kind), "")


def _is_written(resource: Resource) -> bool:
    """True for a Dynamo resource of a user: an operator's are owned by their graph."""
    return identity.is_dynamo(resource) and resource["kind"] in _WRITTEN and not owner(resource, identity.GRAPH)


def _is_default_account(resource: Resource) -> bool:
    return resource.get("kind") == "ServiceAccount" and labels.of(resource).get(labels.COMPONENT_POD) == "true"


def _check_kinds(kinds: list[Resource], written: list[Resource], live: list[Resource]) -> Iterator[Result]:
    """Reports an export without graphs or without workloads, or with the components of a graph and without the graph."""
    graphs = {resource["metadata"]["name"] for resource in written if resource["kind"] == identity.GRAPH}
    lost = sorted(
        {name for resource in kinds if identity.is_dynamo(resource) and (name := owner(resource, identity.GRAPH)) and name not in graphs}
    )
    fix = ""
    if lost:
        fix = f"the export has objects of the graph {lost[0]}, but not the graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not any(resource["kind"] != identity.MODEL for resource in written):
        fix = f"the export has no graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not exported_pods.templates_of(live, ""):
        fix = f"the export has no workload of a graph; add deployments, leaderworkersets and podcliquesets {_ADD}"
    if fix:
        yield results.error("DYN565", fix)


def _check_names(written: Sequence[Resource]) -> Iterator[Result]:
    """Reports names that no cluster has. Names become names of files and words of commands."""
    for address in map(results.ref, written):
        is_namespace = not address.namespace or name_formats.DNS_LABEL.fullmatch(address.namespace)
        if not (is_namespace and name_formats.DNS_SUBDOMAIN.fullmatch(address.name)):
            message = "no cluster accepts this name or its namespace; export the resource with `kubectl get --output yaml`"
            yield results.error("DYN565", message, address, ("metadata",))


def _check_namespaces(exported: cluster_export.Export, written: list[Resource]) -> Iterator[Result]:
    if any(not results.ref(resource).namespace for resource in written):
        yield results.error("DYN566", "a graph has no namespace, so it is not from a cluster; export it with `kubectl get --output yaml`")
    elif len(exported.namespaces) > 1:
        message = f"the export has objects of the namespaces {', '.join(exported.namespaces)}"
        yield results.error("DYN566", f"{message}; export each of them with `--namespace`, and adopt each into a folder of its own")
