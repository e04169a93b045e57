"""Images of Dynamo 1.7: flags of the table of a nightly build, and what this build no longer reads."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.render import expand
from krm_fn.render.config import Config
from krm_fn.review.arguments import argument_findings, flag_tables
from tests.support import beta, given
from tests.support.cases import cases


def said(component):
    planned = expand.plans([beta.graph(component)], Config(behaviour="v1.6"))
    assert planned
    return [(finding.severity, finding.code, results.field(finding.path)) for finding in argument_findings.check(planned)]


def container(version, module, args=(), **fields):
    words = {"command": ["python3", "-m", f"dynamo.{module}"], "args": [*args], **fields}
    kind = "frontend" if module == "frontend" else "worker"
    return beta.component("A", kind, main={"image": f"registry.example/dynamo:{version}", **words})


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
    ("a flag that the frontend of 1.7 adds", container("1.7.0", "frontend", ["--batch-gateway-url", "http://a"]), []),
    (
        "the frontend of 1.6 does not have it",
        container("1.6.2", "frontend", ["--batch-gateway-url", "http://a"]),
        [("warning", "DYN601", f"{_MAIN}.args[0]")],
    ),
    (
        "flags of both, and of vLLM 0.33",
        container("1.7.0", "vllm", ["--model", "m", "--freeze-gc-after-init", "--sleep-mode-backend=cumem"]),
        [],
    ),
    (
        "names that vLLM 0.33 hides from its help, and those that it shows",
        container("1.7.0", "vllm", ["--model", "m", "--no-enable-prefix-caching", "--disable-lora", "--enable-cascade-attn"]),
        [],
    ),
    (
        "a flag that no table has may be of the released image",
        container("1.7.0", "vllm", ["--model", "m", "--pool-discovery", "a"]),
        [("warning", "DYN600", f"{_MAIN}.args[2]")],
    ),
    (
        "a flag of SGLang 0.5.21 that 0.5.23 does not have",
        container("1.7.0", "sglang", ["--model-path", "m", "--speculative-skip-dp-mlp-sync"]),
        [("warning", "DYN601", f"{_MAIN}.args[2]")],
    ),
    ("SGLang 0.5.21 has it", container("1.6.1", "sglang", ["--model-path", "m", "--speculative-skip-dp-mlp-sync"]), []),
]


@cases(("component", "found"), ROWS)
def test_each_container_gets_its_findings(component, found):
    assert sorted(said(component)) == sorted(found)


def messages(version, flag):
    planned = expand.plans([beta.graph(container(version, "frontend", [flag]))], Config(behaviour="v1.6"))
    return [finding.message for finding in argument_findings.check(planned)]


def test_nobody_is_told_to_remove_a_flag_that_a_later_release_may_have():
    """The message names the build that krm-fn knows. A patch release has the flags of its minor release."""
    for version in ("1.7.0", "1.7.1", "1.8.0"):
        (later,) = messages(version, "--pool-discovery=a")
        nightly = "dynamo.frontend of the nightly build 1.7.0.dev20261026"
        assert later == f"`--pool-discovery` is not a flag of {nightly}, the newest that krm-fn knows; keep it if your image has it"
    (typo,) = messages("1.7.0", "--router-modus=kv")
    assert typo.endswith("; write --router-mode, or keep it if your image has it")
    (patch,) = messages("1.6.2", "--pool-discovery=a")
    assert patch.endswith("; remove it")
    (earlier,) = messages("1.6.1", "--batch-gateway-url=a")
    assert earlier.endswith("; it exists since the nightly build 1.7.0.dev20261026; use an image of 1.7.0 or later, or remove it")


def test_a_nightly_build_is_no_release():
    """`upgrade` offers releases only, and the message about an image without a version names the newest release."""
    assert flag_tables.published_releases()[-1] == (1, 6, 1)
    assert [table.release for table in flag_tables.of_each_minor("dynamo.vllm")][-1] == "1.6.1"


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
