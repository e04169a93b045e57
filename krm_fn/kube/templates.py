"""Where the workload objects of Kubernetes, LeaderWorkerSet and Grove hold their pod templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import paths
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path


class Place(NamedTuple):
    """One pod template, or all of a list: the path of the object with its labels and annotations, and the path of its pod spec."""

    metadata: Path
    spec: Path


def _template(*at: str) -> Place:
    """A template in the form of Kubernetes' PodTemplateSpec."""
    return Place((*at, "metadata"), (*at, "spec"))


_CLIQUES: Path = ("spec", "template", "cliques", paths.EVERY)

NATIVE = (_template("spec", "template"),)
GROUP = tuple(_template("spec", "leaderWorkerTemplate", role) for role in ("leaderTemplate", "workerTemplate"))
CLIQUES = (Place(_CLIQUES, (*_CLIQUES, "spec", "podSpec")),)

ALL = (*NATIVE, *GROUP, *CLIQUES)
"""The places of all kinds. A resource of another kind has none of them, so readers need not know the kind."""
