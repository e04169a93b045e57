"""The shapes of Kubernetes objects in `krm_fn.kube.types` are those of the Kubernetes API, and cost nothing at run time."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

from krm_fn.kube import types
from krm_fn.schema import table

CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
OTHER_NAMES = {
    "LocalReference": [CORE + "LocalObjectReference", CORE + "SecretEnvSource", CORE + "ConfigMapEnvSource"],
    "KeySelector": [CORE + "SecretKeySelector", CORE + "ConfigMapKeySelector"],
    "FieldSelector": [CORE + "ObjectFieldSelector"],
    "Resources": [CORE + "ResourceRequirements"],
    "SecretVolume": [CORE + "SecretVolumeSource"],
    "ConfigMapVolume": [CORE + "ConfigMapVolumeSource"],
    "ClaimVolume": [CORE + "PersistentVolumeClaimVolumeSource"],
    "EmptyDirVolume": [CORE + "EmptyDirVolumeSource"],
    "EphemeralVolume": [CORE + "EphemeralVolumeSource"],
    "ClaimTemplate": [CORE + "PersistentVolumeClaimTemplate"],
    "ClaimSpec": [CORE + "PersistentVolumeClaimSpec"],
    "DNSConfig": [CORE + "PodDNSConfig"],
    "Metadata": [META + "ObjectMeta"],
    "PodTemplate": [CORE + "PodTemplateSpec"],
}
WORDS = {
    "str": "string",
    "int": "integer",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "Labels": "object",
    "Quantities": "object",
}


def shapes():
    """Every TypedDict, with the annotations of its fields."""
    for node in ast.walk(ast.parse(inspect.getsource(types))):
        if isinstance(node, ast.ClassDef):
            fields = {ast.unparse(each.target): ast.unparse(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)}
            yield pytest.param(OTHER_NAMES.get(node.name, [CORE + node.name]), fields, id=node.name)


def kind(annotation):
    """The outermost name of an annotation, as the API names types."""
    return WORDS.get(annotation.partition("[")[0], "object")


@pytest.mark.parametrize(("definitions", "fields"), list(shapes()))
def test_every_field_is_in_the_kubernetes_api_with_that_type(definitions, fields):
    known = table.load().definitions
    merged = {name: schema for each in definitions for name, schema in known[each]["properties"].items()}
    assert set(fields) <= set(merged)
    for name, annotation in fields.items():
        schema = known.get(merged[name].get("$ref", ""), merged[name])
        if "x-kubernetes-int-or-string" in schema:
            assert annotation in ("IntOrString", "Quantity")
        else:
            assert kind(annotation) == schema["type"], name


def test_no_class_is_built_at_run_time():
    """Modules name the shapes in annotations, and import them only for that."""
    script = "from krm_fn.kube import types; print(types.Container, sorted(name for name in vars(types) if name[0] != '_'))"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "<class 'dict'> ['TYPE_CHECKING', 'annotations']\n"
