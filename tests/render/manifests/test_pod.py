"""Pods are layered as in the reference: defaults, the user, what is enforced (graph.go GenerateBasePodSpec, generatePodTemplateSpec)."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, labels
from krm_fn.render.manifests import graph_objects
from tests.support import faults, given
from tests.support.cases import cases

TYPES = ["", "frontend", "worker", "prefill", "decode", "planner", "epp"]
COMMON = {
    "DYN_COMPONENT",
    "DYN_DISCOVERY_BACKEND",
    "DYN_NAMESPACE",
    "DYN_PARENT_DGD_K8S_NAME",
    "DYN_PARENT_DGD_K8S_NAMESPACE",
    "POD_NAME",
    "POD_NAMESPACE",
    "POD_UID",
}


def of(kind, **fields):
    return given.picker(**fields) if kind == "epp" else given.service(kind, **fields)


# which defaults a type has


DEFAULTS = [
    ("no type", "", ["/bin/sh", "-c"], None, [], set(), {}),
    ("an unknown type", "router", ["/bin/sh", "-c"], None, [], set(), {}),
    ("another case", "Worker", ["/bin/sh", "-c"], None, [], set(), {}),
    (
        "a frontend",
        "frontend",
        ["python3"],
        ["-m", "dynamo.frontend"],
        [("http", 8000)],
        {"DYNAMO_PORT", "DYN_HTTP_PORT"},
        {"livenessProbe": "/live", "readinessProbe": "/health"},
    ),
    *(
        (
            f"a {kind}",
            kind,
            ["/bin/sh", "-c"],
            None,
            [("system", 9090)],
            {"DYN_SYSTEM_ENABLED", "DYN_SYSTEM_PORT", "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "DYN_HEALTH_CHECK_ENABLED"},
            {"livenessProbe": "/live", "readinessProbe": "/health", "startupProbe": "/live"},
        )
        for kind in ("worker", "prefill", "decode")
    ),
    ("a planner", "planner", ["/bin/sh", "-c"], None, [("metrics", 9085)], {"PLANNER_PROMETHEUS_PORT"}, {}),
]


@cases(("kind", "command", "args", "ports", "more", "probes"), DEFAULTS)
def test_the_defaults_of_a_type(kind, command, args, ports, more, probes):
    """Sections on component defaults: container, environment and probes."""
    main = given.main(of(kind))
    assert main["name"] == "main"
    assert (main["command"], main.get("args")) == (command, args)
    assert [(port["name"], port["containerPort"]) for port in main.get("ports", [])] == ports
    assert set(given.variables(main)) == COMMON | more
    assert {name: main[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe", "startupProbe") if name in main} == probes


def test_the_default_probes_of_a_frontend_and_a_worker():
    front, worker = given.main(of("frontend")), given.main(of("worker"))
    assert front["livenessProbe"] == {
        "httpGet": {"path": "/live", "port": "http"},
        "initialDelaySeconds": 15,
        "periodSeconds": 10,
        "timeoutSeconds": 1,
        "failureThreshold": 3,
    }
    assert front["readinessProbe"] == {
        "httpGet": {"path": "/health", "port": "http"},
        "initialDelaySeconds": 10,
        "periodSeconds": 10,
        "timeoutSeconds": 3,
        "failureThreshold": 3,
    }
    assert worker["livenessProbe"] == {
        "httpGet": {"path": "/live", "port": "system"},
        "periodSeconds": 5,
        "timeoutSeconds": 4,
        "failureThreshold": 1,
    }
    assert worker["readinessProbe"] == {
        "httpGet": {"path": "/health", "port": "system"},
        "periodSeconds": 10,
        "timeoutSeconds": 4,
        "failureThreshold": 3,
    }
    assert worker["startupProbe"] == {
        "httpGet": {"path": "/live", "port": "system"},
        "periodSeconds": 10,
        "timeoutSeconds": 5,
        "failureThreshold": 720,
    }


def test_an_endpoint_picker_runs_its_images_own_command_with_flags():
    main = given.main(given.picker())
    assert "command" not in main
    flags = dict(zip(main["args"][::2], main["args"][1::2], strict=True))
    assert flags == {
        "-pool-name": "chat-pool",
        "-pool-namespace": "team",
        "-pool-group": "inference.networking.k8s.io",
        "-v": "4",
        "--zap-encoder": "json",
        "-grpc-port": "9002",
        "-grpc-health-port": "9003",
        "-config-file": "/etc/epp/epp-config-dynamo.yaml",
    }
    assert [(port["name"], port["containerPort"]) for port in main["ports"]] == [("grpc", 9002), ("grpc-health", 9003), ("metrics", 9090)]
    assert (
        main["livenessProbe"]
        == main["readinessProbe"]
        == {"grpc": {"port": 9003, "service": "inference-extension"}, "initialDelaySeconds": 5, "periodSeconds": 10}
    )
    assert set(given.variables(main)) == COMMON | {"DYN_KV_BLOCK_SIZE", "DYN_DISCOVERY_TIMEOUT_SEC", "USE_STREAMING", "RUST_LOG"}


PODS = [
    ("no type", "", 60, "chat-k8s-service-discovery"),
    ("a worker", "worker", 60, "chat-k8s-service-discovery"),
    ("a planner", "planner", 60, "planner-serviceaccount"),
    ("an endpoint picker", "epp", 130, "epp-serviceaccount"),
]


@cases(("kind", "grace", "account"), PODS)
def test_the_default_pod_of_a_type(kind, grace, account):
    spec = given.pod(of(kind))
    assert (spec["terminationGracePeriodSeconds"], spec["serviceAccountName"]) == (grace, account)
    assert (spec["restartPolicy"], spec["securityContext"]) == ("Always", {"fsGroup": 1000})


# who says what the environment is, and in which order


def test_layers_of_the_environment_from_the_lowest_to_the_highest():
    """The installation, the type, the main container, the graph, the service; sorted by bytes."""
    names = ["NATS_SERVER", "DYN_SYSTEM_PORT", "MAIN", "GRAPH", "SERVICE"]
    layers = {name: [{"name": other, "value": name} for other in names[place:]] for place, name in enumerate(names)}
    written = given.service("worker", main={"env": layers["MAIN"]}, envs=layers["SERVICE"])
    main = given.main(written, config={"nats_address": "NATS_SERVER"}, envs=layers["GRAPH"])
    found = given.variables(main)
    assert {name: found[name] for name in names} == {
        "NATS_SERVER": "NATS_SERVER",
        "DYN_SYSTEM_PORT": "9090",
        "MAIN": "MAIN",
        "GRAPH": "GRAPH",
        "SERVICE": "SERVICE",
    }
    assert [entry["name"] for entry in main["env"]] == sorted(found)
    higher = given.service("worker", main={"env": layers["NATS_SERVER"]})
    assert given.variables(given.main(higher, config={"nats_address": "x"}))["DYN_SYSTEM_PORT"] == "NATS_SERVER"


PLATFORM = [
    ("nothing configured", {}, {}),
    (
        "everything configured",
        {"nats_address": "nats://n", "etcd_address": "e:2379", "model_express_url": "http://m", "prometheus_endpoint": "http://p"},
        {"NATS_SERVER": "nats://n", "ETCD_ENDPOINTS": "e:2379", "MODEL_EXPRESS_URL": "http://m", "PROMETHEUS_ENDPOINT": "http://p"},
    ),
]


@cases(("settings", "expected"), PLATFORM)
@pytest.mark.parametrize("kind", TYPES)
def test_addresses_of_the_platform_reach_every_type(kind, settings, expected):
    found = given.variables(given.main(of(kind), config=settings))
    assert {
        name: found[name] for name in ("NATS_SERVER", "ETCD_ENDPOINTS", "MODEL_EXPRESS_URL", "PROMETHEUS_ENDPOINT") if name in found
    } == expected


def test_pods_are_told_who_and_where_they_are():
    found = given.variables(given.main(given.service("prefill")))
    assert found["DYN_COMPONENT"] == "prefill"
    assert (found["DYN_NAMESPACE"], found["DYN_PARENT_DGD_K8S_NAME"], found["DYN_PARENT_DGD_K8S_NAMESPACE"]) == (
        "team-chat",
        "chat",
        "team",
    )
    assert [found[name]["fieldRef"]["fieldPath"] for name in ("POD_NAME", "POD_NAMESPACE", "POD_UID")] == [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
    ]


def test_a_variable_without_a_value_has_only_its_name():
    assert {"name": "DYN_COMPONENT"} in given.main(given.service())["env"]


def test_the_shared_dynamo_namespace():
    assert given.variables(given.main(given.service("worker", globalDynamoNamespace=True)))["DYN_NAMESPACE"] == "dynamo"


BACKENDS = [
    ("the configured one", "kubernetes", None, "kubernetes", "chat-k8s-service-discovery"),
    ("etcd by configuration", "etcd", None, None, "default"),
    ("etcd by annotation of the graph", "kubernetes", {labels.DISCOVERY_BACKEND: "etcd"}, None, "default"),
    ("Kubernetes by annotation of the graph", "etcd", {labels.DISCOVERY_BACKEND: "kubernetes"}, "kubernetes", "chat-k8s-service-discovery"),
    (
        "an unknown one counts as Kubernetes in the environment only",
        "kubernetes",
        {labels.DISCOVERY_BACKEND: "consul"},
        "kubernetes",
        "default",
    ),
    ("an empty one too", "kubernetes", {labels.DISCOVERY_BACKEND: ""}, "kubernetes", "default"),
]


@cases(("configured", "annotations", "told", "account"), BACKENDS)
def test_discovery(configured, annotations, told, account):
    found = given.rendered(given.graph(annotations=annotations), discovery_backend=configured)
    spec = found["Deployment/chat-worker"]["spec"]["template"]["spec"]
    assert given.variables(spec["containers"][0]).get("DYN_DISCOVERY_BACKEND") == told
    assert spec["serviceAccountName"] == account
    assert ("Role/chat-k8s-service-discovery-role" in found) is (account == "chat-k8s-service-discovery")


def test_without_discovery_through_kubernetes_pods_get_the_account_marked_for_them():
    marked = given.item("ServiceAccount", "for-pods")
    marked["metadata"]["labels"] = {labels.COMPONENT_POD: "true"}
    assert given.pod(given.service("worker"), marked, config={"discovery_backend": "etcd"})["serviceAccountName"] == "for-pods"
    assert given.pod(given.service("worker"), marked)["serviceAccountName"] == "chat-k8s-service-discovery"


ACCOUNTS = [
    ("a worker's", "worker", "mine", "mine"),
    ("an endpoint picker's", "epp", "mine", "mine"),
    ("a planner's is forced", "planner", "mine", "planner-serviceaccount"),
    ("an empty one is none", "worker", "", "chat-k8s-service-discovery"),
]


@cases(("kind", "written", "account"), ACCOUNTS)
def test_an_account_of_ones_own(kind, written, account):
    assert given.pod(of(kind, pod={"serviceAccountName": written}))["serviceAccountName"] == account


# what the service says over the main container


def test_probes_of_the_service_replace_those_of_the_container():
    own = {"httpGet": {"path": "/mine", "port": 81}}
    main = given.main(given.service("worker", main={"livenessProbe": {"periodSeconds": 7}}, livenessProbe=own))
    assert main["livenessProbe"] == own
    assert main["readinessProbe"]["httpGet"]["path"] == "/health"


RESOURCES = [
    ("nothing", {}, {}, None),
    (
        "the service's",
        {},
        {"limits": {"cpu": "2000m", "memory": "1024Mi"}, "requests": {"cpu": "0.5"}},
        {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
    ),
    (
        "the service's over the container's, key by key",
        {"limits": {"cpu": "1", "memory": "2048Mi"}},
        {"limits": {"cpu": "2"}},
        {"limits": {"cpu": "2", "memory": "2Gi"}},
    ),
    ("GPUs by their usual name", {}, {"limits": {"gpu": "2"}}, {"limits": {"nvidia.com/gpu": "2"}}),
    ("GPUs by another name", {}, {"limits": {"gpu": "2", "gpuType": "amd.com/gpu"}}, {"limits": {"amd.com/gpu": "2"}}),
    ("a kind of GPU without a number", {}, {"limits": {"gpuType": "amd.com/gpu"}}, None),
    (
        "resources of one's own come last",
        {},
        {"limits": {"gpu": "2", "custom": {"nvidia.com/gpu": "4", "rdma/ib": "1"}}},
        {"limits": {"nvidia.com/gpu": "4", "rdma/ib": "1"}},
    ),
    ("requested GPUs are dropped", {}, {"requests": {"gpu": "2", "cpu": "1"}}, {"requests": {"cpu": "1"}}),
    ("empty amounts are none", {}, {"limits": {"cpu": "", "memory": "1Gi"}}, {"limits": {"memory": "1Gi"}}),
]


@cases(("container", "service", "native"), RESOURCES)
def test_resources(container, service, native):
    main = given.main(given.service("worker", main={"resources": container}, resources=service))
    assert (main.get("resources") or None) == native


def test_resource_claims_add_up():
    claims = {"claims": [{"name": "a"}]}
    pods = {"resourceClaims": [{"name": name, "resourceClaimName": name} for name in "ab"]}
    written = given.service("worker", main={"resources": claims}, pod=pods, resources={"claims": [{"name": "b"}]})
    assert given.main(written)["resources"] == {"claims": [{"name": "a"}, {"name": "b"}]}


def test_a_secret_of_variables_comes_after_the_containers_own():
    own = {"configMapRef": {"name": "settings"}}
    main = given.main(given.service("worker", main={"envFrom": [own]}, envFromSecret="token"))
    assert main["envFrom"] == [own, {"secretRef": {"name": "token"}}]
    assert "envFrom" not in given.main(given.service("worker", envFromSecret=""))


# volumes and mounts


MEMORY = [
    ("the default", None, "8Gi"),
    ("a size", {"size": "16384Mi"}, "16Gi"),
    ("a size as a number", {"size": 1024}, "1024"),
    ("none", {"disabled": True}, None),
    ("none, whatever size", {"disabled": True, "size": "1Gi"}, None),
]


@cases(("written", "size"), MEMORY)
def test_shared_memory(written, size):
    spec = given.pod(given.service("worker", **({} if written is None else {"sharedMemory": written})))
    volumes: list[object] = [] if size is None else [{"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]
    mounts = [] if size is None else [{"name": "shared-memory", "mountPath": "/dev/shm"}]  # noqa: S108 - the kernel's name for it
    assert (spec.get("volumes", []), spec["containers"][0].get("volumeMounts", [])) == (volumes, mounts)


def test_volumes_stand_in_the_order_of_user_claims_shared_memory():
    own = {"volumes": [{"name": "own", "emptyDir": {}}]}
    mounted = [{"name": "weights", "mountPoint": "/w"}, {"name": "data", "mountPoint": "/d"}]
    spec = given.pod(given.service("worker", main={"volumeMounts": [{"name": "own", "mountPath": "/o"}]}, pod=own, volumeMounts=mounted))
    assert [volume["name"] for volume in spec["volumes"]] == ["own", "weights", "data", "shared-memory"]
    assert spec["volumes"][1] == {"name": "weights", "persistentVolumeClaim": {"claimName": "weights"}}
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == ["/o", "/w", "/d", "/dev/shm"]  # noqa: S108


CACHES = [
    ("a place of one's own", "vllm", "/cache", "/cache", "/cache"),
    ("the engine's place, of which it need not be told", "vllm", None, "/root/.cache/vllm", None),
    ("another engine is not told", "sglang", "/cache", "/cache", None),
    ("no engine is not told", "", "/cache", "/cache", None),
]


@cases(("engine", "written", "place", "told"), CACHES)
def test_a_compilation_cache(engine, written, place, told):
    mount = {"name": "cache", "useAsCompilationCache": True, **({"mountPoint": written} if written else {})}
    args = [f"python3 -m dynamo.{engine}"] if engine else ["./run"]
    main = given.main(given.service("worker", main={"args": args}, volumeMounts=[mount]))
    assert main["volumeMounts"][0] == {"name": "cache", "mountPath": place}
    assert given.variables(main).get("VLLM_CACHE_ROOT") == told
    assert (main["env"][-1]["name"] == "VLLM_CACHE_ROOT") is bool(told)


def test_only_the_first_cache_counts_and_other_mounts_are_none():
    mounts = [
        {"name": "a", "mountPoint": "/a"},
        {"name": "b", "mountPoint": "/b", "useAsCompilationCache": True},
        {"name": "c", "mountPoint": "/c", "useAsCompilationCache": True},
    ]
    main = given.main(given.service("worker", main={"args": ["python3 -m dynamo.vllm"]}, volumeMounts=mounts))
    assert given.variables(main)["VLLM_CACHE_ROOT"] == "/b"


def test_an_endpoint_pickers_volumes_are_replaced_by_the_users():
    """Lists replace as a whole, so whoever writes one brings the configuration too."""
    volumes: list[Resource] = [{"name": name, "emptyDir": {}} for name in ("epp-config", "hf-cache", "more")]
    spec = given.pod(given.picker(pod={"volumes": volumes}))
    assert spec["volumes"][:3] == volumes
    assert [volume["name"] for volume in given.pod(given.picker())["volumes"]] == ["epp-config", "hf-cache", "shared-memory"]


# the pod around it


POD = [
    (
        "the main container comes last",
        {"containers": [{"name": "side", "image": "s"}]},
        "containers",
        lambda found: [entry["name"] for entry in found],
        ["side", "main"],
    ),
    ("an empty security context stays empty", {"securityContext": {}}, "securityContext", lambda found: found, {}),
    (
        "a security context is the user's alone",
        {"securityContext": {"runAsUser": 5}},
        "securityContext",
        lambda found: found,
        {"runAsUser": 5},
    ),
    ("a grace period replaces the default", {"terminationGracePeriodSeconds": 5}, "terminationGracePeriodSeconds", lambda found: found, 5),
    ("a grace period of zero does not", {"terminationGracePeriodSeconds": 0}, "terminationGracePeriodSeconds", lambda found: found, 60),
    ("what has no default comes as written", {"hostNetwork": False, "priority": 0}, "priority", lambda found: found, 0),
    (
        "node selectors and tolerations too",
        {"tolerations": [{"operator": "Exists"}]},
        "tolerations",
        lambda found: found,
        [{"operator": "Exists"}],
    ),
]


@cases(("written", "key", "look", "expected"), POD)
def test_the_users_pod(written, key, look, expected):
    assert look(given.pod(given.service("worker", pod=written))[key]) == expected


MAIN = [
    ("arguments alone keep the command", {"args": ["--port", "1"]}, ["python3"], ["--port", "1"]),
    ("a command alone keeps the arguments", {"command": ["/bin/sh", "-c"]}, ["/bin/sh", "-c"], ["-m", "dynamo.frontend"]),
    ("empty lists change nothing", {"command": [], "args": []}, ["python3"], ["-m", "dynamo.frontend"]),
    ("both", {"command": ["a"], "args": ["b"]}, ["a"], ["b"]),
]


@cases(("written", "command", "args"), MAIN)
def test_command_and_arguments_are_two_lists(written, command, args):
    main = given.main(given.service("frontend", main=written))
    assert (main["command"], main["args"]) == (command, args)


def test_the_main_container_can_be_renamed():
    assert given.main(given.service("worker", main={"name": "engine"}))["name"] == "engine"


IMAGE = "registry.example/dynamo:1"
SECRETS = [
    ("found ones", {}, {}, [{"name": "pull"}]),
    (
        "after the user's, and none twice",
        {"imagePullSecrets": [{"name": "own"}, {"name": "pull"}]},
        {},
        [{"name": "own"}, {"name": "pull"}],
    ),
    ("after the user's", {"imagePullSecrets": [{"name": "own"}]}, {}, [{"name": "own"}, {"name": "pull"}]),
    (
        "none where the service does not want them",
        {"imagePullSecrets": [{"name": "own"}]},
        {labels.NO_PULL_SECRETS: "true"},
        [{"name": "own"}],
    ),
    ("any other word is no refusal", {}, {labels.NO_PULL_SECRETS: "yes"}, [{"name": "pull"}]),
]


@cases(("written", "annotations", "names"), SECRETS)
def test_pull_secrets(written, annotations, names):
    secret = faults.secret({"registry.example": {}})
    spec = given.pod(given.service("worker", pod=written, annotations=annotations), secret)
    assert spec["imagePullSecrets"] == names


def test_an_image_of_another_registry_has_no_pull_secrets():
    spec = given.pod(given.service("worker", main={"image": "other.example/a"}), faults.secret({"registry.example": {}}))
    assert "imagePullSecrets" not in spec


# metadata of the template


def template(written, *around, **spec):
    return given.deployment(written, *around, **spec)["spec"]["template"]["metadata"]


def test_labels_say_who_the_pods_are():
    assert template(given.service("worker", subComponentType="decode"))["labels"] == {
        labels.COMPONENT: "Worker",
        labels.NAMESPACE: "team-chat",
        labels.GRAPH: "chat",
        labels.METRICS_ENABLED: "true",
        labels.COMPONENT_TYPE: "worker",
        labels.SUB_COMPONENT_TYPE: "decode",
        labels.SELECTOR: "chat-worker",
    }


def test_an_untyped_component_has_no_label_for_its_type():
    assert labels.COMPONENT_TYPE not in template(given.service())["labels"]


METRICS = [
    ("absent", {}, True),
    ("off", {labels.ENABLE_METRICS: "false"}, False),
    ("on", {labels.ENABLE_METRICS: "true"}, True),
    ("another word", {labels.ENABLE_METRICS: "False"}, True),
]


@cases(("annotations", "marked"), METRICS)
def test_metrics_are_collected_unless_they_are_switched_off(annotations, marked):
    assert (labels.METRICS_ENABLED in template(given.service("worker", annotations=annotations))["labels"]) is marked
    whole = given.rendered(given.graph(annotations=annotations))["Deployment/chat-worker"]
    assert (labels.METRICS_ENABLED in whole["spec"]["template"]["metadata"]["labels"]) is marked


def test_labels_and_annotations_of_ones_own():
    found = template(
        given.service(
            "worker",
            annotations={"a": "service"},
            extraPodMetadata={"labels": {"team": "a", labels.METRICS_ENABLED: "no"}, "annotations": {"note": "b"}},
        )
    )
    assert (found["labels"]["team"], found["labels"][labels.METRICS_ENABLED]) == ("a", "no")
    assert found["annotations"] == {"note": "b"}


def test_a_model_marks_the_pods():
    assert labels.BASE_MODEL_HASH in template(given.service("worker", modelRef={"name": "acme/tiny"}))["labels"]
    assert labels.BASE_MODEL_HASH not in template(given.service("worker"))["labels"]


RESTARTS = [
    ("a restart", {"id": "one"}, "render", "one"),
    ("a restart that the syncer does", {"id": "one"}, "sync", None),
    ("no restart", None, "render", None),
]


@cases(("restart", "mode", "stamp"), RESTARTS)
def test_a_restart_stamps_every_template(restart, mode, stamp):
    services = {"A": given.service("frontend"), "B": given.service("worker")}
    found = given.rendered(given.graph(services, **({"restart": restart} if restart else {})), restart=mode)
    for name in ("chat-a", "chat-b"):
        metadata = found[f"Deployment/{name}"]["spec"]["template"]["metadata"]
        assert metadata.get("annotations", {}).get(labels.RESTART_AT) == stamp


# the debugger


def test_debug_mode_adds_a_container_that_sees_the_main_ones_processes():
    spec = given.pod(given.service("worker", annotations={labels.DEBUG: "true"}), config={"debugger_image": "debug:1"})
    assert spec["shareProcessNamespace"] is True
    main, debugger = spec["containers"]
    assert (main["name"], debugger["name"], debugger["image"]) == ("main", "debugger", "debug:1")
    assert debugger["command"] == ["sleep", "infinity"]
    assert debugger["securityContext"] == {"capabilities": {"add": ["SYS_PTRACE"]}}
    assert len(given.pod(given.service("worker", annotations={labels.DEBUG: "yes"}))["containers"]) == 1


def test_the_main_container_is_the_last_beside_sidecars():
    written = given.service("worker", pod={"containers": [{"name": "side", "image": "s"}]}, annotations={labels.DEBUG: "true"})
    plan, _ = given.plan(given.graph({"Worker": written}))
    (made,) = graph_objects.pods(plan)
    assert [each.main["name"] for each in made.roles] == ["main"]


def test_settings_of_one_service_do_not_reach_another():
    services = {"A": given.service("worker", envs=[{"name": "ONE"}], annotations={labels.DEBUG: "true"}), "B": given.service("worker")}
    found = given.rendered(given.graph(services))
    spec = found["Deployment/chat-b"]["spec"]["template"]["spec"]
    assert len(spec["containers"]) == 1
    assert "ONE" not in given.variables(spec["containers"][0])


def test_pull_secrets_of_the_configuration_reach_the_pods():
    settings = {"image_pull_secrets": (config.PullSecret("registry.example", "mine"),)}
    assert given.pod(given.service("worker"), config=settings)["imagePullSecrets"] == [{"name": "mine"}]
