"""Finds graphs that a change moves to another release of the operator, which changes all their pods."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_resources
from krm_fn.render.resolve import release_choice
from krm_fn.render.rules import updates
from krm_fn.review.diff.rendered_state import RenderedState

_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)


def check(old: RenderedState, new: RenderedState) -> Iterator[Result]:
    """Yields a note for each graph and component that follows another release than before, at the image that decides."""
    before = _inputs(old)
    for key, resource in _inputs(new).items():
        if key in before:
            then, now = release_choice.release_name(before[key], old.config), release_choice.release_name(resource, new.config)
            yield from updates.check_release(resource, then, now, is_pinned=release_choice.is_pinned(new.config))


def _inputs(state: RenderedState) -> dict[ObjectKey, Resource]:
    """The resources that are rendered. A finished build is not rendered again."""
    namespace = dynamo_resources.default_namespace(state.config)
    keyed = ((identity.key(resource, namespace), resource) for resource in state.inputs)
    return {
        key: resource
        for key, resource in keyed
        if dynamo_resources.is_expanded(resource) and resource["kind"] in _RENDERED and key not in state.built
    }
