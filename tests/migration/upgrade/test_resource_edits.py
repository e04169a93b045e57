"""The edits of one resource in a step of an upgrade: images, versions, origin, removed fields and the configuration."""

from __future__ import annotations

import copy
import re

import hypothesis
from hypothesis import strategies as st

from krm_fn.base.yaml import reader
from krm_fn.kubernetes.paths import at, replace_at
from krm_fn.migration.upgrade import resource_edits
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render import dynamo_api
from krm_fn.render.config import Config
from krm_fn.render.kinds import runtime_tags
from krm_fn.render.resolve import release_choice, runtime_version
from krm_fn.repository.files import text_edits
from tests.support import by_schema, yaml_styles
from tests.support.cases import cases
from tests.testbed import tier

TO_1_5 = UpgradeStep(1, "v0.9", "v1.5", (0, 9, 1), (1, 5, 1))
TO_1_6 = UpgradeStep(2, "v1.5", "v1.6", (1, 5, 1), (1, 6, 1))
DOWN = UpgradeStep(1, "v1.6", "v1.5", (1, 6, 1), (1, 5, 1))
RUNTIME = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
ORIGIN = ("metadata", "annotations", "nvidia.com/dynamo-operator-origin-version")


def graph(spec, api_version=dynamo_api.V1ALPHA1, **metadata):
    return {"apiVersion": api_version, "kind": "DynamoGraphDeployment", "metadata": {"name": "chat", **metadata}, "spec": spec}


def service(image, **fields):
    return {"extraPodSpec": {"mainContainer": {"image": image}}, **fields}


def component(image, *, inits=(), sidecars=(), **fields):
    spec = {"containers": [{"name": "main", "image": image}, *sidecars], **({"initContainers": [*inits]} if inits else {})}
    return {"name": "Worker", "type": "worker", "podTemplate": {"spec": spec}, **fields}


def of_beta(*components):
    return graph({"components": [*components]}, dynamo_api.V1BETA1)


def changes(resource, step, config=None):
    listed = resource_edits.edits(resource, config or Config(), step).fields
    return {edit.path: edit.new for edit in listed}


MAIN = ("spec", "services", "Worker", "extraPodSpec", "mainContainer", "image")
TAGS = [
    ("a version", RUNTIME, "1.5.1", "1.6.1"),
    ("the prefix stays", RUNTIME, "v1.5.1", "v1.6.1"),
    ("a pre-release goes", RUNTIME, "1.5.0-rc1", "1.6.1"),
    ("a pre-release with a dot goes", RUNTIME, "1.5.0-dev.3", "1.6.1"),
    ("a pre-release of a variant", "own/dynamo", "1.5.0-rc1-cuda13", "1.6.1-cuda13"),
    ("CUDA 13 is in the image without a suffix since 1.3", RUNTIME, "1.2.0-cuda13", "1.6.1"),
    ("a mirror has the names of NVIDIA", "mirror.example:5000/vllm-runtime", "1.2.0-cuda13", "1.6.1"),
    ("an image of one's own keeps its suffix", "own/dynamo", "1.2.0-cuda13", "1.6.1-cuda13"),
    ("a variant that NVIDIA did not publish", RUNTIME, "1.5.1-cuda13", "1.6.1-cuda13"),
    ("EFA was for AMD64 only", RUNTIME, "1.1.0-efa-amd64", "1.6.1-efa"),
    ("EFA", RUNTIME, "1.5.0-efa", "1.6.1-efa"),
    ("an unknown suffix stays", RUNTIME, "1.5.1-acme.3", "1.6.1-acme.3"),
    ("a build for one model", RUNTIME, "1.5.0-kimi-k3-dev.1", None),
    ("a build for one model and CUDA", RUNTIME, "1.2.0-deepseek-v4-cuda13-dev.3", None),
]


@cases(("reason", "name", "tag", "expected"), TAGS)
def test_a_tag_in_another_release(reason, name, tag, expected):
    """A tag keeps its prefix and its variant, under the name that the variant has in the new release."""
    assert runtime_tags.in_release(name, tag, (1, 6, 1)).tag == expected


def test_the_variant_of_an_older_release():
    """A downgrade uses the name that a variant had in the older release."""
    assert runtime_tags.in_release(RUNTIME, "1.2.0-efa", (1, 1, 1)).tag == "1.1.1-efa-amd64"


