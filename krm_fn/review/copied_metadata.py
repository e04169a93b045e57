"""Warns of fields that an API server sets itself, in resources that somebody copied from a cluster.

A server refuses to create an object with a `resourceVersion`, and an update with an older one, or with the `uid` of another object
(Kubernetes, API conventions, "Concurrency Control and Consistency"). An export of a cluster has a status, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership

_FIELDS = ("resourceVersion", "uid")


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields a warning for each Dynamo resource with such fields that no render has made."""
    for resource in resources:
        metadata = mapping(resource, "metadata")
        written = [field for field in _FIELDS if metadata.get(field)]
        is_export = "status" in resource or "managedFields" in metadata
        if written and not is_export and dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            problem = f"an API server sets {' and '.join(written)} itself, and refuses those of another object"
            fix = f"remove {'both' if len(written) > 1 else 'it'}"
            yield results.warning(codes.FIELD_OF_API_SERVER, f"{problem}; {fix}", results.ref(resource), ("metadata", written[0]))
