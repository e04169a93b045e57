"""What can stand at a position of a graph, a configuration or a command line, and what a field means."""

from __future__ import annotations

from krm_fn.base.yaml import outline
from krm_fn.review.authoring import completions, field_help
from tests.support.cases import cases

ALPHA = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  backendFramework: sglang
  services:
    Worker:
      componentType: worker
"""
BETA = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
spec:
  components:
  - name: worker
    type: worker
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1
          command: [python3, -m, dynamo.vllm]
          args:
"""
RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nspec:\n"
COMPLETED: tuple[tuple[str, str, list[str], list[str]], ...] = (
    ("fields of a component", ALPHA + "      re|", ["replicas", "resources", "multinode"], ["componentType"]),
    ("fields of a component in flow style", ALPHA + "      multinode: {no|", ["nodeCount"], ["replicas"]),
    ("fields of a pod", ALPHA + "      extraPodSpec:\n        no|", ["nodeSelector", "mainContainer"], ["replicas"]),
    ("fields of the other version", BETA.replace("type: worker", "repl|"), ["replicas", "type"], ["name", "componentType"]),
    ("types of components", ALPHA.replace("componentType: worker", "componentType: |"), ["frontend", "planner", "worker"], ["true"]),
    ("values of an enum", ALPHA.replace("sglang", "|"), ["sglang", "trtllm", "vllm"], []),
    ("values of a switch", ALPHA + "      ingress:\n        enabled: |", ["true", "false"], []),
    ("keys of the configuration", RENDER + "  orch|", ["orchestrator", "natsAddress"], ["services"]),
    ("values of the configuration", RENDER + "  orchestrator: |", ["deployment", "grove"], []),
    ("kinds", "kind: |", ["DynamoGraphDeployment", "DynamoRender"], []),
    ("versions of a kind", "kind: DynamoModel\napiVersion: |", ["nvidia.com/v1alpha1"], ["nvidia.com/v1beta1"]),
    ("the first fields", "|", ["apiVersion", "kind"], []),
    (
        "flags of the engine in the image",
        BETA + "          - --max|",
        ["--max-model-len", "--tensor-parallel-size"],
        ["--mem-fraction-static"],
    ),
    ("no flag twice", BETA + "          - --model\n          - a\n          - -|", ["--dtype"], ["--model"]),
    ("values of a flag", BETA + "          - --dtype\n          - |", ["bfloat16"], ["--model"]),
    ("values behind a sign", BETA + "          - --dtype=|", ["--dtype=bfloat16"], ["--model"]),
    ("values in flow style", BETA.replace("args:", "args: [--dtype, |"), ["bfloat16"], ["--model"]),
    ("a flag with any value", BETA + "          - --model\n          - |", [], ["--dtype"]),
    (
        "the engine of the graph",
        ALPHA + "      extraPodSpec:\n        mainContainer:\n          args:\n          - --|",
        ["--mem-fraction-static"],
        [],
    ),
    ("an unknown kind", "kind: Pod\nspec:\n  |", [], ["containers"]),
    ("an unknown field", ALPHA + "      unknown:\n        |", [], ["replicas"]),
    ("a free text", ALPHA + "      serviceName: |", [], ["true"]),
)


def at(text):
    """The lines and the position of a text, which `|` marks."""
    before = text.partition("|")[0]
    return text.replace("|", "", 1).split("\n"), before.count("\n") + 1, len(before) - before.rfind("\n")


@cases(("text", "offered", "others"), COMPLETED)
def test_what_can_stand_at_a_position(text, offered, others):
    """All of the first are offered, and none of the second."""
    labels = {completion.label for completion in completions.at(outline.cursor(*at(text)))}
    assert labels.issuperset(offered)
    assert labels.isdisjoint(others)
    assert offered or not labels


HELP = (
    ("a number with a default", ALPHA + "      repli|cas: 2", ["`spec.services.Worker.replicas`: integer"]),
    ("an enum", ALPHA.replace("backend", "back|end"), ["one of `sglang`, `trtllm`, `vllm`"]),
    ("a flag", BETA + "          - --dty|pe", ["`--dtype`: text, dynamo.vllm 1.5.1", "`bfloat16`"]),
    ("a flag in flow style", BETA.replace("args:", 'args: ["--dty|pe=auto"]'), ["`--dtype`: text, dynamo.vllm 1.5.1"]),
)


def help_at(text, effects):
    """The help about the word at the position."""
    cursor = outline.under(*at(text))
    assert cursor
    return field_help.markdown(cursor, effects)


@cases(("text", "parts"), HELP)
def test_what_a_field_means(text, parts):
    shown = help_at(text, ["Deployment/a `spec.replicas`: `2`"])
    assert [part for part in parts if part not in shown] == []


def test_few_effects_are_listed():
    """A change of a name affects hundreds of fields."""
    shown = help_at(ALPHA + "      repli|cas: 2", [f"effect {number}" for number in range(100)])
    assert "* effect 7\n* and 92 more" in shown


def test_an_unknown_field_has_no_help():
    assert help_at(ALPHA + "      unkn|own: 2", []) == ""
