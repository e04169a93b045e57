"""Native objects are checked as an API server checks them: each mistake once, at its field, with the fix, and nothing else.

`tests/api_server/test_admission.py` compares the same objects with a real API server.
"""

from __future__ import annotations

import copy
import json

import pytest

from krm_fn.base import results
from krm_fn.render import config
from krm_fn.review import native_objects
from tests.cli import console
from tests.support import awkward_values, drawn_objects, native_mistakes
from tests.support.cases import cases

SECRET = "c2VjcmV0LXZhbHVl"  # noqa: S105 - a value that no message may contain
VARIABLES = [
    ("a name", native_mistakes.config_map(name="${CLUSTER}-a")),
    ("a number", native_mistakes.deployment(replicas="${REPLICAS}")),
    ("a key", native_mistakes.config_map(labels={"${KEY}": "a"})),
    ("a host", native_mistakes.routed("/", host="${HOST}")),
]


def findings(*objects, **settings):
    return list(native_objects.check(objects, config.Config(**settings)))


@cases(("written", "code", "field"), native_mistakes.MISTAKES)
def test_a_mistake_is_reported_once_at_its_field(written, code, field):
    before = copy.deepcopy(written)
    (finding,) = findings(written)
    assert (finding.code, results.field(finding.path)) == (code, field)
    assert "; " in finding.message
    assert finding.ref == results.ref(written)
    assert written == before


@cases("written", native_mistakes.LIMITS)
def test_an_object_at_the_limits_has_no_findings(written):
    assert findings(written) == []


@cases("written", VARIABLES)
def test_a_field_with_a_variable_of_flux_has_no_findings(written):
    """Only Flux knows the value."""
    assert findings(written) == []
    assert findings(json.loads(json.dumps(written).replace("${", "_")))


def test_an_object_of_another_kind_has_no_findings():
    assert findings({"apiVersion": "example.org/v1", "kind": "Service", "metadata": {"name": "A"}, "spec": []}) == []


def test_unknown_fields_can_be_warnings():
    """The cluster may be newer than the schema."""
    (finding,) = findings(native_mistakes.service(portz=[]), unknown_fields="warn")
    assert (finding.severity, finding.code) == ("warning", "DYN029")


@pytest.mark.parametrize("broken", ["Base64", "JSON", "key", "type"])
def test_a_message_never_has_a_value_of_a_secret(broken):
    kind = "kubernetes.io/dockerconfigjson"
    written = {
        "Base64": native_mistakes.secret(encoded={"a": f"{SECRET}!"}),
        "JSON": native_mistakes.secret(kind, {".dockerconfigjson": SECRET}),
        "key": native_mistakes.secret(plain={"a b": SECRET}),
        "type": native_mistakes.secret(plain={"a": [SECRET]}),
    }[broken]
    (finding,) = findings(written)
    assert SECRET not in repr(finding)


@pytest.mark.parametrize("kind", drawn_objects.KINDS, ids=lambda kind: kind.kind)
def test_the_check_of_any_object_ends(kind):
    """Objects with awkward values give findings, never an exception, and each has a fix."""
    for number in range(200):
        for finding in findings(awkward_values.case(kind, number)[0]):
            assert ";" in finding.message, finding


def test_the_command_reports_them_beside_a_graph(tmp_path):
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    (tmp_path / "service.json").write_text(json.dumps(native_mistakes.service(ports=[{"port": 80000}])))
    done = console.run("check", str(tmp_path))
    assert done.code == 1
    assert "service.json:1" in done.out
    assert "DYN253 spec.ports[0].port" in done.out
