"""Each difference between an operator's objects and a render has a cause."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from krm_fn.kubernetes import paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.migration import equality
from krm_fn.migration.equality import equality_report, known_deviations
from krm_fn.migration.equality.known_deviations import DifferingField
from krm_fn.render import labels
from krm_fn.render.schema.object_changes import FieldChange
from tests.migration.equality import operator_export
from tests.migration.equality.operator_export import GRAPH, find, main
from tests.support import beta, given
from tests.support.cases import cases
from tests.testbed import programs, tier

SETTINGS = {"behaviour": "v0.9", "natsAddress": "nats://nats:4222", "discoveryBackend": "kubernetes"}


def compared(exported):
    (namespace,) = equality.compare(exported).values()
    return namespace


def causes(namespace):
    return {(difference.key.kind, difference.key.name, difference.field): difference.cause for difference in namespace.differences}


@pytest.fixture
def exported():
    return operator_export.export(GRAPH, **SETTINGS)


def test_the_objects_of_an_operator_are_the_same_but_for_known_deviations(exported):
    """The deadline of a rollout is a deviation that docs/differences.md lists."""
    given_export = copy.deepcopy(exported)
    namespace = compared(exported)
    assert {cause[:2] for cause in causes(namespace).values()} == {("deviation", "progress-deadline")}
    assert (namespace.same_templates, namespace.templates) == (2, 2)
    assert namespace.is_explained
    assert exported == given_export, "the export is never changed"


def another_image(exported):
    main(find(exported, "Deployment", "chat-worker"))["image"] = "registry.example/other:0.9.0"


def another_variable(exported):
    main(find(exported, "Deployment", "chat-worker")).setdefault("env", []).append({"name": "EXTRA", "value": "1"})


def a_removed_argument(exported):
    main(find(exported, "Deployment", "chat-worker"))["args"] = ["-m"]


def another_label_of_pods(exported):
    find(exported, "Deployment", "chat-frontend")["spec"]["template"]["metadata"]["labels"]["extra"] = "1"


def another_port(exported):
    find(exported, "Service", "chat-frontend")["spec"]["ports"][0]["port"] = 9999


def another_label(exported):
    find(exported, "Service", "chat-worker")["metadata"]["labels"]["extra"] = "1"


def fewer_rights(exported):
    find(exported, "Role", "chat-k8s-service-discovery-role")["rules"].pop()


def another_account(exported):
    find(exported, "RoleBinding", "chat-k8s-service-discovery-binding")["subjects"][0]["name"] = "other"


def a_removed_object(exported):
    exported.remove(find(exported, "Service", "chat-worker"))


def a_further_object(exported):
    service = copy.deepcopy(find(exported, "Service", "chat-worker"))
    service["metadata"]["name"] = "chat-other"
    exported.append(service)


def more_replicas(exported):
    find(exported, "Deployment", "chat-worker")["spec"]["replicas"] = 5


PLANTED = [
    (another_image, "Deployment", "chat-worker", "spec.template.spec.containers[main].image"),
    (another_variable, "Deployment", "chat-worker", "spec.template.spec.containers[main].env[EXTRA]"),
    (a_removed_argument, "Deployment", "chat-worker", "spec.template.spec.containers[main].args[1]"),
    (another_label_of_pods, "Deployment", "chat-frontend", "spec.template.metadata.labels.extra"),
    (another_port, "Service", "chat-frontend", "spec.ports[http].port"),
    (another_label, "Service", "chat-worker", "metadata.labels.extra"),
    (fewer_rights, "Role", "chat-k8s-service-discovery-role", "rules[2]"),
    (another_account, "RoleBinding", "chat-k8s-service-discovery-binding", "subjects[chat-k8s-service-discovery]"),
    (a_removed_object, "Service", "chat-worker", ""),
    (a_further_object, "Service", "chat-other", ""),
    (more_replicas, "Deployment", "chat-worker", "spec.replicas"),
]


@pytest.mark.parametrize(("plant", "kind", "name", "path"), PLANTED, ids=[row[0].__name__ for row in PLANTED])
def test_a_planted_difference_is_found(plant, kind, name, path, exported):
    """Without a record of its author, its cause is unknown."""
    plant(exported)
    namespace = compared(exported)
    unknown = [field for field, cause in causes(namespace).items() if cause.kind == "unknown"]
    assert (kind, name, path) in unknown
    assert not namespace.is_explained


def test_all_planted_differences_are_found_together(exported):
    for plant, *_ in PLANTED:
        if plant not in (a_removed_object, another_label):
            plant(exported)
    causes_by_field = causes(compared(exported))
    for plant, *field in PLANTED:
        assert plant in (a_removed_object, another_label) or causes_by_field[tuple(field)].kind == "unknown"


def managed(resource, manager, *path):
    tree: dict[str, Any] = {}
    for step in reversed(path):
        tree = {step: tree}
    resource["metadata"]["managedFields"] = [{"manager": manager, "operation": "Update", "fieldsV1": tree}]


CONTAINER = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"main"}', "f:image")
AUTHORS = [("kubectl-edit", "edit"), ("k9s", "edit"), ("image-updater", "controller"), ("manager", "unknown")]


@cases(("manager", "kind"), AUTHORS)
def test_the_field_manager_is_the_author_of_an_edit(manager, kind, exported):
    """The program of the operator has the name `manager`, so its fields show no edit."""
    another_image(exported)
    managed(find(exported, "Deployment", "chat-worker"), manager, *CONTAINER)
    cause = causes(compared(exported))["Deployment", "chat-worker", "spec.template.spec.containers[main].image"]
    assert (cause.kind, cause.name) == (kind, "" if kind == "unknown" else manager)


def test_an_object_of_another_release_names_the_release(exported):
    """The operator 1.5 gives the Service of a worker the worker hash."""
    newer = operator_export.export(GRAPH, **{**SETTINGS, "behaviour": "v1.5"})
    exported[exported.index(find(exported, "Service", "chat-worker"))] = find(newer, "Service", "chat-worker")
    cause = causes(compared(exported))["Service", "chat-worker", "metadata.labels['nvidia.com/dynamo-worker-hash']"]
    assert cause == ("release", "v1.5")


NEWER = beta.graph(
    beta.component("Frontend", "frontend", main={"image": "registry.example/dynamo:1.5.1"}),
    beta.component("Worker", "worker", main={"image": "registry.example/dynamo:1.5.1"}),
)
RELEASES = [
    ("v0.9", GRAPH, SETTINGS),
    ("v1.5", NEWER, {"behaviour": "v1.5", "workerHash": "names"}),
    ("v1.5 with plain names", NEWER, {"behaviour": "v1.5"}),
    ("v1.6", NEWER, {"behaviour": "v1.6", "workerHash": "names"}),
    ("v1.6 with etcd", NEWER, {"behaviour": "v1.6", "discoveryBackend": "etcd", "etcdAddress": "etcd:2379"}),
]


@cases(("release", "graph", "fields"), RELEASES)
def test_no_release_explains_an_object_that_was_deleted(release, graph, fields):
    """An older release makes fewer objects, so a deleted one fits some release. All other live objects fit the present one."""
    objects = operator_export.export(graph, **fields)
    for removed in objects[1 :: tier.number(1, 3)]:
        namespace = compared([resource for resource in objects if resource is not removed])
        kinds = {cause.kind for (kind, _, field), cause in causes(namespace).items() if not field and kind == removed["kind"]}
        assert kinds == {"unknown"}, removed["metadata"]["name"]
        assert not namespace.is_explained


@cases(("release", "graph", "fields"), RELEASES)
def test_no_release_explains_a_field_that_was_removed(release, graph, fields):
    """A variable or a port that someone removed is missing in some older release, too."""
    objects = operator_export.export(graph, **fields)
    for number, resource in enumerate(objects):
        for path in _entries(resource):
            changed = copy.deepcopy(objects)
            entries = paths.at(changed[number], path[:-1])
            del entries[path[-1]]
            assert {cause.kind for cause in causes(compared(changed)).values()} <= {"deviation", "unknown"}, path


def _entries(resource):
    """The paths of variables of workloads and of ports of Services: the second of each container or Service."""
    every = paths.EVERY
    env = ("spec", "template", "spec", "containers", every, "env", 1)
    patterns: dict[str, list[Any]] = {"Deployment": [env], "Service": [("spec", "ports", 1), ("metadata", "labels", labels.COMPONENT)]}
    return [path for path, _ in paths.find(resource, patterns.get(resource["kind"], []))]


def test_a_restart_by_kubectl_is_listed(exported):
    template = find(exported, "Deployment", "chat-worker")["spec"]["template"]
    template["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/restartedAt"] = "2026-11-01T00:00:00Z"
    namespace = compared(exported)
    field = "spec.template.metadata.annotations['kubectl.kubernetes.io/restartedAt']"
    assert causes(namespace)["Deployment", "chat-worker", field] == ("edit", "kubectl rollout restart")
    assert (namespace.same_templates, namespace.is_explained) == (1, True)


@pytest.mark.parametrize("generation", [(4, 4), (5, 4), (5, None)])
def test_a_graph_that_the_operator_has_not_seen_is_named(generation, exported):
    """The operator wrote the objects of the spec before: they differ, and nobody knows whether they should."""
    changed, observed = generation
    graph = exported[0]
    graph["metadata"]["generation"] = changed
    graph["status"] = {} if observed is None else {"observedGeneration": observed}
    graph["spec"]["services"]["Worker"]["envs"] = [{"name": "NEW", "value": "1"}]
    graph["spec"]["services"]["Later"] = given.service("worker", main={"command": ["python3"], "args": ["-m", "dynamo.vllm"]})
    namespace = compared(exported)
    found = {cause for cause in causes(namespace).values() if cause.kind != "deviation"}
    is_pending = observed is not None and observed < changed
    assert found == {("pending", "chat") if is_pending else ("unknown", "")}
    assert ("DYN749" in [finding.code for finding in namespace.findings]) == is_pending
    assert not namespace.is_explained
    if is_pending:
        assert "the operator has not acted on the last change of chat:" in equality_report.text({"a": namespace})


def test_an_export_without_graphs_is_not_explained():
    namespace = compared([given.item("ConfigMap", "a", data={"a": "1"})])
    assert [finding.code for finding in namespace.findings] == ["DYN565"]
    assert not namespace.is_explained


def test_objects_of_a_graph_with_an_error_name_the_error(exported):
    del exported[0]["spec"]["services"]["Worker"]["extraPodSpec"]["mainContainer"]["image"]
    namespace = compared(exported)
    assert {cause[:2] for cause in causes(namespace).values()} == {("refused", "DYN205")}
    assert not namespace.is_explained


def test_the_report_has_no_names_and_no_values(exported):
    """Users send the report, so it has only words of Kubernetes, of Dynamo and of krm-fn."""
    for plant in (another_image, another_variable, another_port, another_label, a_further_object):
        plant(exported)
    find(exported, "Service", "chat-worker")["metadata"]["labels"]["customer.example/project"] = "1"
    text = equality_report.anonymous(equality.compare(exported))
    assert [
        word for word in ("chat", "registry", "EXTRA", "extra", "customer", "nats:", "9999", f'"{given.NAMESPACE}"') if word in text
    ] == []
    (namespace,) = json.loads(text)["namespaces"]
    assert (namespace["release"], namespace["podTemplates"]) == ("v0.9", {"total": 2, "same": 1})
    assert {row["field"] for row in namespace["differences"]} >= {"metadata.labels.*", "spec.template.spec.containers[0].image"}


ARGS = ("spec", "template", "spec", "containers", 0, "args", 0)
DEVIATIONS = [
    ("account-role", "RoleBinding", "", ("roleRef", "name"), "a", "b"),
    ("clique-order", "PodCliqueSet", "", ("spec", "template", "cliques"), ["a", "b"], ["b", "a"]),
    ("component-account", "Deployment", "DynamoComponentDeployment", ARGS, "mpirun -x DYN_DISCOVERY_BACKEND a", "mpirun a"),
    ("component-selector", "Service", "DynamoComponentDeployment", ("spec", "selector", "a"), "b", None),
    ("first-rank", "LeaderWorkerSet", "", ARGS, "--r $(( 8 * $(LWS_WORKER_INDEX) ))", "--r $(( 8 * LWS_WORKER_INDEX ))"),
    ("flux-variables", "LeaderWorkerSet", "", ("metadata", "annotations", "kustomize.toolkit.fluxcd.io/substitute"), None, "disabled"),
    ("flux-variables", "LeaderWorkerSet", "", ("metadata", "annotations"), None, {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}),
    ("ingress-metadata", "Ingress", "", ("metadata", "labels", "a"), None, "b"),
    ("leader-address", "LeaderWorkerSet", "", ARGS, "$LWS_LEADER_ADDRESS", "$(LWS_LEADER_ADDRESS)"),
    ("quoting", "LeaderWorkerSet", "", ARGS, 'a --b {"c":1}', "a --b '{\"c\":1}'"),
    ("restart-order", "Deployment", "", ("metadata", "annotations", "nvidia.com/restartAt"), None, "2026-01-01T00:00:00Z"),
    ("retained-claims", "PersistentVolumeClaim", "", ("metadata", "annotations", "kustomize.toolkit.fluxcd.io/prune"), None, "disabled"),
    ("rollout-strategy", "LeaderWorkerSet", "", ("spec", "rolloutStrategy", "type"), "", None),
    (
        "rollout-strategy",
        "LeaderWorkerSet",
        "",
        ("spec", "rolloutStrategy"),
        {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}},
        None,
    ),
    ("", "LeaderWorkerSet", "", ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"), 2, None),
    ("progress-deadline", "Deployment", "", ("spec", "progressDeadlineSeconds"), 600, 7500),
    ("", "Deployment", "", ("spec", "progressDeadlineSeconds"), 60, 7500),
    ("second-handler", "Deployment", "", ("spec", "template", "spec", "containers", 0, "startupProbe", "httpGet"), {"port": 1}, None),
    ("wait-script", "ConfigMap", "", ("data", "wait-for-leader.py"), "a", "b"),
    ("worker-revision", "PodCliqueSet", "", ARGS, "mpirun a", "mpirun -x DYN_NAMESPACE_WORKER_SUFFIX a"),
    ("", "Deployment", "", ARGS, "--model a", "--model b"),
    ("", "Deployment", "DynamoGraphDeployment", ARGS, "mpirun -x DYN_DISCOVERY_BACKEND a", "mpirun a"),
    ("", "ConfigMap", "", ("metadata", "annotations", "kustomize.toolkit.fluxcd.io/prune"), None, "disabled"),
    ("", "LeaderWorkerSet", "", ("metadata", "annotations", "kustomize.toolkit.fluxcd.io/substitute"), "disabled", None),
    ("", "LeaderWorkerSet", "", (*ARGS[:2], "metadata", "annotations", "kustomize.toolkit.fluxcd.io/substitute"), None, "disabled"),
]


@pytest.mark.parametrize(
    ("name", "kind", "owner", "path", "live", "rendered"), DEVIATIONS, ids=[f"{row[0]} {row[1]}" for row in DEVIATIONS]
)
def test_a_deviation_has_its_name(name, kind, owner, path, live, rendered):
    """The rows without a name are near to one, and have none."""
    field = FieldChange(path, live, rendered, path, order=isinstance(live, list))
    assert known_deviations.of_field(DifferingField(ObjectKey("", kind, "a", "b"), field, owner)) == name


def test_each_deviation_is_in_the_docs():
    page = (programs.ROOT / "docs" / "differences.md").read_text()
    section = page.partition("## Names of deviations")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE) == sorted(known_deviations.NAMES)


def test_secret_values_are_hidden(exported):
    main(find(exported, "Deployment", "chat-worker")).setdefault("env", []).append({"name": "HF_TOKEN", "value": "hunter2"})
    namespace = compared(exported)
    assert "hunter2" not in equality_report.text({"a": namespace}) + equality_report.json_text({"a": namespace})
    assert labels.OWNER not in equality_report.text({"a": namespace})
