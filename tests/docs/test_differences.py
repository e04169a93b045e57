"""Tests every claim of docs/differences.md with a small graph."""

from __future__ import annotations

import copy
import re
import subprocess

import pytest

from krm_fn.base import results
from krm_fn.render import dynamo_api, expand, function_config, labels, workload_list
from tests.support import build_checks, golden
from tests.support.cases import cases
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "differences.md").read_text()


OLDER = programs.ROOT / "tests" / "support" / "v1alpha1"


def graph(name, **services):
    """A graph of v1alpha1 with changed services."""
    (found,) = build_checks.read((OLDER / f"{name}.yaml").read_text())
    for service, fields in services.items():
        merge(found["spec"]["services"].setdefault(service, copy.deepcopy(found["spec"]["services"]["Worker"])), fields)
    return found


def merge(target, changes):
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = value


def render(*resources, **settings):
    """The expansion of resources; those of v1alpha1 follow the operator 0.9, which most of the page is about."""
    if resources[0]["apiVersion"] == dynamo_api.V1ALPHA1:
        settings = {"behaviour": "v0.9", **settings}
    read, found = function_config.read(
        {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": settings}
    )
    assert found == []
    return expand.expand(resources, read)


def objects(expansion, kind):
    assert [result for result in expansion.results if result.severity == "error"] == []
    return {each["metadata"]["name"]: each for each in expansion.resources if each["kind"] == kind}


def codes(expansion, severity):
    return {result.code for result in expansion.results if result.severity == severity}


def container(deployment):
    return deployment["spec"]["template"]["spec"]["containers"][0]


def says(words):
    """Assert that the page contains this text."""
    assert words in PAGE, words


def test_services_for_debugging_only_in_debug_mode():
    says("creates the Services `<component>-p` and `<component>-d` for each component")
    assert objects(render(graph("agg-vllm")), "Service").keys() == {"chat-frontend", "chat-worker"}
    debugged = graph("agg-vllm", Worker={"annotations": {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}})
    assert objects(render(debugged), "Service").keys() == {"chat-frontend", "chat-worker", "chat-worker-p", "chat-worker-d"}


def test_accounts_only_where_a_component_needs_them():
    says("creates the ServiceAccount of the planner for every graph")
    assert objects(render(graph("agg-vllm")), "ServiceAccount").keys() == {"chat-k8s-service-discovery"}
    bindings = objects(render(graph("older-planner"), rbac={"plannerRole": "mine"}), "RoleBinding")
    assert bindings["planner-serviceaccount-binding"]["roleRef"]["name"] == "mine"


def test_labels_and_annotations_of_an_ingress():
    says("ignores `ingress.annotations` and `ingress.labels`")
    way = {"enabled": True, "host": "a", "ingressControllerClassName": "nginx", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    made = objects(render(graph("agg-vllm", Frontend={"ingress": way})), "Ingress")["chat-frontend"]
    assert made["metadata"]["labels"]["a"] == "b"
    assert made["metadata"]["annotations"]["c"] == "d"


def test_replicas_of_an_autoscaler():
    says("sets `replicas` on Deployments that an autoscaler scales")
    made = objects(render(graph("older-planner")), "Deployment")
    assert {name for name, each in made.items() if "replicas" not in each["spec"]} == {"assistant-prefill", "assistant-decode"}


def test_deadline_of_a_rollout():
    says("the time that the startup probe allows, plus 300 seconds")
    made = objects(render(graph("agg-vllm")), "Deployment")
    probe = container(made["chat-worker"])["startupProbe"]
    assert made["chat-worker"]["spec"]["progressDeadlineSeconds"] == probe["periodSeconds"] * probe["failureThreshold"] + 300
    assert made["chat-frontend"]["spec"]["progressDeadlineSeconds"] == 600


@pytest.mark.parametrize("retained", [True, False])
def test_claims_outlive_their_graph(retained):
    says("deletes a PersistentVolumeClaim with its graph")
    made = objects(render(graph("pvc-cache"), retainVolumes=retained), "PersistentVolumeClaim")
    marks = {"argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune", "client.lifecycle.config.k8s.io/deletion"}
    assert made
    assert all((marks <= each["metadata"]["annotations"].keys()) is retained for each in made.values())


def test_restart_stamps_all_at_once_and_warns_of_the_order():
    says("restarts the services one after the other if the graph requests an order")
    asked = graph("agg-vllm")
    asked["spec"]["restart"] = {"id": "one", "strategy": {"order": ["Worker", "Frontend"]}}
    made = render(asked)
    stamps = [each["spec"]["template"]["metadata"]["annotations"]["nvidia.com/restartAt"] for each in objects(made, "Deployment").values()]
    assert stamps == ["one", "one"]
    assert codes(made, "warning") == {"DYN111"}
    assert codes(render(asked, restart="sync"), "warning") == set()


def test_parameters_of_plugins_are_objects():
    says("reads `plugins[].parameters` of an endpoint picker as text")
    text = objects(render(graph("epp-gateway")), "ConfigMap")["gateway-chat-epp-config"]["data"]["epp-config-dynamo.yaml"]
    assert build_checks.read(text)[0]["plugins"][0]["parameters"] == {"timeoutMS": 500, "routerMode": "kv"}


def test_probe_of_the_user_replaces_the_default():
    says("adds a user's `exec` or `tcpSocket` probe beside the default `httpGet`")
    probe = {"mainContainer": {"livenessProbe": {"tcpSocket": {"port": "system"}}}}
    made = render(graph("agg-vllm", Worker={"extraPodSpec": probe}))
    assert "httpGet" not in container(objects(made, "Deployment")["chat-worker"])["livenessProbe"]
    assert codes(made, "info") == {"DYN300"}


WIDE = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "8"}}}


