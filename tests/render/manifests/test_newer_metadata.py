"""Labels, annotations, variables and Services under release 1.5."""

from __future__ import annotations

import pytest

from krm_fn.render import labels, names
from tests.support import beta, given

ETCD = {"discovery_backend": "etcd"}


def rendered(*components, name="chat", annotations=None, spec=None, **settings):
    written = beta.graph(*components, name=name, annotations=annotations)
    return given.rendered({**written, "spec": {**written["spec"], **(spec or {})}}, **settings)


def pods(made, name="chat-worker"):
    return made[f"Deployment/{name}"]["spec"]["template"]["metadata"]


def variables(made, name):
    return {entry["name"]: entry.get("value") for entry in made[f"Deployment/{name}"]["spec"]["template"]["spec"]["containers"][0]["env"]}


def test_the_labels_of_a_worker():
    made = rendered(beta.component("Worker", "decode", modelRef={"name": "m"}))
    digits = pods(made)["labels"][labels.WORKER_HASH]
    of_objects = {
        labels.COMPONENT: "Worker",
        labels.NAMESPACE: "team-chat",
        labels.GRAPH: "chat",
        labels.SUB_COMPONENT_TYPE: "decode",
        labels.BASE_MODEL_HASH: names.model_hash("m"),
        labels.WORKER_HASH: digits,
    }
    found = {labels.DISCOVERY_BACKEND: "kubernetes", labels.DISCOVERY_ENABLED: "true"}
    own = {labels.METRICS_ENABLED: "true", labels.COMPONENT_TYPE: "decode", labels.SELECTOR: "chat-worker"}
    managed = {labels.MANAGED_BY: "krm-fn"}
    assert made["Deployment/chat-worker"]["metadata"]["labels"] == {**of_objects, **managed}
    assert pods(made)["labels"] == {**of_objects, **found, **own}
    assert made["Service/chat-worker"]["metadata"]["labels"] == {**of_objects, **found, **managed}


def test_labels_of_the_component_win_over_those_of_the_graph_and_dynamos_over_both():
    mine = {"team": "component", labels.SELECTOR: "mine", labels.GRAPH: "mine", labels.COMPONENT_TYPE: "mine"}
    made = rendered(beta.component("Worker", metadata={"labels": mine}), spec={"labels": {"team": "graph", "cost": "graph"}})
    wanted = {"team": "component", "cost": "graph", labels.SELECTOR: "chat-worker", labels.GRAPH: "chat", labels.COMPONENT_TYPE: "worker"}
    assert wanted.items() <= pods(made)["labels"].items()


def test_a_pod_that_an_older_release_labelled_as_worker_stays_one():
    written = beta.component("Worker", "prefill", metadata={"labels": {labels.COMPONENT_TYPE: "worker"}})
    made = rendered(written)
    assert pods(made)["labels"][labels.COMPONENT_TYPE] == "worker"
    assert pods(made)["labels"][labels.SUB_COMPONENT_TYPE] == "prefill"
    assert made["Service/chat-worker"]["spec"]["selector"][labels.COMPONENT_TYPE] == "worker"
    assert variables(made, "chat-worker")["DYN_COMPONENT"] == "worker"


def test_a_pod_with_another_sub_type_is_none_of_an_older_release():
    written = beta.component("W", "prefill", metadata={"labels": {labels.COMPONENT_TYPE: "worker", labels.SUB_COMPONENT_TYPE: "decode"}})
    assert pods(rendered(written), "chat-w")["labels"][labels.COMPONENT_TYPE] == "prefill"


def test_annotations_reach_objects_and_pods():
    of_graph = {labels.ENABLE_METRICS: "false", labels.ORIGIN_VERSION: "1.4.0", "other": "stays"}
    written = beta.component("Worker", metadata={"annotations": {"a": "component"}}, modelRef={"name": "m"})
    made = rendered(written, annotations=of_graph, spec={"annotations": {"a": "graph", "b": "graph"}})
    wanted = {"a": "component", "b": "graph", labels.ENABLE_METRICS: "false", labels.BASE_MODEL: "m"}
    assert pods(made)["annotations"] == wanted
    owner = {f"{labels.PREFIX}owner": "DynamoGraphDeployment/chat"}
    assert made["Deployment/chat-worker"]["metadata"]["annotations"] == {**wanted, **owner}
    assert labels.METRICS_ENABLED not in pods(made)["labels"]


