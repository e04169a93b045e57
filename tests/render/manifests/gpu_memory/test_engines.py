"""Two engines in one pod, of which one works and the other waits to take over (reference: failover.go, failover_vllm.go)."""

from __future__ import annotations

import pytest

from tests.support import given, shared_gpus
from tests.support.cases import cases

SPREAD = {"multinode": {"nodeCount": 2}}


def engines(**written):
    """The engines of a pod. The other containers of the pod follow them."""
    return shared_gpus.pod(failover=True, **written)["containers"][:2]


def test_two_engines_stand_in_place_of_the_main_container():
    found = shared_gpus.pod(failover=True, beside=[{"name": "logger", "image": "a:1"}])["containers"]
    assert [each["name"] for each in found] == ["engine-0", "engine-1", "logger"]
    assert [each["resources"] for each in found[:2]] == [{"claims": [{"name": "intrapod-shared-gpu"}]}] * 2


@pytest.mark.parametrize("index", [0, 1])
def test_each_engine_has_its_own_ports(index):
    """Containers of a pod have one address. All engines lock the same file, so only one of them works."""
    engine = engines()[index]
    variables = given.variables(engine)
    own = {
        "ENGINE_ID": f"{index}",
        "CONTAINER_NAME": f"engine-{index}",
        "DYN_SYSTEM_PORT": f"{9090 + index}",
        "DYN_FORWARDPASS_METRIC_PORT": f"{20380 + index}",
        "VLLM_NIXL_SIDE_CHANNEL_PORT": f"{5600 + index}",
        "DYN_VLLM_KV_EVENT_PORT": f"{20080 + index}",
        "FAILOVER_LOCK_PATH": "/gms-intrapod-control/failover.lock",
        "DYN_SYSTEM_STARTING_HEALTH_STATUS": "notready",
        "DYN_SYSTEM_ENABLED": "true",
        "DYN_VLLM_GMS_SHADOW_MODE": "true",
    }
    assert {name: variables.get(name) for name in own} == own
    assert engine["ports"] == [{"name": f"system-{index}", "containerPort": 9090 + index, "protocol": "TCP"}]
    probes = [engine[name]["httpGet"]["port"] for name in ("livenessProbe", "readinessProbe", "startupProbe")]
    assert probes == [f"system-{index}"] * 3


def test_an_engine_that_waits_does_not_report_on_its_endpoint():
    """It serves no endpoint yet, so these two variables would make it fail."""
    for engine in engines():
        assert not {"DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "DYN_HEALTH_CHECK_ENABLED"} & given.variables(engine).keys()


def test_variables_of_the_user_that_engines_share_stay():
    own = [{"name": "ENGINE_ID", "value": "7"}, {"name": "DYN_VLLM_KV_EVENT_PORT", "value": "1"}, {"name": "MINE", "value": "a"}]
    for index, engine in enumerate(engines(main={"env": own})):
        variables = given.variables(engine)
        assert (variables["ENGINE_ID"], variables["DYN_VLLM_KV_EVENT_PORT"], variables["MINE"]) == (f"{index}", f"{20080 + index}", "a")


def test_a_probe_that_asks_no_port_stays():
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    assert [engine["livenessProbe"] for engine in engines(main={"livenessProbe": probe})] == [probe] * 2


def test_engines_on_several_nodes_know_their_number():
    found = given.rendered(shared_gpus.graph("IntraPod", failover=True, **SPREAD), orchestrator="grove")["PodCliqueSet/chat"]
    for clique in found["spec"]["template"]["cliques"]:
        containers = clique["spec"]["podSpec"]["containers"]
        assert [given.variables(each)["NNODES"] for each in containers] == ["2", "2"]
    assert all("NNODES" not in given.variables(each) for each in engines())


LINE = "python3 -m dynamo.vllm --model a"
ARGUMENTS = [
    ("words without the port", ["python3"], ["-m", "dynamo.vllm"], ["-m", "dynamo.vllm", "--master-port", "29600"]),
    ("a line for a shell", ["sh", "-c"], [LINE], ["python3 -m dynamo.vllm --master-port 29600 --model a"]),
    ("a written port", ["python3"], ["-m", "dynamo.vllm", "--master-port", "7000"], ["-m", "dynamo.vllm", "--master-port", "7100"]),
    ("a written port in a line", ["sh", "-c"], [f"{LINE} --master-port 7000 -q"], [f"{LINE} --master-port 7100 -q"]),
    (
        "a port that is no number",
        ["python3"],
        ["-m", "dynamo.vllm", "--master-port", "$(PORT)"],
        ["-m", "dynamo.vllm", "--master-port", "$(PORT)", "--master-port", "29600"],
    ),
]


@cases(("command", "args", "made"), ARGUMENTS)
def test_the_processes_of_the_second_engine_meet_at_another_port(command, args, made):
    first, second = engines(main={"command": command, "args": args})
    assert (first["args"], second["args"]) == (args, made)
    assert first["command"] == second["command"] == command


def test_a_written_port_in_the_command_moves_there():
    command = ["python3", "-m", "dynamo.vllm", "--master-port", "7000"]
    found = engines(main={"command": command, "args": ["--model", "a"]})
    assert [each["command"][-1] for each in found] == ["7000", "7100"]
    assert [each["args"] for each in found] == [["--model", "a"]] * 2


def test_findings_name_the_container_that_the_user_wrote():
    """The second engine has no field of its own, and other containers stand one place later than the user wrote them."""
    probe = {"livenessProbe": {"periodSeconds": -1}}
    written = shared_gpus.graph("IntraPod", failover=True, main=probe, beside=[{"name": "logger", "image": "a:1", **probe}])
    fields = [f"spec.components[0].podTemplate.spec.containers[{index}].livenessProbe" for index in (0, 1)]
    found = given.findings(given.expanded(written).results)
    assert found == [(code, f"{field}{rest}") for field in fields for code, rest in (("DYN214", ""), ("DYN216", ".periodSeconds"))]
