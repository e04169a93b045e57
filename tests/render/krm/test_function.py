"""The contract with kustomize and kpt: one complete list or no output, exit code 1 exactly for errors, no lost item."""

import io
import json
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import krm_fn
from krm_fn.base import results
from krm_fn.render import expand, labels
from krm_fn.render.krm import function, resourcelist
from tests.support.cases import cases

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
USER = """\
# the user's own
- apiVersion: v1   # stays
  kind: ConfigMap
  metadata: {name: 'mine', namespace: prod}
  data: {n: "no"}
"""
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
functionConfig:   # mine
  apiVersion: dynamo.krm-fn.io/v1alpha1
  kind: DynamoRender
  metadata: {name: render}
  spec: {orchestrator: deployment}
"""
BROKEN_GRAPH = GRAPH.replace("replicas: 1", 'replicas: "1"')


def run(text):
    stdout, stderr = io.BytesIO(), io.StringIO()
    code = function.run(io.BytesIO(text.encode() if isinstance(text, str) else text), stdout, stderr)
    return code, stdout.getvalue().decode(), stderr.getvalue()


def items(output):
    return yaml.safe_load(output)["items"]


def annotated(graph, **notes):
    lines = "".join(f"      {key}: {json.dumps(value)}\n" for key, value in notes.items())
    return graph.replace("    namespace: prod\n", f"    namespace: prod\n    annotations:\n{lines}")


def under_kpt(graph, path="graphs/llm.yaml"):
    return annotated(graph, **{labels.PATH: path, labels.INDEX: "0", labels.SEQINDENT: "compact"})


def under_kustomize(graph, **notes):
    return annotated(graph, **{"internal.config.kubernetes.io/index": "0", "config.kubernetes.io/index": "0", **notes})


def test_a_graph_becomes_native_objects():
    code, output, said = run(HEAD + USER + GRAPH + FUNCTION_CONFIG)
    assert (code, said) == (0, "")
    assert output.startswith(HEAD + USER)
    assert output.endswith(FUNCTION_CONFIG)
    assert {("DynamoGraphDeployment", "llm"), ("Deployment", "llm-frontend"), ("Service", "llm-frontend")} <= {
        (item["kind"], item["metadata"]["name"]) for item in items(output)
    }


def test_twice_changes_nothing():
    _, once, _ = run(HEAD + USER + GRAPH + FUNCTION_CONFIG)
    assert run(once) == (0, once, "")


def test_no_graph_no_change():
    assert run(HEAD + USER) == (0, HEAD + USER, "")


def test_no_items_are_no_error():
    text = HEAD.replace("items:", "items: []")
    assert run(text) == (0, text, "")


def test_with_an_error_all_items_leave_as_they_came():
    text = HEAD + USER + GRAPH + BROKEN_GRAPH.replace("name: llm", "name: other")
    code, output, said = run(text)
    assert code == 1
    assert output.startswith(text + "results:\n")
    assert [result["severity"] for result in yaml.safe_load(output)["results"]] == ["error"]
    assert said.startswith("krm-fn: 1 error\n")


def test_lines_are_told_of_a_list_written_by_hand():
    _, _, said = run(HEAD + USER + BROKEN_GRAPH)
    line = 1 + (HEAD + USER + BROKEN_GRAPH).splitlines().index('        replicas: "1"')
    assert f"<stdin>:{line}:9: error DYN021 spec.services.Frontend.replicas" in said


def test_lines_in_the_function_config():
    text = HEAD + USER + FUNCTION_CONFIG.replace("{orchestrator: deployment}", "\n    orchestrater: grove")
    code, output, said = run(text)
    assert code == 1
    assert output.startswith(text)
    assert f"<stdin>:{len(text.splitlines())}:5: error" in said
    assert "orchestrator" in said


def test_the_file_is_told_under_kpt():
    code, output, said = run(HEAD + under_kpt(BROKEN_GRAPH))
    (result,) = yaml.safe_load(output)["results"]
    assert code == 1
    assert result["file"] == {"path": "graphs/llm.yaml", "index": 0}
    assert said.splitlines()[1].startswith("graphs/llm.yaml: error DYN021")


def test_the_file_is_told_under_kustomize_where_it_is_known():
    _, output, said = run(HEAD + under_kustomize(BROKEN_GRAPH, **{labels.ORIGIN: "path: base/llm.yaml\n"}))
    assert yaml.safe_load(output)["results"][0]["file"]["path"] == "base/llm.yaml"
    assert "\nbase/llm.yaml: error DYN021" in said


def test_no_line_is_told_of_a_list_that_the_user_never_sees():
    _, output, said = run(HEAD + under_kustomize(BROKEN_GRAPH))
    assert "file" not in yaml.safe_load(output)["results"][0]
    assert said.splitlines()[1].startswith("error DYN021 spec.services.Frontend.replicas")


NULL = GRAPH.replace("        replicas: 1\n", "        replicas: 1\n        envs: null\n")


def test_warnings_are_shown_under_kustomize():
    code, output, said = run(HEAD + under_kustomize(NULL))
    assert code == 0
    assert [result["severity"] for result in yaml.safe_load(output)["results"]] == ["warning"]
    assert said.startswith("krm-fn: 1 warning\nwarning DYN")


def test_kpt_shows_results_itself():
    code, output, said = run(HEAD + under_kpt(NULL))
    assert (code, said) == (0, "")
    assert [result["severity"] for result in yaml.safe_load(output)["results"]] == ["warning"]


def test_kpt_gets_four_lines_of_errors():
    broken = GRAPH.replace("replicas: 1", 'replicas: "1"\n        envs: {}\n        a: 1\n        b: 2\n        c: 3')
    code, output, said = run(HEAD + under_kpt(broken))
    assert code == 1
    assert len(yaml.safe_load(output)["results"]) == 5
    assert said.startswith("krm-fn: 5 errors\n")
    assert said.split("\n")[3:] == ["and 3 more"]


def test_findings_of_all_kinds_come_at_once():
    text = HEAD + "- {kind: x}\n" + USER + USER + BROKEN_GRAPH + "functionConfig: 1\n"
    code, output, _ = run(text)
    assert code == 1
    codes = {result["tags"]["code"] for result in yaml.safe_load(output)["results"]}
    assert {"DYN015", "DYN016", "DYN018", "DYN021"} <= codes
    assert output.startswith(HEAD + "- {kind: x}\n" + USER + USER + BROKEN_GRAPH)


def test_earlier_results_stay():
    earlier = "results:\n- message: earlier\n  severity: info\n"
    _, output, _ = run(HEAD + BROKEN_GRAPH + earlier)
    assert [result["severity"] for result in yaml.safe_load(output)["results"]] == ["info", "error"]


@pytest.mark.parametrize("text", ["", "a: [\n", "- a\n", "apiVersion: v1\nkind: ConfigMap\n", b"\xff"], ids=repr)
def test_without_a_list_nothing_is_written(text):
    code, output, said = run(text)
    assert (code, output) == (1, "")
    assert said.startswith("krm-fn: 1 error\n")


def test_source_drop_drops_only_the_graph():
    text = HEAD + USER + GRAPH + FUNCTION_CONFIG.replace("orchestrator: deployment", "source: drop")
    code, output, _ = run(text)
    kinds = [item["kind"] for item in items(output)]
    assert code == 0
    assert "DynamoGraphDeployment" not in kinds
    assert {"ConfigMap", "Deployment"} <= set(kinds)


def test_what_a_graph_no_longer_wants_goes():
    _, output, _ = run(HEAD + GRAPH)
    stale = output.replace("llm-frontend", "llm-gone")
    code, output, said = run(stale)
    assert code == 0
    assert "llm-gone" not in {item["metadata"]["name"] for item in items(output)}
    assert "note DYN056 the object is removed" in said


class Mistake:
    """A defect in the expansion: returns or raises what the test says."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, resources, settings):
        if isinstance(self.answer, Exception):
            raise self.answer
        return expand.Expansion(self.answer(resources), [])


