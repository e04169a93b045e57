"""The admission policies on a real API server: each has a request that it refuses and a similar one that it allows."""

from __future__ import annotations

import copy
import re

import pytest

from krm_fn.render.rules import updates
from tests.platform import admission
from tests.platform.admission import Edit
from tests.support.cases import cases
from tests.testbed import api, server

GRAPH, COMPONENT, MODEL = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoModel"
REQUEST, ADAPTER = "DynamoGraphDeploymentRequest", "DynamoGraphDeploymentScalingAdapter"

ONE = {"componentType": "worker"}
FOUR = {"componentType": "worker", "multinode": {"nodeCount": 4}}
TWO = {"componentType": "worker", "multinode": {"nodeCount": 2}}
BASE = {"modelName": "chat-sql", "modelType": "base", "baseModelName": "chat"}
PROFILE = {"backend": "vllm", "model": "chat", "profilingConfig": {"profilerImage": "profiler:1", "config": {"sla": {"ttft": 200}}}}


def scaled(replicas=None, *, adapter=True):
    count = {} if replicas is None else {"replicas": replicas}
    return {"componentType": "worker", "scalingAdapter": {"enabled": adapter}, **count}


def graph(before, after, **fields):
    """An edit of the services; `fields` are in the spec before and after."""
    return Edit(GRAPH, {"services": before, **fields}, {"services": after, **fields})


# Rules that hold for everybody: what is found in one edit, all of it.
REFUSED = [
    (
        "the engine of a graph changes",
        Edit(GRAPH, {"backendFramework": "vllm", "services": {"a": ONE}}, {"backendFramework": "sglang", "services": {"a": ONE}}),
        ["DYN400 spec.backendFramework: vllm cannot become sglang"],
    ),
    (
        "the engine of a graph is set later",
        Edit(GRAPH, {"services": {"a": ONE}}, {"backendFramework": "vllm", "services": {"a": ONE}}),
        ["DYN400 spec.backendFramework: nothing cannot become vllm"],
    ),
    (
        "the engine of a graph is cleared",
        Edit(GRAPH, {"backendFramework": "vllm", "services": {"a": ONE}}, {"services": {"a": ONE}}),
        ["DYN400 spec.backendFramework: vllm cannot become nothing"],
    ),
    ("one node becomes two", graph({"a": ONE}, {"a": TWO}), ["DYN401 spec.services[a].multinode: a service does not change"]),
    ("four nodes become one", graph({"a": FOUR}, {"a": ONE}), ["DYN401 spec.services[a].multinode:"]),
    (
        "of three services two change, and the engine with them",
        Edit(
            GRAPH,
            {"backendFramework": "vllm", "services": {"a": ONE, "b": FOUR, "c": TWO}},
            {"backendFramework": "trtllm", "services": {"a": TWO, "b": ONE, "c": FOUR}},
        ),
        ["DYN400 spec.backendFramework:", "DYN401 spec.services[a].multinode:", "DYN401 spec.services[b].multinode:"],
    ),
    (
        "the engine of a component changes",
        Edit(COMPONENT, {"backendFramework": "vllm"}, {"backendFramework": "sglang"}),
        ["DYN400 spec.backendFramework: vllm cannot become sglang"],
    ),
    ("a component goes from one node to two", Edit(COMPONENT, ONE, TWO), ["DYN401 spec.multinode: a component does not change"]),
    (
        "the type of a model changes",
        Edit(MODEL, BASE, BASE | {"modelType": "adapter"}),
        ["DYN404 spec.modelType: base cannot become adapter"],
    ),
    (
        "type and base of a model change",
        Edit(MODEL, BASE, BASE | {"modelType": "adapter", "baseModelName": "other"}),
        ["DYN404 spec.modelType:", "DYN405 spec.baseModelName: chat cannot become other"],
    ),
]
ACCEPTED = [
    ("an engine stays", graph({"a": ONE}, {"a": ONE | {"replicas": 3}}, backendFramework="vllm")),
    ("two nodes become four", graph({"a": TWO}, {"a": FOUR})),
    ("services come and go, of whatever form", graph({"a": ONE, "b": ONE}, {"b": ONE, "c": TWO})),
    ("all services give way to others", graph({"a": ONE}, {"c": TWO})),
    ("an engine that a new graph names", Edit(GRAPH, None, {"backendFramework": "vllm", "services": {"a": TWO}})),
    ("a component on four nodes instead of two", Edit(COMPONENT, TWO, FOUR)),
    ("a component with other replicas", Edit(COMPONENT, {"backendFramework": "vllm"}, {"backendFramework": "vllm", "replicas": 2})),
    ("a model under another name", Edit(MODEL, BASE, BASE | {"modelName": "chat-code"})),
    ("a type left out, which is base", Edit(MODEL, BASE, {key: BASE[key] for key in ("modelName", "baseModelName")})),
    ("another model for a request", Edit(REQUEST, PROFILE, PROFILE | {"model": "other"})),
    ("GPU discovery", Edit(REQUEST, None, PROFILE | {"enableGpuDiscovery": True})),
]

