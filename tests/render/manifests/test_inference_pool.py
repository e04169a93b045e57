"""An endpoint picker has a configuration and a pool beside its pod (reference: epp/config.go, inference_pool.go)."""

from __future__ import annotations

import pytest
import yaml

from krm_fn.render import labels
from krm_fn.render.config import IstioSettings, ServiceMeshSettings
from tests.support import beta, given
from tests.support.cases import cases

CONFIG = {
    "schedulingProfiles": [{"plugins": [{"pluginRef": "b"}, {"weight": 3, "pluginRef": "a"}], "name": "default"}],
    "plugins": [{"type": "queue"}, {"name": "b", "type": "prefix", "parameters": {"z": 1, "a": ["y", "n"]}}],
}


def rendered(**fields):
    return given.rendered(given.graph({"Picker": given.picker(**fields)}))


def text(config):
    written: str = rendered(eppConfig={"config": config})["ConfigMap/chat-epp-config"]["data"]["epp-config-dynamo.yaml"]
    return written


def test_the_configuration_is_completed_and_sorted():
    assert text(CONFIG) == (
        "apiVersion: inference.networking.x-k8s.io/v1alpha1\n"
        "kind: EndpointPickerConfig\n"
        "plugins:\n"
        '- name: ""\n'
        "  parameters: null\n"
        "  type: queue\n"
        "- name: b\n"
        "  parameters:\n"
        "    a:\n"
        '    - "y"\n'
        '    - "n"\n'
        "    z: 1\n"
        "  type: prefix\n"
        "schedulingProfiles:\n"
        "- name: default\n"
        "  plugins:\n"
        "  - pluginRef: b\n"
        "    weight: null\n"
        "  - pluginRef: a\n"
        "    weight: 3\n"
    )


COMPLETED = [
    (
        "type and version are the extension's",
        {"kind": "Other", "apiVersion": "v9"},
        {"kind": "EndpointPickerConfig", "apiVersion": "inference.networking.x-k8s.io/v1alpha1"},
    ),
    ("features", {"featureGates": ["a"]}, {"featureGates": ["a"]}),
    (
        "a detector with what is set",
        {"saturationDetector": {"queueDepthThreshold": 5, "kvCacheUtilThreshold": 0}},
        {"saturationDetector": {"queueDepthThreshold": 5, "metricsStalenessThreshold": "0s"}},
    ),
    (
        "a detector with a time",
        {"saturationDetector": {"metricsStalenessThreshold": "200ms"}},
        {"saturationDetector": {"metricsStalenessThreshold": "200ms"}},
    ),
    ("what is not known here is kept", {"flowControl": {"a": 1}}, {"flowControl": {"a": 1}}),
]


@cases(("more", "expected"), COMPLETED)
def test_what_the_configuration_says(more, expected):
    found = yaml.safe_load(text({**CONFIG, **more}))
    assert {key: found[key] for key in expected} == expected


def test_the_config_map_and_the_pool_say_whose_they_are():
    found = rendered()
    marks = {labels.GRAPH: "chat", labels.COMPONENT: "Picker", labels.COMPONENT_TYPE: "epp"}
    for name in ("ConfigMap/chat-epp-config", "InferencePool/chat-pool"):
        assert found[name]["metadata"]["namespace"] == "team"
        assert marks.items() <= found[name]["metadata"]["labels"].items()


def test_the_pool_holds_the_frontends_of_the_pickers_dynamo_namespace():
    pool = rendered()["InferencePool/chat-pool"]
    assert pool["apiVersion"] == "inference.networking.k8s.io/v1"
    assert pool["spec"] == {
        "targetPorts": [{"number": 8000}],
        "selector": {"matchLabels": {labels.COMPONENT_TYPE: "frontend", labels.NAMESPACE: "team-chat"}},
        "endpointPickerRef": {"kind": "Service", "name": "chat-picker", "port": {"number": 9002}},
    }
    shared = rendered(globalDynamoNamespace=True)["InferencePool/chat-pool"]
    assert shared["spec"]["selector"]["matchLabels"][labels.NAMESPACE] == "dynamo"


VOLUMES = [
    ("the configuration that is made", {}, "chat-epp-config", "epp-config-dynamo.yaml", True),
    ("the user's ConfigMap", {"eppConfig": {"configMapRef": {"name": "mine", "key": "a.yaml"}}}, "mine", "a.yaml", False),
    (
        "the user's ConfigMap with an empty key",
        {"eppConfig": {"configMapRef": {"name": "mine", "key": ""}}},
        "mine",
        "epp-config-dynamo.yaml",
        False,
    ),
]


@cases(("fields", "name", "key", "made"), VOLUMES)
def test_the_configuration_is_mounted_under_one_name(fields, name, key, made):
    found = rendered(**fields)
    volumes = found["Deployment/chat-picker"]["spec"]["template"]["spec"]["volumes"]
    assert volumes[:2] == [
        {"name": "epp-config", "configMap": {"name": name, "items": [{"key": key, "path": "epp-config-dynamo.yaml"}]}},
        {"name": "hf-cache", "emptyDir": {}},
    ]
    assert ("ConfigMap/chat-epp-config" in found) is made


def test_the_account_is_bound_to_the_role_that_the_platform_ships():
    found = rendered()
    assert found["RoleBinding/epp-serviceaccount-binding"]["roleRef"]["name"] == "dynamo-epp"
    assert "ServiceAccount/epp-serviceaccount" in found


