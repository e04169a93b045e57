"""`krm-fn check` finds mistakes in command lines of engines, at the right line and with the right remedy, and none where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from krm_fn.render.expand import PlannedResource, expand
from krm_fn.repository.files import reading, sources
from krm_fn.review.arguments import argument_findings
from tests.support import argument_mistakes, beta, given, growth
from tests.support.cases import cases
from tests.testbed import tier

IMAGE = "nvcr.io/nvidia/ai-dynamo/runtime"
NAMES = ("MODEL_PATH", "GPUS", "EXTRA", "SIZE")
VARIABLES = [{"name": name, "valueFrom": {"secretKeyRef": {"name": "settings", "key": name}}} for name in NAMES]
"""Variables whose values are not known before the container runs."""


def findings(*resources, **settings):
    """The findings about the command lines of resources."""
    planned: list[PlannedResource] = []
    expand(list(resources), given.settings_of(*resources, **settings), planned.append)
    return [*argument_findings.check(planned)]


def codes(*resources, **settings):
    return [finding.code for finding in findings(*resources, **settings)]


def worker(args, *, version="1.5.1", command=("python3", "-m", "dynamo.vllm"), env=(), gpus="", name="Worker", kind="worker", **fields):
    """A graph with one worker that runs a command line."""
    main = {"image": f"{IMAGE}:{version}", "command": [*command], "args": args.split() if isinstance(args, str) else args, "env": [*env]}
    resources = {"resources": {"limits": {"gpu": gpus}}} if gpus else {}
    return given.graph({name: given.service(kind, main=main, **resources, **fields)})


@pytest.fixture(scope="module")
def located():
    """The findings about each mistake, with their lines in a file that has all of them."""
    graphs = [
        given.graph(
            {"Worker": given.service("worker", main={"image": f"{IMAGE}:{row.version}", "command": ["sh", "-c"], "args": [row.line]})},
            name=f"graph-{number}",
        )
        for number, row in enumerate(argument_mistakes.ALL)
    ]
    text = yaml.dump_all(graphs, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    file = reading.parse(text.encode(), "graphs.yaml")
    results = reading.locate(findings(*(source.value for source in file.sources), behaviour="v1.5"), file.sources)
    by_name: dict[str, list[Any]] = {f"graph-{number}": [] for number in range(len(graphs))}
    for result in results:
        assert result.ref
        by_name[result.ref.name].append((result, text.splitlines()[result.line - 1]))
    return by_name


class _Dumper(yaml.SafeDumper):
    """Writes lines for a shell as blocks."""


def _literal(dumper, text):
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _literal)


@pytest.mark.parametrize("number", range(len(argument_mistakes.ALL)), ids=[f"{row.code} {row.flags}" for row in argument_mistakes.ALL])
def test_a_mistake_is_found_at_its_line_with_its_remedy(located, number):
    """Each mistake has exactly one finding of its code, an error if the parser refuses it, whose position begins with the wrong word."""
    row = argument_mistakes.ALL[number]
    found = [(result, line) for result, line in located[f"graph-{number}"] if result.code == row.code]
    assert len(found) == 1, located[f"graph-{number}"]
    result, line = found[0]
    is_warning = row.code in ("DYN609", "DYN611", "DYN627", "DYN631") and row.family != "flags that exclude each other"
    is_warning = is_warning or row.family == "a number with which the engine fails later"
    is_note = row.family in ("a deprecated name", "a deprecated flag without a successor")
    severity = "info" if is_note else "warning" if is_warning else "error"
    assert result.severity == severity
    assert line[result.column - 1 :].lstrip("'\"").startswith(row.word.lstrip("'\"")), line
    assert row.remedy in result.message.partition("; ")[2] or row.remedy in result.message
    assert "; " in result.message


@cases(
    ("reason", "args"),
    [
        ("a value behind an equals sign", ["--block-number=4", "--max-num-seqs", "8"]),
        ("a flag behind it", ["--block-number", "--max-num-seqs", "8"]),
        ("the last word", ["--max-num-seqs", "8", "--block-number"]),
    ],
)
def test_no_word_behind_an_unknown_flag_is_its_value(reason, args):
    (found,) = findings(worker(["--model", "acme/tiny", *args]))
    assert (found.code, found.message.rpartition("; ")[2]) == ("DYN600", "remove it")


RIGHT = [
    ("a plain worker", "--model acme/tiny"),
    ("short names", "--model acme/tiny -tp 1 -dp 1 -q fp8"),
    ("negated flags", "--model acme/tiny --no-enable-prefix-caching"),
    ("underscores in a flag of vLLM", "--model acme/tiny --max_model_len 4096"),
    ("an abbreviation", "--model acme/tiny --max-model 4096"),
    ("sizes with units", "--model acme/tiny --max-model-len 32k --max-num-batched-tokens 8192"),
    ("an unlimited length", "--model acme/tiny --max-model-len -1"),
    ("numbers at the ends of their ranges", "--model acme/tiny --gpu-memory-utilization 1 --max-num-seqs 1 --cpu-offload-gb 0"),
    ("JSON", """--model acme/tiny --kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_both"}"""),
    ("dotted flags", "--model acme/tiny --compilation-config.mode 3"),
    ("a tool parser", "--model acme/tiny --dyn-tool-call-parser hermes"),
    ("a variable of the pod", "--model $(MODEL_PATH) --tensor-parallel-size $(GPUS)"),
    ("more flags in a variable", "--model acme/tiny $(EXTRA)"),
]


