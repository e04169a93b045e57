"""The option `--nodes`: the nodes and pods of a cluster, from the output of kubectl."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krm_fn import results
from krm_fn.cli import _live
from krm_fn.files import reading
from krm_fn.review.live import export

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_MEND = "export both with `kubectl get nodes,pods --all-namespaces -o json`"


class Cluster(NamedTuple):
    """The nodes and pods; `nodes` is None if nothing is known about them."""

    nodes: list[Resource] | None = None
    pods: list[Resource] = []
    results: list[Result] = []


def read(path: str | None) -> Cluster:
    """The nodes and pods in a file. A file without nodes is an error, and one without pods a note."""
    if path is None:
        return Cluster()
    values, wrong = _live.read(path)
    found = export.read(values)
    nodes, pods = (
        [each for each in found.objects if (each.get("apiVersion"), each.get("kind")) == ("v1", kind)] for kind in ("Node", "Pod")
    )
    name = reading.name(path)
    if wrong:
        return Cluster(results=wrong)
    if not nodes or found.results:
        message = f"the file is not a complete list of nodes, so no rollout is simulated; {_MEND}"
        return Cluster(results=[results.error("DYN512", message, file=name)])
    if not pods:
        message = f"the file has nodes but no pods, so the GPUs of other pods count as free; {_MEND}"
        return Cluster(nodes, [], [results.info("DYN513", message, file=name)])
    return Cluster(nodes, pods)
