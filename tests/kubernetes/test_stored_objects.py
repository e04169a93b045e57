"""The stored form of native objects. `tests/review/forecast/test_live_updates.py` compares it with a real API server."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes import go_json, paths, stored_objects


def claim(version, count, kind="ResourceClaim"):
    """A claim of devices in a version of the API."""
    fields = {"deviceClassName": "gpu.nvidia.com", "count": count}
    request = {"name": "gpus", **(fields if version == "v1beta1" else {"exactly": fields})}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "spec": {"spec": spec} if kind.endswith("Template") else spec}


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_all_versions_of_a_claim_have_one_form(kind):
    """v1beta1 has the fields of `exactly` in the request (`pkg/apis/resource/v1beta1/conversion.go`)."""
    forms = [stored_objects.of(claim(version, 2, kind))["spec"] for version in ("v1", "v1beta1", "v1beta2")]
    assert forms[0] == forms[1] == forms[2] != stored_objects.of(claim("v1beta1", 3, kind))["spec"]


def test_an_object_of_another_kind_is_unchanged():
    other = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"a": []}}
    assert stored_objects.of(other) is other


WITHOUT = [
    ({"a": {"b": 1, "c": 2}}, ("a", "b"), {"a": {"c": 2}}),
    ({"a": {"b": 1}}, ("a", "b"), {}),
    ({"a": [{"b": 1}, {"c": 2}]}, ("a", paths.EVERY, "b"), {"a": [{}, {"c": 2}]}),
    ({"a": {"b": {"c": 1}, "d": {"c": 1, "e": 2}}}, ("a", paths.EVERY, "c"), {"a": {"d": {"e": 2}}}),
    ({"a": {}}, ("a", "b"), {"a": {}}),
    ({"a": 1}, ("a", "b"), {"a": 1}),
]


@pytest.mark.parametrize(("value", "pattern", "rest"), WITHOUT)
def test_without_removes_fields_and_objects_that_become_empty(value, pattern, rest):
    assert stored_objects.without(value, [pattern]) == rest


@pytest.mark.parametrize("gate", stored_objects.GATES)
def test_the_fields_of_a_gate_are_fields_of_pods(gate):
    """A wrong path would remove nothing, and the forecast would say that pods restart."""
    for pattern in stored_objects.GATES[gate]:
        struct = "PodTemplateSpec"
        for step in pattern:
            if step != paths.EVERY:
                struct = go_json.kinds()[struct][str(step)].lstrip("?*[]{}")
