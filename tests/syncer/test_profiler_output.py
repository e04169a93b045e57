"""The output of a profiler: the graph in it, what of it is not used, and why it has no usable graph."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given as random
from hypothesis import strategies as st

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.syncer import profiler_output
from krm_fn.syncer.profiler_output import CONFIG, MOCKER, OutputConfigMap, ProfilerOutput
from tests.support.cases import cases
from tests.support.strategies import JSON
from tests.syncer.status import asked

KEY = ObjectKey("", "ConfigMap", "team-a", "dgdr-output-qwen")
GRAPH = asked.TEXT
DATA = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: planner-profile-data}
data: {prefill.json: "{}"}
"""
READ = yaml.safe_load(GRAPH)
FIRST = ", ".join(f"spec.services.Frontend.f{each}" for each in range(5))
JSON_DATA = json.dumps(yaml.safe_load(DATA))


def read(text: str, *, mocker: bool = False, **texts: str) -> ProfilerOutput:
    """The output in a ConfigMap with this text."""
    return profiler_output.read(OutputConfigMap(KEY, {CONFIG: text, **texts}), mocker=mocker)


def service(text: str) -> str:
    """A graph whose service has these further fields, in flow style."""
    return GRAPH.replace("replicas: 1", f"replicas: 1, {text}")


STREAMS = [
    # the text, the names of the ConfigMaps, and the notes
    ("only the graph", GRAPH, [], []),
    ("the graph last", f"{DATA}---\n{GRAPH}", ["planner-profile-data"], []),
    ("the graph first", f"{GRAPH}---\n{DATA}", ["planner-profile-data"], []),
    ("a marker before, between and behind", f"---\n---\n{GRAPH}---\n", [], []),
    (
        "JSON",
        json.dumps(READ),
        [],
        [],
    ),
    (
        "JSON objects one after the other",
        f"{JSON_DATA}\n{JSON_DATA.replace('planner-profile-data', 'b')}\n---\n{GRAPH}",
        ["planner-profile-data", "b"],
        [],
    ),
    (
        "two graphs: the last counts",
        GRAPH.replace("disagg", "first") + "---\n" + GRAPH,
        [],
        ["the output has 2 graphs, and only the last is used"],
    ),
    ("no kind", f"a: b\n---\n{GRAPH}", [], ["the document at line 1 has no kind and is not used"]),
    ("no mapping", f"{GRAPH}---\n- a\n", [], ["the document at line 8 has no kind and is not used"]),
    ("not YAML behind the graph", f"{GRAPH}---\na: [\n", [], ["line 9: "]),
    (
        "another kind",
        f"kind: Secret\nmetadata: {{name: s}}\n---\n{GRAPH}",
        [],
        ["the Secret at line 1 is not used: beside the graph, only ConfigMaps"],
    ),
    (
        "a ConfigMap without a name",
        f"apiVersion: v1\nkind: ConfigMap\n---\n{GRAPH}",
        [],
        ["the ConfigMap at line 1 is not used: beside the graph, only ConfigMaps"],
    ),
    (
        "unknown fields",
        service("foo: 1, extraPodSpec: {bar: 1}"),
        [],
        ["Dynamo has no such fields, so they are left out: spec.services.Frontend.foo, spec.services.Frontend.extraPodSpec.bar"],
    ),
    (
        "many unknown fields",
        service(", ".join(f"f{number}: 1" for number in range(9))),
        [],
        [f"Dynamo has no such fields, so they are left out: {FIRST} and 4 more"],
    ),
    ("no version", GRAPH.replace("apiVersion: nvidia.com/v1alpha1\n", ""), [], []),
    ("null", service("dynamoNamespace: null"), [], []),
    ("a status", f"{GRAPH}status: {{state: successful}}\n", [], []),
]


@cases(("text", "names", "notes"), STREAMS)
def test_the_graph_of_a_text(text, names, notes):
    """The rules of the operator; what it leaves out without a word is a note here."""
    found = read(text)
    assert found.problem == ""
    assert found.graph is not None
    assert {**found.graph["spec"]["services"]["Frontend"], "extraPodSpec": None} == {
        **READ["spec"]["services"]["Frontend"],
        "extraPodSpec": None,
    }
    assert {key: value for key, value in found.graph.items() if key != "spec"} == {
        key: value for key, value in READ.items() if key != "spec"
    }
    assert [each["metadata"]["name"] for each in found.config_maps] == names
    assert [each[: len(note)] for each, note in zip(found.notes, notes, strict=True)] == notes


