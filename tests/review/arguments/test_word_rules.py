"""Words that hold several words, and variables that nothing replaces, are found in every container and in both API versions."""

from __future__ import annotations

import pytest

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review.arguments import argument_findings
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.role_faults import launched, own

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"
VLLM = ["python3", "-m", "dynamo.vllm", "--model", "m"]
LINE = "exec python3 -m dynamo.vllm --model m "


def found(*resources, **settings):
    """The code and the path of each finding, but for those about GPUs, which these graphs do not request."""
    planned: list[PlannedResource] = []
    expand(list(resources), given.settings_of(*resources, **settings), planned.append)
    return given.findings([finding for finding in argument_findings.check(planned) if finding.code != "DYN612"])


def codes(kind="worker", *, fields=None, **main):
    """The codes of a graph with one service, in v1alpha1 and, with equal findings, in v1beta1."""
    main = {"image": IMAGE, **main}
    alpha = [code for code, _ in found(given.graph({"Worker": given.service(kind, main=main, **(fields or {}))}))]
    if not fields:
        assert alpha == [code for code, _ in found(beta.graph(beta.component("Worker", kind, main=main)))]
    return alpha


LAUNCHED = [
    ("flags of a frontend alone", "frontend", {"args": ["--router-mode", "kv"]}, ["DYN624"]),
    ("a module of a frontend alone", "frontend", {"args": ["dynamo.frontend"]}, ["DYN624"]),
    ("one word for a frontend", "frontend", {"args": ["-m dynamo.frontend --router-mode kv"]}, ["DYN625"]),
    ("a line for a frontend above the default arguments", "frontend", {"command": ["sh", "-c", "exec python3 -m dynamo.frontend"]}, []),
    ("a whole command", "frontend", {"command": ["python3", "-m", "dynamo.frontend"]}, ["DYN634"]),
    ("a whole command with flags", "frontend", {"command": ["python3", "-m", "dynamo.frontend", "--router-mode", "kv"]}, ["DYN634"]),
    ("a whole command and flags", "frontend", {"command": ["python3", "-m", "dynamo.frontend"], "args": ["--router-mode", "kv"]}, []),
    ("a whole command of a worker", "worker", {"command": VLLM}, []),
    ("a frontend with a module", "frontend", {"args": ["-m", "dynamo.frontend", "--router-mode", "kv"]}, []),
    ("words of a worker alone", "worker", {"args": VLLM}, ["DYN623"]),
    ("flags of a worker alone", "worker", {"args": ["--model", "m"]}, ["DYN623"]),
    ("flags of a planner alone", "planner", {"args": ["--config", "a.yaml"]}, ["DYN623", "DYN717"]),
    ("a line of a worker alone", "worker", {"args": [LINE]}, []),
    ("flags of a picker, whose image has the program", "epp", {"image": "acme/epp-image:1.5.1", "args": ["--config", "a.yaml"]}, []),
]


@cases(("kind", "main", "expected"), LAUNCHED)
def test_what_starts_is_judged_with_the_default_command(kind, main, expected):
    assert codes(kind, **main) == expected


@pytest.mark.parametrize(
    ("release", "version"), [("v0.9", "0.9.0"), ("v1.2", "1.2.1"), ("v1.4", "1.4.2"), ("v1.6", "1.6.1"), ("v1.7", "1.7.0")]
)
def test_the_default_command_is_that_of_each_release(release, version):
    image = IMAGE.replace("1.5.1", version)
    frontend = given.service("frontend", main={"image": image, "args": ["--router-mode", "kv"]})
    worker = given.service("worker", main={"image": image, "args": ["--model", "m"]})
    graph = given.graph({"Frontend": frontend, "Worker": worker})
    assert [code for code, _ in found(graph, behaviour=release)] == ["DYN624", "DYN623"]


def test_the_pod_template_of_each_role_is_judged_with_the_default_command():
    roles = (own("leader", main={"command": [], "args": VLLM}), own("worker", main={"command": ["sh", "-c"], "args": [LINE]}))
    assert [code for code, _ in found(beta.graph(launched(*roles)))] == ["DYN623"]


MESSAGES = [
    ("a frontend", "frontend", ["--router-mode", "kv"], "the default command `python3`", "write -m dynamo.frontend before the flags"),
    ("a worker", "worker", ["--model", "m"], "the default command `/bin/sh -c`", "write command: [python3, -m, dynamo.sglang]"),
    ("words of a worker", "worker", VLLM, "the default command `/bin/sh -c`", "as one line in one item"),
]


@cases(("kind", "args", "problem", "fix"), MESSAGES)
def test_a_message_names_the_default_command_and_the_module(kind, args, problem, fix):
    graph = given.graph({"A": given.service(kind, main={"image": IMAGE, "args": args})}, backendFramework="sglang")
    planned: list[PlannedResource] = []
    expand([graph], given.settings_of(graph), planned.append)
    (finding,) = argument_findings.check(planned)
    before, _, after = finding.message.partition("; ")
    assert problem in before
    assert fix in after
    assert finding.path[-2] == "args"


