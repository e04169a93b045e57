"""If an upgrade restarts the pods of an example, the changelog says so."""

from __future__ import annotations

import pytest

from krm_fn.schemas import finding_pages
from tests.platform import pages, rollouts
from tests.platform.rollouts import Entry
from tests.support import golden
from tests.support.cases import cases

BEFORE = {"examples/chat": Entry("a", {"expected Deployment/one": "1", "expected Deployment/two": "2"})}
CHANGELOG = """# Changes

## [{version}] - {date}

* {said}

## [0.1.0] - 2026-11-21

* `examples/chat` was there.
"""
UNRELEASED = "unreleased"


def entry(source="a", **digests):
    return {"examples/chat": Entry(source, {f"expected Deployment/{name}": digest for name, digest in digests.items()})}


CASES = [
    ("nothing changes", entry(one="1", two="2"), "", {}),
    ("a template changes", entry(one="1", two="3"), "", {"examples/chat": ["expected Deployment/two"]}),
    ("both change", entry(one="2", two="3"), "", {"examples/chat": ["expected Deployment/one", "expected Deployment/two"]}),
    ("a workload goes", entry(one="1"), "", {"examples/chat": ["expected Deployment/two"]}),
    ("a workload comes", entry(one="1", two="2", three="3"), "", {}),
    ("a template changes, and the changelog says so", entry(one="1", two="3"), "pods of `examples/chat` restart", {}),
    ("the changelog names another", entry(one="1", two="3"), "`examples/chat-long`", {"examples/chat": ["expected Deployment/two"]}),
    ("the example itself is written differently", entry("b", one="1", two="3"), "", {}),
    ("an example comes", {**BEFORE, "examples/new": Entry("c", {"x": "1"})}, "", {}),
    ("the example goes", {}, "", {}),
]


@cases(("reason", "after", "said", "found"), CASES)
def test_surprises(reason, after, said, found):
    assert rollouts.surprises(BEFORE, after, CHANGELOG.format(version="0.2.0", date=UNRELEASED, said=said)) == found


def test_what_an_earlier_release_said_does_not_count():
    after = entry(one="1", two="3")
    assert rollouts.surprises(BEFORE, after, CHANGELOG.format(version="0.2.0", date=UNRELEASED, said="nothing")) != {}
    assert rollouts.announced(CHANGELOG.format(version="0.2.0", date="2026-12-01", said="`examples/chat`")) == ""


RECORDINGS = [
    ("between releases only what is written differently", UNRELEASED, entry(one="1", two="3"), BEFORE),
    ("which an example is that was edited", UNRELEASED, entry("b", one="1", two="3"), entry("b", one="1", two="3")),
    ("or one that is new", UNRELEASED, {**BEFORE, "examples/new": Entry("c", {})}, {**BEFORE, "examples/new": Entry("c", {})}),
    ("or one that is gone", UNRELEASED, {}, {}),
    ("everything for a release", "2026-12-01", entry(one="1", two="3"), entry(one="1", two="3")),
]


@cases(("reason", "date", "after", "kept"), RECORDINGS)
def test_recording(reason, date, after, kept):
    """Recording does not hide a changed template of an unchanged example."""
    assert rollouts.renewed(BEFORE, after, CHANGELOG.format(version="0.2.0", date=date, said="")) == kept


def test_before_the_first_release_everything_is_recorded():
    after = entry(one="1", two="3")
    assert rollouts.renewed(BEFORE, after, f"# Changes\n\n## [0.1.0] - {UNRELEASED}\n\n* First.\n") == after


@pytest.fixture(scope="module")
def now(kustomize):
    return rollouts.now()


def test_the_record_is_of_the_examples_as_they_are(now):
    """`make golden` brings it up to date."""
    assert rollouts.outdated(rollouts.recorded(), now) == []
    assert {f"examples/{folder.name}" for folder in golden.folders()} <= now.keys()
    assert [name for name, entry in now.items() if not entry.templates and golden.of(golden.EXAMPLES / name.partition("/")[2])] == []


def test_no_pod_restarts_by_surprise(now):
    """To pass, CHANGELOG.md must name the example under the unreleased version, with the reason of the restart."""
    assert rollouts.surprises(rollouts.recorded(), now, rollouts.CHANGES.read_text()) == {}


def test_the_page_lists_all_that_is_deprecated():
    page = (pages.DOCS / "upgrades.md").read_text()
    deprecated = [code for code, page in finding_pages.pages().items() if "deprecated" in page.title]
    assert deprecated
    assert [code for code in deprecated if f"| {code} |" not in page] == []
