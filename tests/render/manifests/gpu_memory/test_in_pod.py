"""The GPU memory service beside the engine in one pod (reference: `internal/gms/`, `internal/dra/`)."""

from __future__ import annotations

import pytest

from tests.support import beta, given, shared_gpus
from tests.support.cases import cases

FOLDER = "/gms-intrapod-control"
MOUNT = {"name": "gms-intrapod-control", "mountPath": FOLDER}
CLAIM = {"name": "intrapod-shared-gpu"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def named(found, name):
    return next(each for each in found["containers"] if each["name"] == name)


def test_a_server_runs_as_long_as_the_pod():
    """A restart policy of its own makes an init container run beside the others."""
    (server,) = shared_gpus.pod()["initContainers"]
    assert server == {
        "name": "gms-server",
        "image": beta.IMAGE,
        "command": ["python3", "-m", "gpu_memory_service.cli.server"],
        "env": [{"name": "GMS_SOCKET_DIR", "value": FOLDER}],
        "resources": {"claims": [CLAIM]},
        "restartPolicy": "Always",
        "volumeMounts": [MOUNT],
    }


def test_the_engine_has_the_gpus_of_the_claim_and_the_sockets_of_the_server():
    limits = {"cpu": "4", "nvidia.com/gpu": "2", "nvidia.com/mig-3g.20gb": "1"}
    main = named(shared_gpus.pod(main={"resources": {"limits": limits, "requests": {"nvidia.com/gpu": "2"}}}), "main")
    assert main["resources"] == {"limits": {"cpu": "4"}, "claims": [CLAIM]}
    assert given.variables(main)["GMS_SOCKET_DIR"] == FOLDER
    assert MOUNT in main["volumeMounts"]


def test_the_pod_names_the_claim_the_folder_and_nodes_with_gpus():
    """Kubernetes tolerates the taint of such nodes only for pods with GPUs in their resources."""
    found = shared_gpus.pod()
    assert found["resourceClaims"] == [{**CLAIM, "resourceClaimTemplateName": "chat-worker-gpu"}]
    assert {"name": "gms-intrapod-control", "emptyDir": {}} in found["volumes"]
    assert found["tolerations"] == [TOLERATION]


def test_other_clients_are_those_that_the_user_names():
    beside = [{"name": name, "image": "a:1"} for name in ("loader", "logger")]
    found = shared_gpus.pod(memory={"extraClientContainers": ["loader"]}, beside=beside)
    loader, logger = named(found, "loader"), named(found, "logger")
    assert (loader["resources"], loader["volumeMounts"]) == ({"claims": [CLAIM]}, [MOUNT])
    assert given.variables(loader)["GMS_SOCKET_DIR"] == FOLDER
    assert not {"resources", "volumeMounts"} & logger.keys()


PRESENT = {**TOLERATION, "operator": "Equal", "value": "present"}
WRITTEN = [
    ("a toleration for one value of the taint", "tolerations", [PRESENT], [PRESENT]),
    (
        "a toleration for another effect",
        "tolerations",
        [{**TOLERATION, "effect": "NoExecute"}],
        [{**TOLERATION, "effect": "NoExecute"}, TOLERATION],
    ),
    (
        "another claim",
        "resourceClaims",
        [{"name": "mine", "resourceClaimName": "net"}],
        [{"name": "mine", "resourceClaimName": "net"}, {**CLAIM, "resourceClaimTemplateName": "chat-worker-gpu"}],
    ),
    (
        "a claim with the name of the service's",
        "resourceClaims",
        [{**CLAIM, "resourceClaimName": "mine"}],
        [{**CLAIM, "resourceClaimTemplateName": "chat-worker-gpu"}],
    ),
]


@cases(("field", "entries", "made"), WRITTEN)
def test_what_the_user_wrote_stays_unless_the_service_needs_the_name(field, entries, made):
    assert shared_gpus.pod(pod={field: entries})[field] == made


def test_the_user_can_write_the_server():
    """Kubernetes takes each name once, and the reference leaves an init container of this name alone."""
    own = {"name": "gms-server", "image": "a:1", "restartPolicy": "Always"}
    assert shared_gpus.pod(pod={"initContainers": [own]})["initContainers"] == [own]


def test_a_variable_and_a_mount_of_the_user_are_replaced():
    own = {"env": [{"name": "GMS_SOCKET_DIR", "value": "/mine"}], "volumeMounts": [{**MOUNT, "mountPath": "/mine"}]}
    main = named(shared_gpus.pod(main=own), "main")
    assert given.variables(main)["GMS_SOCKET_DIR"] == FOLDER
    assert [each for each in main["volumeMounts"] if each["name"] == MOUNT["name"]] == [MOUNT]


DEVICES = [
    ("GPUs of NVIDIA", {}, "gpu.nvidia.com"),
    ("another class", {"deviceClassName": "mig.example.com"}, "mig.example.com"),
]


@cases(("memory", "device"), DEVICES)
@pytest.mark.parametrize(("mode", "orchestrator"), [("IntraPod", "deployment"), ("IntraPod", "grove"), ("InterPod", "grove")])
def test_a_template_claims_as_many_devices_as_the_engine_has_gpus(memory, device, mode, orchestrator):
    """The reference makes this template in both modes, although only pods with the service inside use it."""
    found = given.rendered(shared_gpus.graph(mode, memory=memory), orchestrator=orchestrator)["ResourceClaimTemplate/chat-worker-gpu"]
    assert found["apiVersion"] == "resource.k8s.io/v1"
    exactly = {"deviceClassName": device, "allocationMode": "ExactCount", "count": 2}
    assert found["spec"] == {"spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}}


def test_only_components_with_the_service_have_a_template():
    """The whole output of a graph without the service names no claim."""
    found = given.rendered(beta.graph(beta.component("Worker", main={**shared_gpus.VLLM, **shared_gpus.GPUS})))
    assert not [each for each in found.values() if each["kind"] == "ResourceClaimTemplate"]
    assert "resourceClaims" not in found["Deployment/chat-worker"]["spec"]["template"]["spec"]


def test_a_second_run_makes_the_template_again():
    written = shared_gpus.graph("IntraPod")
    first = given.expanded(written).resources
    assert given.expanded(*first).resources == first
    assert not [each for each in given.expanded(beta.graph(), *first[1:]).resources if each["kind"] == "ResourceClaimTemplate"]