LOSSES = [
    # reason, output of the expansion, True if the function must refuse it
    ("everything gone", lambda _: [], True),
    ("one item gone", lambda resources: resources[1:], True),
    ("an item that is changed", lambda resources: [{**resources[0], "data": {}}, *resources[1:]], False),
    ("an item under another name", lambda resources: [{**resources[0], "metadata": {"name": "x"}}, *resources[1:]], True),
    ("another order", lambda resources: resources[::-1], False),
]


@cases(("change", "stopped"), LOSSES)
def test_items_are_never_lost(change, stopped, monkeypatch):
    monkeypatch.setattr(expand, "expand", Mistake(change))
    code, output, said = run(HEAD + USER + GRAPH)
    assert code == int(stopped)
    assert ("DYN017" in said) is stopped
    assert output.startswith(HEAD + USER + GRAPH) or not stopped


def test_what_we_own_may_go(monkeypatch):
    marks = f"annotations: {{{labels.OWNER}: DynamoGraphDeployment/x}}, labels: {{{labels.MANAGED_BY}: {labels.MANAGER}}}"
    ours = USER.replace("namespace: prod}", f"namespace: prod, {marks}}}")
    monkeypatch.setattr(expand, "expand", Mistake(lambda resources: resources[1:]))
    assert run(HEAD + ours + GRAPH) == (0, HEAD + GRAPH, "")


