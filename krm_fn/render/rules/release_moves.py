"""A change that moves a graph to another release of the operator."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.kubernetes.values import text
from krm_fn.render import labels, render_mark
from krm_fn.render.resolve import release_choice, runtime_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config

MOVED = "DYN526"
"""Code of a graph that moves to another release."""


def check(resource: Resource, old: str, new: str, *, is_pinned: bool) -> Iterator[Result]:
    """Yields a note if the two releases differ: at the image that decides, or at the spec if the configuration names the new release."""
    if old == new:
        return
    highest = runtime_version.of_resource(resource)
    path: Path = highest.path if highest and not is_pinned else ("spec",)
    message = f"the render follows {new} in place of {old}; to keep the release, set behaviour: {old} in the configuration"
    yield results.info(MOVED, message, results.ref(resource), path)


def check_files(was: Resource, now: Resource, config: Config) -> Iterator[Result]:
    """Yields the note for two states of a graph in files, with the configuration of the new state.

    A rendered graph names the release that its render followed.
    """
    names = (_rendered(resource) or release_choice.release_name(resource, config) for resource in (was, now))
    yield from check(now, *names, is_pinned=release_choice.is_pinned(config))


def _rendered(resource: Resource) -> str:
    config = render_mark.read(text(labels.annotations(resource).get(labels.RENDERED_BY)))
    return config.behaviour if config else ""
