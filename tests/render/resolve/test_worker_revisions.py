"""The worker hash in pods and in names: new graphs, graphs that an operator named, and workers that changed."""

from __future__ import annotations

import pytest

from krm_fn.render import dynamo_api, labels
from tests.support import given

IMAGE, LATER = "registry.example/dynamo:1.4.0", "registry.example/dynamo:1.4.1"
SUFFIX = "DYN_NAMESPACE_WORKER_SUFFIX"


def graph(image=IMAGE, *, variables=(), replicas=1, **annotations):
    services = {
        "Frontend": given.service("frontend", main={"image": IMAGE}, replicas=replicas),
        "Decode": given.service("worker", main={"image": image}, subComponentType="decode", replicas=replicas),
        "Prefill": given.service("worker", main={"image": IMAGE, "env": [*variables]}, subComponentType="prefill"),
    }
    return given.graph(services, annotations=annotations, backendFramework="vllm")


def generations(resource, **settings):
    """Names, labels and variables of the workloads."""
    found = {}
    for key, made in given.rendered(resource, behaviour="v1.5", **settings).items():
        if key.startswith("Deployment/"):
            template = made["spec"]["template"]
            (main,) = (container for container in template["spec"]["containers"] if container["name"] == "main")
            variables = {entry["name"]: entry.get("value") for entry in main["env"]}
            found[made["metadata"]["name"]] = (template["metadata"]["labels"].get(labels.WORKER_HASH), variables.get(SUFFIX))
    return found


def computed(resource):
    (found,) = {label for label, _ in generations(resource).values() if label}
    return found


def test_pods_carry_the_hash_and_names_do_not():
    digits = computed(graph())
    assert len(digits) == 8
    assert generations(graph()) == {
        "chat-frontend": (None, None),
        "chat-decode": (digits, digits),
        "chat-prefill": (digits, digits),
    }


def test_names_carry_the_hash_if_the_configuration_asks_for_it():
    digits = computed(graph())
    assert generations(graph(), worker_hash="names") == {
        "chat-frontend": (None, None),
        f"chat-decode-{digits}": (digits, digits),
        f"chat-prefill-{digits}": (digits, digits),
    }


def test_nothing_carries_a_hash_if_the_configuration_has_none():
    assert {*generations(graph(), worker_hash="none").values()} == {(None, None)}
    assert {*generations(graph(), worker_hash="none")} == {"chat-frontend", "chat-decode", "chat-prefill"}


def test_services_and_selectors_have_the_names_of_their_workloads():
    digits = computed(graph())
    made = given.rendered(graph(), behaviour="v1.5", worker_hash="names")
    name = f"chat-decode-{digits}"
    assert f"Service/{name}" in made
    assert made[f"Deployment/{name}"]["spec"]["selector"] == {"matchLabels": {labels.SELECTOR: name}}
    assert made[f"Deployment/{name}"]["spec"]["template"]["metadata"]["labels"][labels.SELECTOR] == name


def test_one_hash_changes_with_any_worker_and_with_no_other_component():
    assert computed(graph(LATER)) != computed(graph())
    assert computed(graph(replicas=3)) == computed(graph())
    assert computed(graph(variables=[{"name": "A", "value": "1"}])) != computed(graph())


@pytest.mark.parametrize("mode", ["pods", "names", "none"])
def test_names_that_the_operator_gave_stay(mode):
    digits = computed(graph())
    noted = graph(**{labels.WORKER_HASH_V2: digits})
    assert generations(noted, worker_hash=mode) == {
        "chat-frontend": (None, None),
        f"chat-decode-{digits}": (digits, digits),
        f"chat-prefill-{digits}": (digits, digits),
    }


@pytest.mark.parametrize(("mode", "moves"), [("pods", True), ("names", False), ("none", False)])
def test_names_stay_after_workers_change_and_pods_move_on_their_own_setting(mode, moves):
    digits = computed(graph())
    later = computed(graph(LATER)) if moves else digits
    noted = graph(LATER, **{labels.WORKER_HASH_V2: digits})
    assert generations(noted, worker_hash=mode) == {
        "chat-frontend": (None, None),
        f"chat-decode-{digits}": (later, later),
        f"chat-prefill-{digits}": (later, later),
    }


NOTED = [
    # annotations without the computed hash, whether it is noted as the newer one, the name, the hash of the pods
    ({labels.WORKER_HASH_V1: "0a1b2c3d"}, False, "0a1b2c3d", "0a1b2c3d"),
    ({labels.WORKER_HASH_V1: "0a1b2c3d"}, True, "0a1b2c3d", "0a1b2c3d"),
    ({labels.WORKER_HASH_V1: "0a1b2c3d", labels.WORKER_HASH_V2: "ffffffff"}, False, "0a1b2c3d", "computed"),
    ({labels.WORKER_HASH_V1: "legacy"}, False, "", "computed"),
]


@pytest.mark.parametrize(("annotations", "newer", "name", "pods"), NOTED)
def test_the_older_hash_is_a_part_of_names_that_cannot_be_computed(annotations, newer, name, pods):
    digits = computed(graph())
    noted = graph(**annotations, **({labels.WORKER_HASH_V2: digits} if newer else {}))
    wanted = digits if pods == "computed" else pods
    assert generations(noted)[f"chat-decode-{name}".removesuffix("-")] == (wanted, wanted)


def test_a_scaling_adapter_has_the_name_without_a_hash():
    services = {"Worker": given.service("worker", main={"image": IMAGE}, scalingAdapter={"enabled": True})}
    made = given.rendered(given.graph(services, backendFramework="vllm"), behaviour="v1.5", worker_hash="names")
    assert "DynamoGraphDeploymentScalingAdapter/chat-worker" in made
    assert "Deployment/chat-worker" not in made


def test_a_graph_of_a_release_before_1_has_no_generation():
    made = given.rendered(graph(), worker_hash="names")
    assert made["Deployment/chat-decode"]["spec"]["template"]["metadata"]["labels"].get(labels.WORKER_HASH) is None


def test_a_default_of_the_schema_has_the_hash_of_the_written_value():
    def of(main, **fields):
        template = {"spec": {"containers": [{"name": "main", "image": IMAGE, **main}]}}
        component = {"name": "Worker", "type": "worker", "podTemplate": template, **fields}
        return computed(
            {**given.graph(), "apiVersion": dynamo_api.V1BETA1, "spec": {"backendFramework": "vllm", "components": [component]}}
        )

    short = of({"ports": [{"containerPort": 9000}], "livenessProbe": {"grpc": {"port": 9000}}})
    full = of({"ports": [{"containerPort": 9000, "protocol": "TCP"}], "livenessProbe": {"grpc": {"port": 9000, "service": ""}}})
    assert short == full != of({})
