"""Sorts an export of a namespace: the Dynamo resources that users wrote, and the objects that a cluster has beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.admission import fields
from krm_fn.kube.values import name_of, objects, text
from krm_fn.records import NamedTuple
from krm_fn.review.adopt import edits, pods
from krm_fn.review.live import clean, export

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
        names = {(each["kind"], each["metadata"]["name"]) for each in self.written}
        known = [(kind, owner(workload, kind)) for kind in (identity.GRAPH, identity.COMPONENT)]
        return bool(names.intersection([*known, (identity.GRAPH, text(labels.of(workload).get(labels.GRAPH)))]))


def read(values: Sequence[Any]) -> Inventory:
    """Sorts the values of an export. Never raises; a finding says what makes an export unusable."""
    exported = export.read(values)
    found = exported.objects
    written = [edits.in_order_of_cliques(clean.written(each), found) for each in found if _is_written(each)]
    accounts = [clean.written(each) for each in found if _is_default_account(each)]
    live = [each for each in found if not identity.is_dynamo(each)]
    wrong = exported.results
    if not wrong:
        wrong = [*_check_kinds(found, written, live), *_check_namespaces(exported, written), *_check_names([*written, *accounts])]
    return Inventory(next(iter(exported.namespaces), ""), found, written, accounts, live, wrong)


def owner(resource: Resource, kind: str) -> str:
    """The name of the owner of a kind; empty if the resource has none."""
    owners = objects(resource["metadata"].get("ownerReferences"))
    return next((name_of(each) for each in owners if each.get("kind") == kind), "")


def _is_written(resource: Resource) -> bool:
    """True for a Dynamo resource of a user: an operator's are owned by their graph."""
    return identity.is_dynamo(resource) and resource["kind"] in _WRITTEN and not owner(resource, identity.GRAPH)


def _is_default_account(resource: Resource) -> bool:
    return resource.get("kind") == "ServiceAccount" and labels.of(resource).get(labels.COMPONENT_POD) == "true"


def _check_kinds(found: list[Resource], written: list[Resource], live: list[Resource]) -> Iterator[Result]:
    """Reports an export without graphs or without workloads, or with the components of a graph and without the graph."""
    graphs = {each["metadata"]["name"] for each in written if each["kind"] == identity.GRAPH}
    lost = sorted({name for each in found if identity.is_dynamo(each) and (name := owner(each, identity.GRAPH)) and name not in graphs})
    mend = ""
    if lost:
        mend = f"the export has objects of the graph {lost[0]}, but not the graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not any(each["kind"] != identity.MODEL for each in written):
        mend = f"the export has no graph; add dynamographdeployments.nvidia.com {_ADD}"
    elif not pods.templates_of(live, ""):
        mend = f"the export has no workload of a graph; add deployments, leaderworkersets and podcliquesets {_ADD}"
    if mend:
        yield results.error("DYN565", mend)


def _check_names(written: Sequence[Resource]) -> Iterator[Result]:
    """Reports names that no cluster has. Names become names of files and words of commands."""
    for address in map(results.ref, written):
        if not fields.DNS_SUBDOMAIN.fullmatch(address.name) or (address.namespace and not fields.DNS_LABEL.fullmatch(address.namespace)):
            message = "no cluster accepts this name or its namespace; export the resource with `kubectl get --output yaml`"
            yield results.error("DYN565", message, address, ("metadata",))


def _check_namespaces(exported: export.Export, written: list[Resource]) -> Iterator[Result]:
    if any(not results.ref(each).namespace for each in written):
        yield results.error("DYN566", "a graph has no namespace, so it is not from a cluster; export it with `kubectl get --output yaml`")
    elif len(exported.namespaces) > 1:
        message = f"the export has objects of the namespaces {', '.join(exported.namespaces)}"
        yield results.error("DYN566", f"{message}; export each of them with `--namespace`, and adopt each into a folder of its own")
