"""platform/syncer on a real API server: every variant is accepted, and each component gives exactly the rights that its feature needs."""

from __future__ import annotations

import contextlib
import re

import pytest
import yaml

import krm_fn
from krm_fn.cluster import leader_election
from krm_fn.render import function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.syncer import graph_applier, namespace_leases, options
from krm_fn.syncer.status import model_endpoints
from tests.platform import admission, installation, pages, runs
from tests.support import given
from tests.support.cases import cases
from tests.testbed import programs, server

SYNCER = admission.PLATFORM / "syncer"
COMPONENTS = sorted(file.parent.name for file in SYNCER.glob("*/kustomization.yaml") if "kind: Component" in file.read_text())
GRAPHS = ("dynamocomponentdeployments", "dynamographdeployments", "dynamographdeploymentscalingadapters")
LEASES, MARKER = "coordination.k8s.io", namespace_leases.NAME
TEAM = "syncer-team"
PAGE = (programs.ROOT / "docs" / "syncer.md").read_text()
DEFAULT = Config()
GROVE, LWS, SETS = "grove.io", "leaderworkerset.x-k8s.io", "disaggregatedset.x-k8s.io"


def layer(folder, *components, core=False, **settings):
    """A layer of a user: the syncer, or its core, with components."""
    chosen = [f"platform/syncer/{name}" for name in components]
    return installation.overlay(folder, resources=["platform/syncer/core" if core else "platform/syncer"], components=chosen, **settings)


def workload(objects):
    """The Deployment."""
    (found,) = [each for each in objects if each["kind"] == "Deployment"]
    return found


def container(objects):
    (found,) = workload(objects)["spec"]["template"]["spec"]["containers"]
    return found


ALONE = "--namespace=$(POD_NAMESPACE)"
AUTO_APPLY = ("--auto-apply", "--config=/etc/krm-fn/render.yaml")
VARIANTS = [
    # reason, components, the arguments that they add
    ("the default", (), []),
    ("reasons of pods", ("pods",), ["--pods"]),
    ("restarts in order", ("restarts",), ["--restarts"]),
    ("graphs with a planner", ("planner",), ["--graph-replicas"]),
    ("one namespace", ("namespaced",), [ALONE]),
    ("one namespace beside an operator", ("namespaced", "hold-namespaces"), [ALONE, "--hold-namespaces"]),
    ("requests", ("requests",), ["--requests"]),
    ("requests with autoApply", ("requests", "auto-apply"), ["--requests", *AUTO_APPLY]),
    ("requests with autoApply in one namespace", ("requests", "auto-apply", "namespaced"), ["--requests", *AUTO_APPLY, ALONE]),
    ("models", ("models",), ["--models"]),
    ("models with LoRA adapters", ("models", "loras"), ["--models", "--loras"]),
    ("GPUs of claims", ("device-claims",), ["--device-claims"]),
    ("shards", ("shards",), ["--shards"]),
    ("alerts", ("alerts",), []),
    ("the dashboard", ("dashboard",), []),
    (
        "everything",
        ("shards", "pods", "restarts", "requests", "auto-apply", "models", "loras", "monitoring", "namespaced", "hold-namespaces"),
        ["--shards", "--pods", "--restarts", "--requests", *AUTO_APPLY, "--models", "--loras", ALONE, "--hold-namespaces"],
    ),
]


@cases(("components", "arguments"), VARIANTS)
def test_a_strict_server_accepts_every_variant(components, arguments, tmp_path, control_plane, crds):
    objects = installation.objects(layer(tmp_path / "layer", *components, namespace=control_plane.namespace(TEAM)))
    refused = [answer.message for each in objects if not (answer := control_plane.judge(each)).ok]
    assert refused == []
    assert container(objects)["args"] == ["sync", "--scaling", "--grove-counts", "--services", *arguments]


def test_every_component_is_in_a_variant():
    """`scaling` and `services` are in all of them: platform/syncer includes them."""
    included = yaml.safe_load((SYNCER / "kustomization.yaml").read_text())["components"]
    assert {name for _, components, _ in VARIANTS for name in components} | {*included} == {*COMPONENTS}


def test_the_core_changes_no_workload(tmp_path):
    """The core has three rules for graphs, and the arguments that turn the other features off."""
    objects = installation.objects(layer(tmp_path / "layer", core=True))
    (role,) = [each for each in objects if each["kind"] == "ClusterRole" and each["metadata"]["name"] == "krm-fn-sync"]
    assert len(role["rules"]) == 3
    assert container(objects)["args"] == ["sync", "--no-scaling", "--no-grove-counts"]


