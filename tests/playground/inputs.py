"""Requests of the playground: those of all examples, and hostile ones."""

from __future__ import annotations

import json
import random
from typing import Any

import build_playground

from tests.testbed import programs

KINDS = ("render", "check", "graph", "diff")
_SCRIPT = "<script>document.title='run'</script>"
_GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: {name}, namespace: inference}}
spec:
  services:
    Worker:
      componentType: worker
      replicas: {replicas}
      extraPodSpec: {{mainContainer: {{image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1", args: [{argument}]}}}}
"""
_MARKS = (
    "\t",
    "\n",
    "- ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    "\\",
    "&a ",
    "*a",
    "!x ",
    "<<: ",
    "|",
    ">",
    "---\n",
    "<img src=x>",
    "\u202e",
    "é",
    "9" * 40,
)


def request(kind: str, graph: str, settings: str = "", old: str = "", **more: Any) -> dict[str, Any]:
    return {"id": 1, "kind": kind, "graph": graph, "settings": settings, "old": old, **more}


def examples() -> list[tuple[str, str, str]]:
    """Name, graph and settings of the examples that the page shows, and of every other file with a Dynamo resource."""
    shown = [(example["name"], example["graph"], example["settings"]) for example in build_playground.examples()]
    texts = {graph for _, graph, _ in shown}
    paths = sorted((programs.ROOT / "examples").rglob("*.yaml"))
    others = [(str(path.relative_to(programs.ROOT)), path.read_text(), "") for path in paths]
    return shown + [(name, text, "") for name, text, _ in others if "kind: Dynamo" in text and text not in texts]


def graph(name: str = "chat", replicas: str = "1", argument: str = "--model, a") -> str:
    return _GRAPH.format(name=name, replicas=replicas, argument=argument)


def hostile() -> list[tuple[str, str]]:
    """Names and texts: each attack written out, and examples that a seed spoils."""
    laughs = "a0: &a0 [x]\n" + "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))
    texts = {
        "nothing": "",
        "5 MB of a list": "- x\n" * 1_250_000,
        "5 MB in one line": "a: " + "x" * 5_000_000,
        "aliases that hold themselves": "a: &a [*a]\n",
        "aliases that explode": laughs,
        "100,000 brackets": "[" * 100_000,
        "100,000 dashes": "- " * 100_000,
        "JSON in 100,000 levels": '{"a":' * 100_000,
        "YAML in 199 levels": graph() + "      x: " + "{a: " * 190 + "1" + "}" * 190 + "\n",
        "JSON in 199 levels": json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})[:-1]
        + ', "x": '
        + "[" * 190
        + "]" * 190
        + "}",
        "a script as a name": graph(json.dumps(_SCRIPT)),
        "a script as a value": graph(argument=json.dumps(_SCRIPT)),
        "an event handler as a key": graph() + '      "<img src=x onerror=alert(1)>": 1\n',
        "a script as a code": f"apiVersion: nvidia.com/v1alpha1\nkind: {json.dumps(_SCRIPT)}\nmetadata: {{name: a}}\n",
        "a tag of Python": "a: !!python/object/apply:os.system [id]\n",
        "a number of 10,000 digits": graph(replicas="9" * 10_000),
        "a float that is infinite": graph(replicas="1e999"),
        "a negative number": graph(replicas="-9223372036854775809"),
        "a number with underscores": graph(replicas="1_" * 5000 + "1"),
        "NUL": "a: \0\n",
        "half of a surrogate pair": 'a: "\\ud83d"\n',
        "marks that turn the text": graph("\u202eabc"),
        "quotes of graphviz": graph().replace("Worker", '\'a\\"] ; b [label=\\"<b>x</b>"\''),
        "a service name of HTML": graph().replace("Worker", '"<img src=x onerror=alert(1)>"'),
        "a list as a document": "- 1\n- 2\n",
        "2,000 documents": "---\na: 1\n" * 2000,
        "a regular expression that is slow": graph(argument=json.dumps("a" * 50_000 + "!")),
        "300 services": graph() + "".join(f"    W{number}: {{componentType: worker, replicas: 1}}\n" for number in range(300)),
    }
    source = random.Random(7)  # noqa: S311 - the same texts in each run
    whole = [text for _, text, _ in examples() if len(text) < 4000]
    for number in range(300 - len(texts)):
        text = source.choice(whole)
        for _ in range(source.randrange(1, 5)):
            place = source.randrange(len(text))
            text = text[:place] + source.choice(_MARKS) + text[place + source.randrange(4) :]
        texts[f"spoiled {number}"] = text
    return [*texts.items()]
