"""Writes the picture on the front page: the forecast of a change, as a terminal shows it. `make generate` writes docs/forecast.svg.

The change gives the decode workers of an example twice the GPUs, on a cluster with one node.

Usage:

    python tools/forecast_picture.py
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "forecast.svg"
_KRM_FN = Path(sys.executable).with_name("krm-fn")
_GRAPH = ROOT / "examples" / "v1beta1-disagg-sglang" / "graph.yaml"
_CHANGED = "  - name: Decode\n"
_EDITS = (('--tp, "2"', '--tp, "4"'), ('nvidia.com/gpu: "2"', 'nvidia.com/gpu: "4"'))
_NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}}
_POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dcgm"}, "spec": {"nodeName": "gpu-1", "containers": []}}
_COMMAND = ("diff", "--old", "old", "--nodes", "nodes.json", "new")
_COLUMNS = 116
_FONT = re.compile(r" *@font-face \{.*?\}\n", re.DOTALL)
"""A font that a browser would request from another host. Without it, the picture has the browser's own font."""


def main() -> None:
    """Writes the picture."""
    FILE.write_text(picture(), "utf-8")


def picture() -> str:
    """Returns the picture as SVG."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="standard", force_terminal=True)
    console.print(f"[bold]$[/] krm-fn {' '.join(_COMMAND)}", highlight=False)
    console.print(Text.from_ansi(forecast()))
    return _FONT.sub("", console.export_svg(title="The forecast of a change", unique_id="forecast"))


def forecast() -> str:
    """Returns the summary and the table of the report, with the codes of colours. The rest of the report has a block for each object."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = _GRAPH.read_text("utf-8")
        before, heading, component = old.partition(_CHANGED)
        for edit in _EDITS:
            component = component.replace(*edit)
        for state, text in (("old", old), ("new", before + heading + component)):
            (folder / state).mkdir()
            (folder / state / "graph.yaml").write_text(text, "utf-8")
        (folder / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [_NODE, _POD]}), "utf-8")
        done = subprocess.run([_KRM_FN, *_COMMAND, "--color=always"], cwd=folder, capture_output=True, encoding="utf-8", check=False)
    summary, table, *_ = done.stdout.split("\n\n")
    return f"{summary}\n\n{table}"


if __name__ == "__main__":
    main()
