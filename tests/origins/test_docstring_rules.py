"""The rules that `krm-fn explain` names: each is a `Rule` line in the docstring of the code that makes a value by it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import explain_coverage
import pytest

import krm_fn
from krm_fn.origins import docstring_rules, explain
from krm_fn.origins.docstring_rules import DocstringRule, RuleLine
from krm_fn.repository.files import sources

NAMES = (Path(__file__).parent / "rule_names.txt").read_text().split()
"""The ids of all rules. They are output: an id that is printed once stays."""

LINE = re.compile(r"^ *Rule \S+:", re.MULTILINE)


def modules():
    """The names of the modules whose docstrings have `Rule` lines."""
    folder = Path(krm_fn.__path__[0])
    for file in sorted(folder.rglob("*.py")):
        if LINE.search(file.read_text()) and file.stem != "docstring_rules":
            yield ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


DOCSTRINGS = {f"{module}:{name}": text for module in modules() for name, text in docstring_rules._docstrings(module).items()}
LINES = {f"{module}:{name}": line for module in modules() for name, line in docstring_rules.rule_lines(module).items()}
RULES = [rule for module in modules() for rule in docstring_rules.rules(module).values()]
OPERATOR = "Rule grove.x: Pods have one. (operator: internal/dynamo/graph.go)"


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        pytest.param("Makes pods.", [], id="no rule"),
        pytest.param(
            f"Makes pods.\n\n{OPERATOR}",
            [RuleLine("grove.x", DocstringRule("grove.x", "Pods have one.", "internal/dynamo/graph.go"))],
            id="a rule of the operator",
        ),
        pytest.param(
            "Makes pods.\n\nRule pod.x-y: Pods have\na dash. (krm-fn)",
            [RuleLine("pod.x-y", DocstringRule("pod.x-y", "Pods have a dash.", ""))],
            id="a rule of krm-fn on two lines",
        ),
        pytest.param(
            "Rule pod.a: A pod has `x: y`. (operator: internal/a.go F,\ninternal/b.go)\nRule pod.b: see `krm_fn.render.names`.\n\nMore.",
            [
                RuleLine("pod.a", DocstringRule("pod.a", "A pod has `x: y`.", "internal/a.go F, internal/b.go")),
                RuleLine("pod.b", None, "render.names"),
            ],
            id="two rules, and a paragraph after them",
        ),
        pytest.param("The Rule of a role.\nRule for pods: none.", [], id="the words of a Role"),
    ],
)
def test_rule_lines_are_read_from_a_docstring(docstring, expected):
    assert docstring_rules.parse(docstring) == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("Rule pod.a: Pods have one.", id="no source"),
        pytest.param("Rule pod.a: Pods have one (krm-fn)", id="no sentence"),
        pytest.param("Rule pod.a: Pods have one. (graph.go)", id="a source of nobody"),
        pytest.param("Rule pod.a: Pods have one. (operator: )", id="an empty source"),
        pytest.param("Rule pod.a: Pods have one. (krm-fn) Always.", id="a text after the source"),
        pytest.param("Rule pod.a: see kube.names.", id="a module without its package"),
    ],
)
def test_a_rule_without_a_sentence_and_a_source_is_an_error(line):
    with pytest.raises(ValueError, match=r"^Rule pod\.a: write a sentence"):
        docstring_rules.parse(f"Makes pods.\n\n{line}")


def test_every_rule_line_of_the_package_is_read():
    written = {name: len(LINE.findall(text)) for name, text in DOCSTRINGS.items() if LINE.search(text)}
    assert len(written) > 300
    assert written == dict.fromkeys(LINES, 1)


def test_each_id_has_one_sentence_and_other_lines_name_its_module():
    defined = Counter(line.name for line in LINES.values() if line.rule)
    assert [name for name, count in defined.items() if count > 1] == []
    assert sorted({line.name for line in LINES.values()} - {*defined}) == []


def test_a_docstring_says_first_what_its_function_does():
    first = {name: DOCSTRINGS[name].partition("\n")[0] for name in LINES}
    assert [name for name, text in first.items() if LINE.match(text) or ((line := LINES[name]).rule and line.rule.says == text)] == []


SETTINGS = [
    pytest.param({}, id="as the example says"),
    pytest.param({"behaviour": "v0.9"}, id="Dynamo 0.9"),
    pytest.param({"behaviour": "v1.5", "orchestrator": "grove"}, id="Dynamo 1.5 with Grove", marks=pytest.mark.slow),
    pytest.param({"behaviour": "v1.6", "namespace": ""}, id="Dynamo 1.6", marks=pytest.mark.slow),
]


def examples():
    """The resources and the configuration of each example, those of its inner folders included."""
    for folder in sorted(explain_coverage.EXAMPLES.iterdir()):
        names = [path for path in sorted(folder.rglob("*.yaml")) if not path.name.startswith(("expected", "kustomization"))]
        if names:
            yield sources.load([str(path) for path in names])


@pytest.mark.parametrize("changed", SETTINGS)
def test_every_rule_that_an_example_shows_has_an_id(changed):
    shown = set()
    for loaded in examples():
        explained = explain.explain(loaded.values, loaded.config._replace(**changed)).objects
        for field in (field for resource in explained for field in resource.fields):
            shown |= {*field.origins, *field.placed, *(origin for won in field.overridden for origin in won.origins)}
    rules = {origin.rule.name for origin in shown if origin.kind == "rule"}
    assert len(rules) > 90
    assert sorted(rules - {*NAMES}) == []


def test_no_rule_is_lost_and_each_has_a_recorded_id():
    assert sorted({rule.name for rule in RULES}) == NAMES


def test_rules_have_names_that_people_can_cite():
    name = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\.[a-z0-9]+([-.][a-z0-9]+)*")
    assert [each for each in NAMES if not name.fullmatch(each)] == []


def test_a_rule_is_one_sentence():
    assert [rule.says for rule in RULES if not re.fullmatch(r".{10,140}\.", rule.says) or ". " in rule.says] == []


def test_a_rule_follows_files_of_the_operator():
    followed = [file for rule in RULES for file in rule.follows.split(", ") if "/" in file]
    assert len(followed) > 100
    assert [file for file in followed if not file.startswith(("internal/", "api/v1"))] == []


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        (
            "render.names",
            "component",
            DocstringRule(
                "names.component",
                "The objects of a service have the name of the graph, a dash, and the name of the service in lower case.",
                "internal/dynamo/graph.go GetDynamoComponentName",
            ),
        ),
        (
            "render.names",
            "production",
            DocstringRule("render.names:production", "Names the Service of the production pods in stealing-traffic debug mode."),
        ),
    ],
)
def test_a_rule_is_that_of_a_function_or_has_the_name_of_the_function(module, name, expected):
    assert docstring_rules.rule(module, name) == expected


def test_a_source_on_two_lines_is_one_text():
    rule = docstring_rules.rule("render.manifests.workloads._leaderworkersets", "Sets.roles")
    expected = "internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec"
    assert rule.follows == expected


def test_a_line_that_names_a_module_has_the_rule_of_that_module():
    line = docstring_rules.rule_lines("render.convert.pod_template_conversion")["MAIN"]
    assert line == RuleLine("container.name", None, "render.manifests.pod_builder")
    assert docstring_rules.rule("render.convert.pod_template_conversion", "MAIN") == docstring_rules.rule(
        "render.manifests.pod_builder", "MAIN"
    )


def test_an_argument_of_a_constant_has_the_rule_of_its_field_or_of_the_constant():
    names = ("_PORTS.http", "_TYPES.env", "RELEASE.shared_memory")
    found = [docstring_rules.rule("render.kinds.releases.v1_5", each).name for each in names]
    assert found == ["ports.http", "types.v1.5", "volumes.shared-memory-size"]
