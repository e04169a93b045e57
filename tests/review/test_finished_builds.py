"""The check of a finished build finds what a later layer changed in generated objects, and nothing else."""

import copy
from typing import Any

import pytest

from krm_fn.base import results
from krm_fn.render import config, expand, labels
from krm_fn.review import finished_builds
from tests.support.cases import cases

WORKER: dict[str, Any] = {"image": "engine:0.9.0", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
SERVICES: dict[str, Any] = {
    "Frontend": {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "front:0.9.0"}}},
    "Worker": {
        "componentType": "worker",
        "modelRef": {"name": "m"},
        "scalingAdapter": {"enabled": True},
        "volumeMounts": [{"name": "weights", "mountPoint": "/weights"}],
        "extraPodSpec": {"mainContainer": WORKER},
    },
    "Planner": {"componentType": "planner", "extraPodSpec": {"mainContainer": {"image": "planner:0.9.0"}}},
    "Picker": {
        "componentType": "epp",
        "eppConfig": {
            "config": {"plugins": [{"type": "queue"}], "schedulingProfiles": [{"name": "a", "plugins": [{"pluginRef": "queue"}]}]}
        },
        "extraPodSpec": {"mainContainer": {"image": "picker:0.9.0"}},
    },
}
CLAIM = {"name": "weights", "create": True, "size": "1Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
CONFIG = config.Config(ingress=config.IngressSettings(class_name="nginx", istio_gateway="istio-system/gateway"))


def build(settings=CONFIG, name="chat", namespace="base", source="keep", others=(), **spec):
    """A graph with everything in it, rendered in the layer that the function stands in."""
    graph = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"services": SERVICES, "pvcs": [CLAIM], **spec},
    }
    done = expand.expand([graph, *others], settings._replace(source=source))
    assert not results.has_errors(done.results)
    return copy.deepcopy(done.resources)


def found(resources):
    return {address(result): result for result in finished_builds.check(resources, CONFIG)}


def address(result):
    assert result.ref
    return result.ref.kind, result.ref.name


def one(resources, kind, name):
    return next(item for item in resources if (item["kind"], item["metadata"]["name"]) == (kind, name))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def put(resources, kind, name, path, value):
    *way, last = path
    at(one(resources, kind, name), way)[last] = value
    return resources


def container(resources, name):
    return ("spec", "template", "spec", "containers", 0)


def variable(resources, name, variable):
    """The path of a variable's value in a Deployment."""
    way = ("spec", "template", "spec", "containers", 0, "env")
    names = [entry["name"] for entry in at(one(resources, "Deployment", name), way)]
    return (*way, names.index(variable), "value")


def flag(resources, name, option):
    way = ("spec", "template", "spec", "containers", 0, "args")
    return (*way, at(one(resources, "Deployment", name), way).index(option) + 1)


def moved(resources, namespace):
    """Changes the namespace as kustomize does: metadata, and the subjects of bindings whose accounts are in the build."""
    for item in resources:
        item["metadata"]["namespace"] = namespace
        for subject in item.get("subjects", ()):
            subject["namespace"] = namespace
    return resources