@cases("args", RIGHT)
def test_a_right_command_line_has_no_finding(args):
    assert findings(worker(args, env=VARIABLES)) == []


BLANKS = [
    ("a blank before a flag", ["--model", "acme/tiny", " --enforce-eager"], ["remove the blank before the flag"]),
    ("a blank behind a flag", ["--model", "acme/tiny", "--enforce-eager "], ["remove the blank at the end of the flag"]),
    ("a value behind =", ["--model", "acme/tiny", "--served-model-name=", "tiny"], ["write --served-model-name=tiny as one item"]),
    (
        "no blank before a flag",
        ["--model", "acme/tiny", "-tp", "2--max-num-seqs", "16"],
        ["write a blank before --max-num-seqs in `2--max-num-seqs`", "write a blank before --max-num-seqs"],
    ),
]


@cases(("args", "fixes"), BLANKS)
def test_a_wrong_blank_has_its_own_remedy(args, fixes):
    """The parsers read a word that does not begin with a dash, or that has a blank, as a value."""
    found = findings(worker(args))
    assert {finding.code for finding in found} <= {"DYN603", "DYN605"}
    assert sorted(finding.message.partition("; ")[2] for finding in found) == sorted(fixes)


MODELS = [
    ("vLLM", "dynamo.vllm", ["acme/tiny"], [("DYN603", "write --model before it")]),
    ("SGLang", "dynamo.sglang", ["acme/tiny"], [("DYN603", "write --model-path before it")]),
    ("a second model", "dynamo.vllm", ["--model", "acme/tiny", "acme/tiny"], [("DYN603", "remove it, or quote it")]),
]


@cases(("module", "args", "expected"), MODELS)
def test_a_model_without_a_flag_gets_its_flag(module, args, expected):
    """`vllm serve` and `trtllm-serve` take a model without a flag."""
    found = findings(worker(args, command=("python3", "-m", module)))
    assert [(finding.code, finding.message.partition("; ")[2]) for finding in found] == expected


ENGINES = [
    ("the engine of the image", "nvcr.io/nvidia/ai-dynamo/vllm-runtime", "dynamo.vllm", []),
    ("another engine", "nvcr.io/nvidia/ai-dynamo/vllm-runtime", "dynamo.sglang", ["DYN639"]),
    ("TensorRT-LLM in an image of SGLang", "nvcr.io/nvidia/ai-dynamo/sglang-runtime", "dynamo.trtllm", ["DYN639"]),
    ("a program that each image has", "nvcr.io/nvidia/ai-dynamo/sglang-runtime", "dynamo.mocker", []),
    ("an image of somebody", "registry.acme.example/vllm-runtime", "dynamo.sglang", []),
]


