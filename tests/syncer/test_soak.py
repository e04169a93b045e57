"""Changes and random faults for half a minute, or for longer: `make soak MINUTES=60`.

In the first test, the API server and connections fail. Beside its fleet, a tenant writes the largest resources that the API server stores,
and changes them all the time. In the second test, single requests fail. `make soak` has the machine for itself, so it also requires that
the statuses of a fleet are right within 10 seconds. `make test-all` only reports this time.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import sys
import time
from typing import NamedTuple

import pytest

from krm_fn.schemas.generate import crds as generated
from tests.support import definitions
from tests.testbed import alert_history, faulty_proxy, latencies, server, syncer
from tests.testbed.fleet import Fleet
from tests.testbed.largest_tenant import WorstTenant
from tests.testbed.place import GRAPH
from tests.testbed.proxy import Proxy
from tests.testbed.scaled_graphs import ScaledGraphs

IS_SOAK = "KRM_FN_SOAK_SECONDS" in os.environ
SECONDS = float(os.environ.get("KRM_FN_SOAK_SECONDS", "30"))
SEED = os.environ.get("KRM_FN_SOAK_SEED", "1")
LONG = SECONDS >= 300
CHANGES = 20  # a second
BETWEEN = 45 if LONG else 4  # seconds from the end of one fault to the next
MEASURED = SECONDS / 3 if IS_SOAK else 5  # seconds of changes beside the worst tenant
BESIDE = 10 if IS_SOAK else 180  # seconds until a status of the fleet is right, whatever another tenant writes
SPOILED = 0.02 if LONG else 0.1  # of all requests of the test of single faults
TOGETHER = 20 if LONG else 4  # seconds of changes between two comparisons
LOST_EVENTS = ("dropped", "error", "forbidden")
CONVERGED = 120 if IS_SOAK else 180  # seconds until every status is right again; a silent connection is given up after 90, or after 5


class Bed(NamedTuple):
    """What the faults break."""

    fleet: Fleet
    proxy: Proxy
    chance: random.Random
    worst: WorstTenant


def api_server_killed(bed):
    bed.fleet.plane.apiserver.kill()
    time.sleep(bed.chance.uniform(0, 3))
    bed.fleet.plane.apiserver.start()
    bed.fleet.plane.wait()


def etcd_paused(bed):
    bed.fleet.plane.etcd.pause()
    time.sleep(bed.chance.uniform(1, 4))
    bed.fleet.plane.etcd.resume()
    bed.fleet.plane.wait()


def connections_cut(bed):
    bed.proxy.cut()


def connections_silent(bed):
    bed.proxy.swallow()


def deleted_while_disconnected(bed):
    bed.proxy.refuse()
    bed.proxy.cut()
    first, second = bed.chance.sample(bed.fleet.graphs, 2)
    first.delete("Deployment")
    second.delete(GRAPH)
    bed.proxy.accept()
    bed.fleet.settle(CONVERGED)
    bed.fleet.put(first, second)


FAULTS = (api_server_killed, deleted_while_disconnected, connections_silent, etcd_paused, connections_cut)


@pytest.fixture
def bed(fragile, between):
    definitions.serve(fragile.plane, generated.definitions())
    fleet, worst = Fleet(fragile.plane, "soak", 5, 10), WorstTenant(fragile.plane, "soak-worst")
    return Bed(fleet, between, random.Random(SEED), worst)  # noqa: S311 - no secret


def test_every_status_is_right_after_every_fault(bed, kustomize, tmp_path):
    """After each fault the whole cluster is compared. Memory does not grow, and no status is written that has not changed."""
    account = syncer.installed(bed.fleet.plane, kustomize, tmp_path)
    through = syncer.through(account, tmp_path / "proxied", bed.proxy.port)
    with syncer.running(through, tmp_path, hasty=not LONG) as running:
        bed.fleet.turn(ready=True)
        bed.fleet.settle()
        beside = latencies.beside(bed.fleet, bed.worst, bed.chance, MEASURED, BESIDE)
        bed.fleet.settle(BESIDE)
        took: list[tuple[str, float]] = []
        changes, resident, end = len(beside.seconds), running.resident(), time.monotonic() + SECONDS - (MEASURED if IS_SOAK else 0)
        while time.monotonic() < end or len(took) < len(FAULTS):
            changes += change(bed, BETWEEN)
            fault = FAULTS[len(took)] if len(took) < len(FAULTS) else bed.chance.choice(FAULTS)
            fault(bed)
            changes += change(bed, 1)
            took.append((fault.__name__, bed.fleet.settle(CONVERGED)))
            if LONG and len(took) == len(FAULTS):
                resident = running.resident()  # every part of the program has worked once
        grown = running.resident() / resident - 1
        written = {result: int(running.metric("writes_total", result=result)) for result in ("written", "conflict", "error", "forbidden")}
        figures = f"{changes} changes, writes {written}, memory {running.resident() // 1024} MiB ({grown:+.1%})"
        report(f"{figures}\nbeside the worst tenant, {beside}", took)
        of_worst = 2 * (bed.worst.changes + len(bed.worst.graphs) + 200)
        assert written["written"] <= changes + 10 * len(took) + 2 * len(bed.fleet.graphs) + of_worst
        assert grown < (0.05 if LONG else 0.3)


def report(figures, took):
    """Print the figures, for a run with `-s`."""
    worst = {name: max(seconds for other, seconds in took if other == name) for name, _ in took}
    lines = [f"{SECONDS:.0f} s, {figures}", *(f"{name}: right after {seconds:.1f} s at most" for name, seconds in sorted(worst.items()))]
    sys.stdout.write("\n" + "\n".join(lines) + f"\n{len(took)} faults\n")


def change(bed, seconds):
    """Turn graphs at a constant rate; returns how many. A change that the server refuses does not count."""
    changed, begin = 0, time.monotonic()
    for number in range(int(seconds * CHANGES)):
        with contextlib.suppress(OSError, http.client.HTTPException, LookupError, AssertionError):
            bed.fleet.shuffle(bed.chance)
            changed += 1
            if number % 10 == 0:
                bed.worst.stir(bed.chance)
        time.sleep(max(0.0, begin + number / CHANGES - time.monotonic()))
    return changed


@pytest.fixture
def faulty(fragile, tmp_path):
    """A proxy that spoils single requests."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    with faulty_proxy.before(fragile.port, fragile.certificate, tmp_path, fragile.authority.serve(), chance) as proxy:
        yield proxy


