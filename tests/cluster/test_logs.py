"""A record is one line, as text or as JSON, and its message is short."""

import io
import json
import logging

import pytest

from krm_fn.cluster import logs

LOG = logging.getLogger("krm_fn.syncer.tests")


@pytest.fixture
def written():
    root = logging.getLogger("krm_fn")
    before = (root.handlers, root.level, root.propagate)
    yield io.StringIO()
    root.handlers, root.propagate = before[0], before[2]
    root.setLevel(before[1])


def test_text(written):
    logs.configure("text", "info", written)
    LOG.warning("state %s", "failed", extra=logs.about(namespace="team-a", name='a "b"'))
    time, rest = written.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'warning state failed namespace=team-a name="a \\"b\\""\n'


def test_json(written):
    logs.configure("json", "info", written)
    LOG.info("state %s", "failed", extra=logs.about(namespace="team-a"))
    found = json.loads(written.getvalue())
    assert found.pop("time")
    assert found == {"level": "info", "message": "state failed", "namespace": "team-a"}


@pytest.mark.parametrize("style", logs.FORMATS)
def test_an_exception_and_a_long_message_stay_one_line(style, written):
    """A server's message can hold a whole object, and a collector of logs splits at line ends."""
    logs.configure(style, "info", written)
    try:
        int("x" * 100_000)
    except ValueError:
        LOG.exception("a bug: %s", "y" * 100_000)
    assert written.getvalue().count("\n") == 1
    assert "Traceback" in written.getvalue()
    assert "ValueError" in written.getvalue()
    assert len(written.getvalue()) < 10_000


@pytest.mark.parametrize("style", logs.FORMATS)
def test_texts_of_others_stay_text(style, written):
    """A tenant chooses names, and a worker its messages."""
    logs.configure(style, "info", written)
    LOG.info("refused: %s", "a\n::error::b\x9b2J\u202e\r", extra=logs.about(name="a\u202e", model="\x9b2J b\n"))
    assert written.getvalue().removesuffix("\n").isprintable()


def test_levels(written):
    logs.configure("text", "warning", written)
    LOG.info("not said")
    LOG.error("said")
    assert written.getvalue().count("\n") == 1


def test_a_topic_is_said_once_until_it_is_forgotten():
    once = logs.Once()
    assert [once.first("a"), once.first("a"), once.forget("a"), once.forget("a"), once.first("a")] == [True, False, True, False, True]


def test_a_problem_that_repeats_is_one_line_a_minute_with_its_number(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(logs, "monotonic", lambda: now)
    problem = logs.Repeated()
    assert [problem.count() for _ in range(3)] == [1, 0, 0]
    now += logs.PERIOD
    assert [problem.count() for _ in range(2)] == [3, 0]
