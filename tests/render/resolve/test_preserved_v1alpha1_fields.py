"""Fields that only v1alpha1 has act under release 1.5, in a v1alpha1 graph and in the same graph after its conversion."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from krm_fn.render.convert import versions
from tests.support import beta, given

CLAIM = {"name": "weights", "create": True, "size": "10Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
INGRESS = {"enabled": True, "host": "chat", "hostSuffix": "example.com", "ingressControllerClassName": "nginx"}


def graph():
    services = {
        "Frontend": beta.service("frontend", ingress=INGRESS),
        "Worker": beta.service(labels={"cost": "a"}, annotations={"note": "b"}, subComponentType="special", dynamoNamespace="own"),
        "Decode": beta.service(subComponentType="decode", replicas=0),
    }
    return given.graph(services, pvcs=[CLAIM])


@pytest.fixture(params=["v1alpha1", "v1beta1"])
def made(request):
    return given.rendered(versions.to(request.param, graph()), behaviour="v1.5")


def template(made, name):
    return made[f"Deployment/{name}"]["spec"]["template"]["metadata"]


def test_the_claims_of_the_graph(made):
    assert made["PersistentVolumeClaim/weights"]["spec"]["resources"] == {"requests": {"storage": "10Gi"}}


def test_the_ingress_of_a_service(made):
    assert made["Ingress/chat-frontend"]["spec"]["rules"][0]["host"] == "chat.example.com"


def test_the_labels_and_annotations_of_a_service_reach_objects_and_pods(made):
    for metadata in (made["Deployment/chat-worker"]["metadata"], template(made, "chat-worker"), made["Service/chat-worker"]["metadata"]):
        assert metadata["labels"]["cost"] == "a"
        assert metadata["annotations"]["note"] == "b"


def test_a_sub_type_is_kept_unless_it_is_a_type_now(made):
    assert template(made, "chat-worker")["labels"][labels.SUB_COMPONENT_TYPE] == "special"
    decode = template(made, "chat-decode")["labels"]
    assert (decode[labels.COMPONENT_TYPE], decode[labels.SUB_COMPONENT_TYPE]) == ("decode", "decode")


def test_the_dynamo_namespace_of_a_service_is_on_its_pods_and_in_their_service_only(made):
    deployment = made["Deployment/chat-worker"]
    assert deployment["metadata"]["labels"][labels.NAMESPACE] == "team-chat"
    assert template(made, "chat-worker")["labels"][labels.NAMESPACE] == "own"
    assert made["Service/chat-worker"]["spec"]["selector"][labels.NAMESPACE] == "own"
    variables = {entry["name"]: entry.get("value") for entry in deployment["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert variables["DYN_NAMESPACE"] == "team-chat"


def test_both_versions_render_the_same_objects():
    """The kept resource itself has its version."""
    by_version = [given.rendered(versions.to(version, graph()), behaviour="v1.5") for version in ("v1alpha1", "v1beta1")]
    older, newer = ({key: item for key, item in made.items() if not key.startswith("DynamoGraph")} for made in by_version)
    assert older == newer
