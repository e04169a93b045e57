"""Pods with the main container first: containers, volumes and mounts in order, shared memory, caches, accounts and pull secrets."""

from __future__ import annotations

import pytest

from krm_fn.render import config, labels
from tests.support import beta, given

SHM = "/dev/shm"  # noqa: S108 - the kernel's name for it
MEMORY = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
SCRATCH = {"name": "scratch", "emptyDir": {}}
SPARE = {"name": "spare", "emptyDir": {}}


def claim(name):
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def mount(name, path):
    return {"name": name, "mountPath": path}


def pod(component, *around, settings=None, **spec):
    """The pod of a graph's only component."""
    made = given.rendered(beta.graph(component, **spec), *around, **(settings or {}))
    (deployment,) = (item for item in made.values() if item["kind"] == "Deployment")
    return deployment["spec"]["template"]["spec"]


def main(component, **spec):
    return pod(component, **spec)["containers"][0]


def worker(**fields):
    return beta.component("Worker", **fields)


def variables(container):
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_the_main_container_comes_first_and_the_others_keep_their_order():
    sidecars = [{"name": "zulu", "image": "z:1"}, {"name": "alpha", "image": "a:1"}]
    written = worker(beside=sidecars)
    template = written["podTemplate"]["spec"]
    template["containers"] = [*sidecars, template["containers"][0]]
    assert [container["name"] for container in pod(written)["containers"]] == ["main", "zulu", "alpha"]


