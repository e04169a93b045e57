"""Renders with a second core whose values carry marks, and reads from which fields, settings and rules each value was made.

The second core is the ordinary one, loaded once more through an import hook that rewrites its syntax trees. The ordinary core does not know
of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krm_fn import config
from krm_fn.kube import identity
from krm_fn.review.trace import inputs, loader, marks, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.review.trace.reading import Leaf


class Traced(NamedTuple):
    """The objects of a render without their marks, in the order of the render, and the leaves of each object by its key."""

    resources: list[Resource]
    leaves: dict[ObjectKey, list[Leaf]]


def render(resources: Sequence[Resource], settings: Config) -> Traced:
    """Renders with the second core. The objects are those of the ordinary core; `krm_fn.review.explain` compares them."""
    with loader.core() as load:
        core, kind = load("krm_fn.expand"), load("krm_fn.config").Config
        marked = [inputs.resource(each, index) for index, each in enumerate(resources)]
        made = core.expand(marked, inputs.config(settings, kind, config.key)).resources
    return Traced([marks.plain(each) for each in made], {identity.key(marks.plain(each)): list(reading.leaves(each)) for each in made})


def makes_whole_values(module: str) -> bool:
    """True for a module whose functions make a value of all their arguments, such as a hash."""
    return module in loader.BORDERS
