"""The clusters to which a root is applied: what its pipelines say, otherwise the folder of a cluster in which it is.

Equal names in two clusters are two objects, so two states are compared cluster by cluster.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FOLDER = re.compile(r"(?:^|[/:])clusters/([^/]+?)(?:/|$)")
"""The layout `clusters/NAME` of Flux and of our page about fleets."""


class Destination(NamedTuple):
    """The names of the clusters of a root; empty if nothing is known. `is_given`: a pipeline names them."""

    clusters: tuple[str, ...] = ()
    is_given: bool = False


def of(clusters: tuple[str, ...], folder: str) -> Destination:
    """Returns the clusters of a root. `clusters` are those that its pipelines name, and `folder` is its folder."""
    if clusters:
        return Destination(clusters, is_given=True)
    name = of_path(folder)
    return Destination((name,) if name else ())


def of_path(path: str) -> str:
    """Returns the name of the cluster in whose folder another folder is; empty without such a folder.

    >>> of_path("clusters/eu/apps/chat"), of_path("main:clusters/eu"), of_path("clusters")
    ('eu', 'eu', '')
    """
    match = _FOLDER.search(path)
    return match[1] if match else ""


def can_be_same(old: Destination, new: Destination, *, is_same_folder: bool) -> bool:
    """True unless two roots of two states are known to be in different clusters.

    The folder of a cluster is the name of the cluster if no pipeline says more. A pipeline that is new in the repository tells more about
    a folder, and moves nothing.
    """
    if is_same_folder and not (old.is_given and new.is_given):
        return True
    return not old.clusters or not new.clusters or old.clusters == new.clusters