def leader(release="v0.9", **main):
    made = render(graph("agg-vllm", Worker={**WIDE, "replicas": 1, "extraPodSpec": {"mainContainer": main}}), behaviour=release)
    (found,) = objects(made, "LeaderWorkerSet").values()
    return found


def follower(release="v0.9", **main):
    (line,) = leader(release, **main)["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["args"]
    return line


def test_sets_without_an_empty_strategy():
    says("sends LeaderWorkerSets with an empty `rolloutStrategy.type`")
    assert "rolloutStrategy" not in leader()["spec"]


def test_address_of_the_leader_in_a_list_of_words():
    says("krm-fn passes `$(LWS_LEADER_ADDRESS)`")
    made = leader(args=["--model", "m", "--data-parallel-size", "16"])
    words = made["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["args"]
    assert "$(LWS_LEADER_ADDRESS)" in words
    assert "$LWS_LEADER_ADDRESS" not in words


def test_quotes_of_a_shell_form_survive_ray():
    says("the quotes of the command are lost")
    made = leader(command=["/bin/sh", "-c"], args=['echo "a  b"; python3 -m dynamo.vllm --tensor-parallel-size 16'])
    (line,) = made["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["args"]
    assert """/bin/sh -c 'echo "a  b"; python3""" in line


def test_quotes_of_a_tensorrt_command_are_escaped():
    says("krm-fn escapes the single quotes in the command")
    made = leader(command=["sh", "-c"], args=["python3 -m dynamo.trtllm --name 'a b'"])
    (line,) = made["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["args"]
    assert line.endswith("""'trtllm-llmapi-launch python3 -m dynamo.trtllm --name '"'"'a b'"'"''""")


def test_the_shell_computes_the_first_rank_of_a_follower():
    says("writes `$(( 8 * LWS_WORKER_INDEX ))`, which the shell computes")
    for release in ("v0.9", "v1.5", "v1.6"):
        written = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--data-parallel-size", "16"]}
        assert "--data-parallel-start-rank $(( 8 * LWS_WORKER_INDEX )) " in follower(release, **written)


def test_json_keeps_its_quotes_in_a_line_for_a_shell():
    says("puts JSON objects and arrays into single quotes. Other words stay")
    line = follower(args=["--data-parallel-size", "16", "--kv", '{"role": "both"}', "--name", "a b"])
    assert """ --kv '{"role": "both"}' --name a b """ in line


def test_cliques_in_the_order_of_the_graph():
    says("orders the cliques of a PodCliqueSet at random")
    (made,) = objects(render(graph("agg-vllm"), orchestrator="grove"), "PodCliqueSet").values()
    assert [each["name"] for each in made["spec"]["template"]["cliques"]] == ["frontend", "worker"]
    says("If `Worker` stood before `PrefillWorker`, Grove would start pods of Worker")
    (made,) = objects(render(graph("agg-vllm", PrefillWorker={}), orchestrator="grove"), "PodCliqueSet").values()
    assert [each["name"] for each in made["spec"]["template"]["cliques"]] == ["frontend", "prefillworker", "worker"]


def test_what_grove_makes_is_scaled_by_its_name():
    says("kubectl scale podclique chat-0-worker --replicas 3")
    says("kubectl scale podcliquescalinggroup chat-0-decode --replicas 3")
    made = objects(render(graph("agg-vllm", Decode=WIDE), orchestrator="grove"), "DynamoGraphDeployment")["chat"]
    listed = {(entry.kind, entry.name) for entry in workload_list.read(made["metadata"]["annotations"][labels.WORKLOADS])}
    assert {("PodClique", "chat-0-worker"), ("PodCliqueScalingGroup", "chat-0-decode")} <= listed


def test_service_of_a_component_alone_finds_its_pods():
    says("selects the pods of a standalone component by a label that these pods do not have")
    spec = {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "a:1"}}}
    lone = {
        "apiVersion": build_checks.DYNAMO,
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "front", "namespace": "team"},
        "spec": spec,
    }
    build_checks.assert_fit(render(lone, discoveryBackend="etcd").resources)


DISAGGREGATED = build_checks.read((golden.EXAMPLES / "v1beta1-disagg-sglang" / "graph.yaml").read_text())[0]


def newer(name, **fields):
    """The v1beta1 graph with a changed component."""
    found = copy.deepcopy(DISAGGREGATED)
    merge(next(each for each in found["spec"]["components"] if each["name"] == name), fields)
    return found


def test_workers_keep_their_names_when_they_change():
    says("keeps the names. The pods have the worker revision in a label")
    versions = [objects(render(newer("Decode", sharedMemorySize=size)), "Deployment") for size in ("1Gi", "2Gi")]
    assert versions[0].keys() == versions[1].keys() == {"writer-frontend", "writer-prefill", "writer-decode"}
    generations = [made["writer-prefill"]["spec"]["template"]["metadata"]["labels"][labels.WORKER_HASH] for made in versions]
    assert generations[0] != generations[1]


def spread(**main):
    """The objects of a graph whose decode workers need two nodes, with Ray."""
    ray = {"annotations": {"nvidia.com/vllm-distributed-executor-backend": "ray"}}
    (container,) = DISAGGREGATED["spec"]["components"][2]["podTemplate"]["spec"]["containers"]
    pods = {"metadata": ray, "spec": {"containers": [{**container, "command": ["python3", "-m", "dynamo.vllm"], **main}]}}
    found = newer("Decode", multinode={"nodeCount": 2}, podTemplate=pods)
    found["spec"].pop("backendFramework")
    for each in found["spec"]["components"][1:]:
        each["podTemplate"]["spec"]["containers"][0]["command"] = ["python3", "-m", "dynamo.vllm"]
    return render(found)


def test_words_reach_the_program_of_a_leader_as_they_are_written():
    says("quotes each word so that the program gets it as the user wrote it, after Kubernetes has replaced each `$(NAME)` in it")
    words = ["--name", "it's", "--path", "$HOME/a", "--address", "$(POD_NAME):1", "--text", "a;b"]
    made = spread(args=["--tensor-parallel-size", "4", *words])
    (found,) = objects(made, "LeaderWorkerSet").values()
    (line,) = found["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["args"]
    script = f"ray() {{ :; }}; python3() {{ printf '%s\\n' \"$@\"; }}; {line}"
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, timeout=300).stdout.splitlines()
    assert words == [word for word in said if word in words]


def test_followers_wait_with_our_script():
    says("writes another script. The ConfigMap and the variables have the same names")
    text = (golden.EXAMPLES / "v1beta1-multinode-vllm" / "expected.yaml").read_text()
    (script,) = [each for each in build_checks.read(text) if each["kind"] == "ConfigMap"]
    assert script["metadata"]["name"] == "giant-wait-leader-script"
    assert {"LEADER_HOST", "LEADER_PORT"} <= {*re.findall(r"LEADER_\w+", script["data"]["wait-for-leader.py"])}


def test_adapters_have_the_version_of_their_graph():
    says("writes scaling adapters in the version of their graph")
    (version,) = {each["apiVersion"] for each in objects(render(DISAGGREGATED), "DynamoGraphDeploymentScalingAdapter").values()}
    assert version == DISAGGREGATED["apiVersion"]


def test_grove_tells_workers_their_generation():
    says("writes the label `nvidia.com/dynamo-worker-hash` and the variable `DYN_NAMESPACE_WORKER_SUFFIX`")
    (made,) = objects(render(DISAGGREGATED, orchestrator="grove"), "PodCliqueSet").values()
    told = {}
    for each in made["spec"]["template"]["cliques"]:
        variables = {entry["name"]: entry.get("value") for entry in each["spec"]["podSpec"]["containers"][0]["env"]}
        told[each["name"]] = (each["labels"].get(labels.WORKER_HASH), variables.get("DYN_NAMESPACE_WORKER_SUFFIX"))
    assert told["frontend"] == (None, None)
    assert told["prefill"] == told["decode"] == (told["decode"][0], told["decode"][0])
    assert told["decode"][0]


def test_unknown_fields_are_refused():
    says("fields that the API server does not know are dropped. | krm-fn reports an error")
    assert codes(render(newer("Decode", newest=True)), "error") == {"DYN023"}


def test_what_the_cluster_has_is_read_from_the_items():
    says("reads them from the input items. It [reports](errors/DYN436.md) each one that a graph needs and that is missing")
    written = newer("Decode")
    written["spec"]["experimental"] = {"kvTransferPolicy": {"clusterTopologyName": "racks", "domain": "rack"}}
    levels = [{"domain": "rack", "key": "example.com/rack"}]
    binding = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopologyBinding",
        "metadata": {"name": "racks"},
        "spec": {"levels": levels},
    }
    assert codes(render(written, orchestrator="grove"), "error") == {"DYN436"}
    assert codes(render(written, binding, orchestrator="grove"), "error") == set()


