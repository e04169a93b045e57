"""Images of Dynamo 1.7: flags of the newest table, and what a nightly build no longer reads."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.render import expand
from krm_fn.render.config import Config
from krm_fn.review.arguments import argument_findings
from tests.support import beta, given
from tests.support.cases import cases


def said(component):
    planned = expand.plans([beta.graph(component)], Config(behaviour="v1.6"))
    assert planned
    return [(finding.severity, finding.code, results.field(finding.path)) for finding in argument_findings.check(planned)]


def container(version, module, args=(), **fields):
    words = {"command": ["python3", "-m", f"dynamo.{module}"], "args": [*args], **fields}
    return beta.component("A", main={"image": f"registry.example/dynamo:{version}", **words})


_MAIN = "spec.components[0].podTemplate.spec.containers[0]"
_REMOVED = ["--managed-namespaces", "a", "--max-total-gpus=16"]
_QUEUE = {"env": [{"name": "DYN_DYNAMO_REQUEST_QUEUE_LIMIT", "value": "1"}]}
_LIMIT = {"env": [{"name": "A"}, {"name": "DYN_ENGINE_REQUEST_LIMIT", "value": "1"}]}
ROWS = [
    # reason, component, findings
    (
        "flags of the global planner that 1.7 lacks",
        container("1.7.0", "global_planner", _REMOVED),
        [("warning", "DYN621", f"{_MAIN}.args[0]"), ("warning", "DYN621", f"{_MAIN}.args[2]")],
    ),
    (
        "the same flags in a line for a shell",
        container("1.7.0", "global_planner", ["python3 -m dynamo.global_planner --no-operation"], command=["sh", "-c"]),
        [("warning", "DYN621", f"{_MAIN}.args[0]")],
    ),
    ("the global planner of 1.6 has them", container("1.6.1", "global_planner", _REMOVED), []),
    ("the flag of 1.7", container("1.7.0", "global_planner", ["--config", "planner.json"]), []),
    (
        "a variable that nothing reads",
        container("1.7.0", "mocker", ["--model-path", "m"], **_QUEUE),
        [("warning", "DYN622", f"{_MAIN}.env[0]")],
    ),
    ("the limit of an engine", container("1.7.0", "mocker", ["--model-path", "m"], **_LIMIT), [("info", "DYN622", f"{_MAIN}.env[1]")]),
    ("1.6 reads both", container("1.6.1", "mocker", ["--model-path", "m"], env=[*_QUEUE["env"], *_LIMIT["env"]]), []),
    (
        "a flag of a later frontend",
        container("1.7.0", "frontend", ["--batch-gateway-url", "http://a"]),
        [("warning", "DYN600", f"{_MAIN}.args[0]")],
    ),
]


@cases(("component", "found"), ROWS)
def test_each_container_gets_its_findings(component, found):
    assert sorted(said(component)) == sorted(found)


def messages(version, flag):
    planned = expand.plans([beta.graph(container(version, "frontend", [flag]))], Config(behaviour="v1.6"))
    return [finding.message for finding in argument_findings.check(planned)]


def test_nobody_is_told_to_remove_a_flag_that_a_later_release_may_have():
    """The message names the newest release that krm-fn knows. A patch release has the flags of its minor release."""
    (later,) = messages("1.7.0", "--batch-gateway-url=a")
    assert later.endswith(", the newest release that krm-fn knows; keep it if your image has it")
    (typo,) = messages("1.7.0", "--router-modus=kv")
    assert typo.endswith("; write --router-mode, or keep it if your image has it")
    (patch,) = messages("1.6.2", "--batch-gateway-url=a")
    assert patch.endswith("; remove it")


def test_the_refusal_of_sidecar_mode_on_nodes_says_which_release_has_it():
    """Dynamo 1.7.0 has it for vLLM only."""
    runtime = {"name": "runtime", "image": "registry.example/dynamo:1.7.0", "restartPolicy": "Always"}
    for engine, expected in (
        ("vllm", "Dynamo 1.7.0 has this for vLLM, but krm-fn does not know its pods"),
        ("sglang", "in this release of Dynamo"),
    ):
        worker = beta.component("Worker", multinode={"nodeCount": 2}, pod={"initContainers": [runtime]})
        found = given.expanded(beta.graph(worker, backendFramework=engine), behaviour="v1.6").results
        (message,) = [finding.message for finding in found if finding.code == "DYN496"]
        assert expected in message
