"""The paths of the pod templates in the workload objects of Kubernetes, LeaderWorkerSet and Grove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import paths
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path


class TemplatePath(NamedTuple):
    """The paths of the metadata and of the pod spec of one pod template, or of all templates in a list."""

    metadata: Path
    spec: Path


def _template(*path: str) -> TemplatePath:
    """A template in the form of Kubernetes' PodTemplateSpec."""
    return TemplatePath((*path, "metadata"), (*path, "spec"))


_CLIQUES: Path = ("spec", "template", "cliques", paths.EVERY)

NATIVE = (_template("spec", "template"),)
GROUP = tuple(_template("spec", "leaderWorkerTemplate", role) for role in ("leaderTemplate", "workerTemplate"))
CLIQUES = (TemplatePath(_CLIQUES, (*_CLIQUES, "spec", "podSpec")),)

ALL = (*NATIVE, *GROUP, *CLIQUES)
"""Templates of all kinds. Resources of other kinds have no field at these paths, so readers need not check the kind."""