@cases(("image", "module", "expected"), ENGINES)
def test_an_image_of_nvidia_has_one_engine(image, module, expected):
    main = {"image": f"{image}:1.5.1", "command": ["python3", "-m", module], "args": ["--model-path", "acme/tiny"]}
    graph = given.graph({"Worker": given.service("worker", main=main, resources={"limits": {"gpu": "1"}})})
    assert [code for code in codes(graph) if code == "DYN639"] == expected


VERSIONS = [
    ("a release with a table", "1.5.1", ["error"]),
    ("a variant of a release", "1.5.1-cuda13", ["error"]),
    ("a pre-release", "1.5.1-rc1", ["warning"]),
    ("a build of somebody", "1.5.1-patched", ["warning"]),
    ("a later patch without a table", "1.6.99", ["warning"]),
    ("no version", "latest", ["warning"]),
    ("a version far from all", "0.3.0", []),
]


@cases(("version", "severities"), VERSIONS)
def test_only_the_table_of_the_image_gives_errors(version, severities):
    assert [finding.severity for finding in findings(worker("--no-such-flag-at-all", version=version))] == severities


def test_the_version_in_place_of_the_image_counts():
    graph = worker("--no-such-flag-at-all", version="latest", runtimeVersionOverride="1.5.1")
    assert [finding.severity for finding in findings(graph, behaviour="v1.5")] == ["error"]


@pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.28.0", "lmsysorg/sglang:v0.5.18", "vllm/vllm-openai:v1.5.1"])
def test_nothing_is_said_about_images_of_engines(image):
    main = {"image": image, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--no-such-flag-at-all"]}
    assert findings(given.graph({"Worker": given.service("worker", main=main)})) == []


WRONG = {"image": f"{IMAGE}:1.5.1", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--no-such-flag-at-all"]}
PLACES = [
    (
        "a sidecar of v1alpha1",
        given.graph({"Worker": given.service("worker", pod={"containers": [{"name": "b", **WRONG}]})}),
        "spec.services.Worker.extraPodSpec.containers[0].args[0]",
    ),
    (
        "an init container of v1alpha1",
        given.graph({"Worker": given.service("worker", pod={"initContainers": [{"name": "b", **WRONG}]})}),
        "spec.services.Worker.extraPodSpec.initContainers[0].args[0]",
    ),
    (
        "a component of v1beta1",
        beta.graph(beta.component("Worker", main=WRONG)),
        "spec.components[0].podTemplate.spec.containers[0].args[0]",
    ),
]


@cases(("graph", "field"), PLACES)
def test_each_container_is_judged_at_its_field(graph, field):
    assert given.findings(findings(graph)) == [("DYN600", field)]


def test_a_frontend_with_the_command_of_its_type_is_judged():
    main = {"image": f"{IMAGE}:1.5.1", "args": ["-m", "dynamo.frontend", "--router-modes", "kv"]}
    assert given.findings(findings(given.graph({"Frontend": given.service("frontend", main=main)}))) == [
        ("DYN600", "spec.services.Frontend.extraPodSpec.mainContainer.args[2]")
    ]


def test_an_error_elsewhere_in_the_graph_hides_no_finding():
    graph = worker("--no-such-flag-at-all")
    graph["spec"]["services"]["Other"] = {"componentType": 5}
    assert codes(graph) == ["DYN600"]


TWO = {"multinode": {"nodeCount": 2}}
SIZES = [
    ("more GPUs than the pod has", "--tensor-parallel-size 8", "4", {}, "DYN612"),
    ("copies need GPUs, too", "--tensor-parallel-size 2 --data-parallel-size 4", "4", {}, "DYN612"),
    ("fewer GPUs than the pod has", "--tensor-parallel-size 2", "4", {}, "DYN613"),
    ("no size", "", "8", {}, "DYN613"),
    ("no GPUs", "--tensor-parallel-size 4", "", {}, "DYN612"),
    ("more GPUs than all nodes have", "--tensor-parallel-size 32", "8", TWO, "DYN612"),
    ("fewer GPUs than all nodes have", "--tensor-parallel-size 12", "8", TWO, "DYN613"),
    ("one node is enough", "--tensor-parallel-size 8", "8", TWO, "DYN614"),
    ("a form that the render does not read", "-tp 16", "8", TWO, "DYN615"),
    ("another form that the render does not read", "--tensor-parallel-size=16", "8", TWO, "DYN615"),
]


@cases(("args", "gpus", "fields", "code"), SIZES)
def test_sizes_are_compared_with_gpus_and_nodes(args, gpus, fields, code):
    assert code in codes(worker(f"--model m {args}", gpus=gpus, **fields))


RIGHT_SIZES = [
    ("all GPUs", "--tensor-parallel-size 4", "4", {}, {}),
    ("all GPUs in both dimensions", "--tensor-parallel-size 2 --pipeline-parallel-size 2", "4", {}, {}),
    ("local copies only", "--data-parallel-size 8 --data-parallel-size-local 4", "4", {}, {}),
    ("one rank of several", "--data-parallel-size 8 --data-parallel-rank 3", "1", {}, {}),
    ("an unknown size", "--tensor-parallel-size $(SIZE)", "4", {}, {"env": VARIABLES}),
    ("more flags in a variable", "--tensor-parallel-size 2 $(EXTRA)", "4", {}, {"env": VARIABLES}),
    ("a file of flags", "--config a.yaml", "4", {}, {}),
    ("some GPUs only", "--tensor-parallel-size 2", "4", {}, {"env": [{"name": "CUDA_VISIBLE_DEVICES", "value": "0,1"}]}),
    ("another executor", "--tensor-parallel-size 8 --distributed-executor-backend ray", "4", {}, {}),
    ("all nodes", "--tensor-parallel-size 16", "8", TWO, {}),
    ("copies on all nodes", "--tensor-parallel-size 8 --data-parallel-size 2", "8", TWO, {}),
]


@cases(("args", "gpus", "fields", "more"), RIGHT_SIZES)
def test_right_and_unknown_sizes_have_no_finding(args, gpus, fields, more):
    assert codes(worker(f"--model m {args}", gpus=gpus, **fields, **more)) == []


TWO_GPUS = ["--model", "m", "--tensor-parallel-size", "2"]
OTHER_SIZES = [
    ("SGLang", "dynamo.sglang", "--model-path m --tp 8", "4", {}, ["DYN612"]),
    ("SGLang with copies", "dynamo.sglang", "--model-path m --tp 2 --dp-size 4", "4", {}, ["DYN612"]),
    ("SGLang with attention of copies", "dynamo.sglang", "--model-path m --tp 8 --dp-size 8 --enable-dp-attention", "8", {}, []),
    ("SGLang on all nodes", "dynamo.sglang", "--model-path m --tp 16", "8", TWO, []),
    ("SGLang on other GPUs", "dynamo.sglang", "--model-path m --tp 2 --base-gpu-id 2", "4", {}, []),
    ("TensorRT-LLM", "dynamo.trtllm", "--model m --tensor-parallel-size 8", "4", {}, ["DYN612"]),
    (
        "TensorRT-LLM with a document",
        "dynamo.trtllm",
        ["--model", "m", "--override-engine-args", '{"tensor_parallel_size":8}'],
        "4",
        {},
        ["DYN612"],
    ),
    ("a document over a flag", "dynamo.trtllm", [*TWO_GPUS, "--override-engine-args", '{"tensor_parallel_size":4}'], "4", {}, []),
    ("a document without sizes", "dynamo.trtllm", [*TWO_GPUS, "--override-engine-args", '{"max_batch_size":4}'], "4", {}, ["DYN613"]),
    ("a document with other sizes", "dynamo.trtllm", [*TWO_GPUS, "--override-engine-args", '{"context_parallel_size":2}'], "4", {}, []),
    ("a file under a document", "dynamo.trtllm", [*TWO_GPUS, "--extra-engine-args", "a", "--override-engine-args", "{}"], "4", {}, []),
    ("TensorRT-LLM with a field of its own", "dynamo.trtllm", "--model m --trtllm.tensor_parallel_size 4", "8", {}, []),
    ("TensorRT-LLM with a file", "dynamo.trtllm", "--model m --tensor-parallel-size 8 --extra-engine-args a.yaml", "4", {}, []),
]


@cases(("module", "args", "gpus", "fields", "expected"), OTHER_SIZES)
def test_each_engine_counts_its_gpus(module, args, gpus, fields, expected):
    assert codes(worker(args, command=("python3", "-m", module), gpus=gpus, **fields)) == expected


INJECTED = [
    ("ranks of SGLang", "dynamo.sglang", "--model-path m --tp 16 --nnodes 2 --node-rank 0", ["DYN610", "DYN610"]),
    ("the executor of vLLM", "dynamo.vllm", "--model m --tensor-parallel-size 16 --distributed-executor-backend mp", ["DYN610"]),
    ("no such flag", "dynamo.vllm", "--model m --tensor-parallel-size 16", []),
    ("a switch twice", "dynamo.vllm", "--model m --tensor-parallel-size 8 --data-parallel-size 2 --data-parallel-hybrid-lb", []),
    (
        "a switch that is off",
        "dynamo.vllm",
        "--model m --tensor-parallel-size 8 --data-parallel-size 2 --no-data-parallel-hybrid-lb",
        ["DYN610"],
    ),
]


@cases(("module", "args", "expected"), INJECTED)
def test_flags_that_a_render_adds_are_reported(module, args, expected):
    """The engine of the author's flags, on two nodes of eight GPUs."""
    assert codes(worker(args, command=("python3", "-m", module), gpus="8", **TWO)) == expected


def pair(prefill, decode, module="dynamo.vllm"):
    """A graph with a prefill worker and a decode worker."""
    graph = worker(prefill, command=("python3", "-m", module), env=VARIABLES, name="Prefill", kind="prefill")
    other = worker(decode, command=("python3", "-m", module), env=VARIABLES, name="Decode", kind="decode")
    return {**graph, "spec": {"services": {**graph["spec"]["services"], **other["spec"]["services"]}}}


def connector(name, *inner, module=""):
    """The JSON of a connector, which can wrap others."""
    extra = {"kv_connector_extra_config": {"connectors": [json.loads(text) for text in inner]}} if inner else {}
    path = {"kv_connector_module_path": module} if module else {}
    return json.dumps({"kv_connector": name, "kv_role": "kv_both", **extra, **path}, separators=(",", ":"))


KVBM = "kvbm.vllm_integration.connector"
NIXL, OTHER, LOCAL = connector("NixlConnector"), connector("LMCacheConnectorV1"), connector("DynamoConnector", module=KVBM)
PAIRS = [
    ("two models", "--model a", "--model b", ["DYN616"]),
    ("two served names", "--model a --served-model-name x", "--model a --served-model-name y", ["DYN616"]),
    ("two paths of one served name", "--model a --served-model-name x", "--model b --served-model-name x", []),
    ("two models of one served name", "--model acme/a --served-model-name x", "--model acme/b --served-model-name x", ["DYN616"]),
    ("two quantizations of one model", "--model acme/a --served-model-name x", "--model own/a-FP8 --served-model-name x", []),
    ("a path and a name", "--model /models/a --served-model-name x", "--model acme/b --served-model-name x", []),
    ("two block sizes", "--model a --block-size 16", "--model a --block-size 64", ["DYN617"]),
    ("a default block size", "--model a --block-size 16", "--model a", []),
    ("two types of the cache", "--model a --kv-cache-dtype fp8", "--model a --kv-cache-dtype fp8_e5m2", ["DYN636"]),
    ("a type of the cache and the default", "--model a --kv-cache-dtype fp8", "--model a", ["DYN636"]),
    ("the default and a type of the cache", "--model a", "--model a --kv-cache-dtype fp8", ["DYN636"]),
    ("types that can be the model's", "--model a --kv-cache-dtype bfloat16", "--model a --kv-cache-dtype auto", []),
    ("an unknown type of the cache", "--model a --kv-cache-dtype $(A)", "--model a", ["DYN627"]),
    ("a decode worker without a connector", f"--model a --kv-transfer-config {NIXL}", "--model a", ["DYN635"]),
    ("a prefill worker without a connector", "--model a", f"--model a --kv-transfer-config {NIXL}", ["DYN635"]),
    ("a decode worker with flags in a file", f"--model a --kv-transfer-config {NIXL}", "--model a --config a.yaml", []),
    ("two connectors", f"--model a --kv-transfer-config {NIXL}", f"--model a --kv-transfer-config {OTHER}", ["DYN618"]),
    ("an unknown model", "--model $(MODEL_PATH)", "--model b", []),
    *(
        (reason, f"--model a --kv-transfer-config {ours}", f"--model a --kv-transfer-config {theirs}", expected)
        for reason, ours, theirs, expected in (
            ("the connector of Dynamo around NIXL", connector("PdConnector", LOCAL, NIXL, module=KVBM), NIXL, []),
            ("the connector of vLLM around NIXL", NIXL, connector("MultiConnector", OTHER, NIXL), []),
            ("connectors around others in another order", connector("MultiConnector", OTHER, NIXL), connector("MultiConnector", NIXL), []),
            ("a connector in two levels", connector("MultiConnector", connector("MultiConnector", NIXL)), NIXL, []),
            ("an older and a newer name", NIXL, connector("NixlPullConnector"), []),
            (
                "inner connectors that differ",
                connector("PdConnector", LOCAL, NIXL, module=KVBM),
                connector("MooncakeConnector"),
                ["DYN618"],
            ),
            ("a common connector that stays in its worker", connector("PdConnector", LOCAL, NIXL, module=KVBM), LOCAL, ["DYN618"]),
            ("two wrappers of different ones", connector("MultiConnector", OTHER), connector("MultiConnector", NIXL), ["DYN618"]),
            ("a wrapper without its list", connector("MultiConnector"), NIXL, []),
            ("a class of somebody", connector("PdConnector", OTHER, module="acme.connectors"), NIXL, []),
            ("a name that is none", '{"kv_connector":["a"]}', NIXL, ["DYN605"]),
        )
    ),
    ("one model", "--model a", "--model a", []),
]


@cases(("prefill", "decode", "expected"), PAIRS)
def test_a_prefill_worker_and_a_decode_worker_must_agree(prefill, decode, expected):
    """Both have a connector, if the row names none."""
    mode, config = "--disaggregation-mode", "--kv-transfer-config"
    both = "" if config in prefill + decode else f"{config} {NIXL}"
    assert codes(pair(f"{prefill} {mode} prefill {both}", f"{decode} {mode} decode {both}"), behaviour="v1.5") == expected


SECRET = [{"secretRef": {"name": "settings"}}]
NOTED = [
    ("a script", {"command": ["bash", "run.sh"]}, ["a script in a file"]),
    ("an old image", {"image": f"{IMAGE}:0.3.0", "command": ["python3", "-m", "dynamo.vllm"]}, ["no table of flags"]),
    ("a variable", {"command": ["python3", "-m", "dynamo.vllm", "$(MORE)"], "envFrom": SECRET}, ["a variable or a file"]),
    ("a command that is read as a whole", {"command": ["python3", "-m", "dynamo.vllm", "--model", "$(MODEL)"], "envFrom": SECRET}, []),
    ("another program", {"command": ["python3", "-m", "processor"]}, ["it starts `python3`, whose flags krm-fn does not know"]),
    ("a line without a program of Dynamo", {"command": ["sh", "-c"], "args": ["./run.sh"]}, ["the shell starts no program"]),
    ("no line", {}, ["the shell gets no line"]),
    ("a text that is no name", {"command": ["a b"]}, ["it starts a program, whose"]),
]


@cases(("main", "reasons"), NOTED)
def test_a_note_says_why_a_command_line_is_not_judged(main, reasons):
    graph = given.graph({"Worker": given.service("worker", main={"image": f"{IMAGE}:1.5.1", **main})})
    planned: list[PlannedResource] = []
    expand([graph], given.settings_of(graph), planned.append)
    notes = [*argument_findings.check(planned, notes=True)]
    assert [(note.severity, note.code) for note in notes] == [("info", "DYN620")] * len(reasons)
    assert all(reason in note.message for reason, note in zip(reasons, notes, strict=True))
    assert [*argument_findings.check(planned)] == []


def test_the_finding_about_connectors_names_those_inside():
    """The fix must not ask for the same text in both workers: only one of them wraps others."""
    ours, mode = connector("PdConnector", LOCAL, NIXL, module=KVBM), "--disaggregation-mode"
    theirs = connector("MooncakeConnector")
    line = "--model a --kv-transfer-config"
    (finding,) = findings(pair(f"{line} {ours} {mode} prefill", f"{line} {theirs} {mode} decode"), behaviour="v1.5")
    assert "DynamoConnector and NixlConnector" in finding.message
    assert "MooncakeConnector" in finding.message
    assert "PdConnector" not in finding.message


def test_two_prefill_workers_are_not_compared():
    transfer = f"--kv-transfer-config {NIXL}"
    graph = pair(f"--model a {transfer} --disaggregation-mode prefill", f"--model b {transfer} --disaggregation-mode decode")
    graph["spec"]["services"]["Third"] = graph["spec"]["services"]["Prefill"]
    assert codes(graph, behaviour="v1.5") == []


def test_the_workers_of_sglang_need_one_transfer():
    flag = "--model-path a --host 0.0.0.0 --disaggregation-transfer-backend"
    graph = pair(f"{flag} nixl --disaggregation-mode prefill", f"{flag} mooncake --disaggregation-mode decode", "dynamo.sglang")
    assert codes(graph, behaviour="v1.5") == ["DYN618"]


@pytest.mark.parametrize(
    "args", ["--model m sk-1234567890abcdef", "--hf-token a hf_abcdefghijklmnop", "--max-model-len nvapi-abcdefghijkl"]
)
def test_no_message_has_a_secret(args):
    messages = [finding.message for finding in findings(worker(args))]
    assert messages
    assert not any(
        secret in message for message in messages for secret in ("sk-1234567890abcdef", "hf_abcdefghijklmnop", "nvapi-abcdefghijkl")
    )


WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "--model",
            "--tensor-parallel-size=x",
            "--",
            "-",
            "=",
            "--=",
            "--a.b",
            "-tp",
            "@x",
            "{",
            "--kv-transfer-config",
            "--no-",
            "$(A)",
            "'",
        ]
    ),
)