def renamed(resources, rename):
    """Changes names as kustomize does: metadata, and the references of native kinds that it knows."""
    accounts = {item["metadata"]["name"] for item in resources if item["kind"] == "ServiceAccount"}
    for item in resources:
        item["metadata"]["name"] = rename(item["metadata"]["name"])
        for subject in item.get("subjects", ()):
            subject["name"] = rename(subject["name"])
        if item.get("roleRef", {}).get("kind") == "Role":
            item["roleRef"]["name"] = rename(item["roleRef"]["name"])
        if item["kind"] == "Deployment" and item["spec"]["template"]["spec"]["serviceAccountName"] in accounts:
            pod = item["spec"]["template"]["spec"]
            pod["serviceAccountName"] = rename(pod["serviceAccountName"])
        if item["kind"] == "Ingress":
            service = item["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
            service["name"] = rename(service["name"])
    return resources


WORKLOADS = {("Deployment", f"chat-{name}") for name in ("frontend", "worker", "planner", "picker")}
SERVING = {("Service", f"chat-{name}") for name in ("frontend", "worker", "planner", "picker")}


def test_an_unchanged_build_has_no_mismatch():
    assert found(build()) == {}


def test_a_changed_namespace_is_found_once_for_each_object_that_refers_to_it():
    mismatches = found(moved(build(), "prod"))
    assert mismatches.keys() == WORKLOADS | SERVING | {("InferencePool", "chat-pool")}
    assert {mismatch.code for mismatch in mismatches.values()} == {"DYN060"}
    assert all("list the function in the transformers of the outermost layer" in mismatch.message for mismatch in mismatches.values())


@pytest.mark.parametrize("rename", [lambda name: f"eu-{name}", lambda name: f"{name}-v2", lambda name: f"eu-{name}-v2"])
def test_a_prefix_or_suffix_is_found_on_every_object(rename):
    resources = renamed(build(), rename)
    mismatches = found(resources)
    assert mismatches.keys() == {(item["kind"], item["metadata"]["name"]) for item in resources}
    assert {mismatch.code for mismatch in mismatches.values()} == {"DYN061"}


def test_a_prefix_equal_to_the_name_is_still_found():
    """`chat-` over `chat` leaves names that start as they should."""
    assert ("Deployment", "chat-chat-worker") in found(renamed(build(), lambda name: f"chat-{name}"))


def test_both_at_once_name_the_namespace_first():
    mismatches = found(moved(renamed(build(), lambda name: f"eu-{name}"), "prod"))
    assert mismatches["Deployment", "eu-chat-worker"].code == "DYN060"
    assert mismatches["DynamoGraphDeployment", "eu-chat"].code == "DYN061"


def test_changes_are_found_without_the_graph_too():
    """`source: drop`: then only labels, selectors and references can tell."""
    shifted = found(moved(build(source="drop"), "prod"))
    assert shifted.keys() >= WORKLOADS | SERVING
    eu = found(renamed(build(source="drop"), lambda name: f"eu-{name}"))
    assert eu.keys() >= {(kind, f"eu-{name}") for kind, name in WORKLOADS | SERVING}


def test_the_finding_points_at_the_field_and_proposes_what_it_should_say():
    mismatch = found(moved(build(), "prod"))["Deployment", "chat-frontend"]
    assert mismatch.severity == "error"
    assert (mismatch.current, mismatch.proposed) == ("base-chat", "prod-chat")
    assert at(one(build(), "Deployment", "chat-frontend"), mismatch.path) == "base-chat"


POD = ("spec", "template", "spec")
SINGLE = [
    ("DYN_NAMESPACE", "Deployment", "chat-worker", lambda b: variable(b, "chat-worker", "DYN_NAMESPACE"), "old-chat", "DYN060"),
    (
        "parent's namespace",
        "Deployment",
        "chat-worker",
        lambda b: variable(b, "chat-worker", "DYN_PARENT_DGD_K8S_NAMESPACE"),
        "old",
        "DYN060",
    ),
    ("parent's name", "Deployment", "chat-worker", lambda b: variable(b, "chat-worker", "DYN_PARENT_DGD_K8S_NAME"), "old", "DYN061"),
    ("pool's namespace", "Deployment", "chat-picker", lambda b: flag(b, "chat-picker", "-pool-namespace"), "old", "DYN060"),
    ("pool's name", "Deployment", "chat-picker", lambda b: flag(b, "chat-picker", "-pool-name"), "old-pool", "DYN061"),
    ("selector", "Deployment", "chat-worker", ("spec", "selector", "matchLabels", labels.SELECTOR), "old-worker", "DYN062"),
    ("graph label", "Service", "chat-worker", ("metadata", "labels", labels.GRAPH), "old", "DYN062"),
    ("Dynamo namespace label", "Service", "chat-worker", ("metadata", "labels", labels.NAMESPACE), "old-chat", "DYN060"),
    ("pod label", "Deployment", "chat-worker", ("spec", "template", "metadata", "labels", labels.NAMESPACE), "old-chat", "DYN060"),
    ("foreign label value", "Service", "chat-worker", ("metadata", "labels", labels.NAMESPACE), "team", "DYN062"),
    ("Service selector", "Service", "chat-worker", ("spec", "selector", labels.NAMESPACE), "old-chat", "DYN060"),
    ("pool selector", "InferencePool", "chat-pool", ("spec", "selector", "matchLabels", labels.NAMESPACE), "old-chat", "DYN060"),
    ("label added to a selector only", "Service", "chat-worker", ("spec", "selector", "team"), "a", "DYN062"),
    ("picker", "InferencePool", "chat-pool", ("spec", "endpointPickerRef", "name"), "eu-chat-picker", "DYN061"),
    ("subject", "RoleBinding", "chat-k8s-service-discovery-binding", ("subjects", 0, "name"), "eu-chat-k8s-service-discovery", "DYN061"),
    ("subject's namespace", "RoleBinding", "chat-k8s-service-discovery-binding", ("subjects", 0, "namespace"), "old", "DYN060"),
    ("role", "RoleBinding", "chat-k8s-service-discovery-binding", ("roleRef", "name"), "eu-chat-k8s-service-discovery-role", "DYN061"),
    ("adapter", "DynamoGraphDeploymentScalingAdapter", "chat-worker", ("spec", "dgdRef", "name"), "eu-chat", "DYN061"),
    ("account", "Deployment", "chat-worker", (*POD, "serviceAccountName"), "eu-chat-k8s-service-discovery", "DYN061"),
    ("configuration", "Deployment", "chat-picker", (*POD, "volumes", 0, "configMap", "name"), "eu-chat-epp-config", "DYN061"),
    ("owner", "Ingress", "chat-frontend", ("metadata", "name"), "chat-frontend", ""),
]


@cases(("reason", "kind", "name", "path", "value", "code"), SINGLE)
def test_every_field_that_names_something_is_judged(reason, kind, name, path, value, code):
    resources = build()
    way = path(resources) if callable(path) else path
    mismatches = found(put(resources, kind, name, way, value))
    assert {key: mismatch.code for key, mismatch in mismatches.items()} == ({(kind, name): code} if code else {})
    if code:
        assert mismatches[kind, name].path == way


def test_one_object_with_many_mismatches_is_one_finding():
    resources = build()
    for entry in one(resources, "Deployment", "chat-worker")["spec"]["template"]["spec"]["containers"][0]["env"]:
        if entry["name"].startswith("DYN_") and "value" in entry:
            entry["value"] = "old"
    assert len(list(finished_builds.check(resources, CONFIG))) == 1


def references(resources, kind, old, new):
    """Renames one object but no reference to it."""
    one(resources, kind, old)["metadata"]["name"] = new
    return {key for key, mismatch in found(resources).items() if mismatch.current == old}


@pytest.mark.parametrize(
    ("reason", "kind", "name", "referring"),
    [
        ("account", "ServiceAccount", "chat-k8s-service-discovery", {("Deployment", "chat-worker"), ("Deployment", "chat-frontend")}),
        ("entrance", "Service", "chat-frontend", {("Ingress", "chat-frontend"), ("VirtualService", "chat-frontend")}),
        ("picker's configuration", "ConfigMap", "chat-epp-config", {("Deployment", "chat-picker")}),
        ("pool", "InferencePool", "chat-pool", {("Deployment", "chat-picker")}),
        ("workload", "Deployment", "chat-worker", {("DynamoGraphDeployment", "chat")}),
    ],
)
def test_every_reference_to_a_renamed_object_is_found(reason, kind, name, referring):
    assert referring <= references(build(), kind, name, f"eu-{name}")


def with_image(resources):
    one(resources, "Deployment", "chat-worker")["spec"]["template"]["spec"]["containers"][0]["image"] = "engine:2"


def with_replicas(resources):
    one(resources, "Deployment", "chat-frontend")["spec"]["replicas"] = 7


def with_labels(resources):
    for item in resources:
        item["metadata"].setdefault("labels", {})["team"] = "a"


def with_labels_in_selectors(resources):
    """kustomize's `labels` with `includeSelectors`: Services and pods alike."""
    with_labels(resources)
    for item in resources:
        if item["kind"] == "Service":
            item["spec"]["selector"]["team"] = "a"
        if item["kind"] == "Deployment":
            item["spec"]["selector"]["matchLabels"]["team"] = "a"
            item["spec"]["template"]["metadata"]["labels"]["team"] = "a"


def with_own_backend(resources):
    one(resources, "Ingress", "chat-frontend")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] = "auth-proxy"


