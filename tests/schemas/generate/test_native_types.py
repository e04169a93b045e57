"""The types of native objects for the type checker: those that the code uses, with all fields of the Kubernetes API."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import krm_fn
from krm_fn.schemas.generate import native_definitions

PACKAGE = Path(krm_fn.__file__).parent
TEXT = native_definitions.types_text(native_definitions.load().definitions)
CLASSES = {node.name: node for node in ast.parse(TEXT).body if isinstance(node, ast.ClassDef)}


def fields(name):
    return {ast.unparse(node.target): ast.unparse(node.annotation) for node in CLASSES[name].body if isinstance(node, ast.AnnAssign)}


def imported():
    """The types that modules of the package import."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "krm_fn.kubernetes.native_types":
                yield from (alias.name for alias in node.names)


def test_only_types_that_the_code_uses():
    """A used type is imported, or it is the type of a field of a used type."""
    used = {*imported()}
    todo = [*used]
    while todo:
        inner = {word for annotation in fields(todo.pop()).values() for word in re.findall(r"\w+", annotation)} & CLASSES.keys()
        todo += inner - used
        used |= inner
    assert used == CLASSES.keys() == {*native_definitions.USED_TYPES}


def test_fields_have_the_types_of_the_kubernetes_api():
    container = fields("Container")
    assert container.keys() == native_definitions.load().definitions["io.k8s.api.core.v1.Container"]["properties"].keys()
    assert (container["name"], container["tty"], container["args"], container["env"]) == ("str", "bool", "list[str]", "list[EnvVar]")
    assert container["lifecycle"] == "dict[str, Any]"  # no code reads into it
    assert fields("HTTPGetAction")["port"] == "IntOrString"
    assert fields("ResourceRequirements")["limits"] == "dict[str, Quantity]"
    assert fields("ObjectMeta")["creationTimestamp"] == "str"
    assert fields("PodSpec")["ephemeralContainers"] == "list[Container]"