# Replicas of services with a scaling adapter.
SCALERS = ("operator", "operator of a release called dynamo-operator", "planner", "syncer")
SCALED = [
    (
        "replicas change",
        graph({"a": scaled(2)}, {"a": scaled(3)}),
        ["DYN403 spec.services[a].replicas: 2 cannot become 3, a scaling adapter", "; scale DynamoGraphDeploymentScalingAdapter edit-"],
    ),
    ("replicas go to zero", graph({"a": scaled(2)}, {"a": scaled(0)}), ["DYN403 spec.services[a].replicas: 2 cannot become 0"]),
    (
        "replicas are left out, which means 1",
        graph({"a": scaled(2)}, {"a": scaled()}),
        ["DYN403 spec.services[a].replicas: 2 cannot become 1"],
    ),
    (
        "replicas change as the adapter comes",
        graph({"a": scaled(2, adapter=False)}, {"a": scaled(3)}),
        ["DYN403 spec.services[a].replicas:"],
    ),
    (
        "the number of one service of three is its own",
        graph({"A": scaled(2), "b": scaled(2), "c": scaled(2)}, {"A": scaled(3), "b": scaled(2), "c": scaled(3, adapter=False)}),
        ["DYN403 spec.services[A].replicas:", "-a instead, or set scalingAdapter.enabled: false"],
    ),
]
UNSCALED = [
    ("without an adapter", graph({"a": scaled(2, adapter=False)}, {"a": scaled(3, adapter=False)})),
    ("the adapter goes in the same change", graph({"a": scaled(2)}, {"a": scaled(3, adapter=False)})),
    ("1 is written out", graph({"a": scaled()}, {"a": scaled(1)})),
    ("the adapter comes, the number stays", graph({"a": scaled(2, adapter=False)}, {"a": scaled(2)})),
    ("a new service has an adapter and a number", graph({"a": scaled(2)}, {"a": scaled(2), "b": scaled(5)})),
    ("something else changes", graph({"a": scaled(2)}, {"a": scaled(2) | {"envFromSecret": "tokens"}})),
]

STATUS_WRITERS = ("operator", "operator of a release called dynamo-operator", "syncer")
STATUS = [
    (GRAPH, {"services": {"a": ONE}}, {"state": "successful"}),
    (COMPONENT, ONE, {"conditions": []}),
    (REQUEST, PROFILE, {"state": "Pending"}),
    (MODEL, BASE, {"readyEndpoints": 0, "totalEndpoints": 1}),
    (ADAPTER, {"replicas": 1, "dgdRef": {"name": "chat", "serviceName": "a"}}, {"replicas": 1}),
]

DEPRECATED = [
    (
        "two services with deprecated fields",
        Edit(GRAPH, None, {"services": {"a": ONE | {"dynamoNamespace": "x"}, "b": ONE | {"autoscaling": {"enabled": True}}}}),
        ["DYN112 spec.services[a].dynamoNamespace: is deprecated", "DYN113 spec.services[b].autoscaling: is deprecated"],
    ),
    (
        "a component with a deprecated field, which was there before",
        Edit(COMPONENT, ONE | {"autoscaling": {"enabled": False}}, ONE | {"autoscaling": {"enabled": False}, "replicas": 2}),
        ["DYN113 spec.autoscaling: is deprecated"],
    ),
]

# One of each policy: refused once it has taken effect.
PROBES = [REFUSED[0], REFUSED[6], REFUSED[8], SCALED[0]]


@pytest.fixture(scope="module")
def guarded(installed, team):
    """The control plane as soon as every policy is in effect."""
    for _, edit, _ in PROBES:
        server.eventually(lambda: not admission.attempt(installed, installed.client, team, edit).ok)  # noqa: B023 - called at once
    for _, edit, _ in DEPRECATED:
        server.eventually(lambda: admission.attempt(installed, installed.client, team, edit).warnings != ())  # noqa: B023
    adapter = made(installed, team, ADAPTER, STATUS[-1][1])
    server.eventually(lambda: not write_status(installed.client, adapter, {"replicas": 2}).ok)
    return installed


def made(plane, namespace, kind, spec):
    resource = admission.resource(kind, f"of-{kind.lower()}", namespace, spec)
    if plane.client.request("GET", plane.client.path(resource)).status == 404:
        admission.keep(plane.client, resource)
    return resource


def write_status(user, resource, status):
    return user.request("PATCH", f"{user.path(resource)}/status?dryRun=All", {"status": status}, api.MERGE)


def refused(answer, policy, said):
    """True if this policy refused the request, with this message."""
    return f"ValidatingAdmissionPolicy '{policy}.dynamo.krm-fn.io'" in answer.message and all(each in answer.message for each in said)


