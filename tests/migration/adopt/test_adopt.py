"""An adopted namespace: the files, the inferred settings, and the verification."""

from __future__ import annotations

import copy
import json

import pytest

from krm_fn.base import results
from krm_fn.migration import adopt
from krm_fn.migration.adopt import exported_objects, migration_files
from krm_fn.render import dynamo_api, expand, function_config, labels
from tests.support import given
from tests.support.cases import cases
from tests.testbed import tier

FRONTEND = given.service("frontend")
WORKER = given.service("worker", main={"command": ["python3"], "args": ["-m", "dynamo.vllm"]})
SERVICES = {"Frontend": FRONTEND, "Worker": {**WORKER, "replicas": 2}}
ADDED = {"uid": "0", "resourceVersion": "7", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{}]}
PASSWORD = "aHVudGVyMg=="  # noqa: S105 - not a real password
SECRET = given.item("Secret", "token", data={"token": PASSWORD})
V0_9 = {"behaviour": "v0.9"}
NEWER = {"behaviour": "v1.5", "workerHash": "names"}
PLATFORM = {
    "natsAddress": "nats://nats.platform:4222",
    "etcdAddress": "etcd.platform:2379",
    "modelExpressURL": "http://express:8001",
    "prometheusEndpoint": "http://prometheus:9090",
}


def exported(*graphs, **settings):
    """What a cluster has of graphs after an operator with these settings: the graphs with the fields of a cluster, and the objects."""
    read, wrong = function_config.read(migration_files.configuration(settings))
    assert not results.has_errors(wrong)
    expansion = expand.expand(graphs, read)
    assert not results.has_errors(expansion.results)
    objects = [each for each in expansion.resources if not dynamo_api.is_dynamo(each)]
    return [*map(live, graphs), *copy.deepcopy(objects), SECRET]


def live(graph):
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", **graph["metadata"].get("annotations", {})}
    metadata = {**graph["metadata"], **ADDED, "annotations": annotations, "finalizers": ["nvidia.com/finalizer"]}
    return {**graph, "metadata": metadata, "status": {"state": "successful"}}


def settings_of(adopted):
    return adopted.files["render.yaml"]["spec"]


def codes(adopted):
    return [each.code for each in adopted.results if each.severity == "error"]


def workload(export, name):
    return next(each for each in export if exported_objects.templates_of([each], "") and each["metadata"]["name"] == name)


SETTINGS = [
    ("addresses of the platform", {**V0_9, **PLATFORM}),
    ("no address", V0_9),
    ("discovery by etcd", {**V0_9, "discoveryBackend": "etcd", "etcdAddress": "etcd:2379"}),
    ("an Ingress", {**V0_9, "ingress": {"className": "nginx", "hostSuffix": "example.com", "tlsSecretName": "tls"}}),
    ("a gateway", {**V0_9, "ingress": {"istioGateway": "istio-system/gateway", "hostSuffix": "example.com"}}),
    ("pull secrets", {**V0_9, "imagePullSecrets": [{"registry": "registry.example", "name": "pull"}]}),
    ("two pull secrets of one registry", {**V0_9, "imagePullSecrets": [{"registry": "registry.example", "name": each} for each in "ba"]}),
    ("Grove", {**V0_9, "orchestrator": "grove", "grove": {"terminationDelay": "4h"}}),
    ("KAI", {**V0_9, "orchestrator": "grove", "grove": {"kaiScheduler": {"enabled": True, "queue": "research"}}}),
    ("a newer operator", {**NEWER, **PLATFORM}),
    ("another version of a newer operator", {**NEWER, "operatorVersion": "1.4.0"}),
    ("a newer operator with Grove", {"behaviour": "v1.5", "orchestrator": "grove"}),
]


@pytest.mark.parametrize(("reason", "settings"), SETTINGS, ids=[reason for reason, _ in SETTINGS])
def test_settings_of_the_operator_are_inferred(reason, settings):
    adopted = adopt.adopt(exported(given.graph(SERVICES), **settings))
    assert not codes(adopted)
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "2 of 2 pod templates the same, no restart"
    wanted = {key: value for key, value in settings.items() if key != "workerHash"}
    assert json.loads(json.dumps(settings_of(adopted))) == {**settings_of(adopted), **canonical(wanted)}


