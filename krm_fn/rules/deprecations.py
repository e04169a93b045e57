"""Deprecation notes about the API version and the Dynamo release that a resource follows, for `krm-fn check`.

A render leaves them out: its findings are read at each build, and these notes stay until the resource is rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.manifests import ownership
from krm_fn.resolve import release_choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_OF_BOTH_VERSIONS = (identity.GRAPH, identity.COMPONENT, identity.REQUEST, identity.ADAPTER)
_RENDERED = (identity.GRAPH, identity.COMPONENT)


def check(resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields a note about each Dynamo resource in a deprecated API version, and one about each that an older release renders."""
    for resource in resources:
        ref = results.ref(resource)
        if ref.api_version != identity.V1ALPHA1 or ref.kind not in _OF_BOTH_VERSIONS or _is_output(resource):
            continue
        message = "v1alpha1 is deprecated; krm-fn convert -w FILE rewrites it"
        yield results.info("DYN481", message, ref, ("apiVersion",))
        successor = release_choice.release(resource, config).successor
        if ref.kind in _RENDERED and successor and not config.behaviour:
            message = (
                f"rendered as Dynamo 0.9 does; behaviour: {successor} restarts every pod once: first change the cluster's images, "
                "then this key of the configuration"
            )
            yield results.info("DYN482", message, ref, ("apiVersion",))


def _is_output(resource: Resource) -> bool:
    """Returns true for a resource in a finished build. Its author rewrites the source."""
    return ownership.is_generated(resource) or labels.RENDERED_BY in labels.annotations(resource)
