"""Only the readers of the API versions read fields: below them, facts come from the plan, and a field is spelled only to name its path."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn.render.schema import table
from krm_fn.schemas.api import endpoint_picker
from krm_fn.schemas.generate import structural

PACKAGE = Path(krm_fn.__file__).parent
CRDS = Path(__file__).parents[2] / "crds"
BELOW = [
    file for room in ("render/manifests", "kubernetes", "render/kinds", "render/plan") for file in sorted((PACKAGE / room).rglob("*.py"))
]
BELOW += [PACKAGE / "render" / f"{name}.py" for name in ("workload_list", "labels", "names")]
BELOW.remove(PACKAGE / "kubernetes" / "secret_values.py")  # it reads the text of any file, whatever version it is of
BELOW.remove(
    PACKAGE / "kubernetes" / "references" / "name_fields.py"
)  # a table of fields of all kinds and versions, of which it reads none
READERS = ("graph_rules", "graph_updates", "pod_template_rules", "updates")
"""The rules that read resources beside the plans, or name a field in a message of their own."""
BELOW += [file for file in sorted((PACKAGE / "render" / "rules").rglob("*.py")) if file.stem not in READERS]
NAMING = [file for room in ("manifests", "rules", "resolve") for file in sorted((PACKAGE / "render" / room).rglob("*.py"))]
PARTS = {"main", "pod", "sidecars"}
"""The short names of parts of a pod (`krm_fn.render.convert.path_mapping`)."""
_PLAIN = ("envs", "pvcs")
"""Fields in small letters that are no words of anything else."""

_OURS = ("DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentV1beta1", "DynamoComponentDeploymentV1beta1")


def words() -> set[str]:
    """The fields of graphs and components that Kubernetes itself, Grove and LeaderWorkerSets have not."""
    models, definitions = structural.models(structural.kinds()), table.load().definitions
    native = {field for name, definition in definitions.items() if name not in models for field in definition.get("properties", ())}
    kinds = json.loads((PACKAGE / "render" / "schema" / "native_kinds.json").read_text())
    native |= {field for definition in kinds["definitions"].values() for field in definition.get("properties", ())}
    native |= {field for file in CRDS.glob("*.yaml") for field in re.findall(r"\b(\w+):", file.read_text())}
    seen: set[str] = set()
    todo = list(_OURS)
    while todo:
        name = todo.pop()
        if name not in seen and name in models and "Status" not in name:  # the syncer writes a status, and nobody reads it here
            seen.add(name)
            todo += structural.references(definitions[name])
    ours = {field for name in seen - {*vars(endpoint_picker)} for field in models[name].get("properties", ())}
    return {word for word in ours - native if word != word.lower() or word in _PLAIN}


WORDS = words()
ALIKE = {
    # fields of other kinds with the name of a field of a version
    "cliques.py": {"packDomain"},  # of the topology constraints of Grove before 0.1.0-alpha.12
    "placeholders.py": {"envs"},  # reads texts of both versions as they are
    "shared_discovery.py": {"globalDynamoNamespace"},  # compares graphs of both versions, also across roots, without a plan of each
    "search_rules.py": {"modelRef"},  # of a request of v1beta2
}


def texts(node: ast.AST) -> set[str]:
    return {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)}


def named(file: Path) -> list[ast.Call]:
    """The calls that give the source path or the name of a field, by its steps."""
    calls = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in ("at", "word") and call.args]


def spelled(file: Path) -> set[str]:
    """The fields that the texts of a module spell, without its docstrings and without the fields that it names."""
    tree = ast.parse(file.read_text())
    docstrings = set[str]().union(
        *(texts(node) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )
    steps = set[str]().union(*map(texts, named(file)))
    return {word for text in texts(tree) - docstrings - steps for word in re.findall(r"\w+", text) if word in WORDS}


def test_the_words_are_those_of_the_version():
    assert {"extraPodSpec", "mainContainer", "pvcs", "envs", "eppConfig", "sharedMemory", "sharedMemorySize", "compilationCache"} <= WORDS
    assert not {"containers", "command", "labels", "replicas", "minAvailable", "startupPolicy"} & WORDS


@pytest.mark.parametrize("file", BELOW, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_module_below_the_reader_reads_a_field_of_a_version(file):
    assert spelled(file) == ALIKE.get(file.name, set())


def test_every_step_of_a_source_path_is_a_field():
    fields = {name for definition in table.load().definitions.values() for name in definition.get("properties", ())}
    steps = {(file.stem, step) for file in NAMING for call in named(file) for step in texts(call) if step.isidentifier()}
    assert len(steps) > 100
    assert {(module, step) for module, step in steps if step not in fields | PARTS} == set()
