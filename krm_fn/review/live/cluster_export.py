"""Reads the values of an export of a cluster, and finds what makes it unusable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import workloads

_SECRET, _TABLE, _LIST = "Secret", "Table", "List"
_AGAIN = "export again with `kubectl get --namespace NAMESPACE --output yaml`"
_UNSTORED = frozenset("/%")
"""Characters that no name of an object in a cluster has."""


class Export(NamedTuple):
    """The objects of an export as the cluster has them, without Secrets, each once. `results` are the findings that make it unusable."""

    objects: list[Resource]
    results: list[Result]

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the objects, in the order of the alphabet. Objects of the cluster have none."""
        return sorted({namespace for resource in self.objects if (namespace := results.ref(resource).namespace)})


def read(values: Sequence[Any]) -> Export:
    """Reads the objects of the values of an export. Never raises. Of several states of an object, the last one counts.

    Secrets are left out before anything else reads them. An export with an error finding is unusable as a whole, because a part of a
    namespace looks like a namespace whose other objects were deleted.
    """
    members = [member for value in values for member in _members(value)]
    wrong = [*_check_form(members)]
    named = [
        member
        for member in members
        if isinstance(member, dict) and results.ref(member).kind not in ("", _SECRET) and results.ref(member).name
    ]
    wrong += _check_names(named)
    return Export(list({identity.key(member): member for member in named}.values()), wrong)


def check_namespace(export: Export, namespaces: Iterable[str]) -> Iterator[Result]:
    """Reports an export with objects of other namespaces only."""
    wanted = sorted({*namespaces})
    if export.namespaces and wanted and not {*wanted}.intersection(export.namespaces):
        message = f"the export is of the namespace {', '.join(export.namespaces)}, but the resources are of {', '.join(wanted)}"
        yield results.error(
            codes.EXPORT_OF_WRONG_NAMESPACES, f"{message}; export {wanted[0]}, or name the other namespace with -n if the files set none"
        )


def _members(value: Any) -> Iterator[Any]:
    """The objects of a list from the API server, which has the kind of its objects once; any other value unchanged."""
    kind = mapping(value).get("kind")
    items = mapping(value).get("items")
    if not isinstance(kind, str) or not isinstance(items, list) or kind == _LIST or not kind.endswith(_LIST):
        yield value
        return
    head = {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix(_LIST)}
    yield from ({**head, **item} if isinstance(item, dict) else item for item in items)


def _check_form(values: Iterable[Any]) -> Iterator[Result]:
    """Reports tables, and the rest of a list whose end is missing: kubectl prints the kind of a list after its items."""
    if any((value is not None and not isinstance(value, dict)) or mapping(value).get("kind") == _TABLE for value in values):
        yield results.error(codes.UNUSABLE_EXPORT, f"the export is a table or a list of names, which lack most fields; {_AGAIN}")
    if any("items" in mapping(value) and not mapping(value).get("kind") for value in values):
        yield results.error(
            codes.UNUSABLE_EXPORT, f"the export is truncated: a list has no kind, which kubectl prints after the items; {_AGAIN}"
        )
    if any(results.ref(value).name and not results.ref(value).api_version for value in map(mapping, values)):
        yield results.error(codes.UNUSABLE_EXPORT, f"an object of the export has no apiVersion; {_AGAIN}")
    if any(_lacks_its_end(mapping(value)) for value in values):
        yield results.error(codes.UNUSABLE_EXPORT, f"the export is truncated: an object has metadata only; {_AGAIN}")


def _lacks_its_end(value: dict[str, Any]) -> bool:
    """True for an object of a kind with a spec, and without one: kubectl prints the fields in the order of the alphabet."""
    needs_spec = results.ref(value).kind in (dynamo_api.GRAPH, dynamo_api.COMPONENT) or workloads.is_workload(value)
    return needs_spec and not isinstance(value.get("spec"), dict)


def _check_names(objects: Iterable[Resource]) -> Iterator[Result]:
    """Reports names and namespaces that no cluster stores, for example with control characters."""
    for address in map(results.ref, objects):
        for name in (address.name, address.namespace):
            if not name.isprintable() or " " in name or _UNSTORED.intersection(name) or name in (".", ".."):
                message = f"no cluster stores an object of the name or namespace {report.value(name)}; {_AGAIN}"
                yield results.error(codes.UNUSABLE_EXPORT, message, address)
