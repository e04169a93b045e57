"""No command prints a secret value: data of Secrets, and variables whose names end in KEY, TOKEN, SECRET or PASSWORD."""

from __future__ import annotations

import base64
import copy
import json

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.cli import diff_command, finding_formats
from krm_fn.kubernetes import paths, secret_values
from tests.cli import console
from tests.fuzz import mutations
from tests.migration.adopt import test_adopt
from tests.support import faults, given, newer_faults, newer_pod_faults
from tests.support.cases import cases
from tests.testbed import tier

MARK = "zq7hunter2zq7hunter2" + "x" * 200
"""A secret value. It is longer than the longest value that a message shows."""
SHORT = MARK[:10]
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: team}\n"  # noqa: S105 - the head of a resource
WORKER = console.GRAPH.replace("replicas: 2\n", "replicas: 2\n      envs:\n%s")


def worker(*lines: str) -> str:
    """The graph of the console with variables of its worker, one line each."""
    return WORKER % "".join(f"        {line}\n" for line in lines)


TEXTS = [
    # reason, text of a file
    ("a key of a Secret twice", f"{SECRET}data: {{a: b}}\ndata: {{a: {MARK}}}\n"),
    ("a value of a Secret twice", f"{SECRET}data:\n  a: b\n  a: {MARK}\n"),
    ("a Secret twice", f"{SECRET}stringData: {{a: {MARK}}}\n---\n{SECRET}stringData: {{a: {MARK}}}\n"),
    ("a Secret in one line", json.dumps({**yaml.safe_load(SECRET), "metadata": {}, "stringData": {"a": MARK}})),
    ("a Secret in a List", json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Secret", "stringData": {"a": MARK}}]})),
    ("a Secret with a tag", f"{SECRET}stringData:\n  a: !{MARK}\n"),
    ("a Secret with an alias", f"{SECRET}stringData:\n  a: *{MARK}\n"),
    ("a Secret with text that is not YAML", f"{SECRET}stringData:\n  a: @{MARK}\n"),
    ("a Secret with two colons", f"{SECRET}stringData:\n  a: b: {MARK}\n"),
    ("a Secret without a quote", f'{SECRET}stringData:\n  a: "{MARK}\n'),
    ("a Secret with a number that JSON cannot hold", f"{SECRET}stringData:\n  a: .inf # {MARK}\n"),
    ("a Secret without a name", f"kind: Secret\nstringData: {{a: {MARK}}}\napiVersion: v1\n"),
    ("a pull secret that cannot be read", f"{SECRET}type: kubernetes.io/dockerconfigjson\ndata: {{.dockerconfigjson: '{MARK}'}}\n"),
    ("a pull secret as text", f"{SECRET}type: kubernetes.io/dockerconfigjson\nstringData: {{.dockerconfigjson: '{MARK}'}}\n"),
    ("a secretGenerator", f"kind: Kustomization\nsecretGenerator: [{{name: a, literals: [a={MARK}]}}]\nresources: {{}}\nresources: {{}}\n"),
    ("a variable in one line", worker(f"- {{name: HF_TOKEN, value: {MARK}, valu: b}}")),
    ("a variable in lower case", worker(f"- {{name: hf-token, value: {MARK}, valu: b}}")),
    ("a password", worker(f"- {{name: DB_PASSWORD, value: {MARK}, valu: b}}")),
    ("a variable twice", worker(f"- {{name: API_KEY, value: {MARK}}}", f"- {{name: API_KEY, value: {MARK}}}")),
    ("a value that is a list", worker("- name: HF_TOKEN", f"  value: [{MARK}]")),
    ("a value that is an object", worker("- name: HF_TOKEN", f"  value: {{a: {MARK}}}")),
    ("a value in several lines", worker("- name: HF_TOKEN", "  value:", f"  - {MARK}")),
    ("a misspelt value", worker("- name: HF_TOKEN", f"  valu: {MARK}")),
    ("a misspelt name", worker("- nam: HF_TOKEN", f"  value: {MARK}", "  value: a")),
    ("a source that is a value", worker("- name: HF_TOKEN", f"  valueFrom: {MARK}")),
    ("a variable as a text", worker(f"- HF_TOKEN={MARK}")),
    ("a variable as a mapping", worker(f"- HF_TOKEN: {MARK}")),
    ("variables as a mapping", worker(f"  HF_TOKEN: {MARK}")),
    ("a name in escapes", worker(f'- {{"\\x6eame": "HF_\\x54OKEN", value: {MARK}, valu: b}}')),
    ("a value with an anchor", worker(f"- {{name: A, value: &a {MARK}, valu: b}}", "- {name: HF_TOKEN, value: *a}")),
    ("a merged value", worker(f"- &a {{name: HF_TOKEN, value: {MARK}, valu: b}}", "- {<<: *a, name: HF_KEY}")),
    ("a text that is not YAML", worker("- name: HF_TOKEN", f"  value: @{MARK}")),
    ("a variable of the main container", console.GRAPH.replace("{image:", f"{{env: [{{name: A_KEY, value: {MARK}, valu: b}}], image:")),
    ("a variable of the graph", console.GRAPH.replace("spec:\n", f"spec:\n  envs: [{{name: A_SECRET, value: {MARK}, valu: b}}]\n", 1)),
]
STYLES = [*(("check", "-o", style) for style in finding_formats.names()), ("check", "--old", "old"), ("explain",), ("explain", "--unused")]
STYLES += [("render",), ("images",), ("graph",), ("convert", "--to", "v1beta1"), ("diff", "--old", "old")]


def printed(*words: str, writes: bool = False, stdin: str = "") -> str:
    """What a command prints. If it `writes` resources, only what it prints about them."""
    done = console.run(*words, stdin=stdin)
    return done.err if writes else done.out + done.err


SHOWN = TEXTS[:: tier.number(1, 3)]


@cases("text", SHOWN)
def test_findings_show_no_secret_value(text, tmp_path, monkeypatch):
    """In every format, from a file and from stdin, of the text itself and as the old state."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.yaml").write_text(text)
    (tmp_path / "old.yaml").write_text(console.GRAPH)
    assert console.run("check", "new.yaml").err
    for words in STYLES:
        writes = words[0] in ("render", "convert")
        arguments = [word if word != "old" else "old.yaml" for word in words]
        assert SHORT not in printed(*arguments, "new.yaml", writes=writes), words
        assert SHORT not in printed(*arguments, "-", writes=writes, stdin=text), words
    assert SHORT not in printed("check", "--old", "new.yaml", "old.yaml") + printed("diff", "--old", "new.yaml", "old.yaml")


GRAPH = yaml.safe_load(worker(f"- {{name: HF_TOKEN, value: {MARK}}}", "- {name: PLAIN, value: visible}"))
BARE = yaml.safe_load(worker("- {name: PLAIN, value: visible}"))
OTHER = json.loads(json.dumps(GRAPH).replace(MARK, f"{MARK}2"))
APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": [{"name": "A_KEY", "value": MARK}]})}
COPIED = {"example.com/copy": json.dumps({"containers": [{"env": [{"name": "A_KEY", "value": MARK}]}]})}
SECRETS = [given.item("Secret", "token", data={"a": base64.b64encode(value.encode()).decode()}) for value in (MARK, f"{MARK}2")]
CODED = base64.b64encode(MARK.encode()).decode()[:10]
PAIRS = [
    # reason, old resource, new resource, what the new one shows
    ("a variable is new", BARE, GRAPH, "HF_TOKEN"),
    ("a variable goes", GRAPH, BARE, "HF_TOKEN"),
    ("a variable changes", GRAPH, OTHER, "changed (hidden)"),
    ("a Secret changes", *SECRETS, "changed (hidden)"),
    ("an annotation is new", given.item("ConfigMap", "a"), given.item("ConfigMap", "a", annotations=APPLIED), 'configuration": "(hidden)"'),
    ("a copy is new", given.item("ConfigMap", "a"), given.item("ConfigMap", "a", annotations=COPIED), 'copy": "(hidden)"'),
    (
        "a container is new",
        given.item("Deployment", "a", spec={"template": {"spec": {"containers": []}}}),
        given.item(
            "Deployment", "a", spec={"template": {"spec": {"containers": [{"name": "a", "env": [{"name": "A_KEY", "value": MARK}]}]}}}
        ),
        '"value": "(hidden)"',
    ),
]


@pytest.mark.parametrize("style", diff_command.FORMATS)
@pytest.mark.parametrize(("old", "new", "shown"), [row[1:] for row in PAIRS], ids=[str(row[0]) for row in PAIRS])
def test_a_comparison_shows_no_secret_value(old, new, shown, style, tmp_path):
    """A reader still sees that the value changes."""
    for name, value in (("old.json", old), ("new.json", new)):
        (tmp_path / name).write_text(json.dumps(value))
    done = console.run("diff", "-o", style, "--old", tmp_path / "old.json", tmp_path / "new.json")
    assert done.code == 0
    assert not any(mark in done.out + done.err for mark in (SHORT, CODED))
    assert shown in done.out or style == "json"
    assert "(hidden)" in done.out


def test_a_comparison_with_a_cluster_shows_no_secret_value(tmp_path):
    (tmp_path / "new.json").write_text(json.dumps(GRAPH))
    live = console.run("render", "-o", "json", tmp_path / "new.json").out.replace(MARK, f"{MARK}3")
    done = console.run("diff", "--live", "-", tmp_path / "new.json", stdin=live)
    assert "env[HF_TOKEN].value: changed (hidden)" in done.out
    assert SHORT not in done.out + done.err


@pytest.mark.parametrize("style", ["text", "json", "yaml"])
def test_an_explanation_shows_no_secret_value(style, tmp_path):
    """Also not a value that another one overrides."""
    twice = copy.deepcopy(GRAPH)
    twice["spec"]["envs"] = [{"name": "HF_TOKEN", "value": f"{MARK}4"}]
    (tmp_path / "graph.json").write_text(json.dumps(twice))
    done = console.run("explain", "-o", style, tmp_path / "graph.json")
    assert (done.code, "visible" in done.out, secret_values.HIDDEN in done.out) == (0, True, True)
    assert SHORT not in done.out + done.err


def test_an_adoption_shows_no_secret_value(tmp_path):
    """The live pods have another value than the graph, so the command quotes the field."""
    graph = given.graph({"Worker": given.service("worker", main={"env": [{"name": "HF_TOKEN", "value": MARK}]})})
    exported = json.loads(json.dumps(test_adopt.exported(graph)))
    for resource in exported:
        if resource["kind"] == "Deployment":
            resource["spec"] = json.loads(json.dumps(resource["spec"]).replace(MARK, f"{MARK}5"))
    done = console.run("adopt", "--output-dir", tmp_path / "out", stdin=json.dumps({"kind": "List", "apiVersion": "v1", "items": exported}))
    assert "env[HF_TOKEN].value is" in done.err
    assert SHORT not in done.out + done.err + (tmp_path / "out" / "MIGRATION.md").read_text()


def with_secrets(value):
    """A resource with a secret variable in every list of variables, and beside every image."""
    if isinstance(value, dict):
        inner = {key: with_secrets(entry) for key, entry in value.items()}
        lists = [key for key in ("env", "envs") if isinstance(inner.get(key), list)] or ["env"] * ("image" in inner)
        return inner | {key: [*(inner.get(key) or []), {"name": "ZQ_TOKEN", "value": MARK}] for key in lists}
    return [with_secrets(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", [*faults.ALL, *newer_faults.ALL, *newer_pod_faults.ALL], ids=lambda case: case.reason)
def test_messages_of_rules_show_no_secret_value(case):
    """For every rule, with secret variables beside the fault."""
    expansion = given.expanded(*with_secrets(case.items), **case.settings)
    assert SHORT not in repr(expansion.results)


SEEDS = [with_secrets(items) for items in mutations.seeds()]


@settings(max_examples=tier.number(200, 10), deadline=None)
@drawn(number=st.integers(0, 20_000), choice=st.integers(0, 1000))
def test_the_search_near_a_field_finds_the_secret_values_that_hide_it(number, choice):
    """A field is hidden in the same way by a search of the whole resource, and by one of the branch of the field."""
    for resource in mutations.case(number, SEEDS).items:
        fields = [path for path, _ in paths.leaves(resource)]
        above = [path[:length] for path in fields for length in range(len(path) + 1)]
        path = above[choice % len(above)]
        value = paths.at(resource, path)
        near = secret_values.paths_near(resource, [path])
        assert secret_values.hide_secrets(value, path, near) == secret_values.hide_secrets(value, path, secret_values.paths(resource))


@settings(max_examples=tier.number(60, 10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@drawn(number=st.integers(0, 20_000), flow=st.booleans(), style=st.sampled_from(STYLES))
@example(number=634, flow=False, style=("check", "-o", "github"))  # a service whose fields are those of a variable
def test_no_command_shows_a_secret_value_of_a_resource_with_mistakes(number, flow, style, tmp_path, monkeypatch):
    """Whatever is wrong in the resources beside or around the value, as long as it is where a secret value is."""
    monkeypatch.chdir(tmp_path)
    case = mutations.case(number, SEEDS)
    items = [item for item in case.items if isinstance(item, dict)]
    assume(not any(MARK in json.dumps(_without(item)) for item in items))
    for name, values in (("new.yaml", items), ("old.yaml", SEEDS[0])):
        (tmp_path / name).write_text(yaml.safe_dump_all(values, default_flow_style=flow, width=10_000, allow_unicode=True))
    arguments = [word if word != "old" else "old.yaml" for word in style]
    assert SHORT not in printed(*arguments, "new.yaml", writes=style[0] in ("render", "convert"))


def _without(item):
    return secret_values.hide_secrets(item, (), secret_values.paths(item))
