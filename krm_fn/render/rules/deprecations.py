"""Deprecation notes about the API version and the Dynamo release that a resource follows, for `krm-fn check`.

A render leaves them out: its findings are read at each build, and these notes stay until the resource is rewritten.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import release_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config

_OF_BOTH_VERSIONS = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.REQUEST, dynamo_api.ADAPTER)
_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
_OLDEST = next(iter(release_choice.RELEASES))


def check(resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields a note about each Dynamo resource in a deprecated API version, and one about each that an older release renders."""
    for resource in resources:
        ref = results.ref(resource)
        if ref.api_version != dynamo_api.V1ALPHA1 or ref.kind not in _OF_BOTH_VERSIONS or _is_output(resource):
            continue
        message = "v1alpha1 is deprecated; krm-fn convert -w FILE rewrites it"
        yield results.info(codes.DEPRECATED_V1ALPHA1, message, ref, ("apiVersion",))
        if ref.kind in _RENDERED and not release_choice.is_pinned(config) and release_choice.release_name(resource, config) == _OLDEST:
            message = (
                "rendered as Dynamo 0.9 does, because no image has version 1.0 or later; images of a newer version move the resource to "
                "their release, which restarts every pod once"
            )
            yield results.info(codes.RENDERED_FOR_DYNAMO_0_9, message, ref, ("apiVersion",))


def _is_output(resource: Resource) -> bool:
    """Returns true for a resource in a finished build. Its author rewrites the source."""
    return ownership.is_generated(resource) or labels.RENDERED_BY in labels.annotations(resource)
