"""For every kind of wrong input: a clear result, exit code 1, no lost item, no traceback.

Each row starts the real command in a new process.
"""

import io
import json
import subprocess
import sys

import pytest
import yaml

from krm_fn.render.krm import function
from tests.support import growth
from tests.support.cases import cases

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
MINE = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: mine, namespace: prod} # stays\n  data: {n: 'no'}\n"
GRAPH = """\
- apiVersion: nvidia.com/v1alpha1
  kind: DynamoGraphDeployment
  metadata:
    name: llm
    namespace: prod
  spec:
    services:
      Frontend:
        componentType: frontend
        replicas: 1
        extraPodSpec:
          mainContainer:
            image: example.com/dynamo:1.5.0
"""
FUNCTION_CONFIG = """\
functionConfig:
  apiVersion: dynamo.krm-fn.io/v1alpha1
  kind: DynamoRender
  metadata: {name: render}
  spec: {orchestrator: deployment}
"""
GOOD = HEAD + MINE + GRAPH + FUNCTION_CONFIG
FRONTEND = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: llm-frontend, namespace: prod}
"""
LAUGHS = "  a0: &a0 [x]\n" + "".join(f"  a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))


def krm_fn(text):
    data = text if isinstance(text, bytes) else text.encode()
    return subprocess.run([sys.executable, "-m", "krm_fn"], input=data, capture_output=True, check=False, timeout=300)


def graph(old, new):
    assert old in GRAPH
    return HEAD + MINE + GRAPH.replace(old, new)


UNREADABLE = [
    # reason, input, code, place, words in the message
    ("empty stdin", "", "DYN001", "", "pass a ResourceList"),
    ("blank stdin", "\n\n", "DYN001", "", "pass a ResourceList"),
    ("not YAML", "a: b: c\n", "DYN004", "<stdin>:1:5", "in quotes"),
    ("broken JSON", '{"kind": "ResourceList", "items": [}', "DYN004", "<stdin>:1:36", "close the bracket"),
    ("not a ResourceList", MINE[2:].replace("\n  ", "\n"), "DYN012", "", "ConfigMap of v1"),
    ("a bare graph", GRAPH[2:].replace("\n  ", "\n"), "DYN012", "", "krm-fn render"),
    ("a stream of documents", "a: 1\n---\nb: 1\n", "DYN012", "<stdin>:3:1", "several documents"),
    ("a list", MINE, "DYN012", "", "the input is a list"),
    ("a string", "hello\n", "DYN012", "", "the input is a single value"),
    ("a ResourceList of an unknown version", GOOD.replace("io/v1\n", "io/v7\n", 1), "DYN012", "", "config.kubernetes.io/v1"),
    ("items missing", HEAD.replace("items:\n", ""), "DYN013", "", "items: []"),
    ("items that are a mapping", HEAD.replace("items:", "items: {}"), "DYN013", "", "not a list"),
    ("tabs", GOOD.replace("    name: llm", "\tname: llm"), "DYN004", "<stdin>:11:1", "indent with spaces"),
    ("aliases exploding", HEAD + MINE + LAUGHS, "DYN006", "<stdin>:13:", "use fewer"),
    ("100,000 nested brackets", HEAD + MINE + "  x: " + "[" * 100_000, "DYN005", "<stdin>:8:", "200 levels"),
    ("100,000 nested braces in JSON", '{"items": [' + '{"a":' * 100_000, "DYN005", "<stdin>:1:", "200 levels"),
    ("100,000 nested brackets that close", "[" * 100_000 + "]" * 100_000, "DYN005", "<stdin>:1:", "200 levels"),
    ("invalid UTF-8", GOOD.encode().replace(b"stays", b"\xe9"), "DYN002", "<stdin>:6:45", "0xe9"),
    ("UTF-16", GOOD.encode("utf-16"), "DYN002", "<stdin>:1:1", "UTF-16"),
    ("NUL", GOOD.replace("'no'", "\x00"), "DYN003", "<stdin>:7:", "U+0000"),
    ("only NULs", b"\x00" * 1000, "DYN003", "<stdin>:1:1", "U+0000"),
]


@cases(("text", "code", "place", "words"), UNREADABLE)
def test_without_a_list_nothing_is_written(text, code, place, words):
    done = krm_fn(text)
    said = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (1, b"")
    assert said[0] == "krm-fn: 1 error"
    assert said[1].startswith(place)
    assert f"error {code} " in said[1]
    assert words in said[1]
    assert len(said) == 2


LARGE = [
    # reason, a text of about this many bytes
    ("brackets", lambda size: HEAD + MINE + "  x: " + "[" * size),
    ("braces in JSON", lambda size: '{"items": [' + '{"a":' * (size // 5)),
    ("brackets that close", lambda size: "[" * (size // 2) + "]" * (size // 2)),
    ("NULs", lambda size: "\x00" * size),
]


@pytest.mark.slow  # measures two sizes several times
@cases("text", LARGE)
def test_a_text_that_cannot_be_read_takes_linear_time(text):
    def run(size):
        assert function.run(io.BytesIO(text(size).encode()), io.BytesIO(), io.StringIO()) == 1

    assert growth.is_linear(run, 200_000)


WRONG = [
    # reason, input, code, field or place, words that help
    ("an item that is a text", HEAD + MINE + "- hello\n" + GRAPH, "DYN014", "items[1]", "write a resource"),
    ("an item without kind", HEAD + MINE + GRAPH + MINE.replace("kind: ConfigMap", "kin: ConfigMap"), "DYN015", ":21:", "has no kind"),
    ("an item without name", HEAD + MINE.replace("name: mine, ", "") + GRAPH, "DYN015", ":4:", "has no metadata.name"),
    ("duplicate keys", graph("        replicas: 1\n", "        replicas: 1\n        replicas: 2\n"), "DYN007", ":18:9", "remove one"),
    ("duplicate keys in an item of another kind", HEAD + MINE + "  kind: ConfigMap\n" + GRAPH, "DYN007", ":8:3", "remove one"),
    ("unknown tags", graph("name: llm", "name: !secret llm"), "DYN008", ":11:11", "remove the tag"),
    ("a template in place of a value", graph("name: llm", "name: {{ name }}"), "DYN009", ":11:12", "quotes"),
    ("infinity", graph("replicas: 1", "replicas: .inf"), "DYN010", ":17:19", "quotes"),
    ("30-digit integers", graph("replicas: 1", "replicas: 123456789012345678901234567890"), "DYN02", "services.Frontend.replicas", ""),
    (
        "a wrong apiVersion of nvidia.com",
        graph("nvidia.com/v1alpha1", "nvidia.com/v1alpha9"),
        "DYN020",
        "apiVersion",
        "nvidia.com/v1alpha1",
    ),
    ("a wrong kind of nvidia.com", graph("DynamoGraphDeployment", "DynamoGraphDeploymnt"), "DYN020", "kind", "DynamoGraphDeployment"),
    ("unknown functionConfig keys", GOOD.replace("orchestrator:", "orchestrater:"), "DYN023", "spec.orchestrater", "orchestrator"),
    ("a functionConfig that is a string", HEAD + MINE + GRAPH + "functionConfig: x\n", "DYN018", "functionConfig", "is not a resource"),
    ("a functionConfig of another version", GOOD.replace("fn.io/v1alpha1", "fn.io/v1"), "DYN024", "apiVersion", "io/v1alpha1"),
    (
        "a functionConfig of another kind",
        GOOD.replace("dynamo.krm-fn.io/v1alpha1", "v1").replace("DynamoRender", "Secret"),
        "DYN040",
        "",
        "a Secret",
    ),
    ("a number in quotes", graph("replicas: 1", 'replicas: "2"'), "DYN021", "spec.services.Frontend.replicas", "without quotes"),
    ("a list of services", graph("services:", "services: []\n    other:"), "DYN021", "spec.services", ""),
    ("a mapping of environment variables", graph("replicas: 1", "envs: {}"), "DYN021", "spec.services.Frontend.envs", ""),
    ("a spec that is a string", HEAD + MINE + GRAPH[: GRAPH.index("    services")].rstrip() + " x\n", "DYN021", "spec", ""),
    ("an unquoted boolean in place of a string", graph("replicas: 1", "envs: [{name: A, value: on}]"), "DYN021", "envs[0].value", ""),
    ("two documents with one identity", HEAD + MINE + GRAPH + MINE, "DYN016", "metadata.name", "line 4"),
    ("our object colliding with the user's", HEAD + MINE + GRAPH + FRONTEND, "DYN052", "metadata.name", "rename"),
]


@cases(("text", "code", "where", "words"), WRONG)
def test_with_a_list_every_item_leaves_as_it_came(text, code, where, words):
    done = krm_fn(text)
    output, said = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 1
    assert "Traceback" not in said
    assert output.startswith(text)
    errors = [result["message"] for result in yaml.safe_load(output[len(text) :])["results"] if result["severity"] == "error"]
    assert any(message.startswith(code) and words in message for message in errors)
    lines = [line for line in said.splitlines()[1:] if f"error {code}" in line]
    assert any(where in line and words in line for line in lines)
    assert len(errors) + 1 <= len(said.splitlines())


def test_everything_wrong_is_said_at_once():
    text = (
        HEAD
        + MINE
        + MINE
        + GRAPH.replace("replicas: 1", "replicas: 1\n        replicas: x\n        envs: {}")
        + "functionConfig: {kind: x}\n"
    )
    done = krm_fn(text)
    codes = {result["tags"]["code"] for result in yaml.safe_load(done.stdout[len(text) :])["results"]}
    assert done.returncode == 1
    assert {"DYN007", "DYN016", "DYN021", "DYN040"} <= codes


FINE = [
    # reason, unusual but valid input
    ("a byte order mark", b"\xef\xbb\xbf" + GOOD.encode()),
    ("Windows line ends", GOOD.replace("\n", "\r\n").encode()),
    ("a last line without a line end", GOOD.rstrip().encode()),
    ("JSON", json.dumps(yaml.safe_load(GOOD)).encode()),
    (
        "JSON with a byte order mark and Windows line ends",
        b"\xef\xbb\xbf" + json.dumps(yaml.safe_load(GOOD), indent=1).replace("\n", "\r\n").encode(),
    ),
    ("the older version", GOOD.replace("io/v1\n", "io/v1beta1\n", 1).encode()),
    ("30-digit integers in an item of another kind", GOOD.replace("'no'", "123456789012345678901234567890").encode()),
]


@cases("data", FINE)
def test_unusual_but_valid_input_is_rendered(data):
    done = krm_fn(data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "llm-frontend" in {item["metadata"]["name"] for item in yaml.safe_load(done.stdout)["items"]}


def test_a_list_with_the_object_itself_as_function_config():
    """kustomize passes a generator its resource as functionConfig and as the only item."""
    text = HEAD + GRAPH + "functionConfig:\n" + GRAPH.replace("- ", "  ", 1)
    done = krm_fn(text)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"llm-frontend" in done.stdout