@pytest.mark.parametrize(("settings", "refused"), [({}, set()), ({"dra": False}, {"DYN438"})], ids=["by default", "switched off"])
def test_resource_allocation_is_there_unless_the_configuration_says_otherwise(settings, refused):
    says("reads the key `dra` of the configuration. By default, it assumes that the cluster has it")
    assert codes(render(newer("Decode", experimental={"gpuMemoryService": {}}), **settings), "error") == refused


def test_checkpoints_are_refused():
    says("creates and restores checkpoints. | krm-fn [reports an error](errors/DYN468.md)")
    found = render(newer("Decode", experimental={"checkpoint": {"enabled": True}})).results
    assert [results.field(each.path) for each in found if each.severity == "error"] == ["spec.components[2].experimental.checkpoint"]


def test_what_grove_refuses_is_made_with_a_warning_under_1_5():
    says("creates the same PodCliqueSet and reports a warning that says why Grove rejects it")
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    made = render(newer("Decode", podTemplate={"spec": {"topologySpreadConstraints": spread}}), orchestrator="grove")
    assert "DYN168" in codes(made, "warning")
    (found,) = objects(made, "PodCliqueSet").values()
    assert found["spec"]["template"]["cliques"][2]["spec"]["podSpec"]["topologySpreadConstraints"] == spread


