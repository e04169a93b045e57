"""Slips of a container that a reader of its command, its variables and its ports sees."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review.arguments import argument_findings
from tests.support import beta
from tests.support.cases import cases

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
OWN = "registry.example/vllm-runtime:1.5.1"


def found(component: Any, code: str) -> list[tuple[str, str]]:
    """The severity and the remedy of the findings with a code."""
    planned: list[PlannedResource] = []
    expand([beta.graph(component)], Config(), planned.append)
    findings = [finding for finding in argument_findings.check(planned) if finding.code == code]
    return [(finding.severity, finding.message.partition("; ")[2]) for finding in findings]


def planner(image: str, **main: Any) -> Any:
    return beta.component("Planner", "planner", main={"image": image, **main})


OTHER = {"command": ["python3", "-m", "acme.planner"]}
PLANNERS = [
    ("an engine's image", planner(f"{REGISTRY}/vllm-runtime:1.5.1"), "error", f"{REGISTRY}/dynamo-planner:1.5.1"),
    ("an image for another CUDA", planner(f"{REGISTRY}/sglang-runtime:1.2.0-cuda13"), "error", f"{REGISTRY}/dynamo-planner:1.2.0"),
    ("the image of a frontend", planner(f"{REGISTRY}/dynamo-frontend:1.1.0"), "error", f"{REGISTRY}/dynamo-planner:1.1.0"),
    ("a mirror", planner(OWN), "warning", "registry.example/dynamo-planner:1.5.1"),
    ("the image of planners", planner(f"{REGISTRY}/dynamo-planner:1.5.1"), "", ""),
    ("a release whose images have the planner", planner(f"{REGISTRY}/vllm-runtime:1.0.2"), "", ""),
    ("an image of one's own", planner("registry.example/engine:1.5.1"), "", ""),
    ("another program", planner(f"{REGISTRY}/vllm-runtime:1.5.1", **OTHER), "", ""),
    ("a worker", beta.component("W", main={"image": f"{REGISTRY}/vllm-runtime:1.5.1"}), "", ""),
]


@cases(("component", "severity", "image"), PLANNERS)
def test_a_planner_needs_its_own_image_since_1_1(component, severity, image):
    assert found(component, "DYN717") == [(severity, f"write {image}")] * bool(image)


def worker(*flags: str, program: str = "vllm", env: Any = None, image: str = "", line: str = "", **main: Any) -> Any:
    model = [] if line else ["--model-path" if program == "sglang" else "--model", "acme/tiny"]
    command = ["/bin/sh", "-c"] if line else ["python3", "-m", f"dynamo.{program}"]
    variables = [{"name": name, "value": value} for name, value in (env or {}).items()]
    fields = {"image": image or f"{REGISTRY}/{program}-runtime:1.5.1", "command": command, "args": [line] if line else [*model, *flags]}
    return beta.component("Worker", main={**fields, "env": variables, **main})


EVENTS = '{"publisher": "zmq", "endpoint": "tcp://*:%d"}'
PORTS = [
    ("the port of the system server", worker("--kv-events-config", EVENTS % 9090), f"write {EVENTS % 5557}"),
    (
        "the port of a variable",
        worker("--kv-events-config", EVENTS % 5600, env={"VLLM_NIXL_SIDE_CHANNEL_PORT": "5600"}),
        f"write {EVENTS % 5557}",
    ),
    ("a moved system server", worker("--kv-events-config", EVENTS % 8081, env={"DYN_SYSTEM_PORT": "8081"}), f"write {EVENTS % 5557}"),
    ("SGLang", worker("--disaggregation-bootstrap-port", "9090", program="sglang"), "write 8998"),
    (
        "a port that is taken",
        worker("--kv-events-config", EVENTS % 9090, env={"VLLM_NIXL_SIDE_CHANNEL_PORT": "5557"}),
        f"write {EVENTS % 5657}",
    ),
    ("another port", worker("--kv-events-config", EVENTS % 5557), ""),
    ("a moved system server leaves its port", worker("--kv-events-config", EVENTS % 9090, env={"DYN_SYSTEM_PORT": "8081"}), ""),
    ("no publisher", worker("--kv-events-config", '{"publisher": "null"}'), ""),
    (
        "a frontend without a system server",
        beta.component("F", "frontend", main={"args": ["-m", "dynamo.frontend", "--http-port", "9090"]}),
        "",
    ),
]


@cases(("component", "remedy"), PORTS)
def test_two_servers_have_two_ports(component, remedy):
    assert found(component, "DYN726") == [("warning", remedy)] * bool(remedy)


def line(model: str, before: str = "") -> str:
    return f"{before}exec python3 -m dynamo.vllm --model {model} --max-num-seqs 8"


PATH = {"MODEL_PATH": "acme/tiny"}
VARIABLES = [
    ("another word", worker(line=line('"$MODEL_DIR"'), env=PATH), "write $MODEL_PATH"),
    ("braces", worker(line=line("${MODEL_DIR}"), env=PATH, image=OWN), "write $MODEL_PATH"),
    ("a slip", worker(line=line("$MODLE"), env={"MODEL": "m"}, image=OWN), "write $MODEL"),
    ("no variable at all", worker(line=line("$MODEL")), "add the variable MODEL"),
    ("no variable, in an image of one's own", worker(line=line("$MODEL"), image=OWN), ""),
    ("the right name", worker(line=line("$MODEL_PATH"), env=PATH), ""),
    ("set in the line", worker(line=line("$MODEL_DIR", "MODEL_DIR=$MODEL_PATH; "), env=PATH), ""),
    ("exported", worker(line=line("$MODEL_DIR", "export MODEL_DIR; "), env=PATH), ""),
    ("read", worker(line=line("$MODEL_DIR", "read -r MODEL_DIR < /etc/model; "), env=PATH), ""),
    ("a file can set it", worker(line=line("$MODEL_DIR", ". /etc/model.sh; "), env=PATH), ""),
    ("a default", worker(line=line("${MODEL_DIR:-acme/tiny}"), env=PATH), ""),
    ("in single quotes", worker(line=line("acme/tiny", "echo '$MODEL_DIR'; "), env=PATH), ""),
    ("a variable of shells", worker(line=line("$HOME"), env=PATH), ""),
    ("a variable of images", worker(line=line("$CUDA_HOME"), env=PATH), ""),
    ("a Secret can have it", worker(line=line("$MODEL_DIR"), env=PATH, envFrom=[{"secretRef": {"name": "s"}}]), ""),
    ("not a value", worker(line=line("acme/tiny $EXTRA")), ""),
]


@cases(("component", "remedy"), VARIABLES)
def test_a_variable_of_a_line_is_set(component, remedy):
    assert found(component, "DYN727") == [("warning", remedy)] * bool(remedy)


def serving(name: str, *flags: str) -> Any:
    return worker(*flags) | {"modelRef": {"name": name}}


MODELS = [
    ("another model", serving("acme/small"), "write acme/tiny"),
    ("beside a served name", serving("acme/small", "--served-model-name", "chat"), "write acme/tiny"),
    ("beside a served name of the Hub", serving("acme/small", "--served-model-name", "acme/chat"), "write acme/chat"),
    ("the model", serving("acme/tiny"), ""),
    ("the served name", serving("acme/chat", "--served-model-name", "acme/chat", "tiny"), ""),
    ("a name of one's own", serving("tiny"), ""),
    ("more flags in a variable", serving("acme/small", "$(FLAGS)"), ""),
]


@cases(("component", "remedy"), MODELS)
def test_a_base_model_is_that_of_the_worker(component, remedy):
    assert found(component, "DYN729") == [("warning", remedy)] * bool(remedy)