def canonical(settings):
    """Go prints the delay of four hours in this form."""
    return json.loads(json.dumps(settings).replace('"4h"', '"4h0m0s"'))


def test_roles_and_the_secret_of_mpi_are_those_of_the_bindings_and_volumes():
    planner = given.service("planner")
    group = given.service(
        "worker", main={"args": ["python3 -m dynamo.trtllm"]}, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "4"}}
    )
    settings = {**V0_9, "rbac": {"plannerRole": "release-planner"}, "mpiSecretName": "ssh"}
    adopted = adopt.adopt(exported(given.graph({"Planner": planner, "Group": group}), **settings))
    assert settings_of(adopted)["rbac"] == {"plannerRole": "release-planner"}
    assert settings_of(adopted)["mpiSecretName"] == "ssh"
    assert "release-planner" in adopted.steps


@pytest.mark.parametrize(
    "mesh",
    [
        {"enabled": True},
        {"enabled": True, "istio": {"tlsMode": "ISTIO_MUTUAL"}},
        {"enabled": True, "istio": {"insecureSkipVerify": False}},
        {"enabled": True, "istio": {"tlsMode": "MUTUAL", "clientCertificate": "/a", "privateKey": "/b"}},
    ],
)
def test_the_mesh_is_that_of_the_rule_of_an_endpoint_picker(mesh):
    graph = given.graph({"Frontend": FRONTEND, "Worker": WORKER, "Picker": given.picker()})
    adopted = adopt.adopt(exported(graph, **NEWER, serviceMesh=mesh))
    assert not codes(adopted)
    assert settings_of(adopted)["serviceMesh"] == mesh