def newer(*, of_component=None, settings=None, **spec):
    """The objects of a graph with an endpoint picker and a worker under release 1.5."""
    picker = beta.component(
        "Picker", "epp", main={"image": given.CONFIGURED_PICKER}, metadata={"annotations": of_component or {}}, eppConfig={"config": CONFIG}
    )
    written = beta.graph(picker, beta.component("Worker", modelRef={"name": "m"}))
    return given.rendered({**written, "spec": {**written["spec"], **spec}}, **(settings or {}))


def test_release_1_5_chooses_from_the_workers():
    found = newer()
    selector = found["InferencePool/chat-pool"]["spec"]["selector"]["matchLabels"]
    assert selector == {labels.COMPONENT_CLASS: "worker", labels.NAMESPACE: "team-chat"}
    assert selector.items() <= found["Deployment/chat-worker"]["spec"]["template"]["metadata"]["labels"].items()


def test_flags_and_probes_of_release_1_5():
    container = newer()["Deployment/chat-picker"]["spec"]["template"]["spec"]["containers"][0]
    assert [flag for flag in container["args"] if flag.startswith("-")] == [
        *("--pool-name", "--pool-namespace", "--pool-group", "-v", "--zap-encoder", "--grpc-port", "--grpc-health-port", "--config-file")
    ]
    assert container["startupProbe"] == {
        "grpc": {"port": 9003, "service": "inference-extension"},
        "periodSeconds": 10,
        "failureThreshold": 180,
    }
    variables = {entry["name"]: entry.get("value") for entry in container["env"]}
    assert {"DYN_ENFORCE_DISAGG": "false", "RUST_LOG": "info", "DYN_NAMESPACE_PREFIX": "team-chat"}.items() <= variables.items()
    assert not {"DYN_KV_BLOCK_SIZE", "DYN_DISCOVERY_TIMEOUT_SEC"} & variables.keys()


@pytest.mark.parametrize(
    ("reason", "of_graph", "of_component", "wanted"),
    [
        ("by default", {}, {}, "false"),
        ("the graph cannot change it", {labels.MESH_SIDECAR: "true"}, {}, "false"),
        ("the component can", {}, {labels.MESH_SIDECAR: "true"}, "true"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mesh_leaves_the_picker_alone(reason, of_graph, of_component, wanted):
    found = newer(of_component=of_component, annotations=of_graph)
    assert found["Deployment/chat-picker"]["spec"]["template"]["metadata"]["annotations"][labels.MESH_SIDECAR] == wanted


RULES = [
    ("by default", IstioSettings(), {"mode": "SIMPLE", "insecureSkipVerify": True}),
    ("verified", IstioSettings(insecure_skip_verify=False), {"mode": "SIMPLE", "insecureSkipVerify": False}),
    (
        "with certificates of its own",
        IstioSettings("MUTUAL", client_certificate="/c", private_key="/k"),
        {"mode": "MUTUAL", "insecureSkipVerify": True, "clientCertificate": "/c", "privateKey": "/k"},
    ),
    (
        "certificates of another mode",
        IstioSettings("ISTIO_MUTUAL", client_certificate="/c"),
        {"mode": "ISTIO_MUTUAL", "insecureSkipVerify": True},
    ),
]


@cases(("settings", "wanted"), RULES)
def test_a_mesh_gets_a_rule_for_the_picker(settings, wanted, control_plane, crds):
    rule = newer(settings={"service_mesh": ServiceMeshSettings(enabled=True, istio=settings)})["DestinationRule/chat-picker"]
    assert rule["spec"] == {"host": "chat-picker.team.svc.cluster.local", "trafficPolicy": {"tls": wanted}}
    assert "Service/chat-picker" in newer()
    control_plane.namespace("team")
    assert control_plane.judge(rule).ok


def test_without_a_mesh_there_is_no_rule():
    assert "DestinationRule/chat-picker" not in newer()
    older = given.rendered(given.graph({"Picker": given.picker()}), service_mesh=ServiceMeshSettings(enabled=True))
    assert "DestinationRule/chat-picker" not in older


NATIVE = [
    ("1.5", "1.5.1", "v1.5", set()),
    ("1.6 with an image of 1.5", "1.5.1", "v1.6", set()),
    ("1.6 with an image of 1.6", "1.6.1", "v1.6", {"DYN_NAMESPACE_PREFIX_STRICT"}),
]


@cases(("tag", "release", "strict"), NATIVE)
def test_a_native_picker_has_a_home_and_no_configuration(tag, release, strict):
    """Images since 1.5.0 hold a native endpoint picker, and the strict prefix needs 1.6.0."""
    picker = beta.component("Picker", "epp", main={"image": f"registry.example/epp:{tag}"}, replicas=2)
    found = given.rendered(beta.graph(picker, beta.component("Worker")), behaviour=release)
    assert "ConfigMap/chat-epp-config" not in found
    deployment = found["Deployment/chat-picker"]["spec"]
    pod = deployment["template"]["spec"]
    main = pod["containers"][0]
    assert deployment["replicas"] == 2
    assert "args" not in main
    assert given.variables(main)["HOME"] == "/home/dynamo"
    assert {name for name in given.variables(main) if name.endswith("_STRICT")} == strict
    assert {mount["name"]: mount["mountPath"] for mount in main["volumeMounts"]}["hf-cache"] == "/home/dynamo/.cache"
    assert {"name": "hf-cache", "emptyDir": {}} in pod["volumes"]


@pytest.mark.parametrize("release", ["v1.5", "v1.6"])
def test_an_older_picker_has_no_cache_since_release_1_5(release):
    pod = newer(settings={"behaviour": release})["Deployment/chat-picker"]["spec"]["template"]["spec"]
    assert {volume["name"] for volume in pod["volumes"]} == {"epp-config", "shared-memory"}
    assert "HOME" not in given.variables(pod["containers"][0])
