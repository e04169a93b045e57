"""The settings of the render that wrote a Dynamo resource, as its annotation records them."""

from __future__ import annotations

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.resolve import release_choice


def of(resource: Resource, config: Config) -> Config:
    """Returns the settings that made the objects of a resource; `config` for a resource that no render wrote.

    A release that the images choose is not pinned.
    """
    written = render_mark.read(f"{labels.annotations(resource).get(labels.RENDERED_BY, '')}")
    if written is None:
        return config
    unpinned = written._replace(behaviour=config.behaviour)
    return unpinned if release_choice.release_name(resource, unpinned) == written.behaviour else written