def test_debug_modes_are_gone():
    asked = {labels.DEBUG: "true", labels.STEALING_DEBUG: "true"}
    made = rendered(beta.component("Worker", metadata={"annotations": asked}))
    assert [name for name in made if name.startswith(("Deployment/", "Service/"))] == ["Deployment/chat-worker", "Service/chat-worker"]
    assert len(made["Deployment/chat-worker"]["spec"]["template"]["spec"]["containers"]) == 1


@pytest.mark.parametrize(
    ("kind", "wanted", "missing"),
    [
        ("frontend", {"DYN_NAMESPACE_PREFIX": "team-chat"}, {"DYN_NAMESPACE_WORKER_SUFFIX", "NIXL_TELEMETRY_ENABLE"}),
        (
            "worker",
            {
                "DYN_FORWARDPASS_METRIC_PORT": "20380",
                "NIXL_TELEMETRY_ENABLE": "n",
                "NIXL_TELEMETRY_EXPORTER": "prometheus",
                "NIXL_TELEMETRY_PROMETHEUS_PORT": "19090",
            },
            {"DYN_NAMESPACE_PREFIX"},
        ),
        ("planner", {"DYN_SYSTEM_PORT": "9090", "PLANNER_PROMETHEUS_PORT": "9085"}, {"DYN_NAMESPACE_PREFIX"}),
        ("", {"DYN_NAMESPACE": "team-chat"}, {"DYN_NAMESPACE_PREFIX", "DYN_SYSTEM_PORT"}),
    ],
)
def test_the_variables_of_a_type(kind, wanted, missing):
    found = variables(rendered(beta.component("C", kind)), "chat-c")
    assert wanted.items() <= found.items()
    assert not missing & found.keys()


def test_the_dots_of_a_graphs_name_become_dashes_where_kubernetes_allows_none():
    made = rendered(beta.component("Worker"), name="chat.v1")
    service = made["Service/chat-v1-worker"]
    assert service["spec"]["selector"][labels.NAMESPACE] == "team-chat-v1"
    assert variables(made, "chat.v1-worker")["DYN_NAMESPACE"] == "team-chat-v1"


def test_a_service_selects_the_pods_of_its_component_alone():
    made = rendered(beta.component("A"), beta.component("B"))
    for name in ("a", "b"):
        selector = made[f"Service/chat-{name}"]["spec"]["selector"]
        assert selector == {labels.COMPONENT: name.upper(), labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "team-chat"}
        assert selector.items() <= pods(made, f"chat-{name}")["labels"].items()


def test_without_kubernetes_discovery_only_frontends_have_a_service():
    made = rendered(beta.component("Worker"), beta.component("Frontend", "frontend"), **ETCD)
    assert [name for name in made if name.startswith("Service/")] == ["Service/chat-frontend"]
    assert labels.DISCOVERY_BACKEND not in pods(made)["labels"]
    assert labels.DISCOVERY_BACKEND not in made["Service/chat-frontend"]["metadata"]["labels"]


def test_discovery_finds_frontends_too():
    made = rendered(beta.component("Frontend", "frontend"))
    assert made["Service/chat-frontend"]["metadata"]["labels"][labels.DISCOVERY_ENABLED] == "true"


def test_pods_may_read_pods():
    role = rendered()["Role/chat-k8s-service-discovery-role"]
    assert role["rules"][0]["resources"] == ["endpoints", "pods"]


def test_a_long_name_of_an_account_is_cut_where_it_is_a_label():
    name = "g" * 45
    account = f"{name}-k8s-service-discovery"
    made = rendered(beta.component("f", "frontend"), name=name)
    for key in (f"ServiceAccount/{account}", f"Role/{account}-role", f"RoleBinding/{account}-binding"):
        label = made[key]["metadata"]["labels"][labels.APP_NAME]
        assert (len(label), label[:54]) == (63, account[:54])
        assert label == names.label_value(account)
