"""Options that several verbs share: inputs, namespace, formats, and which findings count."""

import json

import pytest
import yaml

from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support.cases import cases

BARE = GRAPH.replace("  namespace: team\n", "")
LABELLED = GRAPH.replace("      replicas: 2\n", "      extraPodMetadata: {labels: {nvidia.com/selector: mine}}\n")
RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {%s}\n"


def found(*arguments, stdin):
    """Severity and code of every finding that `check` prints."""
    done = console.run("check", "-o", "json", *arguments, stdin=stdin)
    return [(each["severity"], each["code"]) for each in json.loads(done.out)["findings"]]


@pytest.mark.parametrize("verb", ["render", "check"])
def test_files_are_named_by_arguments_and_by_f(verb, tmp_path):
    """The same files in any mixture, `-` among them, each read once."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.yaml").write_text(GRAPH.replace("name: chat", f"name: {name}"))
    a, b, c = (tmp_path / f"{name}.yaml" for name in ("a", "b", "c"))
    done = {
        console.run(verb, *arguments, stdin=c.read_text())[:2]
        for arguments in ([a, b, "-"], ["-f", a, "-f", b, "-f", "-"], ["--filename", b, a, "-", "-f", a])
    }
    assert {code for code, _ in done} == {0}
    assert len({repr(sorted(yaml.safe_load_all(out), key=repr)) for _, out in done}) == 1


NAMESPACES = [
    # reason, spec of the configuration, namespace of the graph, arguments, where the objects are
    ("neither", "", "", [], "default"),
    ("the option", "", "", ["-n", "mine"], "mine"),
    ("the option's long name", "", "", ["--namespace=mine"], "mine"),
    ("the option wins over the configuration", "namespace: theirs", "", ["-n", "mine"], "mine"),
    ("the graph wins over the option", "", "team", ["-n", "mine"], "team"),
]


@cases(("spec", "written", "arguments", "where"), NAMESPACES)
def test_n_is_the_namespace_of_resources_without_one(spec, written, arguments, where, tmp_path):
    (tmp_path / "render.yaml").write_text(RENDER % spec)
    text = GRAPH if written else BARE
    done = console.run("render", "--config", tmp_path / "render.yaml", *arguments, "-", stdin=text)
    assert {item["metadata"]["namespace"] for item in yaml.safe_load_all(done.out)} == {where}
    assert ("DYN057" in done.err) is (where == "default")


UNSET = [
    # reason, arguments, configuration, findings
    ("check without a configuration", [], "", [("info", "DYN057")]),
    ("check with one", [], RENDER % "", [("info", "DYN057")]),
    ("check with one that sets it", [], RENDER % "namespace: team", []),
    ("check with -n", ["-n", "mine"], "", []),
]


@cases(("arguments", "config", "expected"), UNSET)
def test_a_missing_namespace(arguments, config, expected):
    """The severity is that of a render, with and without a configuration, so that a person learns it once."""
    assert found("-", *arguments, stdin=f"{BARE}---\n{config}" if config else BARE) == expected


def test_the_finding_about_the_namespace_names_the_option():
    done = console.run("render", "-", stdin=BARE)
    assert "note DYN057 metadata.namespace: no namespace is set, using default;" in done.err
    assert "use -n (" in done.err


WRONG = [
    # reason, arguments, words in the message
    ("an empty namespace", ["render", "-n", "", "-"], "is not a namespace"),
    ("a namespace that none can be", ["check", "-n", "My_Space", "-"], "'My_Space' is not a namespace"),
    ("an empty format", ["render", "-o", "", "-"], "'' is not one of"),
    ("a folder as format", ["render", "-o", "manifests", "-"], "'manifests' is not one of"),
    ("an empty format of findings", ["check", "-o", "", "-"], "'' is not one of"),
    ("an empty folder", ["render", "--output-dir", "", "-"], "the name of the folder is empty"),
    ("JSON in a folder", ["render", "--output-dir", "out", "-o", "json", "-"], "--output-dir writes YAML"),
    ("pruning of nothing", ["render", "--prune", "-"], "--prune needs --output-dir"),
    ("a code that does not exist", ["check", "--ignore", "DYN998", "-"], "'DYN998' is not the code of a finding"),
    ("no code", ["render", "--ignore", "all", "-"], "'ALL' is not the code of a finding"),
]


@cases(("arguments", "said"), WRONG)
def test_wrong_usage_is_said_and_writes_nothing(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = console.run(*arguments, stdin=GRAPH)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_json_of_a_render_is_one_list_of_the_same_objects():
    printed = json.loads(console.run("render", "-o", "json", "-", stdin=GRAPH).out)
    assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
    assert printed["items"] == list(yaml.safe_load_all(console.run("render", "-o", "yaml", "-", stdin=GRAPH).out))
    assert console.run("check", "-", stdin=json.dumps(printed)).code == 0


@pytest.mark.parametrize("style", ["text", "json", "sarif", "junit", "github"])
def test_o_and_format_name_the_same(style):
    assert console.run("check", "-o", style, "-", stdin=MISSPELT) == console.run("check", "--format", style, "-", stdin=MISSPELT)


IGNORED = [
    # reason, text, arguments, findings
    ("a warning", LABELLED, ["--ignore", "DYN425"], []),
    ("a note", BARE, ["--ignore", "dyn057"], []),
    ("several at once", LABELLED.replace("  namespace: team\n", ""), ["--ignore", "DYN425,DYN057"], []),
    ("several one by one", LABELLED.replace("  namespace: team\n", ""), ["--ignore", "DYN425", "--ignore", "DYN057"], []),
    ("another code", LABELLED, ["--ignore", "DYN057"], [("warning", "DYN425")]),
    ("an error stays", MISSPELT, ["--ignore", "DYN023"], [("error", "DYN023")]),
    ("an annotation", LABELLED.replace("  name: chat", "  annotations: {dynamo.krm-fn.io/ignore: DYN425}\n  name: chat"), [], []),
]


@cases(("text", "arguments", "expected"), IGNORED)
def test_warnings_and_notes_can_be_left_out(text, arguments, expected):
    assert found("-", *arguments, stdin=text) == expected


def test_an_annotation_leaves_out_what_a_change_brings(tmp_path):
    """Findings about changes are no findings of a render."""
    (tmp_path / "before.yaml").write_text(GRAPH)
    after = GRAPH.replace("Worker:", "Decode:").replace("  name: chat", "  annotations: {dynamo.krm-fn.io/ignore: DYN402}\n  name: chat")
    arguments = ("-", "--old", tmp_path / "before.yaml")
    assert found(*arguments, stdin=after) == []
    assert found(*arguments, "--fixed-services", stdin=after) == [("error", "DYN402")] * 2


EXITS = [
    # reason, text, arguments, exit code
    ("a warning", LABELLED, [], 0),
    ("a strict warning", LABELLED, ["--strict"], 1),
    ("a strict note", GRAPH, ["--strict"], 0),
    ("an ignored warning is no warning", LABELLED, ["--strict", "--ignore", "DYN425"], 0),
    ("quiet", LABELLED, ["--quiet"], 0),
    ("quiet and strict", LABELLED, ["-q", "--strict"], 1),
    ("an error", MISSPELT, ["-q"], 1),
]


@cases(("text", "arguments", "code"), EXITS)
def test_strict_makes_warnings_fail_and_quiet_prints_what_fails(text, arguments, code):
    done = console.run("check", *arguments, "-", stdin=text, notes=True)
    assert done.code == code
    if "-q" in arguments or "--quiet" in arguments:
        assert (bool(done.out), done.err) == (bool(code), "")


def test_a_strict_render_prints_no_objects_with_a_warning():
    done = console.run("render", "--strict", "-", stdin=LABELLED)
    assert (done.code, done.out) == (1, "")
    assert "nothing is rendered: 1 warning" in done.err


def test_a_quiet_render_prints_the_objects_only(tmp_path):
    done = console.run("render", "-q", "-", stdin=LABELLED)
    assert (done.code, done.err) == (0, "")
    assert done.out == console.run("render", "-", stdin=LABELLED).out
    assert console.run("render", "-q", "--output-dir", tmp_path, "-", stdin=LABELLED)[1:] == ("", "")
