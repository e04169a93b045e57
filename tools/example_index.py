"""Writes two indexes of the examples: examples/README.md for people, and krm_fn/cli/mcp_tools/examples.json with their input files.

The wheel has the second one, because it has no folder `examples`. `make generate` writes both.

Usage:

    python tools/example_index.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "krm_fn" / "cli" / "mcp_tools" / "examples.json"
_EXAMPLES = ROOT / "examples"
PAGE = _EXAMPLES / "README.md"
_OF_PIPELINES = ("argocd", "flux")
"""Examples of pipelines, which are long, and whose pages explain them: docs/argocd.md and docs/flux.md."""

_MADE = re.compile(r"(^|/)(expected|rendered|broken|plugins)")
_SUMMARY = re.compile(r"dynamo\.krm-fn\.io/summary: .*?(\d+) GPUs?\b")
_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}
_INTRODUCTION = """\
# Examples

Each folder has a graph, the files that render it, and the objects that krm-fn makes, most in `expected.yaml`. Its page shows the command.
To start a graph of your own, use [`krm-fn new`](../docs/new.md). Two more folders show pipelines: [Argo CD](../docs/argocd.md) and
[Flux](../docs/flux.md).

| example | what it shows | engine | topology | API version | GPUs |
|---|---|---|---|---|---|
"""
_KINDS = ("DynamoGraphDeployment", "DynamoGraphDeploymentRequest", "DynamoComponentDeployment")


def text() -> str:
    """Returns the index as JSON."""
    return json.dumps(_entries(), indent=1, ensure_ascii=False) + "\n"


def page() -> str:
    """Returns the index as a page in Markdown."""
    rows = [
        (
            f"[{entry['name']}]({entry['name']}/README.md)",
            entry["shows"],
            ", ".join(_NAMES[engine] for engine in entry["engines"]),
            ", ".join(entry["topology"]),
            ", ".join(sorted({kind.split()[1] for kind in entry["kinds"]})),
            "" if entry["gpus"] is None else str(entry["gpus"]),
        )
        for entry in _entries()
    ]
    return _INTRODUCTION + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _entries() -> list[dict[str, Any]]:
    folders = sorted(path for path in _EXAMPLES.iterdir() if path.is_dir() and path.name not in _OF_PIPELINES)
    return [entry for folder in folders if (entry := _entry(folder))]


def _entry(folder: Path) -> dict[str, Any]:
    """Returns the entry of an example; empty if it has no graph."""
    files = {
        name: path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if (path.suffix == ".yaml" or path.name == "Kptfile") and not _MADE.search(name := path.relative_to(folder).as_posix())
    }
    documents = [document for content in files.values() for document in yaml.safe_load_all(content) if isinstance(document, dict)]
    graphs = [document for document in documents if document.get("kind") in _KINDS]
    if not graphs:
        return {}
    title, description = _page((folder / "README.md").read_text("utf-8"))
    return {
        "name": folder.name,
        "shows": title,
        **({"description": description} if description else {}),
        "kinds": sorted({f"{graph['kind']} {graph['apiVersion'].rpartition('/')[2]}" for graph in graphs}),
        "engines": sorted({engine for graph in graphs for engine in _engines(json.dumps(graph))}),
        "topology": _topology(json.dumps(graphs)),
        "gpus": _gpus(folder),
        "files": files,
    }


def _page(page: str) -> tuple[str, str]:
    """Returns the title of a README, and its first paragraph if that is text."""
    title, _, rest = page.partition("\n")
    first = rest.strip().partition("\n\n")[0]
    return title.removeprefix("# "), "" if first.startswith(("```", "|")) else re.sub(
        r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(first.split())
    )


def _engines(graph: str) -> Iterator[str]:
    yield from (engine for engine in _NAMES if f'"{engine}"' in graph or f"dynamo.{engine}" in graph)


def _topology(graphs: str) -> list[str]:
    """Returns the words that describe how workers are divided."""
    words = ["disaggregated" if re.search(r"prefill", graphs) else "aggregated"]
    return [*words, *(["multinode"] if re.search(r'"nodeCount": ([2-9]|\d\d)', graphs) else [])]


def _gpus(folder: Path) -> int | None:
    """Returns the GPUs of the rendered graphs; None if no expected output says so."""
    for path in sorted(folder.rglob("expected*.yaml")):
        if counts := _SUMMARY.findall(path.read_text("utf-8")):
            return sum(map(int, counts))
    return None


if __name__ == "__main__":
    INDEX.write_text(text(), "utf-8")
    PAGE.write_text(page(), "utf-8")