TWICE = [{"name": "a", "mountPoint": "/a"}, {"name": "a", "mountPoint": "/b"}]
HANDLERS = {"tcpSocket": {"port": 1}, "exec": {"command": ["true"]}}
ONE_ONLY = {"nvidia.com/dynamo-discovery-backend": "kubernetes"}
GROVE = {"orchestrator": "grove"}
ERRORS = [
    (
        "with another `nvidia.com/selector`",
        {"Worker": {"extraPodMetadata": {"labels": {"nvidia.com/selector": "x"}}}},
        {},
        "Worker.extraPodMetadata",
    ),
    ("whose names differ only in upper and lower case", {"WORKER": {}}, {}, "WORKER"),
    (
        "A multinode service, while the configuration enables neither",
        {"Worker": WIDE},
        {"leaderWorkerSet": {"enabled": False}},
        "Worker.multinode",
    ),
    ("A PersistentVolumeClaim that is mounted twice", {"Worker": {"volumeMounts": TWICE}}, {}, "Worker.volumeMounts[1]"),
    ("exceed 63 characters together", {"a" * 60: {}}, {}, "a" * 60),
    ("A multinode service `decode` beside a service `decode-0`", {"Worker": WIDE, "Worker-0": {}}, {}, "Worker-0"),
    ("beside a service `decode-ldr`", {"Worker-ldr": {}, "Worker": WIDE}, GROVE, "Worker-ldr"),
    ("names over 45 characters", {"a" * 45: {}}, GROVE, "a" * 45),
    ("a multinode service with 0 replicas", {"Worker": {**WIDE, "replicas": 0}}, GROVE, "Worker.replicas"),
    ("`nodeName`", {"Worker": {"extraPodSpec": {"nodeName": "a"}}}, GROVE, "Worker.extraPodSpec.nodeName"),
    (
        "`topologySpreadConstraints`",
        {"Worker": {"extraPodSpec": {"topologySpreadConstraints": []}}},
        GROVE,
        "Worker.extraPodSpec.topologySpreadConstraints",
    ),
    ("two schedulers", {"Worker": {"extraPodSpec": {"schedulerName": "kai-scheduler"}}}, GROVE, "Worker.extraPodSpec.schedulerName"),
    (
        "a scheduler that Grove does not know",
        {"Worker": {"extraPodSpec": {"schedulerName": "a"}}},
        GROVE,
        "Worker.extraPodSpec.schedulerName",
    ),
    (
        "A discovery annotation on one service only",
        {"Worker": {"annotations": ONE_ONLY}},
        {"discoveryBackend": "etcd"},
        "Worker.annotations",
    ),
    ("A probe with two handlers", {"Worker": {"readinessProbe": HANDLERS}}, {}, "Worker.readinessProbe"),
]


