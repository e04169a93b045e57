"""Older forms become today's, with a warning that shows the new form; what has no clear meaning is one error."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.render.config import Config
from tests.support import given, strategies
from tests.support.cases import cases

GRAPH, WORKER = "DynamoGraphDeployment/chat", "spec.services.Worker"
NO_IMAGE = {"componentType": "worker", "extraPodSpec": {"mainContainer": {"args": ["x"]}}}


def image(name="chat--v1", *, namespace=given.NAMESPACE, **spec):
    """A DynamoComponent, marked so that it is not applied."""
    local = {"config.kubernetes.io/local-config": "true"}
    return given.item("DynamoComponent", name, api="nvidia.com/v1alpha1", namespace=namespace, annotations=local, spec=spec)


def said(*items, **settings):
    return given.findings(given.expanded(*items, **settings).results)


def test_todays_form_is_left_alone():
    graph = given.graph(pvcs=[{"name": "weights"}])
    before = copy.deepcopy(graph)
    found = given.expanded(graph)
    assert found.results == []
    assert graph == before
    (kept,) = [resource for resource in found.resources if resource["kind"] == "DynamoGraphDeployment"]
    assert kept["spec"] is graph["spec"]


CLAIM = {"name": "weights", "mountPath": "/w", "size": "10Gi", "create": True, "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
LISTED = {key: value for key, value in CLAIM.items() if key != "mountPath"}


def test_an_inline_claim_becomes_a_claim_of_the_graph_and_a_mount():
    older = given.graph({"Worker": given.service("worker", pvc=CLAIM)})
    newer = given.graph({"Worker": given.service("worker", volumeMounts=[{"name": "weights", "mountPoint": "/w"}])}, pvcs=[LISTED])
    before = copy.deepcopy(older)
    found = given.expanded(older)
    assert older == before
    assert given.findings(found.results) == [("DYN038", f"{WORKER}.pvc")]
    message = found.results[0].message
    assert "spec.pvcs: [{name: weights, size: 10Gi, create: true" in message
    assert "volumeMounts: [{name: weights, mountPoint: /w}]" in message
    assert given.by_address(found.resources) == given.rendered(newer)


CLAIMS = [
    ("one without anything to create it", {"name": "a", "mountPath": "/a"}, [{"name": "a"}], [{"name": "a", "mountPoint": "/a"}]),
    ("today's word for the place", {"name": "a", "mountPoint": "/a"}, [{"name": "a"}], [{"name": "a", "mountPoint": "/a"}]),
    ("one that is listed already", {"name": "weights", "mountPath": "/a"}, [], [{"name": "weights", "mountPoint": "/a"}]),
]


@cases(("claim", "listed", "mounts"), CLAIMS)
def test_inline_claims(claim, listed, mounts):
    there = [{"name": "weights"}]
    own = [{"name": "weights", "mountPoint": "/w"}] if claim["name"] != "weights" else []
    found = given.rendered(given.graph({"Worker": given.service("worker", pvc=claim, volumeMounts=own)}, pvcs=there))[GRAPH]
    assert found["spec"]["pvcs"] == [*there, *listed]
    assert found["spec"]["services"]["Worker"]["volumeMounts"] == [*own, *mounts]
    assert "pvc" not in found["spec"]["services"]["Worker"]


def test_two_services_with_one_inline_claim_share_it():
    written = given.service("worker", pvc={"name": "a", "mountPath": "/a"})
    found = given.rendered(given.graph({"A": written, "B": written}))[GRAPH]["spec"]
    assert found["pvcs"] == [{"name": "a"}]
    assert found["services"]["A"]["volumeMounts"] == found["services"]["B"]["volumeMounts"]


@pytest.mark.parametrize("claim", [{}, {"mountPath": "/a"}, {"name": 5}, "weights", None, []], ids=str)
def test_an_inline_claim_without_a_name_is_an_error(claim):
    assert said(given.graph({"Worker": given.service("worker", pvc=claim)})) == [("DYN037", f"{WORKER}.pvc")]


def lone(**fields):
    spec = {**given.service("worker", pod={"serviceAccountName": "mine"}), "dynamoNamespace": "d", **fields}
    return given.item("DynamoComponentDeployment", "lone", api="nvidia.com/v1alpha1", spec=spec)


LONE = [
    ("a claim that is there", {"name": "a", "mountPath": "/a"}, "DYN038", "write volumeMounts: [{name: a, mountPoint: /a}]"),
    ("a claim to create", {"name": "a", "mountPath": "/a", "create": True}, "DYN037", "write a PersistentVolumeClaim resource"),
]


@cases(("claim", "code", "mend"), LONE)
def test_a_component_alone_has_no_list_of_claims(claim, code, mend):
    found = given.expanded(lone(pvc=claim))
    assert given.findings(found.results) == [(code, "spec.pvc")]
    assert mend in found.results[0].message


def test_a_component_alone_mounts_the_claim():
    found = given.rendered(lone(pvc={"name": "a", "mountPath": "/a"}))
    main = found["Deployment/lone"]["spec"]["template"]["spec"]["containers"][-1]
    assert {"name": "a", "mountPath": "/a"} in main["volumeMounts"]
    assert "pvc" not in found["DynamoComponentDeployment/lone"]["spec"]


PLACES = [
    ("the graph names it for all", {"dynamoComponent": "chat:v1"}, {}, [("DYN034", "spec.dynamoComponent")]),
    ("a service names it", {}, {"dynamoComponent": "chat:v1"}, [("DYN034", f"{WORKER}.dynamoComponent")]),
]


@cases(("of_graph", "of_service", "warned"), PLACES)
def test_a_dynamo_component_gives_image_and_pull_secrets(of_graph, of_service, warned):
    component = image(image="mine:1", imagePullSecrets=[{"name": "own"}], dockerConfigJsonSecretName="docker")
    graph = given.graph({"Worker": {**NO_IMAGE, **of_service}}, **of_graph)
    assert said(component, graph) == warned
    found = given.rendered(component, graph)
    pod = found["Deployment/chat-worker"]["spec"]["template"]["spec"]
    assert pod["containers"][-1]["image"] == "mine:1"
    assert pod["imagePullSecrets"] == [{"name": "own"}, {"name": "docker"}]
    assert "dynamoComponent" not in str(found[GRAPH])
    assert found["DynamoComponent/chat--v1"] == component


def test_a_service_that_has_an_image_keeps_it():
    graph = given.graph({"Worker": given.service("worker")}, dynamoComponent="chat:v1")
    found = given.rendered(image(image="mine:1", imagePullSecrets=[{"name": "own"}]), graph)
    pod = found["Deployment/chat-worker"]["spec"]["template"]["spec"]
    assert pod["containers"][-1]["image"] == given.IMAGE
    assert "imagePullSecrets" not in pod


def test_a_service_that_names_another_one_gets_that():
    services = {"A": {**NO_IMAGE, "dynamoComponent": "b:1"}, "B": NO_IMAGE}
    found = given.rendered(image(image="mine:1"), image("b--1", image="other:1"), given.graph(services, dynamoComponent="chat:v1"))
    images = [found[f"Deployment/chat-{name}"]["spec"]["template"]["spec"]["containers"][-1]["image"] for name in ("a", "b")]
    assert images == ["other:1", "mine:1"]


def test_a_service_without_fields_gets_the_image_too():
    found = given.rendered(image(image="mine:1"), given.graph({"Worker": None}, dynamoComponent="chat:v1"))
    assert found["Deployment/chat-worker"]["spec"]["template"]["spec"]["containers"][-1]["image"] == "mine:1"


NAMES = [
    ("its name, with dashes for the colon", image(image="mine:1"), {}, True),
    ("the name it says", image("whatever", image="mine:1", dynamoComponent="chat:v1"), {}, True),
    ("another name", image("other--v1", image="mine:1"), {}, False),
    ("another namespace", image(image="mine:1", namespace="other"), {}, False),
    ("no namespace, which counts as the configured one", image(image="mine:1", namespace=""), {"namespace": given.NAMESPACE}, True),
    ("no namespace, which counts as default", image(image="mine:1", namespace=""), {}, False),
]


@cases(("component", "settings", "known"), NAMES)
def test_who_is_meant(component, settings, known):
    graph = given.graph({"Worker": given.service("worker")}, dynamoComponent="chat:v1")
    codes = [code for code, _ in said(component, graph, **settings)]
    assert codes == (["DYN034"] if known else ["DYN033"])


def test_each_namespace_has_images_of_its_own():
    items = []
    for namespace in ("staging", "prod"):
        items.append(image(image=f"{namespace}:1", namespace=namespace))
        items.append(given.graph({"Worker": NO_IMAGE}, namespace=namespace, dynamoComponent="chat:v1"))
    found = given.expanded(*items).resources
    images = {
        resource["metadata"]["namespace"]: resource["spec"]["template"]["spec"]["containers"][-1]["image"]
        for resource in found
        if resource["kind"] == "Deployment"
    }
    assert images == {"staging": "staging:1", "prod": "prod:1"}


def test_a_dynamo_component_without_an_image_is_one_error_however_many_graphs_name_it():
    graphs = [given.graph({"Worker": given.service("worker")}, name=name, dynamoComponent="chat:v1") for name in ("a", "b")]
    assert said(image(), *graphs) == [("DYN030", "spec.image")]


BUILD = [
    ("one field of builds", {"buildArgs": []}, ("DYN031", "spec.buildArgs"), "buildArgs has no effect"),
    (
        "several of them",
        {"imageBuildTimeout": "1h", "imageBuilderExtraPodSpec": {}},
        ("DYN031", "spec.imageBuildTimeout"),
        "imageBuildTimeout, imageBuilderExtraPodSpec have no effect",
    ),
]


@cases(("fields", "finding", "words"), BUILD)
def test_fields_of_builds_warn(fields, finding, words):
    found = given.expanded(image(image="mine:1", **fields)).results
    assert given.findings(found) == [finding]
    assert words in found[0].message


def test_a_dynamo_component_that_would_be_applied_warns():
    """No cluster knows the kind any more, so that applying it fails."""
    marked, applied = image(image="mine:1"), image(image="mine:1")
    del applied["metadata"]["annotations"]
    assert said(marked) == []
    assert said(applied) == [("DYN039", "metadata.annotations")]


GONE = [
    ("a tag of code", {}, {"dynamoTag": "graphs:v1"}, [("DYN032", f"{WORKER}.dynamoTag")]),
    ("an image nobody names", {"dynamoComponent": "x:1"}, {}, [("DYN033", "spec.dynamoComponent")]),
    ("an image by something that is no name", {}, {"dynamoComponent": {}}, [("DYN033", f"{WORKER}.dynamoComponent")]),
    (
        "a service that Dynamo finds by itself",
        {},
        {"externalServices": {"Prefill": {"deploymentSelectorKey": "dynamo", "deploymentSelectorValue": "Prefill/dynamo"}}},
        [("DYN035", f"{WORKER}.externalServices.Prefill")],
    ),
    (
        "one that it does not find",
        {},
        {"externalServices": {"Db": {"deploymentSelectorKey": "name", "deploymentSelectorValue": "db"}}},
        [("DYN036", f"{WORKER}.externalServices.Db")],
    ),
    ("something that is no list of services", {}, {"externalServices": "Db"}, [("DYN036", f"{WORKER}.externalServices")]),
]


@cases(("of_graph", "of_service", "finding"), GONE)
def test_what_has_gone(of_graph, of_service, finding):
    """Taken out of the graph, so that no second finding calls the field unknown."""
    assert said(given.graph({"Worker": given.service("worker", **of_service)}, **of_graph)) == finding


def test_a_graph_with_an_error_stays_in_the_form_it_came_in():
    graph = given.graph({"Worker": given.service("worker", pvc=CLAIM, dynamoTag="x:1")})
    assert given.expanded(graph).resources == [graph]
    assert given.expanded(graph).resources[0] is graph


def test_the_converted_form_is_settled():
    graph = given.graph({"Worker": {**NO_IMAGE, "pvc": CLAIM}}, dynamoComponent="chat:v1")
    once = given.expanded(image(image="mine:1"), graph).resources
    twice = given.expanded(*once)
    assert twice.results == []
    assert all(one is other for one, other in zip(twice.resources, once, strict=True))


BROKEN = [
    ("claims that are no list", {"pvcs": 5}, {}, [("DYN021", "spec.pvcs")]),
    ("a claim that is no object", {"pvcs": ["x"]}, {}, [("DYN021", "spec.pvcs[0]")]),
    ("mounts that are no list", {}, {"volumeMounts": 7}, [("DYN021", f"{WORKER}.volumeMounts")]),
    ("a pod that is none", {}, {"extraPodSpec": "x"}, [("DYN021", f"{WORKER}.extraPodSpec")]),
]


@cases(("of_graph", "of_service", "finding"), BROKEN)
def test_a_conversion_hides_no_mistake(of_graph, of_service, finding):
    fields = {"pvc": {"name": "a", "mountPath": "/a"}, "dynamoComponent": "chat:v1", **of_service}
    found = said(image(image="mine:1", imagePullSecrets=[{"name": "a"}]), given.graph({"Worker": {**NO_IMAGE, **fields}}, **of_graph))
    assert set(finding) <= set(found)
    assert {code for code, _ in found} <= {"DYN021", "DYN034", "DYN038"}


OLDER = st.fixed_dictionaries({}, optional=dict.fromkeys(("pvc", "dynamoComponent", "dynamoTag", "externalServices"), strategies.JSON))


@drawn(OLDER, OLDER, strategies.JSON, strategies.JSON, st.dictionaries(st.sampled_from(["image", "imagePullSecrets"]), strategies.JSON))
def test_nothing_is_too_odd_to_be_converted(of_graph, of_service, claims, mounts, component):
    service = {**given.service("worker"), **of_service, "volumeMounts": mounts}
    items = [image(**component), given.graph({"Worker": service}, **{"pvcs": claims, **of_graph}), lone(**of_service)]
    before = copy.deepcopy(items)
    found = given.expanded(*items, config=Config())
    assert items == before
    assert len(found.resources) >= len(items)