def with_own_account(resources):
    one(resources, "Deployment", "chat-worker")["spec"]["template"]["spec"]["serviceAccountName"] = "chat-worker"


def without_marks(resources):
    for item in resources:
        item["metadata"].pop("annotations", None)
    moved(resources, "prod")


@pytest.mark.parametrize(
    "patch", [with_image, with_replicas, with_labels, with_labels_in_selectors, with_own_backend, with_own_account, without_marks]
)
def test_what_may_be_laid_over(patch):
    resources = build()
    patch(resources)
    assert found(resources) == {}


OVERRIDES: list[tuple[str, dict[str, Any]]] = [
    ("for the graph", {"envs": [{"name": "DYN_NAMESPACE", "value": "shared"}]}),
    ("for a service", {"services": {**SERVICES, "Worker": {**SERVICES["Worker"], "envs": [{"name": "DYN_NAMESPACE", "value": "shared"}]}}}),
    (
        "in the container",
        {
            "services": {
                **SERVICES,
                "Worker": {
                    **SERVICES["Worker"],
                    "extraPodSpec": {"mainContainer": {**WORKER, "env": [{"name": "DYN_PARENT_DGD_K8S_NAMESPACE", "value": "elsewhere"}]}},
                },
            }
        },
    ),
    (
        "in a sidecar",
        {
            "services": {
                **SERVICES,
                "Worker": {
                    **SERVICES["Worker"],
                    "extraPodSpec": {
                        "mainContainer": WORKER,
                        "containers": [{"name": "side", "image": "s:1", "env": [{"name": "DYN_NAMESPACE", "value": "other"}]}],
                    },
                },
            }
        },
    ),
    (
        "as a pod label",
        {"services": {**SERVICES, "Worker": {**SERVICES["Worker"], "extraPodMetadata": {"labels": {labels.NAMESPACE: "shared"}}}}},
    ),
    ("shared by choice", {"services": {name: {**service, "globalDynamoNamespace": True} for name, service in SERVICES.items()}}),
]