NONE = "failed to extract DGD from config_with_planner.yaml: no DynamoGraphDeployment found in YAML content"
CONVERT = "failed to extract DGD from config_with_planner.yaml: failed to convert to DynamoGraphDeployment: "
PROBLEMS = [
    ("nothing", "", NONE),
    ("only comments", "# nothing\n", NONE),
    ("no YAML", "kind: [unclosed\n", f"{NONE}; line 2: "),
    ("a text", "the profiler failed", f"{NONE}; the document at line 1 has no kind and is not used"),
    ("another kind", DATA, NONE),
    ("a kind that is no text", "kind: 7", f"{NONE}; the document at line 1 has no kind and is not used"),
    (
        "a list of services",
        GRAPH.replace("    Frontend:", "  - Frontend:"),
        f"{CONVERT}spec.services: the field takes an object, not a list",
    ),
    (
        "a number as text",
        GRAPH.replace("replicas: 1", 'replicas: "1"'),
        f"{CONVERT}spec.services.Frontend.replicas: the field takes an integer",
    ),
    ("no quantity", service("sharedMemory: {size: many}"), f"{CONVERT}spec.services.Frontend.sharedMemory.size: "),
    ("a list of metadata", GRAPH.replace("{name: vllm-disagg}", "[]"), f"{CONVERT}metadata: the field takes an object, not a list"),
    (
        "a key set twice",
        GRAPH + "spec: {}\n",
        "failed to extract DGD from config_with_planner.yaml: line 7: the key spec is set twice in this mapping; ",
    ),
    (
        "a key set twice, behind another document",
        f"{DATA}---\n{GRAPH}spec: {{}}\n",
        "failed to extract DGD from config_with_planner.yaml: line 12: the key spec is set twice",
    ),
    (
        "more than a ConfigMap holds",
        GRAPH + "#" * 2**20,
        "failed to extract DGD from config_with_planner.yaml: the text is larger than 1 MiB",
    ),
    (
        "aliases that multiply a text",
        GRAPH + f"    A: {{extraPodSpec: {{mainContainer: {{args: [&x {'x' * 1000}{', *x' * 2000}]}}}}}}\n",
        "failed to extract DGD from config_with_planner.yaml: the graph is larger than 1 MiB with all aliases written out",
    ),
]


@cases(("text", "problem"), PROBLEMS)
def test_an_output_without_a_usable_graph(text, problem):
    found = read(text)
    assert found.graph is None
    assert found.problem[: len(problem)] == problem


def test_the_key_for_the_mocker():
    both = {MOCKER: GRAPH.replace("vllm-disagg", "mocker")}
    assert [read(GRAPH, mocker=each, **both).graph["metadata"]["name"] for each in (False, True)] == ["vllm-disagg", "mocker"]  # type: ignore[index]
    assert read(GRAPH, mocker=True).problem == "key mocker_config_with_planner.yaml not found in ConfigMap dgdr-output-qwen"
    assert (
        profiler_output.read(OutputConfigMap(KEY), mocker=False).problem
        == "key config_with_planner.yaml not found in ConfigMap dgdr-output-qwen"
    )


def test_words_that_the_profilers_library_leaves_without_quotes_are_text():
    """PyYAML writes the texts y and n without quotes, YAML 1.1 reads booleans. The other words of YAML 1.1 keep their meaning."""
    args = ["-m", "y", "N", "yes", "1"]
    dumped = {**READ, "spec": {"services": {"A": {"globalDynamoNamespace": True, "extraPodSpec": {"mainContainer": {"args": args}}}}}}
    found = read(yaml.safe_dump(dumped))
    assert found.graph == dumped
    assert read(GRAPH.replace("replicas: 1", "replicas: 010")).graph["spec"]["services"]["Frontend"]["replicas"] == 8  # type: ignore[index]