def policy_of(edit):
    return {GRAPH: "graph-updates", COMPONENT: "component-updates", MODEL: "model-updates"}[edit.kind]


@cases(("reason", "edit", "said"), REFUSED)
def test_refused_to_everybody(reason, edit, said, guarded, users, team):
    for name, user in users.items():
        answer = admission.attempt(guarded, user, team, edit)
        assert refused(answer, policy_of(edit), said), (name, answer)
        assert answer.message.count("; set it back, or") == len(said), "other findings than these"


@pytest.mark.parametrize(("reason", "edit"), [*ACCEPTED, *UNSCALED], ids=[row[0] for row in [*ACCEPTED, *UNSCALED]])
def test_accepted_from_everybody_without_a_word(reason, edit, guarded, users, team):
    for name, user in users.items():
        answer = admission.attempt(guarded, user, team, edit)
        assert (name, answer.message, answer.warnings) == (name, "", ())


@cases(("reason", "edit", "said"), SCALED)
def test_replicas_that_an_adapter_owns(reason, edit, said, guarded, users, team):
    for name, user in users.items():
        answer = admission.attempt(guarded, user, team, edit)
        if name in SCALERS:
            assert (name, answer.message) == (name, "")
        else:
            assert refused(answer, "replica-writers", said), (name, answer)
            assert answer.message.count("cannot become") == 1


def test_a_name_of_two_lines_is_refused_in_other_words(guarded, users, team):
    """An answer of the API server cannot contain it twice."""
    answer = admission.attempt(guarded, users["tenant"], team, Edit(MODEL, BASE, BASE | {"baseModelName": "chat\nother"}))
    assert refused(answer, "model-updates", ["spec: no model changes its type or its base"])


EDITS = [(row[0], row[1]) for row in [*REFUSED, *SCALED]] + [row for row in [*ACCEPTED, *UNSCALED] if row[1].before is not None]


@cases(("reason", "edit"), EDITS)
def test_the_command_says_the_same(reason, edit, guarded, team):
    """The policies and `krm-fn check --old` find the same codes equally often, except for added and removed services."""
    before, after = (admission.resource(edit.kind, "same", team, spec) for spec in (edit.before, edit.after))
    codes = [each.code for each in updates.check([before], [after], team) if each.severity == "error" and each.code != "DYN402"]
    assert re.findall(r"DYN\d+", admission.attempt(guarded, guarded.client, team, edit).message) == codes


@cases(("kind", "spec", "status"), STATUS)
def test_status(kind, spec, status, guarded, users, team):
    resource = made(guarded, team, kind, spec)
    for name, user in users.items():
        answer = write_status(user, resource, status)
        if name in STATUS_WRITERS:
            assert (name, answer.message) == (name, "")
        else:
            assert refused(answer, "status-writers", ["may not write it; change spec instead", "dynamo-system/dynamo-principals"]), (
                name,
                answer,
            )


@cases(("reason", "edit", "said"), DEPRECATED)
def test_deprecated_fields_are_warned_of(reason, edit, said, guarded, users, team):
    answer = admission.attempt(guarded, users["tenant"], team, edit)
    assert answer.ok
    (warning,) = answer.warnings
    assert all(each in warning for each in said)


@pytest.mark.parametrize("label", [None, "off"])
def test_namespaces_without_the_label_are_left_alone(label, guarded, users):
    free = admission.namespace(guarded, f"admission-free-{label or 'of-labels'}".lower(), {admission.LABEL: label} if label else {})
    for _, edit, _ in [*REFUSED, *SCALED, *DEPRECATED]:
        answer = admission.attempt(guarded, users["tenant"], free, edit)
        assert (answer.message, answer.warnings) == ("", ())
    for kind, spec, status in STATUS:
        assert write_status(users["tenant"], made(guarded, free, kind, spec), status).ok


def test_a_resource_that_is_being_deleted_can_always_let_go(guarded, users, team):
    """An operator may change other fields while it removes its finalizer."""
    resource = admission.resource(GRAPH, "going", team, {"backendFramework": "vllm", "services": {"a": scaled(2)}})
    resource["metadata"]["finalizers"] = ["nvidia.com/finalizer"]
    admission.keep(guarded.client, resource)
    path = guarded.client.path(resource)
    assert guarded.client.request("DELETE", path).ok
    going = guarded.client.get(path)
    assert going["metadata"]["deletionTimestamp"]
    last = copy.deepcopy(going)
    last["metadata"]["finalizers"] = []
    last["spec"] = {"backendFramework": "sglang", "services": {"a": scaled(3) | {"multinode": {"nodeCount": 2}}}}
    answer = users["tenant"].request("PUT", path, last)
    assert answer.ok, answer.message
    assert guarded.client.request("GET", path).status == 404