def test_single_faults_leave_no_wrong_status_and_fire_no_alert(fragile, faulty, kustomize, tmp_path):
    """Single requests are answered with 404 or 409, or their answer is lost, or ends after its header. The syncer repeats them.

    Graphs and adapters change for some seconds. Soon after, all statuses are right, and all Deployments have the replicas of their adapter.
    """
    definitions.serve(fragile.plane, generated.definitions())
    fleet, scaled = Fleet(fragile.plane, "faulty", 3, 10), ScaledGraphs(fragile.plane, "faulty-scaled", 10)
    chance = random.Random(SEED)  # noqa: S311 - no secret
    account = syncer.installed(fragile.plane, kustomize, tmp_path)
    config = syncer.through(account, tmp_path / "spoiled", faulty.port, fragile.authority.certificate)
    wrong, times = [], [0.0]
    with syncer.running(config, tmp_path, "--services") as running, alert_history.recorded(running) as history:
        fleet.settle()
        server.eventually(lambda: not scaled.wrong())
        faulty.share, end = SPOILED, time.monotonic() + SECONDS
        while time.monotonic() < end:
            changed_together(fleet, scaled, chance, TOGETHER)
            began = time.monotonic()
            try:
                fleet.settle(BESIDE)
                server.eventually(lambda: not scaled.wrong(), max(BESIDE - (time.monotonic() - began), 0.1))
            except TimeoutError as late:
                wrong += [str(late), *scaled.wrong()]
            times.append(time.monotonic() - began)
        results = ("written", "conflict", "gone", "error", "forbidden", "invalid")
        written = {result: int(running.metric("writes_total", result=result)) for result in results}
        events = {result: int(running.metric("events_total", result=result)) for result in ("written", *LOST_EVENTS)}
        bugs, errors = running.log().count("please report it"), running.metric("reconcile_errors_total")
    figures = (
        f"{SECONDS:.0f} s, {faulty.requests} requests, faults {dict(faulty.faults)}, writes {written}, events {events}",
        f"{len(times) - 1} comparisons, right after {max(times):.1f} s at most, {len(wrong)} wrong after {BESIDE} s",
        f"{scaled.changes} changes of adapters, {bugs} reports of a bug, {history.scrapes} scrapes",
    )
    sys.stdout.write("\n" + "\n".join(figures) + "\n")
    assert wrong == []
    assert (bugs, errors, [events[result] for result in LOST_EVENTS]) == (0, 0, [0] * len(LOST_EVENTS))
    assert set(faulty.faults) == set(faulty_proxy.FAULTS)
    assert history.firing(tmp_path) == ""


def changed_together(fleet, scaled, chance, seconds):
    """Change graphs at a constant rate, and now and then an adapter."""
    began, number = time.monotonic(), 0
    while time.monotonic() < began + seconds:
        fleet.shuffle(chance)
        if number % CHANGES == 0:
            scaled.scale(chance)
        number += 1
        time.sleep(max(0.0, began + number / CHANGES - time.monotonic()))
