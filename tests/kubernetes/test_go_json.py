"""JSON as Go writes it: the order of fields, what omitempty leaves out, and the escapes."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import field_order
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from krm_fn.kubernetes import go_json
from krm_fn.schemas.generate import native_definitions
from tests.testbed import programs, tier

STRUCTS = go_json.pod_template()
ENCODER = go_json.Encoder(STRUCTS)
VALUES = [
    # struct, value, text
    ("PodTemplateSpec", {}, '{"metadata":{},"spec":{"containers":null}}'),
    ("PodSpec", {"containers": []}, '{"containers":[]}'),
    ("Container", {"image": "i", "name": "main"}, '{"name":"main","image":"i","resources":{}}'),
    ("Container", {"name": "main", "args": [], "stdin": False}, '{"name":"main","resources":{}}'),
    # Behind a pointer zero values stay.
    ("ConfigMapEnvSource", {"optional": False}, '{"optional":false}'),
    ("SecurityContext", {"runAsUser": 0, "privileged": False}, '{"privileged":false,"runAsUser":0}'),
    ("PodSpec", {"containers": [], "terminationGracePeriodSeconds": 0}, '{"containers":[],"terminationGracePeriodSeconds":0}'),
    ("Probe", {"grpc": {"service": "", "port": 1}, "periodSeconds": 0}, '{"grpc":{"port":1,"service":""}}'),
    ("Volume", {"emptyDir": {}, "name": "v"}, '{"name":"v","emptyDir":{}}'),
    # Without omitempty a missing field has the zero of its type.
    ("EnvVar", {"value": "v"}, '{"name":"","value":"v"}'),
    ("TCPSocketAction", {}, '{"port":0}'),
    ("TCPSocketAction", {"port": "http"}, '{"port":"http"}'),
    ("ResourceFieldSelector", {"resource": "limits.cpu"}, '{"resource":"limits.cpu","divisor":"0"}'),
    ("ObjectMeta", {"annotations": {}, "labels": {"b": "", "a": "1"}}, '{"labels":{"a":"1","b":""}}'),
    ("ResourceRequirements", {"limits": {"memory": "20480Mi", "cpu": 0.5}}, '{"limits":{"cpu":"500m","memory":"20Gi"}}'),
    ("EmptyDirVolumeSource", {"sizeLimit": "1024Ki"}, '{"sizeLimit":"1Mi"}'),
    ("Container", {"name": None, "resources": None, "env": None}, '{"name":"","resources":{}}'),
    ("Container", {"name": "main", "field of a later Kubernetes": 1}, '{"name":"main","resources":{}}'),
    ("ContainerPort", {"containerPort": 80.0}, '{"containerPort":80}'),
    ("EnvVar", {"name": 'é<>&\u2028\u2029"\\\n\t\x01'}, r'{"name":"é\u003c\u003e\u0026\u2028\u2029\"\\\n\t\u0001"}'),
]


@pytest.mark.parametrize(("struct", "value", "text"), VALUES)
def test_a_value_is_written_as_go_writes_it(struct, value, text):
    assert ENCODER.text(value, struct) == text


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=3)), st.randoms())
def test_the_text_of_a_map_depends_on_its_entries_alone(entries, random):
    shuffled = [*entries.items()]
    random.shuffle(shuffled)
    written = ENCODER.text({"labels": dict(shuffled)}, "ObjectMeta")
    assert written == ENCODER.text({"labels": entries}, "ObjectMeta")
    assert json.loads(written).get("labels", {}) == entries


@pytest.mark.parametrize("name", STRUCTS)
def test_a_struct_has_the_fields_of_its_schema(name):
    """The order comes from Go, and the fields of both are those of one Kubernetes version."""
    definitions = native_definitions.load().definitions
    package = "apimachinery.pkg.apis.meta" if name in ("ObjectMeta", "OwnerReference", "ManagedFieldsEntry") else "api.core"
    schema = definitions.get(f"io.k8s.{package}.v1.{name}", definitions.get(f"io.k8s.apimachinery.pkg.apis.meta.v1.{name}"))
    assert schema is not None
    assert {*STRUCTS[name]} == {*schema["properties"]}


SAMPLES: dict[str, list[Any]] = {
    "string": ["", "a", "two words", "<é>&\u2028", '"\\\n\x01\x7f', "1"],
    "bool": [True, False],
    "int32": [0, 1, 2**31 - 1],
    "int64": [0, 1, -(2**63), 2**63 - 1],
    "IntOrString": [0, 80, "http", ""],
    "Quantity": ["0", "1", "500m", "20480Mi", "1.5Gi", ".5", "1e3", "1000k", "0.0000000001", "3Ei", "-1", 2, 0],
    "Time": [None],
    "FieldsV1": [None],
}


@st.composite
def values(draw: st.DrawFn, struct: str, depth: int = 0) -> dict[str, Any]:
    """A value with some fields of a struct. Deep values have few."""
    names = draw(st.lists(st.sampled_from([*STRUCTS[struct]]), max_size=max(0, 5 - depth), unique=True))
    return {name: draw(fields(STRUCTS[struct][name].removeprefix("?"), depth + 1)) for name in names}


def fields(kind: str, depth: int) -> st.SearchStrategy[Any]:
    """Values of a field, and null."""
    single = kind.lstrip("*[]{}")
    inner = values(single, depth) if single in STRUCTS else st.sampled_from(SAMPLES[single])
    if kind.startswith("[]"):
        return st.none() | st.lists(inner.filter(lambda entry: entry is not None), max_size=2)
    if kind.startswith("{}"):
        return st.none() | st.dictionaries(st.sampled_from(["b", "a", "é", "A<"]), inner, max_size=3)
    return st.none() | inner


def test_pod_templates_are_written_as_a_go_program_writes_them():
    """Random templates, read and written by a Go program with the types of Kubernetes."""
    program = programs.path("field-order")
    found: list[dict[str, Any]] = []

    @settings(max_examples=tier.number(500, 10), database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(values("PodTemplateSpec"))
    def collect(template):
        found.append(template)

    collect()
    text = "".join(f"{json.dumps(template)}\n" for template in found)
    said = subprocess.run([program, "encode"], input=text, capture_output=True, text=True, check=True).stdout
    by_go = said.split("\n")[:-1]
    assert len(by_go) == len(found)
    assert [
        pair for pair in zip((ENCODER.text(template, "PodTemplateSpec") for template in found), by_go, strict=True) if pair[0] != pair[1]
    ] == []


@pytest.mark.parametrize("file", field_order.FILES, ids=lambda file: file.name)
def test_the_file_is_what_the_go_program_prints(file):
    command = [str(programs.path("field-order")), *field_order.FILES[file]]
    assert file.read_text("utf-8") == subprocess.run(command, capture_output=True, text=True, check=True).stdout