def test_quantities_are_written_as_the_api_writes_them():
    """The operator stores typed values. Texts that look like quantities stay, for example `resources` of a service."""
    amounts = "resources: {limits: {cpu: 1000m}}"
    more = f"sharedMemory: {{size: 2048Mi}}, {amounts}, extraPodSpec: {{mainContainer: {{{amounts}}}}}"
    found = read(service(more) + "  pvcs: [{name: a, size: 1024Mi}]\n").graph
    assert found is not None
    frontend = found["spec"]["services"]["Frontend"]
    assert found["spec"]["pvcs"] == [{"name": "a", "size": "1Gi"}]
    assert frontend["sharedMemory"] == {"size": "2Gi"}
    assert frontend["resources"] == {"limits": {"cpu": "1000m"}}
    assert frontend["extraPodSpec"]["mainContainer"]["resources"] == {"limits": {"cpu": "1"}}


@pytest.mark.parametrize("spec", ["", "spec: {}\n", "spec: {services: {}}\n", "spec: null\n"])
def test_an_empty_graph_has_an_empty_spec(spec):
    """As the operator's types write it. The render says what is missing."""
    assert read(GRAPH.partition("spec:")[0] + spec).graph == {**READ, "spec": {}}


def test_a_graph_of_another_version_is_kept():
    """The render, not the reader, judges the version."""
    found = read(GRAPH.replace("v1alpha1", "v1beta1"))
    assert found.graph is not None
    assert found.graph["apiVersion"] == "nvidia.com/v1beta1"


def test_a_message_quotes_no_value_of_a_variable():
    """Whoever may read the status of a request need not be allowed to read the output."""
    found = read(service("envs: [{name: TOKEN, value: [hf_secret]}]"))
    assert found.problem.startswith(f"{CONVERT}spec.services.Frontend.envs[0].value: ")
    assert "hf_secret" not in found.problem


# --- the ConfigMap ---


def config_map(texts: dict[str, Any], **notes: Any) -> dict[str, Any]:
    metadata = {"name": KEY.name, "namespace": KEY.namespace, "labels": {labels.REQUEST_NAME: "qwen"}, "annotations": notes}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts}


def digest(*texts: str) -> str:
    """The hash as a shell makes it: `cat FILES | sha256sum`."""
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def test_the_marks_of_a_config_map():
    notes = {labels.PROFILE_HASH: "a", labels.OUTPUT_HASH: "b"}
    assert profiler_output.read_config_map(config_map({CONFIG: GRAPH}, **notes)) == OutputConfigMap(KEY, {CONFIG: GRAPH}, "a", "b")
    assert profiler_output.read_config_map({"kind": "ConfigMap", "metadata": {"name": "x"}}, "home").key.namespace == "home"


HASHES = [
    ("as the profiler wrote it", {CONFIG: GRAPH}, digest(GRAPH), False),
    ("both texts", {CONFIG: GRAPH, MOCKER: "m"}, digest(GRAPH, "m"), False),
    ("other keys do not count", {CONFIG: GRAPH, "notes": "x"}, digest(GRAPH), False),
    ("changed", {CONFIG: GRAPH + "#"}, digest(GRAPH), True),
    ("the text for the mocker was changed", {CONFIG: GRAPH, MOCKER: "n"}, digest(GRAPH, "m"), True),
    ("a key was removed", {MOCKER: "m"}, digest(GRAPH, "m"), True),
    ("no hash, as the operator writes it", {CONFIG: GRAPH}, None, False),
]


@cases(("texts", "written", "edited"), HASHES)
def test_an_output_that_somebody_edited(texts, written, edited):
    notes = {} if written is None else {labels.OUTPUT_HASH: written}
    assert profiler_output.read(profiler_output.read_config_map(config_map(texts, **notes)), mocker=False).edited is edited


@random(st.text(), st.booleans())
def test_whatever_the_profiler_wrote_nothing_raises(text, mocker):
    found = read(text, mocker=mocker, **{MOCKER: text})
    assert bool(found.problem) is (found.graph is None)


@random(st.lists(JSON | st.just(READ) | st.just({**READ, "spec": 7}), max_size=3))
def test_whatever_documents_there_are_nothing_raises(documents):
    found = read(yaml.safe_dump_all(documents))
    assert bool(found.problem) is (found.graph is None)


@random(JSON, JSON)
def test_whatever_a_config_map_holds_nothing_raises(metadata, data):
    found = profiler_output.read_config_map({"metadata": metadata, "data": data})
    assert isinstance(profiler_output.read(found, mocker=False), ProfilerOutput)