@pytest.mark.parametrize(
    ("reason", "mounts", "volumes", "wanted"),
    [
        ("only shared memory", [], [], [MEMORY]),
        (
            "volumes follow the mounts, the others come last",
            [mount("scratch", "/s"), mount("models", "/m")],
            [SPARE, claim("models"), SCRATCH],
            [SCRATCH, claim("models"), MEMORY, SPARE],
        ),
        ("a mount without a volume mounts the claim of its name", [mount("models", "/m")], [], [claim("models"), MEMORY]),
        ("two mounts of one volume", [mount("scratch", "/a"), mount("scratch", "/b")], [SCRATCH], [SCRATCH, MEMORY]),
        ("the default shared memory replaces a volume of its name", [], [{"name": "shared-memory", "emptyDir": {}}], [MEMORY]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_volumes_are_in_the_order_of_the_mounts_of_the_main_container(reason, mounts, volumes, wanted):
    assert pod(worker(main={"volumeMounts": mounts}, pod={"volumes": volumes}))["volumes"] == wanted


@pytest.mark.parametrize(
    ("reason", "size", "mounts", "wanted"),
    [
        ("a mount of its volume", None, [mount("shared-memory", "/other"), mount("scratch", "/s")], [mount("scratch", "/s")]),
        ("a mount in its folder", None, [mount("scratch", SHM)], []),
        ("its mount comes last", "1Gi", [mount("scratch", "/s")], [mount("scratch", "/s")]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_shared_memory_replaces_mounts_and_comes_last(reason, size, mounts, wanted):
    written = worker(main={"volumeMounts": mounts}, pod={"volumes": [SCRATCH]}, **({"sharedMemorySize": size} if size else {}))
    made = pod(written)
    assert made["containers"][0]["volumeMounts"] == [*wanted, mount("shared-memory", SHM)]
    (memory,) = (volume for volume in made["volumes"] if volume["name"] == "shared-memory")
    assert memory["emptyDir"]["sizeLimit"] == (size or "8Gi")


def test_without_shared_memory_the_users_volume_stays():
    own = {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    written = worker(main={"volumeMounts": [mount("shared-memory", SHM)]}, pod={"volumes": [own]}, sharedMemorySize="0")
    made = pod(written)
    assert (made["volumes"], made["containers"][0]["volumeMounts"]) == ([own], [mount("shared-memory", SHM)])


@pytest.mark.parametrize(
    ("reason", "cache", "mounts", "wanted"),
    [
        ("the folder of the engine", {"pvcName": "kernels"}, [], [mount("kernels", "/root/.cache/vllm")]),
        ("a folder of its own", {"pvcName": "kernels", "mountPath": "/k"}, [], [mount("kernels", "/k")]),
        ("mounted there already", {"pvcName": "kernels", "mountPath": "/k"}, [mount("kernels", "/k")], [mount("kernels", "/k")]),
        (
            "mounted elsewhere, too",
            {"pvcName": "kernels"},
            [mount("kernels", "/k"), mount("models", "/m")],
            [mount("kernels", "/k"), mount("models", "/m"), mount("kernels", "/root/.cache/vllm")],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_compilation_cache_is_mounted_once(reason, cache, mounts, wanted):
    made = pod(worker(main={"volumeMounts": mounts}, compilationCache=cache), backendFramework="vllm")
    assert made["containers"][0]["volumeMounts"] == [*wanted, mount("shared-memory", SHM)]
    assert claim("kernels") in made["volumes"]
    assert variables(made["containers"][0])["VLLM_CACHE_ROOT"] == cache.get("mountPath", "/root/.cache/vllm")


def test_a_cache_mount_without_a_path_comes_from_v1alpha1():
    """The conversion leaves the path of the mount empty, because only the render knows the folder of the engine."""
    mounts = [{"name": "models", "mountPoint": "/m"}, {"name": "kernels", "useAsCompilationCache": True}]
    written = given.graph({"Worker": beta.service(volumeMounts=mounts)}, backendFramework="vllm")
    made = given.rendered(written, behaviour="v1.5")["Deployment/chat-worker"]["spec"]["template"]["spec"]
    wanted = [mount("models", "/m"), mount("kernels", "/root/.cache/vllm"), mount("shared-memory", SHM)]
    assert made["containers"][0]["volumeMounts"] == wanted


def test_a_probe_of_the_user_replaces_the_whole_default_probe():
    written = main(worker(main={"livenessProbe": {"exec": {"command": ["true"]}}}))
    assert written["livenessProbe"] == {"exec": {"command": ["true"]}}
    assert written["readinessProbe"]["httpGet"] == {"path": "/health", "port": "system"}


def test_variables_of_the_component_win_over_those_of_the_graph_and_all_are_sorted():
    mine = [{"name": "SHARED", "value": "component"}, {"name": "NATS_SERVER", "value": "mine"}]
    shared = [{"name": "SHARED", "value": "graph"}, {"name": "DYN_SYSTEM_PORT", "value": "1"}, {"name": "A", "value": "graph"}]
    found = main(worker(main={"env": mine}), env=shared, settings={"nats_address": "nats://default"})
    assert [entry["name"] for entry in found["env"]] == sorted(variables(found))
    wanted = {"SHARED": "component", "NATS_SERVER": "mine", "DYN_SYSTEM_PORT": "1", "A": "graph"}
    assert wanted.items() <= variables(found).items()


@pytest.mark.parametrize(("written", "wanted"), [(None, {"fsGroup": 1000}), ({}, {}), ({"runAsUser": 0}, {"runAsUser": 0})])
def test_the_group_of_files_is_set_only_without_a_security_context(written, wanted):
    assert pod(worker(pod={} if written is None else {"securityContext": written}))["securityContext"] == wanted


@pytest.mark.parametrize(
    ("reason", "component", "settings", "wanted"),
    [
        ("the account of discovery", worker(), {}, "chat-k8s-service-discovery"),
        ("the user's account", worker(pod={"serviceAccountName": "mine"}), {}, "mine"),
        ("no discovery", worker(), {"discovery_backend": "etcd"}, "default"),
        ("a planner cannot choose", beta.component("P", "planner", pod={"serviceAccountName": "mine"}), {}, "planner-serviceaccount"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_service_account(reason, component, settings, wanted):
    assert pod(component, settings=settings)["serviceAccountName"] == wanted


def test_pull_secrets_cover_all_containers_but_not_init_containers():
    secrets = ({"registry": "a.example", "name": "a"}, {"registry": "b.example", "name": "b"}, {"registry": "c.example", "name": "c"})
    written = worker(
        main={"image": "a.example/x:1.5.0"},
        beside=[{"name": "s", "image": "b.example/x:1"}],
        pod={"initContainers": [{"name": "i", "image": "c.example/x:1"}], "imagePullSecrets": [{"name": "mine"}]},
    )
    settings = {"image_pull_secrets": tuple(config.PullSecret(**secret) for secret in secrets)}
    assert pod(written, settings=settings)["imagePullSecrets"] == [{"name": "mine"}, {"name": "a"}, {"name": "b"}]
    written["podTemplate"]["metadata"] = {"annotations": {labels.NO_PULL_SECRETS: "true"}}
    assert pod(written, settings=settings)["imagePullSecrets"] == [{"name": "mine"}]
