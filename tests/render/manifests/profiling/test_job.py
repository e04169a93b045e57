"""The profiling Job of a request (reference: dynamographdeploymentrequest_controller.go createProfilingJob)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from krm_fn.render import labels
from krm_fn.render.config import ProfilingSettings, PullSecret, RbacSettings
from krm_fn.render.manifests.profiling import profiler_scripts
from tests.support import faults, given, pods
from tests.support.cases import cases

ACCOUNT, BINDING = "ServiceAccount/dgdr-profiling-job", "RoleBinding/dgdr-profiling-job-binding"
REQUEST, JOB = "DynamoGraphDeploymentRequest/chat", "Job/profile-chat"
OUTPUT = {"name": "profiling-output", "mountPath": "/data"}


def job(settings=None, *, config=None, items=(), **fields):
    """The Job of a request with exactly these settings."""
    request = faults.request(**fields)
    request["spec"]["profilingConfig"]["config"] = settings or {}
    return given.rendered(request, *items, **(config or {}))[JOB]


def template(settings=None, **fields):
    return job(settings, **fields)["spec"]["template"]


def profiler(settings=None, **fields):
    (found,) = [each for each in pods.containers(job(settings, **fields)) if each["name"] == "profiler"]
    return found


def settings_of(container):
    flag, text, *rest = container["args"]
    assert flag == "--profile-config"
    assert set(rest) <= {"--enable-gpu-discovery"}
    return yaml.safe_load(text)


def test_a_request_becomes_a_job_with_its_account():
    assert set(given.rendered(faults.request())) == {ACCOUNT, BINDING, JOB, REQUEST}


def test_without_a_role_the_account_is_assumed_to_exist():
    found = given.rendered(faults.request(), rbac=RbacSettings(profiling_role=""))
    assert set(found) == {JOB, REQUEST}
    assert found[JOB]["spec"]["template"]["spec"]["serviceAccountName"] == "dgdr-profiling-job"


def test_the_binding_is_to_the_role_of_the_configuration():
    found = given.rendered(faults.request(), rbac=RbacSettings(profiling_role="mine"))[BINDING]
    assert found["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "mine"}
    assert found["subjects"] == [{"kind": "ServiceAccount", "name": "dgdr-profiling-job", "namespace": given.NAMESPACE}]


def test_all_requests_of_a_namespace_share_the_account():
    found = given.rendered(faults.request(), faults.request(name="other"))
    assert labels.annotations(found[ACCOUNT])[labels.OWNER] == "DynamoGraphDeploymentRequest/chat,DynamoGraphDeploymentRequest/other"
    assert {JOB, "Job/profile-other"} <= found.keys()


MODES = [
    # reason, the profiler's settings, value of the label `app`
    ("no sweep", {}, "dynamo-profiler"),
    ("a sweep that is a text", {"sweep": "useAiConfigurator"}, "dynamo-profiler"),
    ("the switch is on", {"sweep": {"useAiConfigurator": True}}, "aic-profiler"),
    ("the switch is off", {"sweep": {"useAiConfigurator": False}}, "dynamo-profiler"),
    ("the other spelling", {"sweep": {"use_ai_configurator": True}}, "aic-profiler"),
    ("the first spelling wins", {"sweep": {"useAiConfigurator": False, "use_ai_configurator": True}}, "dynamo-profiler"),
    ("a text is no switch", {"sweep": {"useAiConfigurator": "true"}}, "dynamo-profiler"),
    ("a text leaves the other spelling", {"sweep": {"useAiConfigurator": "false", "use_ai_configurator": True}}, "aic-profiler"),
]


@cases(("settings", "app"), MODES)
def test_a_label_says_whether_gpus_are_simulated(settings, app):
    found = labels.of(job(settings))
    assert found == {"app": app, "dgdr": "chat", "nvidia.com/managed-by": "dynamo-operator", labels.MANAGED_BY: labels.MANAGER}


def test_the_profiler_stands_between_our_containers():
    """A failed init container fails the pod, so the output is published only after a successful profiler."""
    pod = template()["spec"]
    assert [each["name"] for each in pod["initContainers"]] == ["output-check", "profiler"]
    assert [each["name"] for each in pod["containers"]] == ["output-copier"]


def test_the_pod_is_that_of_the_reference():
    found = template()
    assert found["metadata"] == {
        "labels": {"dgdr": "chat"},
        "annotations": {"kubectl.kubernetes.io/default-container": "profiler"},
    }
    pod = {key: value for key, value in found["spec"].items() if not key.lower().endswith("containers")}
    assert pod == {
        "serviceAccountName": "dgdr-profiling-job",
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000},
        "volumes": [{"name": "profiling-output", "emptyDir": {}}],
    }


def test_the_job_retries_three_times_but_not_after_the_codes_of_our_containers():
    spec = job()["spec"]
    assert spec["backoffLimit"] == 3
    rules = [(rule["action"], rule["onExitCodes"]) for rule in spec["podFailurePolicy"]["rules"]]
    codes = [*profiler_scripts.CODES.values()]
    assert rules == [("FailJob", {"containerName": name, "operator": "In", "values": codes}) for name in ("output-check", "output-copier")]
    assert len({*codes}) == len(codes)
    assert all(code not in (0, 1, 2, 126, 127) and code < 128 for code in codes)  # those of shells and signals


def test_the_variables_of_the_profiler():
    """The addresses are those of the configuration. The reference makes them up from the namespace."""
    own = [{"name": "DGDR_NAME", "value": "chat"}, {"name": "DGDR_NAMESPACE", "value": given.NAMESPACE}]
    token = {"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token-secret", "key": "HF_TOKEN"}}}
    assert profiler()["env"] == [token, *own]
    addresses = {"nats_address": "nats://a:4222", "etcd_address": "b:2379", "model_express_url": "http://c"}
    platform = [{"name": "NATS_SERVER", "value": "nats://a:4222"}, {"name": "ETCD_ENDPOINTS", "value": "b:2379"}]
    assert profiler(config=addresses)["env"] == [token, *platform, *own]


def test_nodes_are_read_only_if_the_request_says_so():
    assert profiler()["args"][2:] == []
    assert profiler(spec={"enableGpuDiscovery": True})["args"][2:] == ["--enable-gpu-discovery"]


ADDED: dict[str, Any] = {
    "deployment": {"model": "acme/tiny", "namespace": given.NAMESPACE},
    "engine": {"backend": "vllm"},
    "output_dir": "/data",
}
SETTINGS = [
    # reason, settings, spec and profilingConfig of the request, settings that the profiler gets
    ("no settings", {}, {}, {}, ADDED),
    (
        "others stay, in both spellings",
        {"sla": {"isl": 1, "maxNum_x": [1, "a"]}},
        {},
        {},
        {**ADDED, "sla": {"isl": 1, "maxNum_x": [1, "a"]}},
    ),
    ("nulls of others stay", {"sweep": None, "a": {"b": [None]}}, {}, {}, {**ADDED, "sweep": None, "a": {"b": [None]}}),
    (
        "model and backend are overwritten",
        {"deployment": {"model": 1, "x": "y"}, "engine": {"backend": ["sglang"], "x": "y"}},
        {},
        {},
        {**ADDED, "deployment": {**ADDED["deployment"], "x": "y"}, "engine": {"backend": "vllm", "x": "y"}},
    ),
    (
        "the namespace is the user's",
        {"deployment": {"namespace": "other"}},
        {},
        {},
        {**ADDED, "deployment": {"model": "acme/tiny", "namespace": "other"}},
    ),
    (
        "a namespace that is null is the user's too",
        {"deployment": {"namespace": None}},
        {},
        {},
        {**ADDED, "deployment": {"model": "acme/tiny", "namespace": None}},
    ),
    ("null for a whole part", {"deployment": None, "engine": None, "output_dir": None}, {}, {}, ADDED),
    ("another spelling of output_dir is another setting", {"outputDir": "/a"}, {}, {}, {**ADDED, "outputDir": "/a"}),
    ("a slash at the end of output_dir", {"output_dir": "/data/"}, {}, {}, ADDED),
    (
        "the image of the workers",
        {"deployment": {"dgd_image": "old", "dgdImage": "kept"}},
        {"deploymentOverrides": {"workersImage": "new"}},
        {},
        {**ADDED, "deployment": {**ADDED["deployment"], "dgd_image": "new", "dgdImage": "kept"}},
    ),
    (
        "no image of the workers",
        {"deployment": {"dgd_image": "old"}},
        {"deploymentOverrides": {"workersImage": ""}},
        {},
        {**ADDED, "deployment": {**ADDED["deployment"], "dgd_image": "old"}},
    ),
    (
        "the graph to start from",
        {"engine": {"config": "/mine"}},
        {},
        {"configMapRef": {"name": "base", "key": "a"}},
        {**ADDED, "engine": {"backend": "vllm", "config": "/config/disagg.yaml"}},
    ),
    (
        "a file in the image to start from",
        {"engine": {"config": "/mine"}},
        {},
        {},
        {**ADDED, "engine": {"backend": "vllm", "config": "/mine"}},
    ),
]


@cases(("settings", "spec", "profiling", "gets"), SETTINGS)
def test_the_settings_are_completed(settings, spec, profiling, gets):
    before = copy.deepcopy(settings)
    assert settings_of(profiler(settings, spec=spec, **profiling)) == gets
    assert settings == before


def test_the_settings_are_sorted_and_whole_numbers_have_no_fraction():
    """As an API server stores them, so that 50 and 50.0 are the same profiling."""
    text = profiler({"sla": {"ttft": 200.5, "itl": 20.0}, "map": {"1": "y", "true": "n"}})["args"][1]
    assert text == (
        "deployment:\n  model: acme/tiny\n  namespace: team\nengine:\n  backend: vllm\n"
        'map:\n  "1": "y"\n  "true": "n"\noutput_dir: /data\nsla:\n  itl: 20\n  ttft: 200.5\n'
    )


BASE = {"name": "profiling-config", "mountPath": "/config", "readOnly": True}
CACHE = {"name": "model-cache", "mountPath": "/opt/model-cache", "readOnly": True}
MODELS = {"name": "model-cache", "persistentVolumeClaim": {"claimName": "models", "readOnly": True}}


def base(key):
    return {"name": "profiling-config", "configMap": {"name": "base", "items": [{"key": key, "path": "disagg.yaml"}]}}


def cached(**cache):
    return {"deployment": {"modelCache": {"pvcName": "models", **cache}}}


VOLUMES = [
    # reason, settings, profilingConfig, volumes, mounts of the profiler
    (
        "a claim for the output",
        {},
        {"outputPVC": "p"},
        [{"name": "profiling-output", "persistentVolumeClaim": {"claimName": "p"}}],
        [OUTPUT],
    ),
    ("an empty claim", {}, {"outputPVC": ""}, [{"name": "profiling-output", "emptyDir": {}}], [OUTPUT]),
    ("a base", {}, {"configMapRef": {"name": "base", "key": "a.yaml"}}, [None, base("a.yaml")], [OUTPUT, BASE]),
    ("the default key", {}, {"configMapRef": {"name": "base"}}, [None, base("disagg.yaml")], [OUTPUT, BASE]),
    ("an empty key", {}, {"configMapRef": {"name": "base", "key": ""}}, [None, base("disagg.yaml")], [OUTPUT, BASE]),
    ("a cache", cached(), {}, [None, MODELS], [OUTPUT, CACHE]),
    ("a cache elsewhere", cached(mountPath="/m", pvcPath="x"), {}, [None, MODELS], [OUTPUT, {**CACHE, "mountPath": "/m"}]),
    ("a cache at a path of the wrong type", cached(mountPath=["/m"]), {}, [None, MODELS], [OUTPUT, CACHE]),
    ("a cache without a claim", cached(pvcName=""), {}, [None], [OUTPUT]),
    ("a cache whose claim is a number", cached(pvcName=1), {}, [None], [OUTPUT]),
    ("a cache that is a text", {"deployment": {"modelCache": "models"}}, {}, [None], [OUTPUT]),
    ("a cache that is null", {"deployment": {"modelCache": None}}, {}, [None], [OUTPUT]),
    ("all", cached(), {"configMapRef": {"name": "base"}}, [None, base("disagg.yaml"), MODELS], [OUTPUT, BASE, CACHE]),
]


@cases(("settings", "profiling", "volumes", "mounts"), VOLUMES)
def test_the_volumes(settings, profiling, volumes, mounts):
    """None stands for the empty directory of the output."""
    made = job(settings, **profiling)
    empty = {"name": "profiling-output", "emptyDir": {}}
    assert made["spec"]["template"]["spec"]["volumes"] == [volume or empty for volume in volumes]
    assert {each["name"]: each["volumeMounts"] for each in pods.containers(made)} == {
        "output-check": [OUTPUT],
        "profiler": mounts,
        "output-copier": [{**OUTPUT, "readOnly": True}],
    }


def test_resources_and_tolerations_are_the_users():
    amounts = {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": 2}}
    taint = {"key": "nvidia.com/gpu", "operator": "Exists"}
    made = job(resources=amounts, tolerations=[taint])
    assert made["spec"]["template"]["spec"]["tolerations"] == [taint]
    assert pods.containers(made)[1]["resources"] == {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "2"}}
    assert "resources" not in profiler(resources={})
    assert "tolerations" not in template(tolerations=[])["spec"]


PULLED: dict[str, Any] = {"registry.example": {}}
SECRETS = [
    # reason, items, settings, names
    ("none", (), {}, []),
    ("a Secret among the items", (faults.secret(PULLED),), {}, ["pull"]),
    ("a Secret of another namespace", (faults.secret(PULLED, namespace="other"),), {}, []),
    ("a Secret of the configuration", (), {"image_pull_secrets": (PullSecret("registry.example", "nvcr"),)}, ["nvcr"]),
    (
        "one for each image",
        (faults.secret(PULLED),),
        {"profiling": ProfilingSettings("own.example/k8s:1"), "image_pull_secrets": (PullSecret("own.example", "own"),)},
        ["pull", "own"],
    ),
    ("one for both images", (faults.secret(PULLED),), {"profiling": ProfilingSettings("registry.example/k8s:1")}, ["pull"]),
]


@cases(("items", "config", "names"), SECRETS)
def test_pull_secrets_are_those_of_both_images(items, config, names):
    pod = template(items=items, config=config)["spec"]
    assert [each["name"] for each in pod.get("imagePullSecrets", ())] == names


def test_our_containers_have_the_image_of_the_configuration():
    made = pods.containers(job(config={"profiling": ProfilingSettings("own:1")}))
    assert [each["image"] for each in made] == ["own:1", "registry.example/profiler:1", "own:1"]
    assert all(each["terminationMessagePolicy"] == "FallbackToLogsOnError" for each in made if each["image"] == "own:1")


def test_the_scripts_are_the_same_in_every_job_and_hold_no_text_that_flux_replaces():
    first, second = (pods.containers(job(**fields)) for fields in ({}, {"namespace": "other", "profilerImage": "b"}))
    for mine, other in zip(first, second, strict=True):
        if mine["name"] != "profiler":
            assert mine["args"] == other["args"]
            assert "${" not in mine["args"][0]


# annotations


def digest(request=None, **config):
    found = given.rendered(request or faults.request(), **config)
    (made,) = {labels.annotations(found[name])[labels.PROFILE_HASH] for name in (JOB, REQUEST)}
    variables = [each["value"] for container in pods.containers(found[JOB]) for each in container["env"] if each["name"] == "PROFILE_HASH"]
    assert variables == [made, made]
    return made


SAME = [
    ("autoApply", faults.request(spec={"autoApply": True}), {}),
    ("useMocker", faults.request(spec={"useMocker": True}), {}),
    ("the name of the graph", faults.request(spec={"deploymentOverrides": {"name": "a", "namespace": "b", "labels": {"c": "d"}}}), {}),
    ("tolerations", faults.request(tolerations=[{"operator": "Exists"}]), {}),
    ("the image of our containers", faults.request(), {"profiling": ProfilingSettings("own:1")}),
    ("the role", faults.request(), {"rbac": RbacSettings(profiling_role="")}),
    ("addresses", faults.request(), {"nats_address": "nats://a:4222"}),
    ("an empty output claim", faults.request(outputPVC=""), {}),
    ("settings that are the defaults", faults.request({"output_dir": "/data", "engine": {}}), {}),
]


@cases(("request_", "config"), SAME)
def test_the_hash_does_not_depend_on(request_, config):
    assert digest(request_, **config) == digest()


OTHER = [
    ("the model", faults.request(spec={"model": "acme/big"})),
    ("the backend", faults.request(spec={"backend": "sglang"})),
    ("the image of the profiler", faults.request(profilerImage="b")),
    ("a setting", faults.request({"sla": {"isl": 1}})),
    ("the image of the workers", faults.request(spec={"deploymentOverrides": {"workersImage": "b"}})),
    ("resources", faults.request(resources={"limits": {"cpu": "1"}})),
    ("the claim of the output", faults.request(outputPVC="p")),
    ("the base", faults.request(configMapRef={"name": "base"})),
    ("the key of the base", faults.request(configMapRef={"name": "base", "key": "a"})),
    ("the discovery of nodes", faults.request(spec={"enableGpuDiscovery": True})),
    ("the namespace", faults.request(namespace="other")),
]


def test_the_hash_depends_on_all_that_profiling_depends_on():
    made = {reason: digest(request) for reason, request in OTHER}
    assert len({digest(), *made.values()}) == len(OTHER) + 1


def test_the_hash_does_not_depend_on_the_order_of_the_settings_or_on_how_numbers_are_written():
    assert digest(faults.request({"a": 1, "b": 2.0})) == digest(faults.request({"b": 2, "a": 1}))


def test_annotations_keep_gitops_tools_from_profiling_again():
    notes = labels.annotations(job())
    assert {key: notes[key] for key in labels.RUN_ONCE} == labels.RUN_ONCE
    assert notes.keys() == {*labels.RUN_ONCE, labels.PROFILE_HASH, labels.OWNER}


def test_the_annotations_of_the_request_are_its_own():
    written = faults.request()
    found = given.rendered(written)[REQUEST]
    assert labels.annotations(found).keys() == {labels.PROFILE_HASH, labels.SPEC_HASH, labels.RENDERED_BY}
    assert found["spec"] == written["spec"]
    assert (
        labels.annotations(given.rendered(faults.request(spec={"autoApply": True}))[REQUEST])[labels.SPEC_HASH]
        != labels.annotations(found)[labels.SPEC_HASH]
    )


@pytest.mark.parametrize(("source", "mark"), [("keep", None), ("local", "true"), ("drop", None)])
def test_the_request_stays_as_the_configuration_says(source, mark):
    found = given.rendered(faults.request(), source=source)
    assert (REQUEST in found) == (source != "drop")
    assert JOB in found
    if source != "drop":
        assert labels.annotations(found[REQUEST]).get(labels.LOCAL_CONFIG) == mark


# a second render


def again(*items, **settings):
    return given.expanded(*items, **settings)


def test_a_second_render_changes_nothing():
    first = again(faults.request()).resources
    assert again(*first).resources == first
    assert again(*first).results == []


def test_objects_that_are_no_longer_needed_are_removed():
    """Without a role, the namespace needs no account. The Job of a request that is gone stays, with a warning."""
    first = again(faults.request()).resources
    less = again(*first, rbac=RbacSettings(profiling_role=""))
    assert set(given.by_address(less.resources)) == {JOB, REQUEST}
    assert [found.code for found in less.results] == ["DYN056", "DYN056"]
    gone = again(*(each for each in first if each["kind"] != "DynamoGraphDeploymentRequest"))
    assert [found.code for found in gone.results] == ["DYN053", "DYN053", "DYN053"]


MINE = given.item("ServiceAccount", "dgdr-profiling-job", annotations={"iam": "role"}, imagePullSecrets=[{"name": "own"}])


def test_a_users_own_account_stays_as_it_is():
    found = again(faults.request(), MINE)
    assert found.results == []
    assert given.by_address(found.resources)[ACCOUNT] == MINE


def test_a_users_own_binding_is_corrected_as_in_the_reference():
    """Reference: internal/rbac/manager.go. Its metadata stays, and it stays the user's, so a second render does the same."""
    api = "rbac.authorization.k8s.io/v1"
    other = given.item(
        "RoleBinding", "dgdr-profiling-job-binding", api=api, annotations={"mine": "yes"}, subjects=[], roleRef={"name": "a"}
    )
    found = again(faults.request(), other)
    assert [(each.code, each.severity) for each in found.results] == [("DYN054", "warning")]
    corrected = given.by_address(found.resources)[BINDING]
    assert corrected["metadata"] == other["metadata"]
    made = given.rendered(faults.request())[BINDING]
    assert {key: corrected[key] for key in ("roleRef", "subjects")} == {key: made[key] for key in ("roleRef", "subjects")}
    assert again(faults.request(), corrected).results == []


@pytest.mark.parametrize("text", ["1e-05", "1E5", "-1e+3", ".5e3", "0o17", "1_000", "12:30:45", "on"])
def test_a_text_of_the_settings_stays_a_text_for_every_reader(text):
    """A reader of YAML 1.2 reads `1e-05` as a number if it is not quoted, PyYAML reads others so."""
    flag, settings, *_ = profiler({"sla": {"mode": text}})["args"]
    assert flag == "--profile-config"
    assert f'mode: "{text}"' in settings
    assert yaml.safe_load(settings)["sla"]["mode"] == text
