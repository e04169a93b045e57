"""The rules that `krm-fn explain` names: each stands in the docstring of the code that makes a value by it."""

from __future__ import annotations

import re
from pathlib import Path

import explain_coverage
import pytest

import krm_fn
from krm_fn.provenance import docstring_rules
from krm_fn.provenance.docstring_rules import DocstringRule
from krm_fn.review import explain

NAMES = (Path(__file__).parent / "rule_names.txt").read_text().split()
"""The names of all rules. They are output: a name that is printed once stays."""


def modules():
    """The names of the modules whose sources can hold rules."""
    folder = Path(krm_fn.__path__[0])
    for file in sorted(folder.rglob("*.py")):
        if "Rule: " in file.read_text() and file.stem != "docstring_rules":
            yield ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


RULES = [rule for module in modules() for rule in docstring_rules.rules(module).values()]


def test_every_rule_that_an_example_shows_has_a_name():
    shown = set()
    for _, loaded in explain_coverage.examples():
        fields = [field for each in explain.explain(loaded.values, loaded.config).objects for field in each.fields]
        shown |= {
            one for field in fields for one in (*field.origins, *field.placed, *(each for won in field.overridden for each in won.origins))
        }
    assert shown
    assert sorted({one.rule.name for one in shown if one.rule and one.rule.name not in NAMES}) == []


def test_no_rule_is_lost_and_each_has_a_recorded_name():
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
            "kube.names",
            "component",
            DocstringRule(
                "names.component",
                "The objects of a service have the name of the graph, a dash, and the name of the service in lower case.",
                "internal/dynamo/graph.go GetDynamoComponentName",
            ),
        ),
        (
            "kube.names",
            "production",
            DocstringRule("kube.names:production", "Names the Service of the production pods in stealing-traffic debug mode."),
        ),
    ],
)
def test_a_rule_is_read_from_a_docstring(module, name, expected):
    assert docstring_rules.rule(module, name) == expected


def test_a_source_on_two_lines_is_one_text():
    rule = docstring_rules.rule("manifests.workloads._leaderworkersets", "Sets.roles")
    expected = "internal/controller/dynamocomponentdeployment_controller.go generateLeaderPodTemplateSpec, generateWorkerPodTemplateSpec"
    assert rule.follows == expected


def test_an_argument_of_a_constant_has_the_rule_of_its_field_or_of_the_constant():
    names = ("_PORTS.http", "_TYPES.env", "RELEASE.shared_memory")
    found = [docstring_rules.rule("kinds.releases.v1_5", each).name for each in names]
    assert found == ["ports.http", "types.v1.5", "volumes.shared-memory-size"]