EDITS = [
    ("a service", graph({"services": {"Worker": service(f"{RUNTIME}:1.5.1")}}), {MAIN: f"{RUNTIME}:1.6.1"}),
    ("a registry with a port", graph({"services": {"Worker": service("host:5000/dynamo:1.5.1")}}), {MAIN: "host:5000/dynamo:1.6.1"}),
    ("already there", graph({"services": {"Worker": service(f"{RUNTIME}:1.6.1")}}), {}),
    ("a newer patch", graph({"services": {"Worker": service(f"{RUNTIME}:1.6.2")}}), {}),
    ("latest", graph({"services": {"Worker": service(f"{RUNTIME}:latest")}}), {}),
    ("a digest", graph({"services": {"Worker": service(f"{RUNTIME}@sha256:{'0' * 64}")}}), {}),
    ("a tag and a digest", graph({"services": {"Worker": service(f"{RUNTIME}:1.5.1@sha256:{'0' * 64}")}}), {MAIN: f"{RUNTIME}:1.6.1"}),
    ("no image", graph({"services": {"Worker": {"componentType": "worker"}}}), {}),
    ("wrong types", graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": {"image": 3}}}, "B": None, "C": []}}), {}),
    (
        "a frontend sidecar",
        graph({"services": {"Worker": {"frontendSidecar": {"image": "dynamo:1.5.1"}}}}),
        {("spec", "services", "Worker", "frontendSidecar", "image"): "dynamo:1.6.1"},
    ),
    (
        "an override and a version",
        graph({"services": {"Worker": service("dynamo:1.5.1", runtimeVersionOverride="v1.5.0")}}),
        {MAIN: "dynamo:1.6.1", ("spec", "services", "Worker", "runtimeVersionOverride"): "v1.6.1"},
    ),
    (
        "an override and no version",
        graph({"services": {"Worker": service("dynamo:prod", runtimeVersionOverride="1.5.0")}}),
        {("spec", "services", "Worker", "runtimeVersionOverride"): "1.6.1"},
    ),
    ("an override that is there", graph({"services": {"Worker": service("dynamo:1.5.0", runtimeVersionOverride="1.6.1")}}), {}),
    (
        "a component",
        of_beta(component("dynamo:1.5.1")),
        {("spec", "components", 0, "podTemplate", "spec", "containers", 0, "image"): "dynamo:1.6.1"},
    ),
    (
        "a sidecar of one's own stays, the frontend does not",
        of_beta(
            component(
                "dynamo:1.5.1",
                sidecars=[{"name": "log", "image": "fluent:1.5.1"}, {"name": "front", "image": "f:1.5.1"}],
                frontendSidecar="front",
            )
        ),
        {
            ("spec", "components", 0, "podTemplate", "spec", "containers", 0, "image"): "dynamo:1.6.1",
            ("spec", "components", 0, "podTemplate", "spec", "containers", 2, "image"): "f:1.6.1",
        },
    ),
    (
        "sidecar mode: the engine stays",
        of_beta(
            component("vllm-openai:0.31.0", inits=[{"name": "load", "image": "x:1.5.1"}, {"name": "runtime", "image": "dynamo:1.5.1"}])
        ),
        {("spec", "components", 0, "podTemplate", "spec", "initContainers", 1, "image"): "dynamo:1.6.1"},
    ),
    (
        "roles",
        of_beta(
            {"name": "W", "roles": [{"name": "leader", **component("dynamo:1.5.1")}, {"name": "worker", **component("b/dynamo:1.5.0")}]}
        ),
        {
            ("spec", "components", 0, "roles", 0, "podTemplate", "spec", "containers", 0, "image"): "dynamo:1.6.1",
            ("spec", "components", 0, "roles", 1, "podTemplate", "spec", "containers", 0, "image"): "b/dynamo:1.6.1",
        },
    ),
    (
        "a component without a graph",
        {
            "apiVersion": dynamo_api.V1ALPHA1,
            "kind": "DynamoComponentDeployment",
            "metadata": {"name": "a"},
            "spec": service("dynamo:1.5.1"),
        },
        {("spec", "extraPodSpec", "mainContainer", "image"): "dynamo:1.6.1"},
    ),
    (
        "a request",
        {
            "apiVersion": dynamo_api.V1ALPHA1,
            "kind": "DynamoGraphDeploymentRequest",
            "metadata": {"name": "a"},
            "spec": {"profilingConfig": {"profilerImage": "p:1.5.1"}, "deploymentOverrides": {"workersImage": "w:1.5.1"}},
        },
        {("spec", "profilingConfig", "profilerImage"): "p:1.6.1", ("spec", "deploymentOverrides", "workersImage"): "w:1.6.1"},
    ),
    (
        "a request with a graph",
        {
            "apiVersion": dynamo_api.V1BETA1,
            "kind": "DynamoGraphDeploymentRequest",
            "metadata": {"name": "a"},
            "spec": {
                "image": "p:1.5.1",
                "runtimeVersionOverride": "1.5.1",
                "overrides": {"dgd": {"spec": {"components": [component("dynamo:1.5.1")]}}},
            },
        },
        {
            ("spec", "image"): "p:1.6.1",
            ("spec", "runtimeVersionOverride"): "1.6.1",
            ("spec", "overrides", "dgd", "spec", "components", 0, "podTemplate", "spec", "containers", 0, "image"): "dynamo:1.6.1",
        },
    ),
    ("a Deployment", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": service("dynamo:1.5.1")}, {}),
    (
        "a generated component",
        {
            "apiVersion": dynamo_api.V1BETA1,
            "kind": "DynamoComponentDeployment",
            "metadata": {
                "name": "a",
                "labels": {"app.kubernetes.io/managed-by": "krm-fn"},
                "annotations": {"dynamo.krm-fn.io/owner": "DynamoGraphDeployment/chat"},
            },
            "spec": component("dynamo:1.5.1"),
        },
        {},
    ),
]


@cases(("reason", "resource", "expected"), EDITS)
def test_the_images_that_a_step_edits(reason, resource, expected):
    """A step edits the images that hold Dynamo, as the operator finds them, and no image of others."""
    listed = changes(resource, TO_1_6, Config(behaviour="v1.6"))
    assert listed == expected


@cases(("reason", "resource", "expected"), EDITS)
def test_a_second_step_to_the_same_release_changes_nothing(reason, resource, expected):
    """The edited resource needs no edit, and the input is never changed."""
    before = copy.deepcopy(resource)
    edited = resource_edits.apply_edits(resource_edits.edits(resource, Config(), TO_1_6))
    assert resource == before
    assert resource_edits.edits(edited, Config(), TO_1_6).fields == ()
    assert all(at(edited, path) == new for path, new in expected.items())


def test_a_downgrade_edits_newer_images_only():
    """A downgrade moves images back, and leaves older ones."""
    resource = graph({"services": {"Worker": service("dynamo:1.6.1"), "Old": service("dynamo:1.4.0")}})
    assert changes(resource, DOWN, Config(behaviour="v1.5")) == {MAIN: "dynamo:1.5.1"}


ORIGINS = [
    ("an annotation stays", {"annotations": {ORIGIN[2]: "1.4.0"}}, "1.5.1", Config(), TO_1_6, None),
    ("the origin of the old release", {}, "1.5.1", Config(), TO_1_6, "1.5.0"),
    ("the configuration names the origin", {}, "1.5.1", Config(operator_version="1.4.0"), TO_1_6, None),
    ("the release is pinned, and moves", {}, "1.5.1", Config(behaviour="v1.5"), TO_1_6, "1.5.0"),
    ("a graph of 0.9 keeps Ray, as with an operator", {}, "0.9.1", Config(), TO_1_5, "0.9.0"),
    ("the image does not move the release", {}, "latest", Config(), TO_1_6, None),
    ("a new origin", {}, "1.5.1", Config(), TO_1_6._replace(new_origin=True), "1.6.1"),
    ("an annotation moves", {"annotations": {ORIGIN[2]: "1.4.0"}}, "1.5.1", Config(), TO_1_6._replace(new_origin=True), "1.6.1"),
    ("the new origin is there", {"annotations": {ORIGIN[2]: "1.6.1"}}, "1.6.1", Config(), TO_1_6._replace(new_origin=True), None),
]  # fmt: skip


@cases(("reason", "metadata", "tag", "config", "step", "expected"), ORIGINS)
def test_the_origin_version(reason, metadata, tag, config, step, expected):
    """A graph keeps the origin version that it has in the old release, unless the step gives it a new one."""
    resource = graph({"services": {"Worker": service(f"dynamo:{tag}")}}, **metadata)
    listed = [edit for edit in resource_edits.edits(resource, config, step).fields if edit.path == ORIGIN]
    assert (listed[-1].new if listed else None) == expected


def test_the_old_origin_is_there_without_the_cause_origin():
    """With the cause `release` alone, a graph has its old origin version, so that each cause is alone."""
    resource = graph({"services": {"Worker": service("dynamo:1.5.1")}})
    listed = resource_edits.edits(resource, Config(), TO_1_6._replace(new_origin=True))
    assert at(resource_edits.apply_edits(listed, ["release"]), ORIGIN) == "1.5.0"
    assert at(resource_edits.apply_edits(listed, ["release", "origin"]), ORIGIN) == "1.6.1"
    assert at(resource_edits.apply_edits(listed, ["image"]), ORIGIN) is None


def test_the_release_of_an_edited_graph_is_that_of_the_step():
    """The edits move a graph to the release of the step, with and without a pinned release."""
    resource = graph({"services": {"Worker": service("dynamo:0.9.1")}})
    for config in (Config(), Config(behaviour="v0.9")):
        edited = resource_edits.apply_edits(resource_edits.edits(resource, config, TO_1_5))
        assert release_choice.release_name(edited, resource_edits.settings_after(config, TO_1_5)) == "v1.5"


def test_fields_that_only_dynamo_0_9_has_are_removed_with_it():
    """`dynamoNamespace` and `autoscaling` have no effect in 0.9, and no place in later releases."""
    resource = graph({"services": {"Worker": service("dynamo:0.9.1", dynamoNamespace="x", autoscaling={"enabled": True})}})
    edited = resource_edits.apply_edits(resource_edits.edits(resource, Config(), TO_1_5))
    assert [*edited["spec"]["services"]["Worker"]] == ["extraPodSpec"]


TYPES = [
    ("the former name of frontend", "dynamo:0.9.1", "main", "frontend"),
    ("no image moves, so nothing does", "dynamo:1.5.1", "main", None),
    ("another type", "dynamo:0.9.1", "worker", None),
]


@cases(("reason", "image", "kind", "expected"), TYPES)
def test_the_former_name_of_a_type_is_replaced_with_the_images(reason, image, kind, expected):
    """Operators since 0.5 know no type `main`, and v1beta1 does not have it."""
    resource = graph({"services": {"Worker": service(image, componentType=kind)}})
    assert changes(resource, TO_1_5).get(("spec", "services", "Worker", "componentType")) == expected


def test_a_native_endpoint_picker_loses_its_configuration():
    """Images since 1.5.0 read no configuration, and with one they are an error."""
    step = UpgradeStep(1, "v1.5", "v1.5", (1, 4, 0), (1, 5, 1))
    resource = of_beta({**component("dynamo:1.4.0"), "type": "epp", "eppConfig": {"configMapRef": {"name": "x", "key": "y"}}})
    edited = resource_edits.apply_edits(resource_edits.edits(resource, Config(), step))
    assert "eppConfig" not in edited["spec"]["components"][0]


PYTHON = ["python3", "-m"]
FLAGS = [
    ("a value behind the flag", [*PYTHON, "dynamo.frontend"], ["--router-ttl", "5"], {("args", 0): "--router-ttl-secs"}),
    ("a value in the flag", [*PYTHON, "dynamo.frontend"], ["--router-ttl=5"], {("args", 0): "--router-ttl-secs=5"}),
    ("in the command", [*PYTHON, "dynamo.vllm", "--store-kv", "etcd"], [], {("command", 3): "--discovery-backend"}),
    ("a flag that turns something off", [*PYTHON, "dynamo.vllm"], ["--disable-log-requests"], {("args", 0): "--no-enable-log-requests"}),
    ("a flag that stays", [*PYTHON, "dynamo.frontend"], ["--http-port", "8000"], {}),
    ("a line for a shell", ["sh", "-c"], ["python3 -m dynamo.frontend --router-ttl 5"], {}),
    ("a flag without a replacement", [*PYTHON, "dynamo.vllm"], ["--enable-local-indexer", "true"], {}),
    ("another program", [*PYTHON, "web"], ["--router-ttl", "5"], {}),
    ("no list", "python3", ["--router-ttl"], {}),
]


@cases(("reason", "command", "args", "expected"), FLAGS)
def test_flags_with_another_name(reason, command, args, expected):
    """A flag of a plain list gets the name that it has in the new release. Flags that have other values, or no list, stay."""
    resource = graph(
        {"services": {"Worker": {"extraPodSpec": {"mainContainer": {"image": "dynamo:0.9.1", "command": command, "args": args}}}}}
    )
    listed = changes(resource, TO_1_5)
    assert {path[5:]: new for path, new in listed.items() if path[5:6] in (("command",), ("args",))} == expected


TO_1_1 = UpgradeStep(1, "v0.9", "v1.2", (0, 9, 0), (1, 1, 1))
NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
LMCACHE = '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'
VLLM = [*PYTHON, "dynamo.vllm"]
CONFIG = "--kv-transfer-config"
TRANSFERS = [
    ("a prefill worker", ["--is-prefill-worker"], ["--is-prefill-worker", CONFIG, NIXL]),
    ("a decode worker", ["--is-decode-worker", "--store-kv", "etcd"], ["--is-decode-worker", "--discovery-backend", "etcd", CONFIG, NIXL]),
    (
        "the last word gets another name",
        ["--is-decode-worker", "--store-kv=etcd"],
        ["--is-decode-worker", "--discovery-backend=etcd", CONFIG, NIXL],
    ),
    ("a worker alone", ["--enforce-eager"], None),
    ("a connector", ["--connector", "nixl", "--enforce-eager"], [CONFIG, NIXL, "--enforce-eager"]),
    ("a connector in one item", ["--connector=lmcache"], [f"{CONFIG}={LMCACHE}"]),
    ("another connector of a prefill worker", ["--connector", "lmcache", "--is-prefill-worker"], [CONFIG, LMCACHE, "--is-prefill-worker"]),
    ("no connector", ["--enforce-eager", "--connector", "none"], ["--enforce-eager"]),
    ("no connector beside a transfer", [CONFIG, NIXL, "--connector", "null"], [CONFIG, NIXL]),
    ("a connector that nobody knows", ["--connector", "acme"], None),
    ("a connector in a variable", ["--connector", "$(CONNECTOR)"], None),
    ("flags in a file", ["--is-prefill-worker", "--config", "a.yaml"], None),
    ("flags in a variable", ["--is-prefill-worker", "$(MORE)"], None),
]


@cases(("reason", "args", "expected"), TRANSFERS)
def test_the_transfer_of_0_9_is_written(reason, args, expected):
    """Up to 0.9 each worker of vLLM transfers with NixlConnector, or with what `--connector` says. Later releases refuse both."""
    old = graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": {"image": "dynamo:0.9.1", "command": VLLM, "args": args}}}}})
    new = resource_edits.apply_edits(resource_edits.edits(old, Config(), TO_1_1))
    assert at(new, (*MAIN[:-1], "args")) == (expected or args)


def test_the_transfer_of_a_command_without_arguments():
    container = {"image": "dynamo:0.9.1", "command": [*VLLM, "--is-prefill-worker"]}
    new = resource_edits.apply_edits(
        resource_edits.edits(graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": container}}}}), Config(), TO_1_1)
    )
    assert at(new, (*MAIN[:-1], "command")) == [*VLLM, "--is-prefill-worker", CONFIG, NIXL]


def test_a_worker_beside_a_prefill_worker_reads_its_cache():
    """A decode worker of 0.9 needs no flag. Without the transfer it would compute each prompt again."""
    services = {
        name: {"extraPodSpec": {"mainContainer": {"image": "dynamo:0.9.1", "command": VLLM, "args": args}}}
        for name, args in (("Prefill", ["--is-prefill-worker"]), ("Decode", ["--enforce-eager"]))
    }
    new = resource_edits.apply_edits(resource_edits.edits(graph({"services": services}), Config(), TO_1_1))
    assert at(new, ("spec", "services", "Decode", "extraPodSpec", "mainContainer", "args")) == ["--enforce-eager", CONFIG, NIXL]


NO_TRANSFERS = [
    ("a later release has no default", "1.0.0", TO_1_1, VLLM, ["--is-prefill-worker"]),
    ("a step that stays before 1.0", "0.9.0", UpgradeStep(1, "v0.9", "v0.9", (0, 9, 0), (0, 9, 1)), VLLM, ["--is-prefill-worker"]),
    ("another engine", "0.9.1", TO_1_1, [*PYTHON, "dynamo.sglang"], ["--model-path", "a", "--disaggregation-mode", "prefill"]),
    ("a line for a shell", "0.9.1", TO_1_1, ["sh", "-c"], ["python3 -m dynamo.vllm --is-prefill-worker"]),
]


@cases(("reason", "version", "step", "command", "args"), NO_TRANSFERS)
def test_other_commands_get_no_transfer(reason, version, step, command, args):
    container = {"image": f"dynamo:{version}", "command": command, "args": args}
    listed = changes(graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": container}}}}), step)
    assert [path for path in listed if "args" in path] == []


def test_a_flag_becomes_a_flag_with_a_value():
    """1.4 has no flag for each mode."""
    container = {"image": "dynamo:1.3.1", "command": VLLM, "args": ["--is-prefill-worker", CONFIG, NIXL]}
    step = UpgradeStep(1, "v1.3", "v1.5", (1, 3, 1), (1, 5, 1))
    listed = changes(graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": container}}}}), step)
    assert listed[*MAIN[:-1], "args"] == ["--disaggregation-mode", "prefill", CONFIG, NIXL]


def test_values_that_the_new_flag_does_not_have():
    """The replacement of this flag has other values, so the command line stays, and its findings name it."""
    container = {"image": "dynamo:1.5.1", "command": [*PYTHON, "dynamo.sglang"], "args": ["--dsa-prefill-cp-mode", "in-seq-split"]}
    listed = changes(graph({"services": {"Worker": {"extraPodSpec": {"mainContainer": container}}}}), TO_1_6)
    assert [path for path in listed if "args" in path] == []


def test_the_api_version_changes_after_all_other_edits():
    """The paths of the edits are those of the old version."""
    resource = graph({"services": {"Worker": service("dynamo:1.5.1")}})
    listed = resource_edits.edits(resource, Config(), TO_1_6._replace(api_version=dynamo_api.V1BETA1))
    edited = resource_edits.apply_edits(listed)
    assert edited["apiVersion"] == dynamo_api.V1BETA1
    assert edited["spec"]["components"][0]["podTemplate"]["spec"]["containers"][0]["image"] == "dynamo:1.6.1"
    assert resource_edits.apply_edits(listed, ["image"])["apiVersion"] == dynamo_api.V1ALPHA1


RENDER = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}}
SETTINGS = [
    ("a pinned release", {**RENDER, "spec": {"behaviour": "v1.5"}}, Config(behaviour="v1.5"), {("spec", "behaviour"): "v1.6"}),
    ("a number", {**RENDER, "spec": {"behaviour": 1.5}}, Config(behaviour="v1.5"), {("spec", "behaviour"): "v1.6"}),
    ("at least a release", {**RENDER, "spec": {"behaviour": "v1.5+"}}, Config(behaviour="v1.5+"), {}),
    ("the release of the step", {**RENDER, "spec": {"behaviour": "v1.6"}}, Config(behaviour="v1.6"), {}),
    ("no release", {**RENDER, "spec": {}}, Config(), {}),
    (
        "the annotation of a graph",
        graph({}, annotations={"config.dynamo.krm-fn.io/behaviour": "v1.5", ORIGIN[2]: "1.5.0"}),
        Config(behaviour="v1.5"),
        {("metadata", "annotations", "config.dynamo.krm-fn.io/behaviour"): "v1.6"},
    ),
    (
        "a ConfigMap for the function",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "annotations": {"config.kubernetes.io/local-config": "true"}},
            "data": {"behaviour": "v1.5"},
        },
        Config(behaviour="v1.5"),
        {("data", "behaviour"): "v1.6"},
    ),
    (
        "a ConfigMap for the cluster",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"behaviour": "v1.5"}},
        Config(behaviour="v1.5"),
        {},
    ),
]