def test_a_graph_may_go_only_where_the_user_said_so(monkeypatch):
    monkeypatch.setattr(expand, "expand", Mistake(lambda resources: resources[:1]))
    assert run(HEAD + USER + GRAPH)[0] == 1
    assert run(HEAD + USER + GRAPH + FUNCTION_CONFIG.replace("orchestrator: deployment", "source: drop"))[0] == 0


@pytest.mark.parametrize("problem", [KeyError("spec"), RecursionError("too deep"), MemoryError()], ids=repr)
def test_a_mistake_of_ours_is_said_and_loses_nothing(problem, monkeypatch):
    monkeypatch.setattr(expand, "expand", Mistake(problem))
    code, output, said = run(HEAD + USER + GRAPH)
    (result,) = yaml.safe_load(output)["results"]
    assert code == 1
    assert output.startswith(HEAD + USER + GRAPH)
    assert result["tags"]["code"] == "DYN019"
    assert type(problem).__name__ in result["message"]
    assert f"krm-fn {krm_fn.__version__}" in result["message"]
    assert "Mistake.__call__" in result["message"]
    assert "Traceback" not in said


def test_a_mistake_in_what_we_write_is_said(monkeypatch):
    monkeypatch.setattr(expand, "expand", Mistake(lambda resources: [*resources, {"not": {"json"}}]))
    code, output, said = run(HEAD + USER)
    assert code == 1
    assert output.startswith(HEAD + USER + "results:\n")
    assert "DYN019 krm-fn" in said
    assert "TypeError: set is not a JSON value" in said


def test_a_mistake_of_ours_hides_no_finding(monkeypatch):
    monkeypatch.setattr(expand, "expand", Mistake(KeyError("spec")))
    _, output, said = run(HEAD + USER + USER)
    codes = [result["tags"]["code"] for result in yaml.safe_load(output)["results"]]
    assert codes == ["DYN016", "DYN019"]
    assert said.startswith("krm-fn: 2 errors\n")


def test_a_mistake_in_reading_is_said(monkeypatch):
    monkeypatch.setattr(resourcelist, "parse", _fail)
    code, output, said = run(HEAD + USER)
    assert (code, output) == (1, "")
    assert "internal error, ValueError: x" in said


def _fail(_data):
    raise ValueError("x")


WHOLE = HEAD + USER + GRAPH + FUNCTION_CONFIG
SNIPPETS = [
    "null",
    "{}",
    "[]",
    "x",
    "1",
    "-1",
    "on",
    '""',
    "&a ",
    "*a",
    "!x ",
    "\t",
    "\n",
    "- ",
    ": ",
    "#",
    "\ufeff",
    "\x00",
    "'",
    "[",
    "{",
    "|\n",
    "---\n",
]


