"""A reflector survives answers that a healthy API server does not give on request."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web

from krm_fn.cluster import reflector as reflectors
from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.backoff import Backoff
from tests.support.cases import cases
from tests.syncer.following import following
from tests.syncer.loops import eventually, runs
from tests.syncer.odd_server import giving


def event(kind, name, version, value="1", uid="u"):
    metadata = {"name": name, "namespace": "a", "uid": uid, "resourceVersion": str(version)}
    return {"type": kind, "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"value": value}}}


def initial_end(version):
    annotations = {"k8s.io/initial-events-end": "true"}
    return {"type": "BOOKMARK", "object": {"kind": "ConfigMap", "metadata": {"resourceVersion": str(version), "annotations": annotations}}}


def bookmark(version):
    return {"type": "BOOKMARK", "object": {"kind": "ConfigMap", "metadata": {"resourceVersion": str(version)}}}


def error(code, reason, message=""):
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "reason": reason, "message": message}}


def status(code, reason, message=""):
    return web.Response(status=code, text=json.dumps(error(code, reason, message)["object"]))


FIRST = [event("ADDED", "a", 5), event("ADDED", "b", 3), initial_end(10)]
"""A complete start with two objects."""

AGAIN = [event("ADDED", "a", 12, "2"), initial_end(20), ...]
"""A second reading: `a` has changed, `b` has gone."""

GARBAGE = [
    ("no JSON", b"\x16\x03garbage\n"),
    ("JSON of another program", {"hello": "world"}),
    ("an object without metadata", {"type": "ADDED", "object": {"kind": "ConfigMap"}}),
    ("an event of an unknown type", event("RENAMED", "b", 11)),
    ("the compressed data of a proxy", b"\x1f\x8b\x08\x00\xff\xff\n"),
    ("410 in the stream", error(410, "Expired")),
    ("a resourceVersion from the future", error(504, "Timeout", "Too large resource version: 10, current: 3")),
]


@cases(("reason", "line"), GARBAGE)
@runs
async def test_reads_all_objects_again_after(reason, line):
    """Objects that the second reading lacks are removed, and the old resourceVersion is not used."""
    async with giving([*FIRST, line], AGAIN) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.view == {"a": "2"})
        assert ("b", "1", None) in follower.changes
        assert "resourceVersion" not in server.asked[1]
        assert server.asked[1]["sendInitialEvents"] == "true"
        assert follower.relists == 2


RESUMED = [
    ("the server ends the watch", [], "ended"),
    ("half a line", [b'{"type": "ADD'], "connection"),
    ("an error of the server in the stream", [error(500, "InternalError")], "error"),
]


@cases(("reason", "parts", "said"), RESUMED)
@runs
async def test_resumes_from_the_last_version_after(reason, parts, said):
    """Events and bookmarks move the version. Nothing is read twice."""
    rest = [event("MODIFIED", "a", 31, "2"), ...]
    async with (
        giving([*FIRST, event("ADDED", "c", 11), bookmark(30), *parts], rest) as (server, cluster),
        following(cluster, "a") as follower,
    ):
        await eventually(lambda: follower.view == {"a": "2", "b": "1", "c": "1"})
        assert server.asked[1]["resourceVersion"] == "30"
        assert "sendInitialEvents" not in server.asked[1]
        assert follower.reasons == {said: 1}
        assert follower.relists == 1


@runs
async def test_every_watch_has_a_version_or_asks_for_the_initial_objects(monkeypatch):
    """A watch with neither reads from etcd, and a slow reader can hurt the control plane. Every watch ends within ten minutes."""
    monkeypatch.setattr(reflectors, "STABLE", 0.0)  # short delays
    broken = [event("ADDED", "a", 5)]  # ends before the initial objects are complete
    answers: tuple[Any, ...] = (
        [],
        broken,
        FIRST,
        status(500, "InternalError"),
        [error(410, "Gone")],
        status(410, "Gone"),
        FIRST,
        [bookmark(40)],
    )
    async with giving(*answers) as (server, cluster), following(cluster, "a"):
        await eventually(lambda: len(server.asked) > len(answers))
        for asked in server.asked:
            assert bool(asked.get("resourceVersion")) != (asked.get("sendInitialEvents") == "true")
            assert (asked.get("resourceVersionMatch") == "NotOlderThan") == ("sendInitialEvents" in asked)
            assert asked["allowWatchBookmarks"] == "true"
            assert asked["labelSelector"] == "watched"
            assert 290 <= int(asked["timeoutSeconds"]) <= 590
        assert len({asked["timeoutSeconds"] for asked in server.asked}) > 1


@runs
async def test_an_incomplete_reading_removes_nothing_and_gives_no_version():
    half = [event("ADDED", "z", 99), bookmark(100)]
    async with giving([*FIRST, error(410, "Expired")], half, [...]) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: len(server.asked) == 3)
        assert follower.view == {"a": "1", "b": "1", "z": "1"}
        assert "resourceVersion" not in server.asked[2]


@runs
async def test_one_404_after_a_start_of_the_server_removes_nothing():
    """A server that just started may not know a kind for a moment. Only after three answers it does not exist."""
    async with giving(FIRST, status(404, "NotFound"), AGAIN) as (_, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.view == {"a": "2"})
        assert ("a", "1", None) not in follower.changes
    async with giving(FIRST, *[status(404, "NotFound") for _ in range(3)]) as (_, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.reasons["missing"] == 3)
        assert follower.view == {}


@runs
async def test_a_kind_that_the_server_does_not_know_is_not_served():
    """Grove and LeaderWorkerSet are installed in few clusters. Nobody must be alerted because their watches bring nothing."""
    unknown = [status(404, "NotFound", "404 page not found")]
    async with giving(*unknown) as (_, cluster), following(cluster, "a") as follower:
        await follower.synced()
        assert not follower.reflector.served
    async with giving(FIRST) as (_, cluster), following(cluster, "a") as follower:
        await follower.synced()
        assert follower.reflector.served


@runs
async def test_a_watch_that_the_server_accepts_is_an_answer_although_nothing_happens():
    """A server sends nothing for a kind without changes, not even bookmarks."""
    async with giving(FIRST, [...]) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: len(server.times) == 2 and follower.reflector.last_data >= server.times[1])


@runs
async def test_an_event_that_the_server_cannot_read_is_left_behind():
    """The server gives the same error for each attempt from the same version, so the third one leads to a new reading."""
    broken = [error(500, "InternalError", "unable to decode an object in the watch event")]
    async with giving(FIRST, broken, broken, broken, AGAIN) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.view == {"a": "2"})
        assert [asked.get("resourceVersion") for asked in server.asked] == [None, "10", "10", "10", None]


@runs
async def test_a_version_that_the_server_does_not_understand_is_left_behind():
    answers = (FIRST, status(400, "BadRequest", "invalid resource version"), AGAIN)
    async with giving(*answers) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.view == {"a": "2"})
        assert [asked.get("resourceVersion") for asked in server.asked] == [None, "10", None]
        assert server.asked[2]["sendInitialEvents"] == "true"


@runs
async def test_a_restored_backup_is_believed():
    """etcd was restored: the same objects have lower versions than the store."""
    restored = [event("ADDED", "a", 2, "old"), initial_end(4)]
    answers = ([*FIRST, event("MODIFIED", "a", 12, "2"), error(410, "Expired")], restored, [*restored, ...])
    async with giving(*answers) as (_, cluster), following(cluster, "a") as follower:
        await eventually(lambda: follower.view == {"a": "old"})
        assert follower.changes[-2:] in ([("b", "1", None), ("a", "2", "old")], [("a", "2", "old"), ("b", "1", None)])
        assert follower.reasons == {"expired": 1, "garbage": 1}


@pytest.fixture
def longest_delays(monkeypatch):
    """Delays without chance: each is at its limit."""
    monkeypatch.setattr("krm_fn.cluster.backoff.random.uniform", lambda _, limit: limit)


@runs
async def test_delays_double(longest_delays):
    """Also after watches that the server ends at once."""
    async with giving(FIRST, [], [error(500, "InternalError")]) as (server, cluster), following(cluster, "a") as follower:
        await eventually(lambda: len(server.asked) == 4)
        waits = [after - before for before, after in pairwise(server.times)]
        assert all(wait >= least for wait, least in zip(waits, (0.2, 0.4, 0.8), strict=True))
        assert follower.reasons == {"ended": 2, "error": 1}


def test_delays_have_a_cap(longest_delays):
    backoff = Backoff(0.2, 5)
    assert [backoff.next() for _ in range(7)] == [0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]
    backoff.reset()
    assert backoff.next() == 0.2


def test_delays_are_spread_between_nothing_and_their_limit():
    """Otherwise all clients of a restarted server would return at the same moment."""
    firsts = [Backoff(0.2, 5).next() for _ in range(1000)]
    assert 0 <= min(firsts) < 0.05
    assert 0.15 < max(firsts) <= 0.2


@runs
async def test_after_a_long_watch_delays_start_again_and_its_end_is_no_error(monkeypatch):
    """Without that, each of these watches would wait for 5 seconds after the fifth error."""
    monkeypatch.setattr(reflectors, "STABLE", 0.0)
    delays: list[float] = []

    def recorded(limit):
        delays.append(limit)
        return limit

    monkeypatch.setattr("krm_fn.cluster.backoff.random.uniform", lambda _, limit: recorded(limit))
    errors, ends = [status(500, "InternalError") for _ in range(12)], [[bookmark(11)]] * 150
    async with giving(FIRST, *errors, *ends) as (server, cluster), following(cluster, "a"):
        await eventually(lambda: len(server.asked) > 160)
    assert sum(delays) < 20


@runs
async def test_errors_with_progress_between_them_are_resumed_from():
    """Only errors in a row, from one version, mean that the server cannot read on."""
    broken = [error(500, "InternalError")]
    progress = [bookmark(12), *broken]
    async with giving(FIRST, broken, broken, progress, broken, [bookmark(13), ...]) as (server, cluster), following(cluster, "a"):
        await eventually(lambda: len(server.asked) == 6)
        assert [asked.get("resourceVersion") for asked in server.asked] == [None, "10", "10", "10", "12", "12"]


@runs
async def test_an_error_of_our_own_does_not_end_the_reflector(caplog):
    async with giving(FIRST, [event("MODIFIED", "a", 11, "2")], AGAIN) as (_, cluster), following(cluster, "a") as follower:
        await follower.synced()
        follower.reflector._informer._on_change = broken = Broken()
        await eventually(lambda: follower.reasons["bug"] >= 1)
        assert broken.called
        assert "please report it" in caplog.text
        await eventually(lambda: follower.view == {"a": "2"})


class Broken:
    """A callback that fails once."""

    called = False

    def __call__(self, key, before, after):
        if not self.called:
            self.called = True
            raise KeyError(key)


@runs
async def test_a_403_is_asked_about_soon_and_then_rarely(monkeypatch):
    """A server that just started refuses everything for a moment."""
    monkeypatch.setattr(reflectors, "FIRST_RETRY", 0.1)
    monkeypatch.setattr(reflectors, "LAST_RETRY", 0.3)
    answers = [status(403, "Forbidden", "not yet") for _ in range(4)]
    async with giving(*answers, AGAIN) as (server, cluster), following(cluster, "a") as follower:
        await follower.synced()
        waits = [after - before for before, after in pairwise(server.times)]
        assert all(wait >= least for wait, least in zip(waits, (0.1, 0.2, 0.3, 0.3), strict=True))
        follower.reflector._forbidden_count = 10_000  # after some days
        assert follower.reflector._forbidden() == 0.3


@runs
async def test_credentials_that_cannot_be_read_are_a_problem_until_they_can(monkeypatch):
    async with giving(AGAIN) as (_, cluster):
        fine = cluster.access

        async def broken(refused=None):
            raise ClusterError("the token is gone; write it again")

        monkeypatch.setattr(cluster, "access", broken)
        async with following(cluster, "a") as follower:
            await eventually(lambda: follower.reasons["credentials"] >= 2)
            assert follower.reflector.problem == "the token is gone; write it again"
            monkeypatch.setattr(cluster, "access", fine)
            await follower.synced()
            assert follower.reflector.problem == ""
