"""The paths of the pod templates in the workload objects of Kubernetes, LeaderWorkerSet and Grove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import paths
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path


class Place(NamedTuple):
    """One pod template, or all templates in a list. `metadata` is the path of its metadata, `spec` the path of its pod spec."""

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
"""The places of all kinds. Resources of other kinds have no field at these paths, so readers need not check the kind."""
