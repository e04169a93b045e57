"""The rules that `krm-fn explain` names: each is made by the code, and says one sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import explain_coverage
import yaml

from krm_fn import review
from krm_fn.cli import _rules
from krm_fn.config import Config
from krm_fn.review import explain
from krm_fn.review.trace import loader, rewrite
from krm_fn.review.trace.marks import RuleMark

PACKAGE = Path(review.__file__).parent.parent
WRITTEN = yaml.safe_load((PACKAGE / "review" / "rules.yaml").read_text())
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\.[a-z0-9]+([-.][a-z0-9]+)*")


def made(module):
    """The functions and constants of a module that make values."""
    path = PACKAGE.joinpath(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    if module in loader.BORDERS:
        return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    rewriter = rewrite.Rewriter(module, constants=module not in loader._NAMES)
    rewriter.visit(tree)
    marks = {mark for constant in rewriter.constants for mark in constant.marks} | {*rewriter.places}
    return {mark.function for mark in marks}


def test_every_rule_that_an_example_shows_has_an_entry():
    rules = _rules.read()
    shown = set()
    for _, loaded in explain_coverage.examples():
        found = explain.explain(loaded.values, loaded.config, rules)
        fields = [field for each in found.objects for field in each.fields]
        shown |= {one for field in fields for one in (*field.origins, *field.placed, *(each for won in field.won for each in won.origins))}
    assert shown
    assert {one.rule.name for one in shown if one.rule and one.rule not in rules.values()} == set()


def test_every_entry_is_made_by_the_code():
    """The rule of a function that was renamed or removed has no entry, or that of its new name."""
    addresses = [address for entry in WRITTEN.values() for address in entry["made_by"]]
    of = {module: made(module) for module in {address.partition(":")[0] for address in addresses}}
    assert [each for each in addresses if each.partition(":")[2] not in of[each.partition(":")[0]]] == []


def test_a_function_makes_values_by_one_rule():
    addresses = [address for entry in WRITTEN.values() for address in entry["made_by"]]
    assert sorted(addresses) == sorted({*addresses})


def test_rules_have_names_that_people_can_cite():
    assert [name for name in WRITTEN if not NAME.fullmatch(name)] == []


def test_a_rule_says_one_sentence_on_one_line():
    sentences = [entry["says"] for entry in WRITTEN.values()]
    assert [each for each in sentences if not re.fullmatch(r".{10,160}\.", each) or ". " in each] == []
    assert len({*sentences}) == len(sentences)


def test_a_rule_follows_files_of_the_operator():
    followed = [file for entry in WRITTEN.values() for file in entry.get("follows", "").split(", ") if "/" in file]
    assert len(followed) > 100
    assert [file for file in followed if not file.startswith(("internal/", "api/v1"))] == []


def test_a_rule_without_an_entry_shows_the_first_line_of_its_docstring():
    found = explain._Reader(Config(), {}).rule(RuleMark("kube.names", "component", 1))
    assert found == explain.Rule(
        "kube.names:component", "The name of the objects of one service: workload, Service, Ingress and scaling adapter."
    )
