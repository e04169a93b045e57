"""The components, which are off by default, and the API server's type check of every expression."""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING

import pytest

from tests.platform import admission
from tests.support.cases import cases
from tests.testbed import programs, server

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = {"backend": "vllm", "model": "chat", "profilingConfig": {"profilerImage": "profiler:1", "config": {"sla": {"ttft": 200}}}}
TYPE_CHECKER = "validatingadmissionpolicy-status-controller"

FIXED = [
    ("a service comes", {"a": 1}, {"a": 1, "b": 1}, ["DYN402 spec.services[b]: is new"]),
    ("a service goes", {"a": 1, "b": 1}, {"a": 1}, ["DYN402 spec.services[b]: is gone"]),
    ("a service is renamed", {"a": 1}, {"b": 1}, ["DYN402 spec.services[b]: is new", "DYN402 spec.services[a]: is gone"]),
    ("a service changes", {"a": 1, "b": 1}, {"a": 2, "b": 0}, []),
]


@cases(("reason", "before", "after", "said"), FIXED)
def test_the_component_that_fixes_services(reason, before, after, said, dynamo, strict, users):
    """`test_admission` shows that without the component services can be added and removed."""
    was, now = ({"services": {name: {"replicas": count} for name, count in counts.items()}} for counts in (before, after))
    edit = admission.Edit("DynamoGraphDeployment", was, now)
    if said:
        server.eventually(lambda: not admission.attempt(dynamo, users["tenant"], strict, edit).ok)
    message = admission.attempt(dynamo, users["tenant"], strict, edit).message
    assert [each for each in said if each not in message] == []
    assert message.count("DYN402") == len(said)


DISCOVERED = PROFILE | {"enableGpuDiscovery": True}
DISCOVERY = [
    ("a new request asks for it", None, DISCOVERED, False),
    ("it is switched on", PROFILE, DISCOVERED, False),
    ("it was on before there was a rule", DISCOVERED, DISCOVERED | {"model": "other"}, True),
    ("it is switched off", DISCOVERED, DISCOVERED | {"enableGpuDiscovery": False}, True),
    ("a new request does without", None, PROFILE, True),
]


@cases(("reason", "before", "after", "allowed"), DISCOVERY)
def test_the_component_that_forbids_gpu_discovery(reason, before, after, allowed, dynamo, strict, users):
    """The resource existed before the namespace had its label."""
    edit, probe = (admission.Edit("DynamoGraphDeploymentRequest", *specs) for specs in ((before, after), (None, DISCOVERED)))
    with admission.unguarded(dynamo, strict):
        server.eventually(lambda: admission.attempt(dynamo, users["tenant"], strict, probe).ok)
        admission.attempt(dynamo, users["tenant"], strict, edit)
    server.eventually(lambda: "DYN181 spec.enableGpuDiscovery:" in admission.attempt(dynamo, users["tenant"], strict, probe).message)
    assert admission.attempt(dynamo, users["tenant"], strict, edit).ok == allowed


@contextlib.contextmanager
def type_checked(control_plane):
    """The controller that type-checks the expressions of a policy and writes warnings into its status."""
    command: list[str | Path] = [
        programs.path("kube-controller-manager"),
        f"--kubeconfig={control_plane.kubeconfig}",
        f"--controllers={TYPE_CHECKER}",
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
    ]
    with server.running(command, control_plane.folder / "type-checker.log"):
        yield


def unfolded(policy):
    """A policy without binding that has each variable as a validation, because the type checker skips variables."""
    spec = copy.deepcopy(policy["spec"])
    spec["validations"] += [{"expression": f"[{each['expression']}].size() == 1"} for each in spec.get("variables", [])]
    return policy | {"metadata": {"name": f"types-of-{policy['metadata']['name']}"}, "spec": spec}


def complaints(plane, policy):
    """The warnings of the type checker about a policy."""
    path = plane.client.path(policy)
    with admission.policies(plane, [policy]):
        server.eventually(lambda: "typeChecking" in plane.client.get(path).get("status", {}))
        return plane.client.get(path)["status"]["typeChecking"].get("expressionWarnings", [])


@pytest.fixture(scope="module")
def expressions(kustomize):
    """All policies, including those of the components."""
    folders = [file.parent for file in sorted(admission.PLATFORM.glob("admission/**/kustomization.yaml"))]
    found = [each for folder in folders for each in admission.build(kustomize, folder)]
    return [each for each in found if each["kind"] == "ValidatingAdmissionPolicy"]


def serves(policy, version):
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    return version in rule["apiVersions"]


def test_expressions_fit_the_types_of_the_definitions(dynamo, expressions):
    """No policy names an unknown field. A misspelt one proves that the checker finds such a mistake."""
    assert len(expressions) == 14
    with type_checked(dynamo):
        for policy in (each for each in expressions if serves(each, "v1alpha1")):
            assert complaints(dynamo, unfolded(policy)) == [], policy["metadata"]["name"]
        wrong = copy.deepcopy(next(each for each in expressions if each["metadata"]["name"].startswith("graph-updates.")))
        wrong["spec"]["variables"][0]["expression"] = "oldObject.?spec.?backendFramewrok.orValue('')"
        assert "undefined field 'backendFramewrok'" in str(complaints(dynamo, unfolded(wrong)))


def test_expressions_fit_the_types_of_v1beta1(dynamo_v1beta1, expressions):
    newer = [each for each in expressions if serves(each, "v1beta1")]
    assert len(newer) == 6
    with type_checked(dynamo_v1beta1):
        for policy in newer:
            assert complaints(dynamo_v1beta1, unfolded(policy)) == [], policy["metadata"]["name"]
