"""Sidecar mode of release 1.6: an init container `runtime` runs Dynamo, and the main container runs an engine as its author wrote it."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from krm_fn.render.config import PullSecret
from tests.support import beta, given

ENGINE = {"image": "registry.example/vllm-openai:0.31.0", "command": ["vllm", "serve"], "args": ["m"], "env": [{"name": "A", "value": "1"}]}
RUNTIME = {"name": "runtime", "image": "registry.example/dynamo:1.6.1", "restartPolicy": "Always"}
OTHER = {"name": "download", "image": "registry.example/tool:1"}


def pod(runtime=None, *, kind="worker", settings=None, around=(), metadata=None, graph=None, **fields):
    """The pod of a worker in sidecar mode."""
    worker = beta.component(
        "Worker", kind, main=ENGINE, pod={"initContainers": [OTHER, {**RUNTIME, **(runtime or {})}]}, metadata=metadata or {}, **fields
    )
    written = beta.graph(worker)
    written["spec"].update(graph or {})
    found = given.rendered(written, *around, **(settings or {}))
    return found["Deployment/chat-worker"]["spec"]["template"]["spec"]


def runtime_of(spec):
    """The container that runs Dynamo."""
    (found,) = (container for container in spec["initContainers"] if container["name"] == "runtime")
    return found


@pytest.mark.parametrize("kind", ["worker", "prefill", "decode"])
def test_the_engine_stays_as_written(kind):
    """Only shared memory is added."""
    (main,) = pod(kind=kind)["containers"]
    assert {key: value for key, value in main.items() if key not in ("name", "volumeMounts")} == ENGINE
    assert [mount["name"] for mount in main["volumeMounts"]] == ["shared-memory"]


def test_the_runtime_has_the_defaults_of_dynamo():
    found = runtime_of(pod(settings={"nats_address": "nats://nats:4222"}))
    variables = given.variables(found)
    assert {"DYN_COMPONENT": "worker", "DYN_SYSTEM_ENABLED": "true", "DYN_SYSTEM_PORT": "9090", "DYN_NAMESPACE": "team-chat"}.items() <= (
        variables.items()
    )
    assert variables["NATS_SERVER"] == "nats://nats:4222"
    assert variables["DYN_NAMESPACE_WORKER_SUFFIX"]
    assert not {"DYN_HEALTH_CHECK_ENABLED", "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "NIXL_TELEMETRY_ENABLE"} & variables.keys()
    assert found["ports"] == [{"name": "system", "containerPort": 9090, "protocol": "TCP"}]
    assert {name: found[name]["failureThreshold"] for name in ("startupProbe", "livenessProbe", "readinessProbe")} == {
        "startupProbe": 30,
        "livenessProbe": 3,
        "readinessProbe": 3,
    }
    assert "command" not in found
    assert "resources" not in found


def test_fields_of_the_user_win_and_probes_replace_whole():
    own = {"livenessProbe": {"exec": {"command": ["true"]}}, "command": ["run"], "env": [{"name": "DYN_SYSTEM_PORT", "value": "1"}]}
    found = runtime_of(pod(own))
    assert found["livenessProbe"] == own["livenessProbe"]
    assert found["command"] == ["run"]
    assert given.variables(found)["DYN_SYSTEM_PORT"] == "1"


def test_other_init_containers_keep_their_place():
    assert pod()["initContainers"][0] == OTHER


def test_variables_of_the_graph_reach_both():
    spec = pod(graph={"env": [{"name": "SHARED", "value": "x"}]})
    assert given.variables(runtime_of(spec))["SHARED"] == "x"
    assert given.variables(spec["containers"][0]) == {"A": "1", "SHARED": "x"}


def test_with_discovery_of_containers_the_runtime_has_its_name():
    found = runtime_of(pod(metadata={"annotations": {labels.DISCOVERY_MODE: "container"}}))
    assert given.variables(found)["CONTAINER_NAME"] == "runtime"


def test_pull_secrets_of_init_containers_are_found():
    settings = {"image_pull_secrets": (PullSecret("registry.example", "mine"),)}
    assert pod(settings=settings)["imagePullSecrets"] == [{"name": "mine"}]


def test_the_tag_of_the_engine_chooses_no_release():
    """A tag of vLLM says nothing of Dynamo. Without sidecar mode, nothing says a version, and the operator reads that of vLLM."""
    main = {**ENGINE, "image": "registry.example/vllm-openai:9.9.9"}
    beside, alone = (beta.graph(beta.component("Worker", main=main, pod=pod)) for pod in ({"initContainers": [RUNTIME]}, {}))
    assert given.findings(given.expanded(beside).results) == []
    assert [code for code, _ in given.findings(given.expanded(alone).results)] == ["DYN491", "DYN575"]


def test_an_older_release_has_no_sidecar_mode():
    spec = pod(settings={"behaviour": "v1.5"})
    assert runtime_of(spec) == RUNTIME
    assert "DYN_COMPONENT" in given.variables(spec["containers"][0])
