"""The admission policies on a real API server that serves v1beta1: the same rules as for v1alpha1, in the words of v1beta1."""

from __future__ import annotations

import contextlib
import re
import shutil
from typing import Any

import pytest

from krm_fn.render.rules import updates
from tests.platform import admission
from tests.support.cases import cases
from tests.testbed import api, server

pytestmark = pytest.mark.xdist_group("dynamo_v1beta1")
TEAM, SYSTEM = "admission-newer-team", "dynamo-system"
USERS = {
    "tenant": (TEAM, "tenant"),
    "operator": (SYSTEM, "dynamo-operator-controller-manager"),
    "planner": (TEAM, "planner-serviceaccount"),
    "syncer": (SYSTEM, "krm-fn-sync"),
}
GRAPH, COMPONENT, REQUEST = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentRequest"
ADAPTER = "DynamoGraphDeploymentScalingAdapter"
TWO: dict[str, Any] = {"multinode": {}}
FOUR: dict[str, Any] = {"multinode": {"nodeCount": 4}}
ADAPTED = {"scalingAdapter": {}, "replicas": 2}
PACKED = {"topologyConstraint": {"packDomain": "rack"}}


def part(name="a", **fields):
    spec = {"containers": [{"name": "main", "image": "registry.example/dynamo:1.5.0"}]}
    return {"name": name, "type": "worker", "podTemplate": {"spec": spec}, **fields}


def graph(before, after, old=None, new=None):
    """An edit of the components; `old` and `new` are other fields of the spec."""
    return admission.Edit(GRAPH, {"components": before, **(old or {})}, {"components": after, **(new or {})}, "v1beta1")


def mode(feature, name):
    return {"experimental": {feature: {"mode": name}}}


REFUSED = [
    ("the engine changes", graph([part()], [part()], {"backendFramework": "vllm"}), ["DYN400 spec.backendFramework: vllm cannot become"]),
    ("one node becomes two", graph([part()], [part(**TWO)]), ["DYN401 spec.components[a].multinode: a component does not change"]),
    ("four nodes become one", graph([part("b"), part(**FOUR)], [part(), part("b")]), ["DYN401 spec.components[a].multinode:"]),
    ("pods move", graph([part()], [part(**PACKED)]), ["DYN483 spec.components[a].topologyConstraint:"]),
    (
        "the topology of the graph goes",
        graph([part()], [part()], {"topologyConstraint": {"clusterTopologyName": "racks", "packDomain": "rack"}}),
        ["DYN483 spec.topologyConstraint:"],
    ),
    (
        "a GPU memory service gets pods of its own",
        graph([part(**mode("gpuMemoryService", "IntraPod"))], [part(**mode("gpuMemoryService", "InterPod"))]),
        ["DYN483 spec.components[a].experimental:"],
    ),
    (
        "a scaling group comes",
        graph([part()], [part(experimental={"grove": {"forceScalingGroup": True}})]),
        ["DYN483 spec.components[a].experimental:"],
    ),
    (
        "a component alone gets another engine, and two nodes",
        admission.Edit(COMPONENT, part() | {"backendFramework": "vllm"}, part(**TWO), "v1beta1"),
        ["DYN400 spec.backendFramework: vllm cannot become nothing", "DYN401 spec.multinode:"],
    ),
]
ACCEPTED = [
    ("components come and go", graph([part(), part("b")], [part("b"), part("c", **TWO)])),
    ("two nodes become four", graph([part(**TWO)], [part(**FOUR)])),
    ("a service inside the pod comes", graph([part()], [part(**mode("gpuMemoryService", "IntraPod"))])),
    ("components in another order", graph([part(**ADAPTED), part("b")], [part("b"), part(**ADAPTED)])),
    ("the adapter goes with its number", graph([part(**ADAPTED)], [part(replicas=5)])),
    ("a number without an adapter", graph([part(replicas=1)], [part(replicas=3)])),
]
COUNT = "DYN403 spec.components[a].replicas: 2 cannot become"
SCALED = [
    ("replicas change", graph([part(**ADAPTED)], [part(**{**ADAPTED, "replicas": 3})]), f"{COUNT} 3"),
    ("replicas are left out", graph([part("b"), part(**ADAPTED)], [part(scalingAdapter={}), part("b")]), f"{COUNT} 1"),
]
STATUS = [
    (GRAPH, {"components": [part()]}, {"state": "successful"}),
    (COMPONENT, part(), {"conditions": []}),
    (REQUEST, {"model": "chat"}, {"phase": "Pending"}),
    (ADAPTER, {"replicas": 1, "dgdRef": {"name": "chat", "componentName": "a"}}, {"replicas": 1}),
]
PHASES = [
    *((phase, True) for phase in ("", "Pending", "Failed")),
    *((phase, False) for phase in ("Profiling", "Ready", "Deploying", "Deployed")),
]
EDITS = [*REFUSED, *ACCEPTED, *SCALED]


@pytest.fixture(scope="module")
def team(dynamo_v1beta1):
    """A namespace that the bindings select."""
    return admission.namespace(dynamo_v1beta1, TEAM, admission.ENFORCED)


@pytest.fixture(scope="module")
def users(dynamo_v1beta1):
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(admission.account(dynamo_v1beta1, *where)) for name, where in USERS.items()}


