"""The change that the front page shows: the planner example with 4 GPUs for Decode, another router mode and another planner role."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from tests.support import golden

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = golden.EXAMPLES / "older-planner"
FILES = ("graph.yaml", "config.yaml")


def write(folder: Path, gpus: int = 8) -> tuple[Path, Path, Path]:
    """The old state, the new state, and one node with this many GPUs."""
    old, new = folder / "old", folder / "new"
    for state in (old, new):
        state.mkdir()
        for name in FILES:
            shutil.copy(EXAMPLE / name, state)
    edit(new / "graph.yaml", "value: kv", "value: round-robin")
    edit(new / "graph.yaml", 'gpu: "2"', 'gpu: "4"', after="    Decode:")
    edit(new / "config.yaml", "team-planner", "planner-next")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}, "status": {"allocatable": {"nvidia.com/gpu": f"{gpus}"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": {"containers": [{"name": "main"}]}}
    nodes = folder / "nodes.json"
    nodes.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    return old, new, nodes


def edit(file: Path, old: str, new: str, *, after: str = "") -> None:
    """Replaces a text that a file has, behind another one."""
    before, found, rest = file.read_text().partition(after) if after else ("", "", file.read_text())
    assert old in rest
    file.write_text(f"{before}{found}{rest.replace(old, new)}")
