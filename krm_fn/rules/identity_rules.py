"""Rules about the namespaces and names of Dynamo resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krm_fn import ownership, results
from krm_fn.kube import identity
from krm_fn.kube.admission import name_formats
from krm_fn.resolve import cluster

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.ownership import Owner
    from krm_fn.results import Result


def check_namespace(resource: Resource, namespace: str, config: Config) -> Iterator[Result]:
    """Checks the namespace. A render needs it, because it writes the namespace into the environment of pods."""
    ref = results.ref(resource)
    if not ref.namespace and not config.namespace:
        message = f"no namespace is set, using {namespace}; set it here, in the layer of the function or in the configuration, or use -n"
        yield results.warning("DYN057", message, ref, ("metadata", "namespace"))
    if not name_formats.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error("DYN059", message, ref, ("metadata", "namespace"))


def check_duplicates(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Reports Dynamo resources of the same kind and name that resolve to the same namespace, one written and one defaulted.

    They would generate the same objects.
    """
    by_owner: dict[Owner, list[Resource]] = {}
    for resource in filter(identity.is_dynamo, resources):
        by_owner.setdefault(ownership.owner(resource, cluster.namespace(resource, config)), []).append(resource)
    for (kind, _, namespace), duplicates in by_owner.items():
        for resource in duplicates if len(duplicates) > 1 else ():
            message = f"another {kind} has the same name and is also in namespace {namespace}; rename one, or set the namespace of both"
            if len({results.ref(duplicate).api_version for duplicate in duplicates}) > 1:
                message = f"this {kind} is here in two API versions, and a cluster keeps one object of a name; remove one of the two"
            yield results.error("DYN058", message, results.ref(resource), ("metadata", "name"))