@cases(("reason", "resource", "config", "expected"), SETTINGS)
def test_the_configuration(reason, resource, config, expected):
    """A configuration that names one release moves to the release of the step."""
    assert changes(resource, TO_1_6, config) == {**expected}


FINDINGS = [
    ("no version", {"Worker": service("dynamo:latest")}, [("DYN660", "write the image of 1.6.1 with a tag such as 1.6.1")]),
    ("a digest alone", {"Worker": service(f"dynamo@sha256:{'0' * 64}")}, [("DYN660", "runtimeVersionOverride: 1.6.1")]),
    ("an override", {"Worker": service("dynamo:prod", runtimeVersionOverride="1.5.1")}, [("DYN660", "only runtimeVersionOverride")]),
    ("an override that is there", {"Worker": service("dynamo:prod", runtimeVersionOverride="1.6.1")}, []),
    ("a digest beside a tag", {"Worker": service(f"dynamo:1.5.1@sha256:{'0' * 64}")}, [("DYN661", "pin dynamo:1.6.1 again")]),
    ("a suffix", {"Worker": service("dynamo:1.5.1-acme")}, [("DYN662", "check that the registry has dynamo:1.6.1-acme")]),
    ("a build for a model", {"Worker": service("dynamo:1.5.0-kimi-k3-dev.1")}, [("DYN662", "image of 1.6.1 that serves the model")]),
    ("a variant", {"Worker": service("dynamo:1.5.1-cuda13")}, []),
    ("there already", {"Worker": service(f"dynamo:1.6.1@sha256:{'0' * 64}")}, []),
]  # fmt: skip


