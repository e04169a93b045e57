"""The choices of new graphs: every engine with every topology."""

from __future__ import annotations

from krm_fn.repository import new_graphs
from krm_fn.repository.new_graphs.graph_choices import GraphChoices
from krm_fn.review.arguments import flag_tables

RELEASE = ".".join(map(str, flag_tables.published_releases()[-1]))
MODEL = "Qwen/Qwen3-32B"
TOPOLOGIES = {
    "aggregated": (),
    "disaggregated": ("--disaggregated",),
    "nodes": ("--nodes", "2"),
    "disaggregated-nodes": ("--disaggregated", "--nodes", "2"),
}
"""The options of each topology."""


def choices() -> dict[str, GraphChoices]:
    """The choices of the engines and the topologies by a name, for workers with 2 GPUs on each node."""
    return {
        f"{engine}-{topology}": GraphChoices(
            "chat", engine, MODEL, RELEASE, gpus=2, nodes=2 if "nodes" in topology else 1, disaggregated="disaggregated" in topology
        )
        for engine in new_graphs.engine_names()
        for topology in TOPOLOGIES
    }