@pytest.fixture(scope="module")
def guarded(dynamo_v1beta1, team, users, kustomize):
    """The control plane as soon as every policy is in effect."""
    with admission.policies(dynamo_v1beta1, admission.build(kustomize, admission.PLATFORM / "admission")):
        for edit in (REFUSED[0][1], REFUSED[-1][1], SCALED[0][1]):
            server.eventually(lambda: not admission.attempt(dynamo_v1beta1, users["tenant"], team, edit).ok)  # noqa: B023 - called at once
        adapter = made(dynamo_v1beta1, team, ADAPTER, STATUS[-1][1])
        server.eventually(lambda: not write_status(users["tenant"], adapter, {"replicas": 2}).ok)
        ready = made(dynamo_v1beta1, team, REQUEST, {"model": "chat"}, "probe")
        assert write_status(users["operator"], ready, {"phase": "Ready"}, dry_run=False).ok
        server.eventually(lambda: not changed(users["tenant"], ready).ok)
        yield dynamo_v1beta1


def made(plane, namespace, kind, spec, name=""):
    resource = admission.resource(kind, name or f"of-{kind.lower()}", namespace, spec, "v1beta1")
    admission.keep(plane.client, resource)
    return resource


def write_status(user, resource, status, *, dry_run=True):
    return user.request("PATCH", f"{user.path(resource)}/status{'?dryRun=All' if dry_run else ''}", {"status": status}, api.MERGE)


def changed(user, resource):
    return user.request("PATCH", f"{user.path(resource)}?dryRun=All", {"spec": {"model": "other"}}, api.MERGE)


@cases(("edit", "said"), REFUSED)
def test_immutable_fields(edit, said, guarded, users, team):
    for name, user in users.items():
        message = admission.attempt(guarded, user, team, edit).message
        assert [each for each in said if each not in message] == [], (name, message)
        assert len(re.findall(r"DYN\d+", message)) == len(said)


@cases("edit", ACCEPTED)
def test_other_changes_pass(edit, guarded, users, team):
    assert admission.attempt(guarded, users["tenant"], team, edit).message == ""


@cases(("edit", "said"), SCALED)
def test_replicas_that_an_adapter_owns(edit, said, guarded, users, team):
    for name, user in users.items():
        message = admission.attempt(guarded, user, team, edit).message
        assert (said in message) == (name == "tenant"), (name, message)


@pytest.mark.parametrize("edit", [row[1] for row in EDITS], ids=[str(row[0]) for row in EDITS])
def test_the_command_says_the_same(edit, guarded, users, team):
    before, after = (admission.resource(edit.kind, "same", team, spec, "v1beta1") for spec in (edit.before, edit.after))
    codes = [each.code for each in updates.check([before], [after], team) if each.severity == "error" and each.code != "DYN402"]
    assert re.findall(r"DYN\d+", admission.attempt(guarded, users["tenant"], team, edit).message) == codes


@cases(("kind", "spec", "status"), STATUS)
def test_only_operator_and_syncer_write_a_status(kind, spec, status, guarded, users, team):
    resource = made(guarded, team, kind, spec)
    written = {name: write_status(user, resource, status) for name, user in users.items()}
    assert {name for name, answer in written.items() if answer.ok} == {"operator", "syncer"}
    assert "may not write it; change spec instead" in written["tenant"].message


@pytest.mark.parametrize(("phase", "allowed"), PHASES, ids=[row[0] or "none" for row in PHASES])
def test_the_spec_of_a_profiled_request(phase, allowed, guarded, users, team):
    resource = made(guarded, team, REQUEST, {"model": "chat"}, f"in-phase-{phase.lower() or 'none'}")
    if phase:
        assert write_status(users["operator"], resource, {"phase": phase}, dry_run=False).ok
    answer = changed(users["tenant"], resource)
    assert answer.ok == allowed
    assert allowed or f"DYN406 spec: the request is in phase {phase}, " in answer.message


FIXED = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
components: [fixed-services]
patches:
- target: {kind: ValidatingAdmissionPolicyBinding}
  patch: |-
    - {op: replace, path: /spec/matchResources/namespaceSelector/matchLabels, value: {dynamo.krm-fn.io/admission: strict}}
"""


def test_the_component_that_fixes_services(dynamo_v1beta1, users, kustomize, tmp_path):
    shutil.copytree(admission.PLATFORM / "admission" / "fixed-services", tmp_path / "fixed-services")
    (tmp_path / "kustomization.yaml").write_text(FIXED)
    strict = admission.namespace(dynamo_v1beta1, "admission-newer-strict", admission.STRICT)
    renamed, kept = graph([part()], [part("b")]), graph([part(), part("b")], [part("b"), part(replicas=0)])
    with admission.policies(dynamo_v1beta1, admission.build(kustomize, tmp_path)):
        server.eventually(lambda: not admission.attempt(dynamo_v1beta1, users["tenant"], strict, renamed).ok)
        message = admission.attempt(dynamo_v1beta1, users["tenant"], strict, renamed).message
        assert "DYN402 spec.components[b]: is new" in message
        assert "DYN402 spec.components[a]: is gone" in message
        assert admission.attempt(dynamo_v1beta1, users["tenant"], strict, kept).ok