def test_one_namespace_needs_no_right_in_the_cluster(tmp_path):
    """All objects are in the namespace, and all bindings are for its account."""
    components = ("pods", "restarts", "monitoring", "namespaced", "hold-namespaces")
    objects = installation.objects(layer(tmp_path / "layer", *components, namespace=TEAM))
    assert {each["metadata"].get("namespace") for each in objects} == {TEAM}
    assert [each["kind"] for each in objects if each["kind"].startswith("Cluster")] == []
    bindings = [each for each in objects if each["kind"] == "RoleBinding"]
    assert [each["roleRef"]["kind"] for each in bindings] == ["Role"] * len(bindings)
    subjects = [subject for each in bindings for subject in each["subjects"]]
    assert subjects == [{"kind": "ServiceAccount", "name": "krm-fn-sync", "namespace": TEAM}] * len(bindings)


def test_one_namespace_reads_classes_of_devices_in_the_cluster(tmp_path):
    """A Role has no rights on objects without a namespace, so this one right stays a right in the cluster."""
    objects = installation.objects(layer(tmp_path / "layer", "device-claims", "namespaced", namespace=TEAM))
    (role,) = [each for each in objects if each["kind"] == "ClusterRole"]
    assert role["rules"] == [{"apiGroups": ["resource.k8s.io"], "resources": ["deviceclasses"], "verbs": ["list", "watch"]}]
    (binding,) = [each for each in objects if each["kind"] == "ClusterRoleBinding"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "krm-fn-sync", "namespace": TEAM}]


def test_shards_need_no_setting_for_their_number(tmp_path):
    """`kubectl scale` is enough: no flag, environment variable or name in the rights has the number."""
    plain, shards = (installation.objects(layer(tmp_path / (name or "plain"), *filter(None, [name]))) for name in ("", "shards"))
    assert container(shards)["args"] == [*container(plain)["args"], "--shards"]
    assert container(shards)["env"] == container(plain)["env"]
    assert workload(shards)["spec"]["replicas"] == workload(plain)["spec"]["replicas"]


def test_the_image_is_that_of_this_version(tmp_path):
    assert container(installation.objects(SYNCER))["image"].endswith(f"/dynamo-krm-fn:{krm_fn.__version__}-sync")


def test_monitor_budget_and_policy_choose_the_pods(tmp_path):
    objects = installation.objects(layer(tmp_path / "layer", "monitoring"))
    template = workload(objects)["spec"]["template"]
    selectors = {
        "PodMonitor": lambda spec: spec["selector"],
        "PodDisruptionBudget": lambda spec: spec["selector"],
        "NetworkPolicy": lambda spec: spec["podSelector"],
        "Deployment": lambda spec: spec["selector"],
    }
    chosen = {each["kind"]: selectors[each["kind"]](each["spec"])["matchLabels"] for each in objects if each["kind"] in selectors}
    assert chosen == dict.fromkeys(selectors, template["metadata"]["labels"])
    assert [each["labelSelector"]["matchLabels"] for each in template["spec"]["topologySpreadConstraints"]] == [*chosen.values()][:2]
    ports = [each["name"] for each in container(objects)["ports"]]
    (policy,) = [each["spec"] for each in objects if each["kind"] == "NetworkPolicy"]
    (monitor,) = [each["spec"] for each in objects if each["kind"] == "PodMonitor"]
    assert ports == [policy["ingress"][0]["ports"][0]["port"]] == [monitor["podMetricsEndpoints"][0]["port"]]
    assert [each["port"] for rule in policy["egress"] for each in rule["ports"]] == [443, 6443]


def test_the_kubelet_and_prometheus_reach_the_process(tmp_path):
    """Outside a cluster, the syncer listens on the loopback address only."""
    objects = installation.objects(layer(tmp_path / "layer", core=True))
    found = container(objects)
    (listen,) = [each["value"] for each in found["env"] if each["name"] == f"{options.PREFIX}LISTEN"]
    assert listen == f"0.0.0.0:{found['ports'][0]['containerPort']}"


def test_with_adapters_the_pods_also_reach_the_pods_of_base_models(tmp_path):
    """In the namespaced variant they reach those of their own namespace only."""
    for components, everywhere in ((("models", "loras"), True), (("models", "loras", "namespaced"), False)):
        objects = installation.objects(layer(tmp_path / "-".join(components), *components, namespace=TEAM))
        (policy,) = [
            each["spec"] for each in objects if each["metadata"]["name"] == "krm-fn-sync-loras" and each["kind"] == "NetworkPolicy"
        ]
        assert policy["podSelector"]["matchLabels"] == workload(objects)["spec"]["template"]["metadata"]["labels"]
        (rule,) = policy["egress"]
        (peer,) = rule["to"]
        assert rule["ports"] == [{"port": model_endpoints.PORT}]
        assert peer["podSelector"] == {"matchExpressions": [{"key": labels.BASE_MODEL_HASH, "operator": "Exists"}]}
        assert ("namespaceSelector" in peer) == everywhere