@cases(("reason", "services", "expected"), FINDINGS)
def test_the_findings_about_images(reason, services, expected):
    """What a step cannot know is a warning at the image, with what to write."""
    listed = resource_edits.findings(graph({"services": services}), TO_1_6)
    assert [finding.code for finding in listed] == [code for code, _ in expected]
    assert all(text in finding.message for finding, (_, text) in zip(listed, expected, strict=True))
    assert all(finding.path == MAIN and finding.severity == "warning" for finding in listed)


def test_an_edit_names_the_old_value():
    """A report shows the old and the new value."""
    resource = graph({"services": {"Worker": service("dynamo:1.6.0")}})
    assert resource_edits.edits(resource, Config(), TO_1_6).fields == (FieldEdit(MAIN, "dynamo:1.6.0", "dynamo:1.6.1", "image"),)


IMAGES = st.sampled_from(
    ["dynamo:1.5.1", "v/b:v1.5.0-rc1", "dynamo:1.6.1", "dynamo:latest", f"dynamo:1.5.1@sha256:{'0' * 64}", "host:5000/dynamo:0.9.1", "a"]
)
DRAWN = st.one_of(by_schema.resources(dynamo_api.GRAPH, "v1alpha1"), by_schema.resources(dynamo_api.GRAPH, "v1beta1"))


@hypothesis.settings(max_examples=tier.number(60, 10))
@hypothesis.given(DRAWN, st.data())
def test_the_edited_text_of_a_random_graph_is_the_edited_graph(resource, data):
    """For any graph in any style: the text after the edits has the values of the edited resource and all comments, and is then final."""
    for image in [*runtime_version.images(resource)]:
        if at(resource, image.path[:-1]) is not None:
            resource = replace_at(resource, image.path, data.draw(IMAGES))
    text = yaml_styles.text(resource, data.draw)
    step = data.draw(st.sampled_from([TO_1_5, TO_1_6, DOWN]))
    listed = resource_edits.edits(resource, Config(), step)
    result = text_edits.edit_document(text, {edit.path: edit.new for edit in listed.fields})
    assert result.failed == ()
    assert reader.read(result.text)[0][0].value == resource_edits.apply_edits(listed)
    if all(edit.new is not None for edit in listed.fields):
        assert re.findall(r"# (?:end|own)", result.text) == re.findall(r"# (?:end|own)", text)
    assert resource_edits.edits(reader.read(result.text)[0][0].value, Config(), step).fields == ()
