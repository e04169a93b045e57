"""Selectors of builds that no schema was checked of, and of large builds."""

from __future__ import annotations

import pytest

from krm_fn.render.config import Config
from krm_fn.render.expand import expand
from krm_fn.review import build_references, build_selectors
from tests.support import beta, given, growth
from tests.support.cases import cases


def pod(name, labels):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "team", "labels": labels}, "spec": {}}


def budget(name, selector):
    spec = {"selector": selector}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "team"}, "spec": spec}


SELECTORS = [
    ("a text", "app"),
    ("labels in a list", {"matchLabels": ["app"]}),
    ("a label with a number", {"matchLabels": {"app": 3}}),
    ("expressions of other types", {"matchExpressions": [3, {"key": 4, "operator": "In", "values": "a"}, {"operator": []}]}),
    ("an unknown operator", {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}),
]


@cases("selector", SELECTORS)
def test_a_selector_of_any_type_is_read(selector):
    """The check of native objects reports the mistake."""
    labels = {"app": "chat", "number": 3, "list": []}
    assert [*build_selectors.check([pod("a", labels), budget("b", selector)], Config())] == []


EXPRESSIONS = [
    # reason, an expression, true if a finding says that the value is mistyped
    ("one of two values", {"key": "app", "operator": "In", "values": ["other", "worker"]}, False),
    ("a mistyped value", {"key": "app", "operator": "In", "values": ["wroker"]}, True),
    ("every value", {"key": "app", "operator": "Exists"}, False),
    ("no such label", {"key": "app", "operator": "DoesNotExist"}, False),
    ("another value", {"key": "app", "operator": "NotIn", "values": ["worker"]}, False),
]


VALUES = [
    # reason, a label, the value in a budget, the value of the pods, true if a finding names it
    ("another case in a label of Dynamo", "nvidia.com/dynamo-component-type", "Frontend", "frontend", True),
    ("another case in a label of one's own", "app", "Web", "web", False),
]


@cases(("label", "wanted", "value", "is_found"), VALUES)
def test_a_value_in_another_case(label, wanted, value, is_found):
    """Only renders write the labels of Dynamo, so their case is known."""
    findings = [*build_selectors.check([pod("a", {label: value}), budget("b", {"matchLabels": {label: wanted}})], Config())]
    assert [(finding.code, finding.proposed) for finding in findings] == [("DYN670", value)] * is_found


TYPES = [
    ("a type of another program", {"nvidia.com/dynamo-component-type": "backend", "nvidia.com/dynamo-graph-deployment-name": "chat"}, True),
    ("a type of the graph", {"nvidia.com/dynamo-component-type": "worker", "nvidia.com/dynamo-graph-deployment-name": "chat"}, False),
    ("a type of any graph", {"nvidia.com/dynamo-component-type": "backend"}, False),
]


@cases(("wanted", "is_found"), TYPES)
def test_a_type_that_no_component_of_the_graph_has(wanted, is_found):
    """A selector without the name of a graph may stand beside graphs without this type."""
    graph = given.graph({"Worker": given.service("worker"), "Frontend": given.service("frontend")}, name="chat", namespace="team")
    objects = [*expand([graph], Config()).resources, budget("b", {"matchLabels": wanted})]
    found = [(finding.code, finding.message.rpartition("; ")[2]) for finding in build_selectors.check(objects, Config())]
    assert found == [("DYN670", "write worker")] * is_found


AFFINITIES = [
    # reason, the kind of the affinity, when it holds, the graph, true if a finding names the label
    ("another graph", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "search", True),
    ("the graph", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "chat", False),
    ("away from another graph", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "search", False),
    ("if possible", "podAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "search", False),
]


@cases(("affinity", "when", "name", "is_found"), AFFINITIES)
def test_a_job_beside_the_pods_of_a_graph(affinity, when, name, is_found):
    """Its pods wait for ever for a node with pods that do not exist."""
    graph = beta.graph(beta.component("Frontend", "frontend"), name="chat")
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"nvidia.com/dynamo-graph-deployment-name": name}}}
    terms = [term if when.startswith("required") else {"weight": 1, "podAffinityTerm": term}]
    pod_spec = {"affinity": {affinity: {when: terms}}, "containers": [{"name": "c", "image": "a:1"}]}
    job = given.item("Job", "load", api="batch/v1", spec={"template": {"spec": pod_spec}})
    found = [finding.message for finding in build_selectors.check([*given.expanded(graph).resources, job], Config())]
    assert [message.endswith("; write chat, or check this object together with its graph") for message in found] == [True] * is_found


@cases(("expression", "is_mistyped"), EXPRESSIONS)
def test_an_expression(expression, is_mistyped):
    findings = [*build_selectors.check([pod("a", {"app": "worker"}), budget("b", {"matchExpressions": [expression]})], Config())]
    assert [(finding.code, finding.proposed) for finding in findings] == ([("DYN670", "worker")] if is_mistyped else [])


def selecting(count):
    """Pods and budgets, each of which selects nothing."""
    return [
        *(pod(f"p{n}", {"app": f"x{n}"}) for n in range(count)),
        *(budget(f"b{n}", {"matchLabels": {"app": f"y{n}"}}) for n in range(count)),
    ]


def referring(count):
    """Services and routes, each of which names another Service."""
    metadata = [{"name": f"a{n}", "namespace": "team"} for n in range(count)]
    services = [{"apiVersion": "v1", "kind": "Service", "metadata": entry, "spec": {}} for entry in metadata]
    rules = [{"rules": [{"backendRefs": [{"name": f"b{n}"}]}]} for n in range(count)]
    kind = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"}
    return [*services, *({**kind, "metadata": entry, "spec": spec} for entry, spec in zip(metadata, rules, strict=True))]


KEYS = [
    ("a word less", "nvidia.com/component-type", "frontend", "nvidia.com/dynamo-component-type"),
    ("words in another order", "nvidia.com/dynamo-type-component", "frontend", "nvidia.com/dynamo-component-type"),
    ("a label of one's own", "team.example/component-type", "frontend", ""),
    ("another label of Dynamo", "nvidia.com/gpu", "frontend", ""),
]


@cases(("label", "value", "right"), KEYS)
def test_a_label_with_a_word_less(label, value, right):
    """The pods of the graph have the value in the label that is meant."""
    graph = beta.graph(beta.component("Frontend", "frontend"))
    entry = given.item("PodDisruptionBudget", "b", api="policy/v1", spec={"selector": {"matchLabels": {label: value}}})
    findings = [*build_selectors.check([*given.expanded(graph).resources, entry], Config())]
    assert [(finding.code, finding.message.partition("; write ")[2]) for finding in findings] == [("DYN670", right)] * bool(right)


CHECKS = [(build_selectors.check, selecting), (build_references.check_names, referring)]


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize(("check", "objects"), CHECKS, ids=["selectors", "names"])
def test_a_build_of_four_times_the_size_takes_about_four_times_as_long(check, objects):
    """Everyone who can commit to a repository decides how many objects a build has."""

    resources = {count: objects(count) for count in (600, 2400)}
    assert [*check(resources[600], Config())] == []
    assert growth.is_linear(lambda count: [*check(resources[count], Config())], 600)
