"""A comparison says which graphs another image, or another configuration, moves to another release."""

from __future__ import annotations

import pytest

from krm_fn.base.results import field
from krm_fn.render.config import Config
from krm_fn.review.diff import comparison, rendered_state
from tests.support import beta

IMAGE = "spec.components[0].podTemplate.spec.containers[0].image"


def state(tag, behaviour=""):
    graph = beta.graph(beta.component("Worker", main={"image": f"registry.example/dynamo:{tag}"}))
    return rendered_state.render([graph], Config(behaviour=behaviour))


@pytest.mark.parametrize(
    ("reason", "old", "new", "found"),
    [
        ("newer images of another release", state("1.5.1"), state("1.6.0"), [("DYN526", IMAGE)]),
        ("older images of another release", state("1.6.0"), state("1.5.1"), [("DYN526", IMAGE)]),
        ("newer images of the same release", state("1.5.0"), state("1.5.1"), []),
        ("newer images and a pinned release", state("1.5.1", "v1.5"), state("1.6.0", "v1.5"), []),
        ("another pinned release", state("1.5.1", "v1.5"), state("1.5.1", "v1.6"), [("DYN526", "spec")]),
        ("a new graph", rendered_state.render([], Config()), state("1.6.0"), []),
    ],
)
def test_a_graph_that_moves_is_named(reason, old, new, found):
    results = comparison.compare(old, new).findings
    assert [(each.code, field(each.path)) for each in results] == found, reason
    assert all(each.severity == "info" and "set behaviour: " in each.message for each in results)
