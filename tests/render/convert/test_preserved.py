"""Kept fields that cannot be trusted: everybody can write an annotation."""

import json
from typing import Any

import pytest

from krm_fn.render import labels
from krm_fn.render.convert import preserved_fields, versions
from tests.support import growth


def beta(kept: str, key: str = labels.PRESERVED_GRAPH) -> dict[str, Any]:
    """A v1beta1 graph with one component and this annotation."""
    return {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "annotations": {key: kept}},
        "spec": {"components": [{"name": "w", "type": "worker"}]},
    }


PLAIN = {"services": {"w": {"componentType": "worker"}}}


def held(**services: Any) -> str:
    """An annotation that keeps these fields of services."""
    return json.dumps({"version": 1, "spec": {"services": services}})


UNREADABLE = {
    "no JSON": "{",
    "YAML": "!!python/object/apply:os.system [date]",
    "an anchor of YAML": "services: &a {w: *a}",
    "a list": "[]",
    "a text": '"services"',
    "a number that JSON does not have": '{"version":1,"spec":{"services":{"w":{"replicas":NaN}}}}',
    "a number with too many digits": '{"spec":{"services":{"w":{"replicas":' + "9" * 5000 + "}}}}",
    "another version": '{"version":2,"spec":{"services":{"w":{"labels":{"a":"b"}}}}}',
    "a version that is a list": '{"version":[],"spec":{}}',
    "a spec that is a list": '{"version":1,"spec":[]}',
    "too deep for Python": '{"spec":' + "[" * 100_000,
    "too deep": '{"version":1,"spec":' + '{"a":' * 200 + "1" + "}" * 200 + "}",
    "5 MB": held(w={"labels": {"a": "b" * 5_000_000}}),
}
LONG = {
    "brackets that stay open": lambda size: '{"spec":' + "[" * size,
    "a long label": lambda size: held(w={"labels": {"a": "b" * size}}),
    "many labels": lambda size: held(w={"labels": {f"a{number}": "b" for number in range(size // 10)}}),
    "many digits": lambda size: '{"spec":{"services":{"w":{"replicas":' + "9" * size + "}}}}",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_text_is_ignored_with_a_warning(text):
    """Reference: an annotation that cannot be parsed is ignored. The conversion removes it."""
    resource = beta(text)
    new = versions.to("v1alpha1", resource)
    (found,) = preserved_fields.findings(resource)
    assert (new["spec"], new["metadata"]) == (PLAIN, {"name": "g"})
    assert (found.severity, found.code, found.path) == ("warning", "DYN409", ("metadata", "annotations", labels.PRESERVED_GRAPH))
    assert len(found.message) < 300


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_takes_linear_time(text):
    def convert(size):
        resource = beta(text(size))
        versions.to("v1alpha1", resource)
        preserved_fields.findings(resource)

    assert growth.is_linear(convert, 50_000)


WRONG = {
    "labels that are a list": held(w={"labels": [1], "annotations": {"a": "b"}}),
    "a service that is a number": '{"spec":{"services":{"w":5}}}',
    "services that are a list": '{"spec":{"services":[{"labels":{}}],"pvcs":[{"name":"p"}]}}',
    "claims that are texts": '{"spec":{"pvcs":["a",1],"services":{"w":{"annotations":{"a":"b"}}}}}',
    "fields that nobody has": '{"spec":{"a":1,"services":{"w":{"b":[[]]}}}}',
    "the bare form": '{"services":{"w":{"labels":5}}}',
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_field_of_a_wrong_type_is_ignored_with_a_warning(text):
    """The other kept fields come back, and the result has no field that v1alpha1 would refuse."""
    resource = beta(text)
    new = versions.to("v1alpha1", resource)["spec"]
    assert {"w": {**new["services"]["w"]}} in (
        {"w": {"componentType": "worker"}},
        {"w": {"componentType": "worker", "annotations": {"a": "b"}}},
    )
    assert {found.code for found in preserved_fields.findings(resource)} == {"DYN409"}


def test_services_that_are_gone_stay_gone():
    """The list of components decides; the kept fields of other services are dropped without a word."""
    resource = beta(held(w={"labels": {"a": "b"}}, gone={"labels": {"a": "b"}}))
    assert versions.to("v1alpha1", resource)["spec"] == {"services": {"w": {"componentType": "worker", "labels": {"a": "b"}}}}
    assert preserved_fields.findings(resource) == []


def test_the_bare_form_is_read():
    """Older operators wrote the fields without an envelope."""
    resource = beta('{"pvcs":[{"name":"p"}],"services":{"w":{"labels":{"a":"b"}}}}')
    assert versions.to("v1alpha1", resource)["spec"]["pvcs"] == [{"name": "p"}]
    assert preserved_fields.findings(resource) == []


def test_what_go_writes_into_every_container_is_no_field():
    """The reference keeps Go structs, whose JSON has an empty name and empty resources."""
    resource = beta(held(w={"labels": {"a": "b"}, "extraPodSpec": {"mainContainer": {"name": "", "resources": {}}}}))
    resource["spec"]["components"][0]["podTemplate"] = {"spec": {"containers": [{"name": "main", "image": "i"}]}}
    service = versions.to("v1alpha1", resource)["spec"]["services"]["w"]
    assert service == {"componentType": "worker", "labels": {"a": "b"}, "extraPodSpec": {"mainContainer": {"image": "i"}}}


def test_a_kept_field_of_the_older_form_comes_back_beside_live_fields():
    """The example of the reference: order of containers, details of a mount, and a feature of Grove."""
    kept = {
        "version": 1,
        "spec": {
            "components": [
                {
                    "name": "worker",
                    "podTemplate": {
                        "metadata": {"creationTimestamp": None},
                        "spec": {
                            "containers": [
                                {"name": "fe", "resources": {}},
                                {"name": "main", "resources": {}, "volumeMounts": [{"name": "d", "readOnly": True, "mountPath": "/d"}]},
                            ]
                        },
                    },
                    "frontendSidecar": "fe",
                    "experimental": {"grove": {"forceScalingGroup": True}},
                },
                {"name": "frontend"},
            ]
        },
    }
    graph = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "annotations": {labels.PRESERVED_GRAPH: json.dumps(kept)}},
        "spec": {
            "services": {
                "another": {},
                "frontend": {"componentType": "frontend"},
                "worker": {
                    "componentType": "worker",
                    "volumeMounts": [{"name": "d", "mountPoint": "/d"}],
                    "extraPodSpec": {"containers": [{"name": "fe", "image": "f"}], "mainContainer": {"image": "changed"}},
                },
            }
        },
    }
    components = versions.to("v1beta1", graph)["spec"]["components"]
    assert [component["name"] for component in components] == ["worker", "frontend", "another"]
    assert components[0] == {
        "name": "worker",
        "type": "worker",
        "podTemplate": {
            "spec": {
                "containers": [
                    {"name": "fe", "image": "f"},
                    {"name": "main", "image": "changed", "volumeMounts": [{"name": "d", "readOnly": True, "mountPath": "/d"}]},
                ]
            }
        },
        "frontendSidecar": "fe",
        "experimental": {"grove": {"forceScalingGroup": True}},
    }


def test_a_garbled_status_is_ignored_with_a_warning():
    """The annotation of the status has no envelope."""
    resource = beta("{", labels.PRESERVED_GRAPH_STATUS) | {"status": {"state": "failed"}}
    assert versions.to("v1alpha1", resource)["status"] == {"state": "failed"}
    (found,) = preserved_fields.findings(resource)
    assert found.path == ("metadata", "annotations", labels.PRESERVED_GRAPH_STATUS)