def test_a_part_of_a_container_is_not_judged():
    """A patch has no image: the command can stand in the graph that it changes."""
    graph = given.graph({"Worker": {"componentType": "worker", "extraPodSpec": {"mainContainer": {"args": ["--model", "$(NAME)"]}}}})
    assert [code for code, _ in found(graph) if code in ("DYN623", "DYN627")] == []


SIDECARS = [
    ("flags alone", {"args": ["--router-mode", "kv"]}, ["DYN624"]),
    ("a line above the default arguments", {"command": ["sh", "-c", "exec python3 -m dynamo.frontend"]}, []),
    ("the defaults", {}, []),
]


@cases(("fields", "expected"), SIDECARS)
def test_a_sidecar_with_the_defaults_of_a_frontend_is_judged(fields, expected):
    sidecar = {"name": "frontend", "image": IMAGE, **fields}
    worker = beta.component("Worker", main={"image": IMAGE, "command": VLLM}, beside=[sidecar], frontendSidecar="frontend")
    assert [code for code, _ in found(beta.graph(worker))] == expected


NODES = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "8"}}}


def test_words_that_a_render_joins_to_a_line_are_right():
    """On several nodes, the operator writes the words of TensorRT-LLM into a line for a shell. Those of SGLang stay words."""
    trtllm = ["python3", "-m", "dynamo.trtllm", "--model", "m", "--tensor-parallel-size", "16"]
    assert codes(args=trtllm, fields={**NODES}) == []
    assert codes(args=["python3", "-m", "dynamo.sglang", "--model-path", "m", "--tp", "16"], fields={**NODES}) == ["DYN623"]


def test_words_of_a_leader_that_a_shell_reads_are_right():
    """The leader of vLLM with Ray runs in a shell, which splits words and replaces variables."""
    args = ["--tensor-parallel-size 16", "--served-model-name", "$NAME"]
    assert [code for code in codes(command=VLLM, args=args, fields={**NODES}) if code in ("DYN625", "DYN628")] == []


SEVERAL = [
    ("a flag and its value", ["--max-num-seqs 4"], ["DYN625"]),
    ("a flag and a number with a dot, which is no dotted flag", ["--gpu-memory-utilization 0.8", "--enforce-eager"], ["DYN625"]),
    ("several flags", ["--max-num-seqs 4 --enforce-eager"], ["DYN625"]),
    ("a flag behind one with several values", ["--served-model-name", "a", "--max-num-seqs 4"], ["DYN625"]),
    ("a flag with a typing mistake", ["--max-num-seqz 4"], ["DYN625"]),
    ("a block of lines", ["--max-num-seqs 4 \\\n--enforce-eager\n"], ["DYN625"]),
    ("a flag in a value", ["--served-model-name", "a --max-num-seqs 4"], ["DYN625"]),
    ("a flag in a value behind =", ["--served-model-name=a --max-num-seqs=4"], ["DYN625"]),
    ("a flag of another program in a value", ["--served-model-name", "a --no-such-flag"], []),
    ("a flag in JSON", ["--hf-overrides", '{"note": "see --max-num-seqs 4"}'], []),
    ("a value with blanks", ["--served-model-name", "my model"], []),
    ("a value with blanks behind =", ["--served-model-name=my model"], []),
]


@cases(("args", "expected"), SEVERAL)
def test_words_in_one_word_are_found(args, expected):
    assert codes(command=VLLM, args=args) == expected


