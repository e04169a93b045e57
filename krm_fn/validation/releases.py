"""Notes about the API version and the release of Dynamo that a resource follows. `krm-fn check` says them, and a render does not.

A render says nothing about them, because its findings are read at each build, and these notes are true until the resource is rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.manifests import generated
from krm_fn.resolve import context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_OF_BOTH_VERSIONS = (identity.GRAPH, identity.COMPONENT, identity.REQUEST, identity.ADAPTER)
_RENDERED = (identity.GRAPH, identity.COMPONENT)


def notes(resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """At most two notes about each Dynamo resource: that its version is deprecated, and that it is rendered as an older release does."""
    for resource in resources:
        address = results.ref(resource)
        if address.api_version != identity.V1ALPHA1 or address.kind not in _OF_BOTH_VERSIONS or _is_output(resource):
            continue
        message = "v1alpha1 is deprecated; krm-fn convert -w FILE rewrites it"
        yield results.info("DYN481", message, address, ("apiVersion",))
        successor = context.behaviour(resource, config).successor
        if address.kind in _RENDERED and successor and not config.behaviour:
            message = (
                f"rendered as Dynamo 0.9 does; behaviour: {successor} restarts every pod once: first change the cluster's images, "
                "then this key of the configuration"
            )
            yield results.info("DYN482", message, address, ("apiVersion",))


def _is_output(resource: Resource) -> bool:
    """True for a resource in a finished build. Its author rewrites the source."""
    return generated.is_generated(resource) or labels.RENDERED_BY in labels.notes(resource)
