"""The whole expansion: changed and unchanged items, findings, and a second run on the output of the first."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krm_fn.base import results
from krm_fn.render import dynamo_api, expand, labels
from tests.support import faults, given
from tests.support.cases import cases

SERVICES = {"Front": given.service("frontend"), "Worker": given.service("worker", modelRef={"name": "acme/tiny"})}


def test_everything_a_graph_stands_for():
    found = given.rendered(given.graph(SERVICES))
    name = "chat-k8s-service-discovery"
    assert set(found) == {
        "DynamoGraphDeployment/chat",
        f"ServiceAccount/{name}",
        f"Role/{name}-role",
        f"RoleBinding/{name}-binding",
        "Deployment/chat-front",
        "Deployment/chat-worker",
        "Service/chat-front",
        "Service/chat-worker",
        "Service/dynamo-model-" + found["Deployment/chat-worker"]["metadata"]["labels"][labels.BASE_MODEL_HASH],
    }
    assert all(resource["metadata"]["namespace"] == "team" for resource in found.values())


UNTOUCHED = [
    ("a native object", given.item("Deployment", "a", api="apps/v1")),
    ("another product of the same group", given.item("ClusterPolicy", "a", api="nvidia.com/v1")),
    ("a group that only starts alike", given.item("DynamoGraphDeployment", "a", api="nvidia.com.example/v1alpha1")),
    ("a model", given.item("DynamoModel", "a", api="nvidia.com/v1alpha1", spec={"modelName": "a", "baseModelName": "b"})),
    (
        "an adapter of the user's",
        given.item(
            "DynamoGraphDeploymentScalingAdapter",
            "a",
            api="nvidia.com/v1alpha1",
            spec={"replicas": 1, "dgdRef": {"name": "a", "serviceName": "b"}},
        ),
    ),
    ("a version that is no text", {"apiVersion": 5, "kind": "DynamoGraphDeployment", "metadata": {"name": "a"}}),
    ("a kind that is no text", {"apiVersion": "v1", "kind": ["x"], "metadata": {"name": "a"}}),
]


@cases("item", UNTOUCHED)
def test_items_that_are_not_expanded_leave_as_they_came(item):
    found = given.expanded(item, given.graph({"Worker": given.service("worker", modelRef={"name": "b"})}))
    assert found.resources[0] is item
    assert found.results == []


REFUSED = [
    ("a version of Dynamo that is not known", {"apiVersion": "nvidia.com/v1gamma1"}, ("DYN020", "apiVersion")),
    ("a kind of a later release", {"kind": "LPXGraphDeployment"}, ("DYN020", "kind")),
    ("a kind that is misspelt", {"kind": "DynamoGraphDeploymnt"}, ("DYN020", "kind")),
]


@cases(("change", "said"), REFUSED)
def test_what_means_to_be_dynamos_and_is_not(change, said):
    item = {**given.graph(), **change}
    found = given.expanded(item)
    assert found.resources == [item]
    assert given.findings(found.results) == [said]


def test_no_items_are_no_items():
    assert given.expanded() == ([], [])


# findings


def test_an_error_in_one_graph_does_not_keep_the_others_from_being_judged():
    bad, worse = given.graph({}), given.graph({"a_b": given.service("worker")}, name="worse")
    good = given.graph(name="good")
    found = given.expanded(bad, good, worse)
    assert {(said.code, said.ref.name if said.ref else "") for said in found.results} == {("DYN100", "chat"), ("DYN141", "worse")}
    names = {resource["metadata"]["name"] for resource in found.resources}
    assert {"chat", "worse", "good-worker"} <= names
    assert not {"chat-worker", "worse-a_b"} & names


def test_everything_wrong_with_a_graph_is_said_at_once():
    """Mistakes of form and of meaning, in one service and in several."""
    written = given.graph(
        {
            "a_b": given.service("worker", replicas="2", resources={"limits": {"cpu": "many"}}, sharedMemory={}),
            "Front": given.service("frontend", main={"imag": "x"}, ingress={"enabled": True}),
        },
        pvcs=[{"name": "weights", "create": True}],
    )
    assert set(given.findings(given.expanded(written).results)) >= {
        ("DYN021", "spec.services.a_b.replicas"),
        ("DYN123", "spec.services.a_b.resources.limits.cpu"),
        ("DYN116", "spec.services.a_b.sharedMemory.size"),
        ("DYN141", "spec.services.a_b"),
        ("DYN029", "spec.services.Front.extraPodSpec.mainContainer.imag"),
        ("DYN149", "spec.services.Front.ingress.host"),
        ("DYN105", "spec.pvcs[0].size"),
        ("DYN105", "spec.pvcs[0].storageClass"),
        ("DYN105", "spec.pvcs[0].volumeAccessMode"),
    }


ONCE = [
    ("services of a wrong type are not missing as well", given.graph([])),
    ("a service of a wrong type is not the only one missing", given.graph({"Worker": 5})),
    ("a host of a wrong type is not missing", faults.worker(ingress={"enabled": True, "host": 5, "ingressControllerClassName": "a"})),
    ("an image of a wrong type is not missing", faults.worker(main={"image": 5})),
    ("a claim's name of a wrong type is not missing", given.graph(pvcs=[{"name": 5}])),
    ("a configuration of a wrong type is not missing", given.graph({"Worker": given.picker(eppConfig={"config": 5})})),
    ("a word of a command that is none", faults.worker(main={"command": ["python3", 5]})),
    (
        "a name in an order that is none",
        given.graph(restart={"id": "1", "strategy": {"order": ["Worker", 5]}}, services={"Worker": given.service("worker")}),
    ),
    ("a variable that is none", faults.worker(envs=[{"name": "A"}, 5])),
    ("a namespace that is a number is not missing", {**given.graph(), "metadata": {"name": "chat", "namespace": 5}}),
]


@cases("item", ONCE)
def test_one_mistake_is_one_finding(item):
    found = given.expanded(item)
    assert [(said.severity, said.code) for said in found.results] == [("error", "DYN021")]
    assert found.resources[0] is item


def test_several_services_trip_over_one_field_of_the_graph_only_once():
    written = given.graph({name: given.service("worker") for name in "ab"}, envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "no"}])
    assert given.findings(given.expanded(written).results) == [("DYN120", "spec.envs")]


def test_findings_stand_in_order_whatever_the_order_of_items():
    items = [given.graph({}, name="b"), given.graph(name="c", namespace=""), given.graph({}, name="a")]
    said = given.expanded(*items).results
    assert said == sorted(said, key=results.order) == given.expanded(*reversed(items)).results
    assert [(found.severity, found.ref.name if found.ref else "") for found in said] == [("error", "a"), ("error", "b"), ("info", "c")]


# null, unknown fields, namespaces


def test_null_counts_as_absent_and_is_left_out_of_the_graph():
    fields = {"replicas": None, "livenessProbe": None, "multinode": None, "envs": None, "resources": {"limits": None}}
    written = given.graph(
        {"Worker": given.service("worker", main={"args": None}, pod={"volumes": None}, **fields)}, pvcs=None, restart=None
    )
    before = copy.deepcopy(written)
    found = given.expanded(written)
    assert {said.code for said in found.results} == {"DYN028"}
    assert len(found.results) == 9
    leaving = given.by_address(found.resources)
    plain = given.rendered(given.graph())
    assert leaving["Deployment/chat-worker"] == plain["Deployment/chat-worker"]
    assert written == before
    assert leaving["DynamoGraphDeployment/chat"]["spec"] == {
        "services": {"Worker": given.service("worker", resources={})},
    }
    assert given.expanded(*found.resources).results == []
    assert all(one is other for one, other in zip(found.resources, given.expanded(*found.resources).resources, strict=True))


def test_a_service_that_is_null_is_not_there():
    found = given.expanded(given.graph({"Worker": given.service("worker"), "Gone": None}))
    assert given.findings(found.results) == [("DYN028", "spec.services.Gone")]
    assert "Deployment/chat-gone" not in given.by_address(found.resources)


FIELDS = [("refused unless the configuration says otherwise", "error", "error"), ("kept with a warning", "warn", "warning")]


@cases(("setting", "severity"), FIELDS)
def test_a_native_field_that_is_newer_than_the_function(setting, severity):
    found = given.expanded(faults.worker(main={"brandNew": 5}), unknown_fields=setting)
    assert [(said.severity, said.code) for said in found.results] == [(severity, "DYN029")]
    if severity == "warning":
        main = given.by_address(found.resources)["Deployment/chat-worker"]["spec"]["template"]["spec"]["containers"][0]
        assert main["brandNew"] == 5


NAMESPACES = [
    ("its own", "team", "prod", "team", []),
    ("the configured one", "", "prod", "prod", []),
    ("kubectl's", "", "", "default", ["DYN057"]),
]


@cases(("own", "configured", "namespace", "codes"), NAMESPACES)
def test_everything_of_a_graph_is_in_one_namespace(own, configured, namespace, codes):
    found = given.expanded(given.graph(namespace=own), namespace=configured)
    assert [said.code for said in found.results] == codes
    assert {resource["metadata"]["namespace"] for resource in found.resources} == {namespace}


# several graphs


def test_graphs_of_one_namespace_share_what_is_the_same_for_both():
    """Planner account, model Service and claims."""
    claim = {"name": "weights", "create": True, "size": "1Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
    services = {"Plan": given.service("planner"), "Worker": given.service("worker", modelRef={"name": "acme/tiny"})}
    found = given.rendered(given.graph(services, pvcs=[claim]), given.graph(services, name="batch", pvcs=[claim]))
    both = "DynamoGraphDeployment/batch,DynamoGraphDeployment/chat"
    shared = {name for name, resource in found.items() if labels.annotations(resource).get(labels.OWNER) == both}
    assert {name.partition("/")[0] for name in shared} == {"ServiceAccount", "RoleBinding", "Service", "PersistentVolumeClaim"}
    assert len(shared) == 4


def test_a_shared_object_stays_while_one_graph_still_wants_it():
    services = {"Plan": given.service("planner")}
    both = given.rendered(given.graph(services), given.graph(services, name="batch"))
    del both["DynamoGraphDeployment/batch"]
    account = given.rendered(*both.values())["ServiceAccount/planner-serviceaccount"]
    assert account["metadata"]["annotations"][labels.OWNER] == "DynamoGraphDeployment/chat"


# second runs


def made(graph):
    """The generated objects of a graph, without the graph."""
    return [found for found in given.expanded(graph).resources if found["kind"] != "DynamoGraphDeployment"]


CHANGES = [
    ("a service is gone", given.graph({"Front": SERVICES["Front"]}), {"Deployment/chat-worker", "Service/chat-worker"}),
    (
        "discovery moved to etcd",
        given.graph(SERVICES, annotations={labels.DISCOVERY_BACKEND: "etcd"}),
        {"Role/chat-k8s-service-discovery-role"},
    ),
    ("the orchestrator changed", given.graph(SERVICES), {"Deployment/chat-worker", "Deployment/chat-front"}),
]


@cases(("changed", "gone"), CHANGES)
def test_what_a_graph_no_longer_wants_goes(changed, gone):
    settings: dict[str, Any] = {"orchestrator": "grove"} if changed == given.graph(SERVICES) else {}
    found = given.expanded(changed, *made(given.graph(SERVICES)), **settings)
    left = set(given.by_address(found.resources))
    assert left == set(given.rendered(changed, **settings))
    assert not gone & left
    removed = {f"{said.ref.kind}/{said.ref.name}" for said in found.results if said.ref}
    assert removed == {f"{each['kind']}/{each['metadata']['name']}" for each in made(given.graph(SERVICES))} - left
    assert {(said.severity, said.code) for said in found.results} == {("info", "DYN056")}


def test_without_their_graph_objects_stay_with_a_warning_each():
    found = given.expanded(*made(given.graph(SERVICES)))
    assert {said.code for said in found.results} == {"DYN053"}
    assert len(found.results) == len(found.resources)


def test_edits_of_generated_objects_are_undone_and_the_users_own_objects_stay():
    first = given.expanded(given.graph()).resources
    edited = copy.deepcopy(first)
    for resource in edited:
        if resource["kind"] == "Deployment":
            resource["spec"]["replicas"] = 99
    own = given.item("ConfigMap", "mine")
    found = given.expanded(*edited, own)
    assert found.resources == [*first, own]
    assert found.resources[-1] is own


def test_a_copy_without_our_mark_is_a_collision():
    copied = copy.deepcopy(given.rendered(given.graph())["Service/chat-worker"])
    del copied["metadata"]["annotations"][labels.OWNER]
    assert given.findings(given.expanded(given.graph(), copied).results) == [("DYN052", "metadata.name")]


# the graph in the output


SOURCES = [
    ("kept", "keep", {}, True, False),
    ("kept for the build only", "local", {}, True, True),
    ("dropped", "drop", {}, False, False),
    ("under kpt never dropped", "drop", {labels.PATH: "a.yaml"}, True, True),
]


@cases(("mode", "notes", "kept", "local"), SOURCES)
def test_the_graph_itself(mode, notes, kept, local):
    found = given.rendered(given.graph(annotations=notes), source=mode)
    assert ("DynamoGraphDeployment/chat" in found) is kept
    if kept:
        assert (found["DynamoGraphDeployment/chat"]["metadata"]["annotations"].get(labels.LOCAL_CONFIG) == "true") is local
    assert "Deployment/chat-worker" in found


def test_a_graph_with_an_error_is_kept_whatever_the_mode():
    item = given.graph({})
    assert given.expanded(item, source="drop").resources == [item]
    assert given.expanded(item, source="drop").resources[0] is item


# a component without a graph


def test_a_component_alone_is_a_graph_of_one():
    found = given.rendered(faults.lone(replicas=2))
    assert found["Deployment/alone"]["spec"]["replicas"] == 2
    assert found["Deployment/alone"]["metadata"]["annotations"][labels.OWNER] == "DynamoComponentDeployment/alone"
    assert found["DynamoComponentDeployment/alone"]["metadata"]["annotations"][labels.SUMMARY] == "1 service, 2 pods, 0 GPUs"


def test_a_component_alone_belongs_to_the_graph_that_its_owner_names():
    """Reference: the parent is the first owner of that kind; without one its names are empty."""
    written = faults.lone()
    owner = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "name": "chat", "uid": "1"}
    owned = {
        **written,
        "metadata": {**written["metadata"], "ownerReferences": [{**owner, "kind": "Other", "name": "x", "uid": "2"}, owner]},
    }
    for item, parent in ((written, None), (owned, "chat")):
        main = given.rendered(item)["Deployment/alone"]["spec"]["template"]["spec"]["containers"][0]
        found = given.variables(main)
        assert found["DYN_PARENT_DGD_K8S_NAME"] == parent
        assert found["DYN_NAMESPACE"] == f"team-{parent or ''}"


def test_a_variable_written_twice_for_the_graph_is_one_finding():
    """Its services get it too, and must not report it a second time."""
    twice = given.graph(envs=[{"name": "A", "value": "x"}, {"name": "B", "value": "x"}, {"name": "A", "value": "y"}])
    assert given.findings(given.expanded(twice).results) == [("DYN085", "spec.envs[2].name")]


TWINS = [
    # reason, fields of a service with an entry that stands twice
    ("variables of the main container", {"main": {"env": [{"name": "A", "value": "x"}, {"name": "A", "value": "y"}]}}),
    ("volumes", {"pod": {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]}}),
    ("pull secrets", {"pod": {"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}}),
    ("containers", {"pod": {"containers": [{"name": "a", "image": "b"}, {"name": "a", "image": "c"}]}}),
    ("host aliases", {"pod": {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]}}),
]


LAST_WINS = [
    # reason, fields of the graph, fields of the worker, environment variables in their order
    ("of a service: the last one, once", {}, {"envs": [("A", "x"), ("B", "b"), ("A", "y")]}, {"A": "y", "B": "b"}),
    ("three times", {}, {"envs": [("A", "x"), ("A", "z"), ("A", "y")]}, {"A": "y"}),
    ("of a graph", {"envs": [("A", "x"), ("A", "y")]}, {}, {"A": "y"}),
    ("of both: the service beats the graph", {"envs": [("A", "y"), ("A", "z")]}, {"envs": [("A", "v"), ("A", "w")]}, {"A": "w"}),
]


def _listed(fields):
    return {key: [{"name": name, "value": value} for name, value in pairs] for key, pairs in fields.items()}


@cases(("graph", "worker", "expected"), LAST_WINS)
def test_the_last_variable_of_a_name_wins_and_stands_once(graph, worker, expected):
    """Reference: the operator merges variables by name, and a later entry replaces an earlier one."""
    written = given.graph({"Worker": given.service("worker", **_listed(worker))}, **_listed(graph))
    main = given.rendered(written)["Deployment/chat-worker"]["spec"]["template"]["spec"]["containers"][0]
    found = [(each["name"], each.get("value")) for each in main["env"] if each["name"] in ("A", "B")]
    assert found == sorted(expected.items())
    assert {each.code for each in given.expanded(written).results} == {"DYN085"}


@cases("fields", TWINS)
def test_an_entry_that_stands_twice_is_one_finding(fields):
    found = given.expanded(given.graph({"Worker": given.service("worker", **fields)})).results
    assert [each.code for each in found] == ["DYN080"]


ODD_METADATA = ["x", 5, [], ["x"], None, {}, {"name": 5}, {"name": "a", "ownerReferences": "x"}, {"name": "a", "ownerReferences": [5, {}]}]
KINDS = ["DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoModel", "DynamoGraphDeploymentRequest"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metadata", [*ODD_METADATA, "missing"], ids=repr)
def test_odd_metadata_is_a_finding_and_hides_no_other(kind, metadata):
    odd = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "spec": {}, **({} if metadata == "missing" else {"metadata": metadata})}
    wrong = given.graph({"Worker": given.service("worker", replicas="x")})
    found = given.expanded(odd, wrong).results
    assert "DYN019" not in {said.code for said in found}
    assert [said.severity for said in found if said.ref and said.ref.kind == kind and said.ref.name != "chat"][:1] == ["error"]
    assert ("DYN021", "spec.services.Worker.replicas") in given.findings(found)


def test_an_internal_error_about_one_resource_hides_no_finding_about_another(monkeypatch):
    def fail(*_):
        raise KeyError("spec")

    broken, expander = expand._GRAPH._replace(plan=fail), expand._expander
    monkeypatch.setattr(expand, "_expander", lambda version, kind: broken if kind == dynamo_api.COMPONENT else expander(version, kind))
    alone = given.item("DynamoComponentDeployment", "alone", api="nvidia.com/v1alpha1", spec={})
    found = given.expanded(alone, given.graph({"Worker": given.service("worker", replicas="x")}))
    assert [(said.code, said.ref.name) for said in found.results if said.ref] == [("DYN019", "alone"), ("DYN021", "chat")]
    assert found.resources[0] is alone


OWN = {labels.OWNER: "DynamoGraphDeployment/chat"}


@pytest.mark.parametrize("marks", [{}, {labels.MANAGED_BY: labels.MANAGER}], ids=["annotation", "annotation and label"])
def test_a_graph_with_an_owner_annotation_is_expanded_and_stays(marks):
    graph = given.graph(annotations=OWN)
    graph["metadata"]["labels"] = marks
    secret = given.item("Secret", "mine", annotations=OWN)
    found = given.expanded(graph, secret)
    assert {"DynamoGraphDeployment/chat", "Deployment/chat-worker", "Secret/mine"} <= set(given.by_address(found.resources))
    assert [said.code for said in found.results] == ["DYN081", "DYN081"]


def test_a_null_that_an_api_server_writes_stays():
    graph = given.graph()
    graph["metadata"]["creationTimestamp"] = None
    assert given.by_address(given.expanded(graph).resources)["DynamoGraphDeployment/chat"]["metadata"]["creationTimestamp"] is None


def test_nulls_leave_a_resource_that_is_not_expanded():
    model = given.item("DynamoModel", "m", api="nvidia.com/v1alpha1", spec={"modelName": "a", "baseModelName": "b", "source": None})
    found = given.expanded(model, given.graph({"Worker": given.service("worker", modelRef={"name": "b"})}))
    assert [said.code for said in found.results] == ["DYN028"]
    assert found.resources[0] == {**model, "spec": {"modelName": "a", "baseModelName": "b"}}


def test_a_changed_namespace_is_the_first_finding_of_all():
    before = made(given.graph(SERVICES))
    found = given.expanded(given.graph({**SERVICES, "Null": given.service("worker", replicas=None)}, namespace="new"), *before)
    assert [said.code for said in found.results] == ["DYN084", "DYN028"]
    for resource in before:
        assert f"{resource['kind']} {resource['metadata']['name']}" in found.results[0].message