@pytest.mark.parametrize("source", ["keep", "drop"])
@cases(("reason", "spec"), OVERRIDES)
def test_what_the_user_set_by_hand_is_the_users(reason, spec, source):
    assert found(build(source=source, **spec)) == {}


def test_an_override_does_not_hide_a_change_of_a_later_layer():
    mismatches = found(moved(build(envs=[{"name": "DYN_NAMESPACE", "value": "shared"}]), "prod"))
    assert mismatches["Deployment", "chat-worker"].current == "base"


def test_two_graphs_with_one_name_in_two_namespaces_do_not_mix():
    assert found([*build(), *build(namespace="prod")]) == {}
    moved_to = finished_builds.check([*build(), *moved(build(namespace="prod"), "test")], CONFIG)
    assert {each.ref.namespace for each in moved_to if each.ref} == {"test"}


def test_two_graphs_in_one_namespace_share_accounts():
    other = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "code", "namespace": "base"}}
    services = {"Planner": SERVICES["Planner"], "Worker": SERVICES["Worker"]}
    both = build(others=[{**other, "spec": {"services": services}}])
    assert found(both) == {}
    assert ("ServiceAccount", "eu-planner-serviceaccount") in found(renamed(both, lambda name: f"eu-{name}"))


def test_objects_whose_graph_is_not_in_the_build_have_no_mismatch():
    """DYN053 reports them. The graph in the build has a similar name, but is not their owner."""
    assert found([*build(source="drop"), *build(name="chat-large")]) == {}


