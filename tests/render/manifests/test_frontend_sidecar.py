"""A frontend beside the main container: what it gets by default, and what its author keeps."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from tests.support import beta, given

IMAGE = {"name": "fe", "image": "registry.example/dynamo:1.5.0"}


def containers(sidecar, *, main=None, named="fe", annotations=None):
    written = beta.component("Worker", main=main, beside=[{**IMAGE, **sidecar}], **({"frontendSidecar": named} if named else {}))
    made = given.rendered(beta.graph(written, annotations=annotations), nats_address="nats://n")
    return made["Deployment/chat-worker"]["spec"]["template"]["spec"]["containers"]


def variables(container):
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_it_runs_a_frontend_with_the_defaults_of_frontends():
    main, frontend = containers({})
    assert (frontend["command"], frontend["args"]) == (["python3"], ["-m", "dynamo.frontend"])
    assert frontend["ports"] == [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]
    assert {"DYN_COMPONENT": "frontend", "DYN_NAMESPACE_PREFIX": "team-chat", "NATS_SERVER": "nats://n"}.items() <= variables(
        frontend
    ).items()
    assert "DYN_NAMESPACE_WORKER_SUFFIX" in variables(main)
    assert "DYN_NAMESPACE_WORKER_SUFFIX" not in variables(frontend)


def test_another_container_gets_nothing():
    assert containers({}, named="")[1] == IMAGE


def test_its_own_fields_win_and_its_probes_merge():
    own = {"command": ["mine"], "env": [{"name": "DYN_COMPONENT", "value": "mine"}], "livenessProbe": {"periodSeconds": 99}}
    frontend = containers(own)[1]
    assert (frontend["command"], variables(frontend)["DYN_COMPONENT"]) == (["mine"], "mine")
    assert frontend["livenessProbe"] == {
        "httpGet": {"path": "/live", "port": "http"},
        "initialDelaySeconds": 15,
        "periodSeconds": 99,
        "timeoutSeconds": 1,
        "failureThreshold": 3,
    }


@pytest.mark.parametrize(
    ("reason", "own", "wanted"),
    [
        ("all volumes of the main container, each once", [], [{"name": "a", "mountPath": "/a"}, {"name": "b", "mountPath": "/b"}]),
        (
            "but none that it mounts itself",
            [{"name": "a", "mountPath": "/x"}],
            [{"name": "a", "mountPath": "/x"}, {"name": "b", "mountPath": "/b"}],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_gets_the_mounts_of_the_main_container_without_shared_memory(reason, own, wanted):
    mounts = [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/a2"}, {"name": "b", "mountPath": "/b"}]
    assert containers({"volumeMounts": own}, main={"volumeMounts": mounts})[1]["volumeMounts"] == wanted


def test_discovery_of_containers_names_the_main_container_in_both():
    for container in containers({}, annotations={labels.DISCOVERY_MODE: "container"}):
        assert {"CONTAINER_NAME": "main", "DYN_KUBE_DISCOVERY_MODE": "container"}.items() <= variables(container).items()
