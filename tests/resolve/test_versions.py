"""Only the reader of an API version knows how that version spells a field: below it, paths and names come from the plan."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn.api.v1alpha1 import picker
from krm_fn.generate import structural
from krm_fn.schema import table

PACKAGE = Path(krm_fn.__file__).parent
CRDS = Path(__file__).parents[1] / "crds"
BELOW = [file for room in ("manifests", "validation", "kube", "behaviours", "plan") for file in sorted((PACKAGE / room).rglob("*.py"))]
BELOW += [PACKAGE / name for name in ("ownership.py", "workload_list.py")]
READERS_OF_WRITTEN_RESOURCES = {
    "validation/updates/__init__.py": "compares two resources as they were written",
    "validation/updates/change.py": "compares two resources as they were written",
    "validation/updates/claims.py": "compares two resources as they were written",
    "validation/updates/graphs.py": "compares two resources as they were written",
    "validation/updates/immutable.py": "compares two resources as they were written",
}
_PLAIN = ("envs", "pvcs")
"""Fields in small letters that are no words of anything else."""

_OURS = ("DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentV1beta1", "DynamoComponentDeploymentV1beta1")


def words() -> set[str]:
    """The fields of graphs and components that Kubernetes itself, Grove and LeaderWorkerSets have not."""
    models, definitions = structural.models(structural.kinds()), table.load().definitions
    native = {field for name, definition in definitions.items() if name not in models for field in definition.get("properties", ())}
    native |= {field for file in CRDS.glob("*.yaml") for field in re.findall(r"\b(\w+):", file.read_text())}
    seen: set[str] = set()
    todo = list(_OURS)
    while todo:
        name = todo.pop()
        if name not in seen and name in models:
            seen.add(name)
            todo += structural.references(definitions[name])
    ours = {field for name in seen - {*vars(picker)} for field in models[name].get("properties", ())}
    return {word for word in ours - native if word != word.lower() or word in _PLAIN}


WORDS = words()


def spelled(file: Path) -> set[str]:
    """The fields that the texts of a module spell, its docstrings left out."""
    tree = ast.parse(file.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    return {word for text in texts for word in re.findall(r"\w+", text) if word in WORDS}


def test_the_words_are_those_of_the_version():
    assert {"extraPodSpec", "mainContainer", "pvcs", "envs", "eppConfig", "sharedMemory", "sharedMemorySize", "compilationCache"} <= WORDS
    assert not {"containers", "command", "labels", "replicas", "minAvailable", "startupPolicy"} & WORDS


@pytest.mark.parametrize("file", BELOW, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_module_below_the_reader_spells_a_field_of_a_version(file):
    place = str(file.relative_to(PACKAGE))
    if place in READERS_OF_WRITTEN_RESOURCES:
        assert spelled(file), f"{place} {READERS_OF_WRITTEN_RESOURCES[place]}: it needs no exception any more"
        return
    assert spelled(file) == set()
