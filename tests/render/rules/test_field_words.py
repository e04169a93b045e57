"""No message has an empty name of a field, in either API version.

A field that a version lacks is named with the annotation that holds it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn.render import dynamo_api, labels
from krm_fn.render.convert import path_mapping, versions
from tests.support import beta, faults, given, newer_faults, newer_pod_faults

OTHER = {dynamo_api.V1ALPHA1: dynamo_api.BETA1, dynamo_api.V1BETA1: dynamo_api.ALPHA1}
CONVERTED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
GAP = re.compile(r"  | [,;:)]|[(] |^\s|\s$|\b(set|write|remove|under) and\b")
"""What stands around a name that is empty."""

FOREIGN = {
    dynamo_api.V1BETA1: re.compile(
        r"extraPod(Spec|Metadata)|mainContainer|componentType|envFromSecret|\b(envs|serviceName)\b"
        r"|(?<!GPU memory )(?<![\w-])services?(?![\w-]| account)"
    ),
    dynamo_api.V1ALPHA1: re.compile(r"podTemplate\.|\bcomponents\[|componentName|sharedMemorySize"),
}
"""The words of each version that the other one does not have."""

CASES = [
    case
    for case in (*faults.ALL, *newer_faults.ALL, *newer_pod_faults.ALL)
    if case.found and any(item.get("apiVersion") in OTHER and item["kind"] in CONVERTED for item in case.items)
]


def converted(item):
    """The item in its other API version, as an operator stores it; an unusable one as it is."""
    if item.get("apiVersion") not in OTHER or item.get("kind") not in CONVERTED:
        return item
    try:
        return versions.to(OTHER[item["apiVersion"]], item)
    except (AttributeError, KeyError, TypeError, ValueError):  # the wrong types of a fault
        return item


@pytest.mark.parametrize("case", CASES, ids=[case.reason for case in CASES])
def test_no_message_has_an_empty_name(case):
    """The messages of all faults, as written and after a conversion to the other version."""
    for items in (case.items, [converted(item) for item in case.items]):
        messages = [finding.message for finding in given.expanded(*items, **case.settings).results]
        assert [message for message in messages if GAP.search(re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "x", message))] == []


@pytest.mark.parametrize("case", CASES, ids=[case.reason for case in CASES])
def test_a_message_uses_the_words_of_its_resource(case):
    """A fix can be copied into the resource. Fields of the other version are named only with the annotation that holds them."""
    for items in (case.items, [converted(item) for item in case.items]):
        for finding in given.expanded(*items, **case.settings).results:
            other = FOREIGN.get(finding.ref.api_version) if finding.ref else None
            if other and "annotations" not in finding.path:
                assert not other.search(finding.message), finding.message


def literal_words():
    """The steps of every call of `word` with literal steps, in the whole package."""
    texts = [file.read_text("utf-8") for file in sorted(Path(krm_fn.__file__).parent.rglob("*.py"))]
    for text in filter(lambda text: ".word(" in text, texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "word":
                steps = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if steps and len(steps) == len(node.args):
                    yield tuple(steps)


WORDS = sorted({*literal_words()})


@pytest.mark.parametrize("steps", WORDS, ids=[".".join(steps) for steps in WORDS])
@pytest.mark.parametrize("annotations", [{}, {labels.PRESERVED_GRAPH: "{}"}], ids=["nothing preserved", "preserved fields"])
@pytest.mark.parametrize("make", [given.graph, beta.graph], ids=["v1alpha1", "v1beta1"])
def test_every_field_that_messages_name_has_a_word(make, annotations, steps):
    graph = make(annotations=annotations)
    paths = path_mapping.of_resource(graph)
    assert paths.component("Worker").word(*steps)
    assert paths.word(*steps)


def test_a_field_that_the_stored_version_lacks_is_named_with_its_annotation():
    """A graph written as v1alpha1 and stored as v1beta1 has its ingress in an annotation."""
    graph = given.graph({"Frontend": given.service("frontend", ingress={"enabled": True, "host": "chat"})})
    stored = versions.to(dynamo_api.BETA1, graph)
    (written,), (finding,) = ([item for item in given.expanded(each).results if item.code == "DYN150"] for each in (graph, stored))
    assert "set ingress.ingressControllerClassName, or" in written.message
    assert "set ingress.ingressControllerClassName in the annotation nvidia.com/dgd-spec, or" in finding.message
    assert finding.path == ("metadata", "annotations", "nvidia.com/dgd-spec")


def test_a_claim_that_the_stored_version_lacks_is_named_with_its_annotation():
    graph = given.graph(pvcs=[{"name": "models", "create": True, "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}])
    findings = given.expanded(versions.to(dynamo_api.BETA1, graph)).results
    (finding,) = [item for item in findings if item.code == "DYN105"]
    assert finding.message.startswith("pvcs.storageClass in the annotation nvidia.com/dgd-spec is required")