def test_the_token_is_short_lived_and_the_only_one():
    pod = workload(installation.objects(SYNCER))["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    sources = {key: value for volume in pod["volumes"] for each in volume["projected"]["sources"] for key, value in each.items()}
    assert sources["serviceAccountToken"] == {"path": "token", "expirationSeconds": 3600}
    assert {each["path"] for each in sources["configMap"]["items"]} == {"ca.crt"}
    assert {each["path"] for each in sources["downwardAPI"]["items"]} == {"namespace"}


def test_the_admission_policy_names_the_account():
    """platform/admission lets this account write a status, in whichever namespace it is."""
    (account,) = [each["metadata"] for each in installation.objects(SYNCER) if each["kind"] == "ServiceAccount"]
    (principals,) = [each for each in installation.objects(admission.PLATFORM / "admission") if each["kind"] == "ConfigMap"]
    user = f"system:serviceaccount:{account['namespace']}:{account['name']}"
    patterns = [re.escape(line).replace(r"\*", "[^:]*") for line in principals["data"]["status"].splitlines()]
    assert any(re.fullmatch(pattern, user) for pattern in patterns)


def made_by_a_graph():
    """Group and resource of all objects that a graph expands to, and of the graph itself."""
    kinds = {*ownership.kinds(), ("nvidia.com", "DynamoGraphDeployment")} - {("batch", "Job")}
    return {(group, graph_applier.kind_of({"apiVersion": f"{group}/v1", "kind": kind}).resource) for group, kind in kinds}


NEWER = {labels.ORIGIN_VERSION: "1.5.0"}
"""Makes a graph one of release 1.5, whose Roles have more rights."""


def given_to_pods():
    """The rights in the Roles of a graph, as group, resource and verbs. The syncer must have what it gives away."""
    (role,) = [each for each in given.rendered(given.graph(annotations=NEWER)).values() if each["kind"] == "Role"]
    for rule in role["rules"]:
        yield from ((group, resource, rule["verbs"]) for group in rule["apiGroups"] for resource in rule["resources"])


RBAC = "rbac.authorization.k8s.io"
WATCH = ("list", "watch")
CORE = [
    *((verb, "nvidia.com", kind, "") for kind in GRAPHS for verb in WATCH),
    *(("patch", "nvidia.com", f"{kind}/status", "") for kind in GRAPHS),
    *((verb, "apps", "deployments", "") for verb in WATCH),
    *((verb, LWS, "leaderworkersets", "") for verb in WATCH),
    *((verb, SETS, kind, "") for kind in ("disaggregatedsets", "disaggregatedsetrolescalers") for verb in WATCH),
    *((verb, GROVE, kind, "") for kind in ("podcliques", "podcliquescalinggroups", "podcliquesets") for verb in WATCH),
    *((verb, "events.k8s.io", "events", "") for verb in ("create", "patch")),
    *((verb, LEASES, "leases", MARKER) for verb in WATCH),
]
FEATURES = {
    "scaling": [
        ("patch", "nvidia.com", "dynamographdeploymentscalingadapters", ""),
        ("patch", "apps", "deployments/scale", ""),
        ("patch", LWS, "leaderworkersets/scale", ""),
        ("patch", SETS, "disaggregatedsetrolescalers/scale", ""),
        ("patch", GROVE, "podcliques/scale", ""),
        ("patch", GROVE, "podcliquescalinggroups/scale", ""),
    ],
    "services": [(verb, "", "services", "") for verb in WATCH],
    "pods": [(verb, "", "pods", "") for verb in WATCH],
    "restarts": [
        ("patch", "apps", "deployments", ""),
        ("patch", LWS, "leaderworkersets", ""),
        ("patch", GROVE, "podcliquesets", ""),
    ],
    "planner": [("patch", "nvidia.com", "dynamographdeployments", "")],
    "requests": [
        *((verb, "nvidia.com", "dynamographdeploymentrequests", "") for verb in WATCH),
        ("patch", "nvidia.com", "dynamographdeploymentrequests/status", ""),
        *((verb, "batch", "jobs", "") for verb in ("get", *WATCH)),
        *((verb, "", "configmaps", "") for verb in WATCH),
    ],
    "models": [
        *((verb, "nvidia.com", "dynamomodels", "") for verb in WATCH),
        ("patch", "nvidia.com", "dynamomodels/status", ""),
        *((verb, "discovery.k8s.io", "endpointslices", "") for verb in WATCH),
    ],
    "loras": [*((verb, "", "pods", "") for verb in WATCH), ("patch", "nvidia.com", "dynamomodels", "")],
    "auto-apply": [
        *((verb, *each, "") for each in sorted(made_by_a_graph()) for verb in ("get", "create", "patch")),
        *(("bind", RBAC, "clusterroles", role) for role in (DEFAULT.rbac.epp_role, DEFAULT.rbac.planner_role)),
        *((verb, group, resource, "") for group, resource, verbs in given_to_pods() for verb in verbs),
    ],
}
"""The rights of each feature. `auto-apply` needs those of `requests`, and `loras` those of `models`, but they do not bring them."""
OWN = [("create", LEASES, "leases", ""), *((verb, LEASES, "leases", leader_election.NAME) for verb in ("get", "update"))]
HOLDING = [("create", LEASES, "leases", ""), *((verb, LEASES, "leases", MARKER) for verb in ("get", "update"))]
NEVER = [
    *((verb, "", resource, "") for verb in ("get", "list", "watch", "create", "patch") for resource in ("secrets", "configmaps")),
    *((verb, "", "pods", "") for verb in ("get", "create", "patch", "delete")),
    ("create", "", "pods/exec", ""),
    ("list", LEASES, "leases", ""),
    ("delete", LEASES, "leases", leader_election.NAME),
    *((verb, "nvidia.com", kind, "") for verb in ("get", "create", "update", "patch", "delete") for kind in GRAPHS),
    *((verb, "apps", "deployments", "") for verb in ("get", "create", "update", "delete")),
    ("impersonate", "", "serviceaccounts", ""),
    ("create", "", "serviceaccounts/token", ""),
    ("patch", "rbac.authorization.k8s.io", "clusterroles", ""),
]


@pytest.mark.parametrize("feature", ["", *FEATURES])
def test_rights(feature, tmp_path, control_plane):
    """The core with one component has the rights of both in every namespace, and none of another component."""
    home = control_plane.namespace(f"syncer-{feature or 'core'}")
    settings = {"namespace": home, "nameSuffix": f"-{feature or 'core'}"}
    accept(control_plane, layer(tmp_path / "layer", *([feature] if feature else []), core=True, **settings))
    user = f"system:serviceaccount:{home}:krm-fn-sync-{feature or 'core'}"
    own = FEATURES.get(feature, [])
    theirs = [right for name, rights in FEATURES.items() if name != feature for right in rights if right not in own]
    never = [right for right in NEVER if right not in own]
    gets(control_plane, user, TEAM, [*CORE, *own])
    assert allowed(control_plane, user, TEAM, [*theirs, *OWN, *HOLDING, *never]) == []
    gets(control_plane, user, home, OWN)
    assert allowed(control_plane, user, home, never) == []


def test_rights_in_one_namespace(tmp_path, control_plane, crds):
    """The namespaced variant has all rights in its namespace, and none in another, not even to list graphs."""
    home = control_plane.namespace("syncer-alone")
    added = [each for each in FEATURES if each not in ("scaling", "services")]
    accept(control_plane, layer(tmp_path / "layer", *added, "namespaced", "hold-namespaces", namespace=home))
    user = f"system:serviceaccount:{home}:krm-fn-sync"
    rights = [*CORE, *OWN, *HOLDING, *(right for found in FEATURES.values() for right in found)]
    gets(control_plane, user, home, rights)
    assert allowed(control_plane, user, TEAM, rights) == []
    assert allowed(control_plane, user, home, [right for right in NEVER[:-1] if right not in rights]) == []


def accept(plane, folder):
    for each in installation.objects(folder):
        answer = plane.apply(each, dry_run=False)
        assert answer.ok, answer.message


def allowed(plane, user, namespace, rights):
    return [right for right in rights if installation.may(plane, user, namespace, *right)]


def gets(plane, user, namespace, rights):
    """Wait until the user has each of these rights: new roles take effect after a moment. Raises AssertionError with the missing ones."""
    missing = [*rights]

    def complete():
        missing[:] = [right for right in missing if not installation.may(plane, user, namespace, *right)]
        return not missing

    with contextlib.suppress(TimeoutError):
        server.eventually(complete, 30)
    assert missing == []


def test_the_page_names_every_part():
    assert [name for name in (*COMPONENTS, "core") if f"platform/syncer/{name}" not in PAGE] == []


def test_the_page_changes_the_configuration_of_graphs(tmp_path):
    """The pods mount the ConfigMap with the patched text, under the path that the command names."""
    folder = pages.clone(tmp_path / "clone", PAGE) / "clusters" / "requests" / "syncer"
    objects = installation.objects(folder)
    pod = workload(objects)["spec"]["template"]["spec"]
    ((mount, files),) = runs.mounted(pod, objects)
    assert container(objects)["args"][-1] == f"--config={mount}/render.yaml"
    settings, found = function_config.read(yaml.safe_load(files["render.yaml"]))
    assert (settings, found) == (Config(nats_address="nats://nats.dynamo-system.svc:4222"), [])