def test_a_graph_without_any_of_its_objects_has_no_mismatch():
    assert found(build()[:1]) == {}


@pytest.mark.parametrize(
    "annotation", ["", "{", "[]", "{}", "[1]", '[{"service": 1, "kind": 2, "name": 3}]', "[" * 100_000, '[{"service":"a"}]', None, 5, []]
)
def test_a_workloads_annotation_that_is_not_ours_is_not_judged(annotation):
    resources = build()
    resources[0]["metadata"]["annotations"][labels.WORKLOADS] = annotation
    assert found(resources) == {}


JUNK: tuple[Any, ...] = (None, 1, [[]], [{"name": []}])


def places(value, path=()):
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Deployment", "chat-picker"),
        ("RoleBinding", "chat-k8s-service-discovery-binding"),
        ("InferencePool", "chat-pool"),
        ("Ingress", "chat-frontend"),
        ("VirtualService", "chat-frontend"),
        ("Service", "chat-worker"),
    ],
)
def test_no_shape_of_a_marked_object_raises(kind, name):
    """Each value of an object in turn is replaced by one of another type."""
    resources = build()
    whole = one(resources, kind, name)
    worker = one(resources, "Deployment", "chat-worker")
    for path in places(whole):
        holder, before = at(whole, path[:-1]), at(whole, path)
        for value in JUNK:
            holder[path[-1]] = value
            list(finished_builds.check([resources[0], worker, whole], CONFIG))
        holder[path[-1]] = before


GROUP = {**SERVICES["Worker"], "multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "1"}}}
LISTED = [
    ("LeaderWorkerSets, whose name ends with the number of the replica", "deployment", "LeaderWorkerSet", "chat-worker-0"),
    ("PodCliques and scaling groups, which Grove makes from the PodCliqueSet", "grove", "PodCliqueSet", "chat"),
]


@cases(("orchestrator", "kind", "name"), LISTED)
def test_the_listed_workloads_of_every_orchestrator_are_compared(orchestrator, kind, name):
    """The graph is found by the names of its workloads, and a changed name is reported at the graph and at its workload."""
    made = build(CONFIG._replace(orchestrator=orchestrator), services={**SERVICES, "Worker": GROUP})
    assert one(made, kind, name)
    assert found(made) == {}
    shifted = found(moved(copy.deepcopy(made), "prod"))
    assert shifted[kind, name].code == "DYN060"
    mismatches = found(renamed(copy.deepcopy(made), lambda name: f"eu-{name}"))
    assert mismatches[kind, f"eu-{name}"].code == "DYN061"
    graph = mismatches["DynamoGraphDeployment", "eu-chat"]
    assert graph.path == ("metadata", "annotations", labels.WORKLOADS)
    assert graph.proposed.startswith("eu-chat")


# requests

REQUEST = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeploymentRequest",
    "metadata": {"name": "chat", "namespace": "base"},
    "spec": {
        "model": "m",
        "backend": "vllm",
        "profilingConfig": {"profilerImage": "profiler:1", "config": {"sweep": {"useAiConfigurator": True}}},
    },
}


@pytest.mark.parametrize("source", ["keep", "drop"])
@pytest.mark.parametrize(
    ("change", "code", "current", "proposed"),
    [
        (lambda objects: objects, None, None, None),
        (lambda objects: moved(objects, "prod"), "DYN060", "base", "prod"),
        (lambda objects: renamed(objects, lambda name: f"eu-{name}"), "DYN061", "profile-chat", "eu-profile-chat"),
    ],
    ids=["nothing", "namespace", "prefix"],
)
def test_a_job_whose_name_or_namespace_a_later_layer_changed_is_found(change, code, current, proposed, source):
    """Its pod would not find its Job, its request and its output."""
    done = expand.expand([REQUEST], CONFIG._replace(source=source))
    assert done.results == []
    mismatches = found(change(copy.deepcopy(done.resources)))
    jobs = [(each.code, each.current, each.proposed) for (kind, _), each in mismatches.items() if kind == "Job"]
    assert jobs == ([(code, current, proposed)] if code else [])
    assert bool(mismatches) == bool(code)
