"""Finds graphs that a change moves to another release of the operator, which changes all their pods."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.kube.identity import ObjectKey
from krm_fn.resolve import release_choice, runtime_version
from krm_fn.results import Path, Result
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import RenderedState

_RENDERED = (identity.GRAPH, identity.COMPONENT)


def check(old: RenderedState, new: RenderedState) -> Iterator[Result]:
    """Yields a note for each graph and component that follows another release than before, at the image that decides."""
    before = _releases(old)
    for key, (release, number) in _releases(new).items():
        resource = new.inputs[number]
        known = before.get(key)
        if known is None or known[0] == release:
            continue
        highest = runtime_version.of_resource(resource)
        path: Path = highest.path if highest and not release_choice.is_pinned(new.config) else ("spec",)
        message = (
            f"the render follows {release} in place of {known[0]}; to keep the release, set behaviour: {known[0]} in the configuration"
        )
        yield results.info("DYN526", message, results.ref(resource), path)


def _releases(state: RenderedState) -> dict[ObjectKey, tuple[str, int]]:
    """The names of the releases that resources follow, with their numbers. A finished build is not rendered again."""
    namespace = rendered_state.default_namespace(state.config)
    keyed = ((identity.key(resource, namespace), number, resource) for number, resource in enumerate(state.inputs))
    return {
        key: (release_choice.release_name(resource, state.config), number)
        for key, number, resource in keyed
        if rendered_state.is_expanded(resource) and resource["kind"] in _RENDERED and key not in state.built
    }