@st.composite
def mutilated(draw):
    """A valid list with a few random deletions and insertions."""
    text = WHOLE
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(st.sampled_from(["", *SNIPPETS])) + text[start + draw(st.sampled_from([0, 0, 1, 3, 8])) :]
    return text


@given(mutilated() | st.binary() | st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_no_input_makes_a_mistake_or_loses_an_item(text):
    code, output, said = run(text)
    before = resourcelist.parse(text if isinstance(text, bytes) else text.encode())
    assert "DYN019" not in said
    assert (code == 1) is ("error DYN" in said)
    assert bool(output) is before.complete
    after = resourcelist.parse(output.encode())
    if code == 1 and output:
        assert after.items == before.items
    if code == 0:
        assert {results.ref(item)[1:] for item in after.items} >= {results.ref(item)[1:] for item in before.items}


def env(count):
    """A graph with `count` environment variables whose values are numbers, which is an error."""
    lines = "".join(f"        - name: V{number}\n          value: {number}\n" for number in range(count))
    return HEAD + GRAPH + "        envs:\n" + lines


def as_json(text):
    return json.dumps(yaml.safe_load(text))


def test_many_findings_take_linear_time():
    """Four times the findings need about four times the work. Work is the number of calls, which does not depend on the machine."""

    def calls(text):
        count = 0

        def profile(frame, event, argument):
            nonlocal count
            count += 1

        sys.setprofile(profile)
        try:
            code, _, said = run(text)
        finally:
            sys.setprofile(None)
        assert code == 1
        return said.count("DYN021"), count

    calls(env(1))  # fills imports and caches
    (few, small), (many, large) = calls(env(50)), calls(env(200))
    assert (few, many) == (50, 200)
    assert large < 5 * small


def test_a_line_is_told_for_each_of_many_findings():
    _, _, said = run(env(30))
    first = 1 + env(30).splitlines().index("          value: 0")
    assert [f"<stdin>:{first + 2 * number}:" in said for number in range(30)] == [True] * 30


ORDERED = [
    # reason, text of the items
    ("findings of one resource", env(12).removeprefix(HEAD)),
    ("findings of two resources in reverse order of their names", BROKEN_GRAPH + BROKEN_GRAPH.replace("name: llm", "name: a")),
    ("items that are not resources", "- {kind: a}\n" * 12),
    ("warnings beside errors", NULL + BROKEN_GRAPH.replace("name: llm", "name: a")),
]


@cases("text", ORDERED)
def test_results_of_yaml_and_json_input_have_one_order(text):
    written = [yaml.safe_load(run(each)[1])["results"] for each in (HEAD + text, as_json(HEAD + text))]
    assert len(written[0]) > 1
    assert written[0] == written[1]


def test_entries_of_a_list_stand_in_their_order():
    said = yaml.safe_load(run(env(12))[1])["results"]
    assert [result["field"]["path"] for result in said] == [f"spec.services.Frontend.envs[{number}].value" for number in range(12)]


def test_a_second_run_repeats_no_result():
    once = run(HEAD + BROKEN_GRAPH + BROKEN_GRAPH.replace("name: llm", "name: a"))[1]
    assert run(once)[1] == once


def test_texts_of_users_stay_text():
    """kustomize shows stderr, and kpt the messages of results, in a terminal or in the log of a CI job."""
    name = r"a\n::error::b\e[2J\u202e"
    code, output, errors = run(HEAD + GRAPH.replace("name: llm", f'name: "{name}"').replace("componentType", f'"::error {name}"'))
    assert code == 1
    assert errors.replace("\n", "").isprintable()
    assert "\n::" not in errors
    messages = [result["message"] for result in yaml.safe_load(output)["results"]]
    assert all(message.isprintable() for message in messages)
    assert any("error::b" in message for message in messages)