@settings(max_examples=tier.number(60, 10), deadline=None)
@drawn(
    st.lists(WORDS, max_size=12), st.sampled_from(["vllm", "sglang", "trtllm", "frontend", "planner", "router", "mocker"]), st.booleans()
)
def test_no_command_line_raises(words, program, in_shell):
    """Random words, as items or as a line for a shell, never lead to an internal error."""
    command = ("sh", "-c") if in_shell else ("python3", "-m", f"dynamo.{program}")
    args = [f"exec python3 -m dynamo.{program} " + " ".join(words)] if in_shell else words
    assert "DYN019" not in codes(worker(args, command=command))


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize(
    "word", ["--unknown-flag ", "--model m ", "x ", "--max-num 4 ", "--compilation-config.a 1 ", "--served-model-name a ", '"', "$(A) "]
)
def test_a_long_command_line_takes_linear_time(word):
    """60 KB take about four times as long as 15 KB, and have at most twenty findings."""

    def check(size):
        line = "exec python3 -m dynamo.vllm " + word * (size // len(word))
        assert len(findings(worker([line], command=("sh", "-c")))) <= 20

    assert growth.is_linear(check, 15_000)


EXAMPLES = sorted(Path("examples").rglob("*.yaml"))


def test_the_examples_have_no_error():
    """Each graph among the examples is judged; no right command line is refused."""
    wrong = []
    for path in EXAMPLES:
        loaded = sources.load([str(path)])
        planned: list[PlannedResource] = []
        expand(loaded.values, loaded.config, planned.append)
        wrong += [(str(path), finding.message) for finding in argument_findings.check(planned) if finding.severity != "info"]
    assert wrong == []
