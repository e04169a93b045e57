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


def generations(resource, behaviour="v1.5", **settings):
    """Names, labels and variables of the workloads."""
    found = {}
    for key, made in given.rendered(resource, behaviour=behaviour, **settings).items():
        if key.startswith("Deployment/"):
            template = made["spec"]["template"]
            (main,) = (container for container in template["spec"]["containers"] if container["name"] == "main")
            variables = {entry["name"]: entry.get("value") for entry in main["env"]}
            found[made["metadata"]["name"]] = (template["metadata"]["labels"].get(labels.WORKER_HASH), variables.get(SUFFIX))
    return found


def computed(resource, behaviour="v1.5"):
    (found,) = {label for label, _ in generations(resource, behaviour).values() if label}
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


ORIGIN = {labels.ORIGIN_VERSION: "1.3.0"}
"""Version 2 of the hash reads the version of the operator that created the graph."""


@pytest.mark.parametrize("behaviour", ["v1.2", "v1.3"])
def test_new_graphs_of_older_releases_have_version_1_of_the_hash(behaviour):
    """The image of a worker counts in both versions, and the variables of the graph only in version 2."""
    first = computed(graph(), behaviour)
    assert generations(graph(), behaviour, worker_hash="names")[f"chat-decode-{first}"] == (first, first)
    assert first not in (computed(graph()), computed(graph(LATER), behaviour))
    more = graph(**ORIGIN)
    more["spec"]["envs"] = [{"name": "A", "value": "1"}]
    assert computed(more, behaviour) == first
    assert computed(more, "v1.4") != computed(graph(**ORIGIN), "v1.4")


def _hashes():
    """The annotations that an operator of 1.3 writes."""
    return {labels.WORKER_HASH_V1: computed(graph(**ORIGIN), "v1.3"), labels.WORKER_HASH_V2: computed(graph(**ORIGIN), "v1.4")}


OLDER = [
    # what changed, whether the graph notes version 1, whether version 2, the version of the hash of the pods; None if it is the noted one
    ("nothing", True, True, None),
    ("nothing", True, False, None),
    ("nothing", False, True, None),
    ("a worker", True, True, 1),
    ("a worker", True, False, 1),
    ("a worker", False, True, 2),
    ("the graph", True, True, 2),
    ("the graph", True, False, None),
    ("the graph", False, True, 2),
]


@pytest.mark.parametrize(("change", "notes_v1", "notes_v2", "version"), OLDER)
def test_changed_workers_of_older_releases_get_the_version_that_changed(change, notes_v1, notes_v2, version):
    """A graph without version 1 already has workers that version 2 names."""
    before, after = graph(**ORIGIN), graph(LATER if change == "a worker" else IMAGE)
    if change == "the graph":
        after["spec"]["envs"] = [{"name": "A", "value": "1"}]
    v1, v2 = computed(before, "v1.3"), computed(before, "v1.4")
    after["metadata"]["annotations"] = {
        **ORIGIN,
        **({labels.WORKER_HASH_V1: v1} if notes_v1 else {}),
        **({labels.WORKER_HASH_V2: v2} if notes_v2 else {}),
    }
    name = v1 if notes_v1 else v2
    fresh = {**after, "metadata": {**after["metadata"], "annotations": ORIGIN}}
    wanted = name if version is None else computed(fresh, "v1.3" if version == 1 else "v1.4")
    assert (wanted != name) is (version is not None)
    assert generations(after, "v1.3")[f"chat-decode-{name}"] == (wanted, wanted)


def test_a_newer_operator_keeps_version_1_until_a_worker_changes():
    noted = {**ORIGIN, **_hashes()}
    name = noted[labels.WORKER_HASH_V1]
    assert generations(graph(**noted), "v1.4")[f"chat-decode-{name}"] == (name, name)
    later = computed(graph(LATER, **ORIGIN), "v1.4")
    assert generations(graph(LATER, **noted), "v1.4")[f"chat-decode-{name}"] == (later, later)


@pytest.mark.parametrize(("change", "annotation"), [("a worker", labels.WORKER_HASH_V1), ("the graph", labels.WORKER_HASH_V2)])
def test_a_finding_names_the_annotation_of_the_hash_that_changed(change, annotation):
    noted = {**ORIGIN, **_hashes()}
    changed = graph(LATER if change == "a worker" else IMAGE, **noted)
    if change == "the graph":
        changed["spec"]["envs"] = [{"name": "A", "value": "1"}]
    findings = [found for found in given.expanded(changed, behaviour="v1.3").results if found.code in ("DYN415", "DYN419")]
    assert [(found.code, found.path[-1]) for found in findings] == [("DYN415", annotation)]


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