REFERENCES = [
    ("a name that is missing", {"args": ["--max-num-seqs", "$(SEQS)"]}, ["DYN627"]),
    ("a part of a word", {"args": ["--served-model-name=a-$(NAME)"]}, ["DYN627"]),
    ("a name twice", {"args": ["--max-num-seqs", "$(SEQS)", "--served-model-name", "$(SEQS)"]}, ["DYN627"]),
    ("a variable of the image", {"args": ["--served-model-name", "$(HOSTNAME)"]}, ["DYN627"]),
    ("a variable", {"args": ["--max-num-seqs", "$(SEQS)"], "env": [{"name": "SEQS", "value": "4"}]}, []),
    ("a variable from a field", {"args": ["$(IP)"], "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]}, []),
    ("a variable of the operator", {"args": ["--served-model-name", "$(POD_NAME)", "--namespace", "$(DYN_NAMESPACE)"]}, []),
    ("more variables from a Secret", {"args": ["--max-num-seqs", "$(SEQS)"], "envFrom": [{"secretRef": {"name": "a"}}]}, []),
    ("a variable of LeaderWorkerSets", {"args": ["--served-model-name", "$(LWS_WORKER_INDEX)"]}, []),
    ("a variable of a Service", {"args": ["--served-model-name", "$(KUBERNETES_SERVICE_HOST)"]}, []),
    ("a dollar sign for the program", {"args": ["--served-model-name", "$$(NAME)"]}, []),
]


@cases(("main", "expected"), REFERENCES)
def test_a_reference_without_its_variable_is_found(main, expected):
    assert codes(command=VLLM, **main) == expected


@cases(
    ("names", "fix"),
    [
        ("a longer name", ["MODEL_NAME", "PORT"], "write $(MODEL_NAME), or add the variable"),
        ("a longer name at the end", ["BASE_MODEL"], "write $(BASE_MODEL), or add the variable"),
        ("two longer names", ["MODEL_NAME", "MODEL_PATH"], "; add the variable"),
        ("a word that only begins alike", ["MODELS_DIR"], "; add the variable"),
    ],
)
def test_a_longer_name_of_a_variable_is_proposed(names, fix):
    """Only if one variable has the written name as a part of its own."""
    main = {"command": VLLM, "args": ["--model", "$(MODEL)"], "env": [{"name": name, "value": "4"} for name in names]}
    planned: list[PlannedResource] = []
    expand([beta.graph(beta.component("Worker", main={"image": IMAGE, **main}))], Config(), planned.append)
    findings = argument_findings.check(planned)
    messages = [finding.message for finding in findings if finding.code == "DYN627"]
    assert len(messages) == 1
    assert messages[0].endswith(fix)


@cases(
    ("names", "fix"),
    [
        ("a word less in the middle", ["MAX_LEN", "PORT"], "write $(MAX_LEN), or add the variable"),
        ("the same words in another order", ["MODEL_LEN_MAX"], "; write $(MODEL_LEN_MAX)"),
        ("one shared word", ["LEN"], "; add the variable"),
        ("another word", ["MAX_BATCH_LEN"], "; add the variable"),
        ("two such names", ["MAX_LEN", "LEN_MODEL"], "; add the variable"),
    ],
)
def test_a_variable_with_the_same_words_is_proposed(names, fix):
    main = {"command": VLLM, "args": ["--model", "m", "--max-model-len", "$(MAX_MODEL_LEN)"]}
    env = [{"name": name, "value": "4"} for name in names]
    planned: list[PlannedResource] = []
    expand([beta.graph(beta.component("Worker", main={"image": IMAGE, **main, "env": env}))], Config(), planned.append)
    (message,) = [finding.message for finding in argument_findings.check(planned) if finding.code == "DYN627"]
    assert message.endswith(fix)


LINES = [
    ("a name that is missing", LINE + "--max-num-seqs $(SEQS)", ["DYN627"]),
    ("a name in double quotes", LINE + '--max-num-seqs "$(SEQS)"', ["DYN627"]),
    ("a command", LINE + "--max-num-seqs $(nproc) --served-model-name $(cat name)", []),
    ("a program of another language", "awk '{print $(NF)}' names", []),
    ("a dollar sign for the shell", LINE + "--max-num-seqs $$(SEQS)", []),
    ("a variable of the shell", LINE + "--max-num-seqs $SEQS", ["DYN727"]),
]


@cases(("line", "expected"), LINES)
def test_a_reference_in_a_line_is_found(line, expected):
    assert codes(command=["sh", "-c"], args=[line]) == expected


DOLLARS = [
    ("a variable", ["--max-num-seqs", "$SEQS"], ["DYN605", "DYN628"]),
    ("a variable in braces", ["--served-model-name", "${NAME}"], ["DYN628"]),
    ("behind =", ["--served-model-name=$NAME"], ["DYN628"]),
    ("in a path", ["--tokenizer", "/models/$NAME"], ["DYN628"]),
    ("a path that Dynamo expands", ["--custom-jinja-template", "$HOME/a.jinja"], []),
    ("a dollar sign in a text", ["--served-model-name", "a$B"], []),
    ("a lower-case name", ["--served-model-name", "$name"], []),
    ("two dollar signs", ["--served-model-name", "$$NAME"], []),
]


@cases(("args", "expected"), DOLLARS)
def test_a_variable_without_a_shell_is_found(args, expected):
    assert sorted(codes(command=VLLM, args=args)) == expected


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_other_containers_are_judged_by_their_own_variables(field):
    main = {"image": IMAGE, "command": VLLM, "env": [{"name": "SEQS", "value": "4"}]}
    other = {"name": "other", "image": IMAGE, "command": [*VLLM, "--max-num-seqs", "$(SEQS)"]}
    graph = given.graph({"Worker": given.service("worker", main=main, pod={field: [other]})})
    assert found(graph) == [("DYN627", f"spec.services.Worker.extraPodSpec.{field}[0].command[6]")]


def test_variables_of_a_v1beta1_graph_count():
    main = {"image": IMAGE, "command": VLLM, "args": ["--max-num-seqs", "$(SEQS)"]}
    assert found(beta.graph(beta.component("Worker", main=main), env=[{"name": "SEQS", "value": "4"}])) == []


def test_variables_of_the_graph_count():
    graph = given.graph(
        {"Worker": given.service("worker", main={"image": IMAGE, "command": VLLM, "args": ["--max-num-seqs", "$(SEQS)"]})},
        envs=[{"name": "SEQS", "value": "4"}],
    )
    assert found(graph) == []