@cases(("words", "services", "settings", "field"), ERRORS)
def test_errors_at_build_time(words, services, settings, field):
    """Each error points to the field with the mistake."""
    says(words)
    found = render(graph("agg-vllm", **services), **settings).results
    assert any(results.field(each.path).startswith(f"spec.services.{field}") for each in found if each.severity == "error"), found


WARNINGS = [
    ("`labels` of a service", {"labels": {"a": "b"}}, "DYN114"),
    ("`requests.gpu`", {"resources": {"requests": {"gpu": "2"}}}, "DYN115"),
    ("A numeric probe port", {"extraPodSpec": {"mainContainer": {"livenessProbe": {"httpGet": {"port": 1}}}}}, "DYN153"),
    ("Each explicit `null`", {"sharedMemory": None}, "DYN028"),
]


@cases(("words", "fields", "code"), WARNINGS)
def test_warnings(words, fields, code):
    says(words)
    found = render(graph("agg-vllm", Worker=fields))
    assert codes(found, "error") == set()
    assert codes(found, "warning") == {code}


def test_without_mistakes_nothing_is_said():
    assert render(graph("agg-vllm")).results == []


def test_a_variable_for_the_leader_is_the_users_under_1_5():
    says("keeps the variable of the user")
    own = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "10.0.0.1"}
    main = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--x"], "image": "example.org/vllm:1.5.0", "env": [own]}
    several = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "8"}}, "extraPodSpec": {"mainContainer": main}}
    (group, *_) = objects(render(graph("agg-vllm", Worker=several), behaviour="v1.5"), "LeaderWorkerSet").values()
    env = group["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["env"]
    assert [each for each in env if each["name"] == own["name"]] == [own]
