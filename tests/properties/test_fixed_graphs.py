"""`krm-fn check --fix` on random graphs: with a mistake of the table of mutations, and with random values of wrong types."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_fn.base.yaml import emitter
from tests.cli import console
from tests.support import strategies
from tests.support.text_mutations import MUTATIONS
from tests.testbed import tier

_EXAMPLES = settings(
    deadline=None,
    max_examples=tier.number(20, 10, "KRM_FN_EXAMPLES"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _findings(file, *options):
    return json.loads(console.run("check", *options, "-o", "json", file).out)["findings"]


def _severe(findings):
    return sum(finding["severity"] != "info" for finding in findings)


def _fix_is_no_worse(file, text):
    """Fixes a text twice: the first time makes nothing worse, and the second time changes nothing."""
    file.write_text(text)
    before = _findings(file)
    after = _findings(file, "--fix", "--unsafe")
    assert _severe(after) <= _severe(before)
    once = file.read_text()
    assert _findings(file) == after
    # A note that an error hid can come in its place.
    assert (once == text) or (_severe(after), len(after)) < (_severe(before), len(before))
    _findings(file, "--fix", "--unsafe")
    assert file.read_text() == once


@pytest.mark.slow
@_EXAMPLES
@given(graph=strategies.graphs(), mutation=st.sampled_from(MUTATIONS), seed=st.integers(0, 99))
def test_a_random_graph_with_a_mistake_gets_no_worse(tmp_path_factory, graph, mutation, seed):
    """The rule for graphs as authors write them."""
    text = mutation.change(emitter.text(graph), random.Random(seed))  # noqa: S311 - it draws mistakes
    _fix_is_no_worse(tmp_path_factory.mktemp("graph") / "graph.yaml", text)


@pytest.mark.slow
@_EXAMPLES
@given(graph=strategies.broken())
def test_a_random_graph_of_wrong_types_gets_no_worse(tmp_path_factory, graph):
    """The rule for any value at any field."""
    _fix_is_no_worse(tmp_path_factory.mktemp("graph") / "graph.yaml", emitter.text(graph))
