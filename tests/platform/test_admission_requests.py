"""The policy for requests on a real API server: a spec is immutable once profiling has begun."""

from __future__ import annotations

import pytest

from tests.platform import admission
from tests.testbed import api, server

SPEC = {"backend": "vllm", "model": "chat", "profilingConfig": {"profilerImage": "profiler:1", "config": {"sla": {"ttft": 200}}}}
FINALIZER = {"metadata": {"finalizers": ["nvidia.com/finalizer"]}}
CHANGES = [
    {"spec": {"model": "other"}},
    {"spec": {"autoApply": True}},
    {"spec": {"profilingConfig": {"config": {"sla": {"ttft": 300}}}}},
    {"spec": {"deploymentOverrides": {"name": "other"}}},
]
STATES = [
    ("", True),
    ("Pending", True),
    ("Failed", True),
    ("Profiling", False),
    ("Deploying", False),
    ("Ready", False),
    ("DeploymentDeleted", False),
]


def request(plane, user, namespace, state, name=""):
    """Create a request in a state, and return its path. `user` may write its status."""
    resource = admission.resource("DynamoGraphDeploymentRequest", name or f"in-state-{state.lower() or 'none'}", namespace, SPEC)
    admission.keep(plane.client, resource)
    path = plane.client.path(resource)
    if state:
        answer = merge(user, f"{path}/status", {"status": {"state": state}})
        assert answer.ok, answer.message
    return path


def merge(user, path, change):
    return user.request("PATCH", path, change, api.MERGE)


def dry(path):
    return f"{path}?dryRun=All"


@pytest.fixture(scope="module")
def guarded(installed, users, team):
    """The control plane as soon as the policy is in effect."""
    probe = request(installed, users["operator"], team, "Ready", "probe")
    server.eventually(lambda: "request-updates" in merge(installed.client, dry(probe), CHANGES[0]).message)
    return installed


@pytest.mark.parametrize(("state", "allowed"), STATES, ids=[row[0] or "none" for row in STATES])
def test_the_spec_of_a_profiled_request(state, allowed, guarded, users, team):
    """Nobody may change any field of it. A request without a profiling may change."""
    path = request(guarded, users["operator"], team, state)
    for name, user in users.items():
        for change in CHANGES:
            answer = merge(user, dry(path), change)
            assert (name, answer.ok) == (name, allowed), answer.message
            if not allowed:
                assert "ValidatingAdmissionPolicy 'request-updates.dynamo.krm-fn.io'" in answer.message
                assert f"DYN406 spec: the request is in state {state}, " in answer.message
                assert "; set it back, or make a request of another name" in answer.message


def test_all_but_the_spec_of_a_profiled_request(guarded, users, team):
    """The same spec can be applied again. Labels, finalizers and status can change. The request can be deleted with its finalizer."""
    path = request(guarded, users["operator"], team, "Profiling", "profiled")
    same = admission.resource("DynamoGraphDeploymentRequest", "profiled", team, SPEC)
    same["metadata"]["annotations"] = {"dynamo.krm-fn.io/profile-hash": "0"}
    assert users["gitops"].apply(same, dry_run=False).ok
    assert merge(users["tenant"], path, FINALIZER).ok
    assert merge(users["syncer"], f"{path}/status", {"status": {"state": "Ready"}}).ok
    assert users["tenant"].request("DELETE", path).ok
    last = {"metadata": {"finalizers": None}, "spec": {"model": "other"}}
    answer = merge(users["operator"], path, last)
    assert answer.ok, answer.message
    assert guarded.client.request("GET", path).status == 404


def test_a_namespace_without_the_label(guarded, users):
    free = admission.namespace(guarded, "admission-free-requests", {})
    path = request(guarded, users["tenant"], free, "Ready")
    assert merge(users["tenant"], dry(path), CHANGES[0]).ok
