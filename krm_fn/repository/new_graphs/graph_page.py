"""The page of a new graph: one line for each task, and what krm-fn cannot know."""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn.base import report
from krm_fn.repository.new_graphs import graph_layouts
from krm_fn.repository.new_graphs.graph_choices import GraphChoices
from krm_fn.repository.new_graphs.graph_layouts import Layout


def text(choices: GraphChoices, layout: Layout) -> str:
    """Returns the page in Markdown."""
    lines = [
        f"* What: {_subject(choices)}",
        f"* Render: {_list_parts(f'`{command}`' for command in layout.commands(choices))}",
        "* Check: `krm-fn check`",
        f"* Once for each cluster: {preparation(choices, layout)}",
        f"* Apply: {_list_parts(layout.applications(choices))}",
        f"* Status: {_list_parts(f'`krm-fn status --namespace {target.namespace}`' for target in choices.targets)}",
    ]
    return "\n".join([f"# {choices.name}", "", *lines, "", " ".join(unknown(choices, layout)), ""])


def preparation(choices: GraphChoices, layout: Layout) -> str:
    """Returns the commands that a cluster needs before the first graph, in Markdown."""
    missing = [target.namespace for target in choices.targets if target.namespace != "default" and not layout.creates_namespace]
    return _list_parts(
        [f"`krm-fn crds --served v1beta1 | {graph_layouts.APPLY} -`", *(f"`kubectl create namespace {name}`" for name in missing)]
    )


def unknown(choices: GraphChoices, layout: Layout) -> list[str]:
    """Returns what the author must find out, as sentences."""
    gpus = report.pluralize(choices.gpus * choices.nodes, "GPU")
    token = (
        f"The Secret {choices.token_secret} must have the key HF_TOKEN."
        if choices.token_secret
        else f"If it needs a token, name its Secret in {layout.graph}."
    )
    return [
        f"krm-fn does not know if {choices.model} fits into the memory of {gpus}.",
        token,
        *([f"Write {layout.open_values}."] if layout.open_values else []),
        "`krm-fn needs` lists what else must exist in the cluster.",
    ]


def _list_parts(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)}, and {last}" if most else last


def _subject(choices: GraphChoices) -> str:
    gpus = report.pluralize(choices.gpus, "GPU")
    size = gpus if choices.nodes == 1 else f"{choices.nodes} nodes with {gpus}"
    kinds = ("prefill worker", "decode worker") if choices.disaggregated else ("worker",)
    workers = " and ".join(report.pluralize(choices.replicas, kind) for kind in kinds)
    each = " each" if choices.replicas > 1 or choices.disaggregated else ""
    return f"{choices.model} with {choices.engine} on Dynamo {choices.release}: a frontend, and {workers} of {size}{each}."