def test_a_gateway_that_a_graph_names_needs_the_setting_too():
    """Without `ingress.istioGateway`, a render makes no VirtualService at all."""
    ingress = {"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "mine/gateway"}
    graph = given.graph({"Frontend": {**FRONTEND, "ingress": ingress}})
    adopted = adopt.adopt(exported(graph, **V0_9, ingress={"istioGateway": "istio-system/gateway"}))
    assert settings_of(adopted)["ingress"] == {"istioGateway": "mine/gateway"}


def test_what_the_user_wrote_is_no_setting():
    """A variable of the graph overrides the operator's, so it says nothing about the operator."""
    service = {**WORKER, "envs": [{"name": "NATS_SERVER", "value": "nats://mine:4222"}]}
    adopted = adopt.adopt(exported(given.graph({"Worker": service}), **V0_9))
    assert not codes(adopted)
    assert "natsAddress" not in settings_of(adopted)


def test_only_what_the_author_wrote_is_written():
    graph = given.graph(SERVICES, annotations={"team": "search"})
    adopted = adopt.adopt(exported(graph, **V0_9))
    assert sorted(adopted.files) == ["dynamographdeployment_chat.yaml", "kustomization.yaml", "render.yaml"]
    assert adopted.files["dynamographdeployment_chat.yaml"] == graph
    assert adopted.files["kustomization.yaml"]["resources"] == ["dynamographdeployment_chat.yaml"]


def test_secrets_are_neither_written_nor_printed():
    adopted = adopt.adopt(exported(given.graph(SERVICES), **V0_9))
    said = json.dumps([adopted.files, adopted.steps, adopted.results], default=str)
    assert PASSWORD not in said
    assert "Secret" not in {each["kind"] for each in adopted.files.values()}


def test_objects_of_a_graph_are_not_adopted_as_resources_of_users():
    owner = {"apiVersion": dynamo_api.V1ALPHA1, "kind": dynamo_api.GRAPH, "name": "chat", "uid": "0", "controller": True}
    component = given.item(dynamo_api.COMPONENT, "chat-worker", api=dynamo_api.V1ALPHA1, spec={})
    component["metadata"]["ownerReferences"] = [owner]
    adopted = adopt.adopt([*exported(given.graph(SERVICES), **V0_9), component])
    assert not any("component" in name for name in adopted.files)


def test_the_account_of_pods_without_one_is_written():
    account = given.item("ServiceAccount", "pods")
    account["metadata"]["labels"] = {"nvidia.com/dynamo-component-pod": "true"}
    graph = given.graph({"Frontend": FRONTEND})
    settings = {**V0_9, "discoveryBackend": "etcd"}
    read, _ = function_config.read(migration_files.configuration(settings))
    objects = [each for each in expand.expand([graph, account], read).resources if not dynamo_api.is_dynamo(each)]
    adopted = adopt.adopt([live(graph), *objects])
    assert not codes(adopted)
    assert adopted.files["serviceaccount_pods.yaml"] == account
    assert "krm-fn render dynamographdeployment_chat.yaml serviceaccount_pods.yaml --config render.yaml" in adopted.steps


def test_the_steps_name_the_namespace_and_each_graph():
    """One command reads the namespace for all graphs."""
    other = given.graph({"Frontend": FRONTEND}, name="other")
    steps = adopt.adopt(exported(given.graph(SERVICES), other, **V0_9)).steps
    for graph in ("chat", "other"):
        assert f"krm-fn render dynamographdeployment_{graph}.yaml --config render.yaml > {graph}.objects.yaml" in steps
    files = "chat.objects.yaml other.objects.yaml"
    assert f"krm-fn adopt compare {files}\n" in steps
    assert f"krm-fn adopt take-over {files}\n" in steps


def test_the_steps_of_newer_operators_render_again_after_the_conversion():
    steps = adopt.adopt(exported(given.graph(SERVICES), **NEWER)).steps
    render = "krm-fn render dynamographdeployment_chat.yaml --config render.yaml > chat.objects.yaml"
    assert steps.count(render) == 2
    assert steps.index(render) < steps.index("krm-fn convert --to") < steps.rindex(render)
    assert "krm-fn convert" not in adopt.adopt(exported(given.graph(SERVICES), **V0_9)).steps


def test_the_steps_move_components_without_a_graph():
    component = given.item(dynamo_api.COMPONENT, "alone", api=dynamo_api.V1ALPHA1, spec={**WORKER, "dynamoNamespace": "chat"})
    adopted = adopt.adopt(exported(component, **V0_9, discoveryBackend="etcd"))
    assert not codes(adopted)
    assert "delete dynamocomponentdeployment alone --cascade=orphan" in adopted.steps
    assert "krm-fn render dynamocomponentdeployment_alone.yaml --config render.yaml | kubectl apply" in adopted.steps


HASHED = given.graph(SERVICES)


def test_names_that_end_with_a_worker_hash_stay():
    export = exported(HASHED, **NEWER)
    (name,) = [each["metadata"]["name"] for each in export if each["kind"] == "Deployment" and "worker" in each["metadata"]["name"]]
    adopted = adopt.adopt(export)
    assert not codes(adopted)
    annotations = adopted.files["dynamographdeployment_chat.yaml"]["metadata"]["annotations"]
    assert annotations == {"nvidia.com/current-worker-hash-v2": name.rpartition("-")[2]}


OLDER_OPERATOR = {"behaviour": "v1.3", "workerHash": "names"}


def test_a_hash_of_an_older_operator_is_written_as_version_1():
    """Operators of 1.2 and 1.3 name workers by version 1. As version 2, it would differ from the computed hash, and pods would restart."""
    export = exported(HASHED, **OLDER_OPERATOR)
    (name,) = [each["metadata"]["name"] for each in export if each["kind"] == "Deployment" and "worker" in each["metadata"]["name"]]
    adopted = adopt.adopt(export)
    assert "DYN415" not in codes(adopted)
    annotations = adopted.files["dynamographdeployment_chat.yaml"]["metadata"]["annotations"]
    assert annotations == {"nvidia.com/current-worker-hash": name.rpartition("-")[2]}


def test_both_hashes_of_an_older_operator_stay():
    """An operator of 1.3 notes both versions on the graph. A newer release compares the workers with version 2 only."""
    export = exported(HASHED, **OLDER_OPERATOR)
    live_graph = next(each for each in export if each["kind"] == "DynamoGraphDeployment")
    (name,) = [each["metadata"]["name"] for each in export if each["kind"] == "Deployment" and "worker" in each["metadata"]["name"]]
    noted = {"nvidia.com/current-worker-hash": name.rpartition("-")[2], "nvidia.com/current-worker-hash-v2": "0a1b2c3d"}
    live_graph["metadata"]["annotations"] = {**live_graph["metadata"].get("annotations", {}), **noted}
    annotations = adopt.adopt(export).files["dynamographdeployment_chat.yaml"]["metadata"]["annotations"]
    assert noted.items() <= annotations.items()


def test_two_generations_cannot_be_kept():
    export = exported(HASHED, **NEWER)
    second = json.loads(json.dumps(next(each for each in export if each["metadata"]["name"].startswith("chat-worker-"))))
    old = second["metadata"]["labels"]["nvidia.com/dynamo-worker-hash"]
    adopted = adopt.adopt([*export, json.loads(json.dumps(second).replace(old, "0a1b2c3d"))])
    assert codes(adopted) == ["DYN567"]
    assert not adopted.files


def test_defaults_of_an_api_server_are_no_difference():
    export = exported(given.graph(SERVICES), **V0_9)
    for each in export:
        if each["kind"] == "Deployment":
            stored(each["spec"]["template"]["spec"])
    assert not codes(adopt.adopt(export))


def stored(pod):
    """Fills in what an API server adds to a pod, and writes a list of resources as it prints them."""
    pod.update(dnsPolicy="ClusterFirst", schedulerName="default-scheduler")
    pod.update(serviceAccount=pod["serviceAccountName"])
    for each in pod["containers"]:
        each.update(
            terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File", imagePullPolicy="IfNotPresent", resources={}
        )
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            if probe in each:
                each[probe] = {"successThreshold": 1, "failureThreshold": 3, "timeoutSeconds": 1, **each[probe]}
                each[probe]["httpGet"] = {"scheme": "HTTP", **each[probe]["httpGet"]}
        for variable in each["env"]:
            if "valueFrom" in variable:
                variable["valueFrom"]["fieldRef"] = {"apiVersion": "v1", **variable["valueFrom"]["fieldRef"]}


def test_an_empty_list_that_the_operator_left_out_is_left_out_of_the_graph():
    """Grove counts an empty list as a change of pods."""
    graph = given.graph({"Worker": {**WORKER, "extraPodSpec": {**WORKER["extraPodSpec"], "tolerations": []}}})
    export = exported(graph, behaviour="v1.5", orchestrator="grove")
    for clique in workload(export, "chat")["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"].pop("tolerations", None)
    adopted = adopt.adopt(export)
    assert not codes(adopted)
    assert "tolerations" not in json.dumps(adopted.files)


def changed(export, name, change):
    change(workload(export, name)["spec"])
    return adopt.adopt(export)


DIFFERENCES = [
    ("an argument", "DYN568", lambda spec: container(spec)["args"].append("--more"), "write the live value into the pods"),
    ("a command without its quotes", "DYN568", lambda spec: unquote(container(spec)), "accept one restart of these pods"),
    ("an image", "DYN568", lambda spec: container(spec).update(image="registry.example/other:1"), "registry.example/other:1"),
    ("a variable", "DYN568", lambda spec: container(spec)["env"].append({"name": "MINE", "value": "x"}), "env[MINE]"),
    ("the order of variables", "DYN568", lambda spec: container(spec)["env"].reverse(), "have another order"),
    ("an annotation", "DYN568", lambda spec: spec["template"]["metadata"].update(annotations={"a": "b"}), "metadata.annotations.a"),
    ("a restart", "DYN568", lambda spec: spec["template"]["metadata"].update(annotations={"nvidia.com/restartAt": "1"}), "wait until"),
    ("replicas", "DYN570", lambda spec: spec.update(replicas=5), "write replicas: 5"),
]


def unquote(found):
    """Makes the command that an operator of 0.9 would write of the same words, if they had quotes."""
    found["args"] = [f"'{each}'" if each.startswith("dynamo") else each for each in found["args"]]


def container(spec):
    return spec["template"]["spec"]["containers"][0]


@cases(("reason", "code", "change", "said"), DIFFERENCES)
def test_each_difference_is_an_error_that_says_what_closes_it(reason, code, change, said):
    adopted = changed(exported(given.graph(SERVICES), **V0_9), "chat-worker", change)
    assert codes(adopted) == [code]
    (finding,) = [each for each in adopted.results if each.code == code]
    assert said in finding.message
    assert adopted.verification is not None
    assert "no restart" not in adopt.summary(adopted.verification)
    assert adopted.files


def test_workloads_on_one_side_only():
    export = exported(given.graph(SERVICES), **V0_9)
    worker = workload(export, "chat-worker")
    adopted = adopt.adopt([each for each in export if each is not worker])
    assert codes(adopted) == ["DYN569"]
    graph = given.graph({"Frontend": FRONTEND})
    adopted = adopt.adopt([live(graph), *export[1:]])
    assert codes(adopted) == ["DYN569"]


def test_graphs_that_disagree_about_a_setting():
    first, second = given.graph(SERVICES), given.graph({"Frontend": FRONTEND}, name="other")
    old = exported(second, **V0_9, natsAddress="nats://old:4222")
    adopted = adopt.adopt([*exported(first, **V0_9, natsAddress="nats://new:4222"), *old])
    assert settings_of(adopted)["natsAddress"] == "nats://new:4222"
    assert codes(adopted) == ["DYN568"]
    assert "DYN571" in [each.code for each in adopted.results]


def test_a_setting_that_some_pods_do_not_have():
    first, second = given.graph(SERVICES), given.graph({"Frontend": FRONTEND}, name="other")
    adopted = adopt.adopt([*exported(first, **V0_9, natsAddress="nats://new:4222"), *exported(second, **V0_9)])
    (finding,) = [each for each in adopted.results if each.severity == "error"]
    assert finding.code == "DYN568"
    assert "natsAddress in render.yaml is that of other pods" in finding.message


def without_worker_hash(export):
    """The PodCliqueSets of an operator that wrote no worker hash into them."""
    for clique in workload(export, "older")["spec"]["template"]["cliques"]:
        clique.get("labels", {}).pop(labels.WORKER_HASH, None)
        for main in clique["spec"]["podSpec"]["containers"]:
            main["env"] = [variable for variable in main["env"] if variable["name"] != "DYN_NAMESPACE_WORKER_SUFFIX"]
    return export


def test_only_the_graph_whose_workers_have_no_hash_loses_it():
    """An operator of 1.5 runs components with a hash beside a PodCliqueSet of an older operator, which has none."""
    newer = given.graph(SERVICES, name="newer", annotations={labels.WORKLOAD_PROVIDER: "component"})
    older = given.graph(SERVICES, name="older", annotations={labels.WORKLOAD_PROVIDER: "grove"})
    adopted = adopt.adopt([*exported(newer, **NEWER), *without_worker_hash(exported(older, **NEWER))])
    assert not codes(adopted)
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "4 of 4 pod templates the same, no restart"
    assert "workerHash" not in settings_of(adopted)
    annotations = {name: labels.annotations(adopted.files[f"dynamographdeployment_{name}.yaml"]) for name in ("newer", "older")}
    assert {name: marks.get("config.dynamo.krm-fn.io/workerHash") for name, marks in annotations.items()} == {
        "newer": None,
        "older": "none",
    }
    (finding,) = [each for each in adopted.results if each.severity == "warning"]
    assert finding.code == "DYN586"
    assert finding.ref is not None
    assert finding.ref.name == "older"


PULL = {**V0_9, "imagePullSecrets": [{"registry": "registry.example", "name": "pull"}]}
ROLLOUTS = [
    ("a pull secret", PULL, lambda pod: pod.pop("imagePullSecrets")),
    (
        "one of two pull secrets",
        {**PULL, "imagePullSecrets": [*PULL["imagePullSecrets"], {"registry": "registry.example", "name": "b"}]},
        lambda pod: pod["imagePullSecrets"].pop(),
    ),
    (
        "an address",
        {**V0_9, "natsAddress": "nats://new:4222"},
        lambda pod: pod["containers"][0].update(env=[each for each in pod["containers"][0]["env"] if each["name"] != "NATS_SERVER"]),
    ),
]


@cases(("reason", "settings", "change"), ROLLOUTS)
def test_a_setting_that_the_operator_is_still_rolling_out(reason, settings, change):
    """Pods of one graph with and without a setting: no other folder can help, and waiting does."""
    third = {**SERVICES, "Second": WORKER}
    export = exported(given.graph(third), **settings)
    change(workload(export, "chat-worker")["spec"]["template"]["spec"])
    adopted = adopt.adopt(export)
    (finding,) = [each for each in adopted.results if each.severity == "error"]
    assert finding.code == "DYN568"
    assert finding.message.endswith("still rolling it out: wait until it is done, and export again")
    assert not adopted.is_steady
    assert "folder" not in finding.message


def test_a_topology_constraint_that_runs_proves_that_grove_accepts_it():
    graph = given.graph(SERVICES, topologyConstraint={"topologyProfile": "racks", "packDomain": "rack"})
    adopted = adopt.adopt(exported(graph, behaviour="v1.5", orchestrator="grove", grove={"topologyAwareScheduling": "enabled"}))
    assert not codes(adopted)
    assert settings_of(adopted)["grove"] == {"topologyAwareScheduling": "enabled"}
    assert "DYN588" not in [each.code for each in adopted.results]


UNUSABLE = [
    ("nothing", "DYN565", []),
    ("a table as text", "DYN565", ["NAME READY STATUS"]),
    ("a table as JSON", "DYN565", [{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "rows": []}]),
    ("no workload", "DYN565", [live(given.graph(SERVICES))]),
    ("no graph", "DYN565", exported(given.graph(SERVICES), **V0_9)[1:]),
    ("two namespaces", "DYN566", exported(given.graph(SERVICES), given.graph(SERVICES, namespace="other"), **V0_9)),
    ("a name that leads out of a folder", "DYN565", [live(given.graph(SERVICES, name="../x")), *exported(given.graph(SERVICES), **V0_9)]),
    (
        "a namespace with a command",
        "DYN565",
        [live(given.graph(SERVICES, namespace="a; b")), workload(exported(given.graph(SERVICES), **V0_9), "chat-worker")],
    ),
    ("no namespace", "DYN566", [given.graph(SERVICES, namespace=""), *exported(given.graph(SERVICES), **V0_9)[1:]]),
]


@cases(("reason", "code", "values"), UNUSABLE)
def test_unusable_exports(reason, code, values):
    adopted = adopt.adopt(values)
    assert [each.code for each in adopted.results] == [code]
    assert not adopted.files
    assert adopted.verification is None


def test_a_graph_that_does_not_render_has_only_the_errors_of_the_render():
    """The release stays the likely one."""
    graph = given.graph({**SERVICES, "Wrong": {**WORKER, "replica": 1}})
    adopted = adopt.adopt([live(graph), *exported(given.graph(SERVICES), **V0_9)[1:]])
    assert codes(adopted) == ["DYN023"]
    assert settings_of(adopted)["behaviour"] == "v1.5"
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "0 of 2 pod templates the same"


def test_two_releases_in_one_namespace():
    """The configuration names no release: the images of each graph do."""
    main = {"image": "registry.example/dynamo:0.9.0", "env": [{"name": "DYN_STORE_KV", "value": "mem"}]}
    older, newer = given.graph({"Worker": given.service("worker", main=main)}, name="older"), given.graph({"Worker": WORKER}, name="newer")
    adopted = adopt.adopt([*exported(older, **V0_9), *exported(newer, **NEWER)])
    assert not codes(adopted)
    assert "behaviour" not in settings_of(adopted)


def test_the_release_and_the_operator_that_run_the_newest_images():
    """The hash of the workers proves the version of the operator that created the graph."""
    worker = given.service("worker", main={"image": "registry.example/dynamo:1.6.1"})
    adopted = adopt.adopt(exported(given.graph({"Worker": worker}), behaviour="v1.6", workerHash="names", operatorVersion="1.6.1"))
    assert not codes(adopted)
    assert {key: settings_of(adopted)[key] for key in ("behaviour", "operatorVersion")} == {"behaviour": "v1.6", "operatorVersion": "1.6.1"}


GROVE = {**V0_9, "orchestrator": "grove"}
LARGE = {**given.service("worker", main={"args": ["python3 -m dynamo.trtllm"]}), "multinode": {"nodeCount": 2}}


def test_the_operator_that_created_a_graph_decides_between_equal_releases():
    """An operator of 1.6 runs a frontend of 1.5 as one of 1.5 does. The graph keeps the origin that only 1.6 gives it."""
    frontend = given.service("frontend", main={"image": "registry.example/dynamo:1.5.1"})
    graph = given.graph({"Frontend": frontend}, annotations={labels.ORIGIN_VERSION: "1.6.1"})
    adopted = adopt.adopt(exported(graph, behaviour="v1.6", workerHash="names", operatorVersion="1.6.1"))
    assert settings_of(adopted)["behaviour"] == "v1.6"
    assert not {"DYN492"} & set(codes(adopted))


def test_services_have_the_order_of_the_live_cliques():
    """Grove refuses another order of cliques that start in an order. An export has services in the order of the alphabet."""
    running = {"Worker": {**LARGE, "resources": {"limits": {"gpu": "8"}}}, "Frontend": FRONTEND}
    export = exported(given.graph(running), **GROVE)
    assert workload(export, "chat")["spec"]["template"]["cliqueStartupType"] == "CliqueStartupTypeExplicit"
    in_order = {name: running[name] for name in sorted(running)}
    adopted = adopt.adopt([live(given.graph(in_order)), *export[1:]])
    assert not codes(adopted)
    assert list(adopted.files["dynamographdeployment_chat.yaml"]["spec"]["services"]) == ["Worker", "Frontend"]


def test_a_change_that_the_cluster_refuses_is_an_error():
    adopted = changed(exported(given.graph(SERVICES), **V0_9), "chat-worker", lambda spec: spec["selector"]["matchLabels"].update(a="b"))
    assert codes(adopted) == ["DYN530"]
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "2 of 2 pod templates the same"


def test_groups_of_another_size_restart():
    group = {"Group": {**LARGE, "resources": {"limits": {"gpu": "8"}}}}
    adopted = changed(exported(given.graph(group), **V0_9), "chat-group-0", lambda spec: spec["leaderWorkerTemplate"].update(size=3))
    assert "DYN568" in codes(adopted)
    assert adopted.verification is not None
    assert "no restart" not in adopt.summary(adopted.verification)


FOREIGN = [
    ("Helm", "annotations", "meta.helm.sh/release-name", "the Helm release chat applies"),
    ("Argo CD", "labels", "argocd.argoproj.io/instance", "the Argo CD application chat applies"),
    ("Flux", "labels", "kustomize.toolkit.fluxcd.io/name", "the Flux Kustomization chat applies"),
]


@pytest.mark.parametrize("kind", ["DynamoGraphDeployment", "Deployment", "Service"])
@cases(("tool", "where", "key", "said"), FOREIGN)
def test_objects_that_another_tool_applies(tool, where, key, said, kind):
    export = exported(given.graph(SERVICES), **V0_9)
    found = next(each for each in export if each["kind"] == kind)
    found["metadata"].setdefault(where, {})[key] = "chat"
    adopted = adopt.adopt(export)
    assert not codes(adopted)
    (warning,) = [each for each in adopted.results if each.severity == "warning"]
    assert warning.code == "DYN572"
    assert said in warning.message
    assert warning.ref is not None
    assert warning.ref.kind == kind
    assert key not in json.dumps(adopted.files)


def test_objects_of_users_in_the_namespace_are_left_alone():
    mine = given.item("Deployment", "mine", api="apps/v1", spec={"template": {"spec": {"containers": []}}})
    mine["metadata"]["annotations"] = {"meta.helm.sh/release-name": "mine"}
    adopted = adopt.adopt([*exported(given.graph(SERVICES), **V0_9), mine])
    assert not adopted.results
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "2 of 2 pod templates the same, no restart"


BROKEN: list[object] = [None, "x", [{"name": []}]]
PLACES = [
    ("metadata", "labels"),
    ("metadata", "labels", "nvidia.com/dynamo-graph-deployment-name"),
    ("metadata", "annotations"),
    ("metadata", "ownerReferences"),
    ("metadata", "finalizers"),
    ("spec", "replicas"),
    ("spec", "template"),
    ("spec", "template", "metadata"),
    ("spec", "template", "spec"),
    ("spec", "template", "spec", "containers"),
    ("spec", "template", "spec", "imagePullSecrets"),
    ("spec", "template", "spec", "containers", 0, "env"),
    ("spec", "template", "spec", "containers", 0, "ports"),
]


@pytest.mark.parametrize("place", PLACES, ids=[".".join(map(str, place)) for place in PLACES])
def test_fields_of_wrong_types_are_no_exception(place):
    for value in BROKEN[: tier.number(3, 1)]:
        export = exported(given.graph(SERVICES), **V0_9)
        holder = workload(export, "chat-worker")
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = value
        adopted = adopt.adopt(export)
        assert adopted.verification or codes(adopted)


OPERATORS = [
    ("1.2.1", "v1.2", "deployment"),
    ("1.2.1", "v1.2", "grove"),
    ("1.3.4, which no release of krm-fn names", "v1.3", "grove"),
    ("1.4.2", "v1.4", "deployment"),
    ("1.4.7, which no release of krm-fn names", "v1.4", "grove"),
]


@pytest.mark.parametrize("noted", [True, False], ids=["with annotations", "without annotations"])
@cases(("operator", "release", "orchestrator"), OPERATORS)
def test_pods_of_operators_from_1_2_to_1_4_stay(operator, release, orchestrator, noted):
    """Grove's pods name the operator that created their graph, so the graph gets its annotation again."""
    version = operator.partition(",")[0]
    graph = given.graph(with_images(SERVICES, f"registry.example/dynamo:{version}"), annotations={labels.ORIGIN_VERSION: version})
    export = exported(graph, behaviour=release, orchestrator=orchestrator, workerHash="names")
    if not noted:
        export[0]["metadata"]["annotations"] = {}
    adopted = adopt.adopt(export)
    assert not codes(adopted)
    assert adopted.verification is not None
    assert adopt.summary(adopted.verification) == "2 of 2 pod templates the same, no restart"
    written = labels.annotations(adopted.files["dynamographdeployment_chat.yaml"])
    assert written.get(labels.ORIGIN_VERSION) == (version if noted or orchestrator == "grove" else None)


def with_images(services, image):
    """The services with another image of their main containers."""
    mains = {name: {**each["extraPodSpec"]["mainContainer"], "image": image} for name, each in services.items()}
    return {name: {**each, "extraPodSpec": {**each["extraPodSpec"], "mainContainer": mains[name]}} for name, each in services.items()}


def test_pods_of_two_origins_annotate_no_graph():
    """The annotation of one component is not the origin of the graph."""
    graph = given.graph(SERVICES, annotations={labels.ORIGIN_VERSION: "1.4.7"})
    export = exported(graph, behaviour="v1.4", orchestrator="grove")
    export[0]["metadata"]["annotations"] = {}
    workload(export, "chat")["spec"]["template"]["cliques"][0]["annotations"][labels.ORIGIN_VERSION] = "1.3.1"
    written = adopt.adopt(export).files["dynamographdeployment_chat.yaml"]
    assert labels.ORIGIN_VERSION not in labels.annotations(written)


def test_among_equal_releases_the_nearest_older_one_is_written():
    """Without annotations, nothing tells 1.2 from 1.4 in the pods of a PodCliqueSet, and 1.5 writes a worker hash into them."""
    graph = given.graph(with_images(SERVICES, "registry.example/dynamo:1.5.1"))
    export = exported(graph, behaviour="v1.4", orchestrator="grove", operatorVersion="1.5.1")
    adopted = adopt.adopt(export)
    assert not codes(adopted)
    assert settings_of(adopted)["behaviour"] == "v1.4"
