"""Members that share the namespaces, and one that is killed again and again: `make soak-members MINUTES=60 GRAPHS=3000`."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from typing import NamedTuple

import pytest

from benchmarks.sync import processes
from tests.syncer.test_members import SHORT_LEASE, WATCHED, Members, versions
from tests.syncer.test_soak import change
from tests.testbed import expected_statuses, proxy, syncer
from tests.testbed.fleet import Fleet
from tests.testbed.place import GRAPH

SECONDS = float(os.environ.get("KRM_FN_SOAK_SECONDS", "0"))
SEED = os.environ.get("KRM_FN_SOAK_SEED", "1")
LONG = SECONDS >= 120
GRAPHS = int(os.environ.get("KRM_FN_SOAK_GRAPHS", "3000" if LONG else "12"))
BETWEEN = 120 if LONG else 4
"""Seconds from one kill to the next."""
CHECKED = 60 if LONG else 20
"""Seconds after a kill at which every status must be right. The Lease of a killed member expires after 15 of them, or after 6."""
COUNT = 3 if LONG else 2


class Usage(NamedTuple):
    """CPU seconds and memory in MiB of a process, and the MiB that it received."""

    cpu: float
    memory: float
    received: float = 0.0

    def __str__(self) -> str:
        return f"CPU {self.cpu:7.1f} s, memory {self.memory:6.1f} MiB" + (f", received {self.received:8.2f} MiB" if self.received else "")


class Bed(NamedTuple):
    """The fleet, the running members, and the proxies that count what they receive."""

    fleet: Fleet
    members: Members
    proxies: dict[str, proxy.Proxy]
    chance: random.Random

    def usage(self) -> dict[str, Usage]:
        """The usage of each member, of the API server and of etcd."""
        used = {
            name: Usage(processes.cpu(member.server.pid), processes.memory(member.server.pid)[0], self.proxies[name].received / 2**20)
            for name, member in self.members.running.items()
        }
        others = {"kube-apiserver": self.fleet.plane.apiserver, "etcd": self.fleet.plane.etcd}
        return used | {name: Usage(processes.cpu(other.pid), processes.memory(other.pid)[0]) for name, other in others.items()}

    def kill(self, *, changing: bool) -> tuple[int, float]:
        """Kill a member and start it again. Returns the wrong statuses some time after the end, and the writes without a change.

        If `changing`, graphs change meanwhile. Otherwise the survivors must write nothing at all.
        """
        name = self.chance.choice(sorted(self.members.running))
        before, victim = versions(self.fleet), self.members.running.pop(name)
        written, began = self.members.total("writes_total", kind=GRAPH, result="written"), time.monotonic()
        victim.server.kill()
        if changing:
            change(self, CHECKED * 0.6)
        else:
            self.members.settle()
        time.sleep(max(0.0, began + CHECKED - time.monotonic()))
        wrong = expected_statuses.differences(self.fleet.plane.client, namespaces=frozenset(self.fleet.namespaces))
        sys.stdout.writelines(f"{difference}\n" for difference in wrong[:3])
        writes = self.members.total("writes_total", kind=GRAPH, result="written") - written
        needless = 0.0 if changing else writes + (versions(self.fleet) != before)
        victim.server.start()
        victim.server.wait(victim.ready)
        self.members.running[name] = victim
        self.members.settle()
        return len(wrong), needless


@pytest.fixture
def bed(plane, kustomize, tmp_path):
    account = syncer.installed(plane, kustomize, tmp_path, "shards")
    namespaces = max(1, GRAPHS // 10) if LONG else GRAPHS // 2
    fleet, proxies = Fleet(plane, "soak-members", namespaces, GRAPHS // namespaces), {}
    fleet.turn(ready=True)
    with contextlib.ExitStack() as stack:
        members = Members(stack, tmp_path, plane, "" if LONG else SHORT_LEASE)
        for number in range(COUNT):
            name = f"krm-fn-sync-soak-{number}"
            proxies[name] = stack.enter_context(proxy.to(syncer.port(account)))
            members.start(name, syncer.through(account, tmp_path / name, proxies[name].port))
        fleet.settle(600)
        members.settle()
        yield Bed(fleet, members, proxies, random.Random(SEED))  # noqa: S311 - no secret


def test_every_status_is_right_after_every_kill_and_a_takeover_writes_nothing(bed):
    """Every second kill is in a quiet time, so that each write is one too many. Memory does not grow."""
    usages, end = [bed.usage()], time.monotonic() + SECONDS
    kills: list[tuple[int, float]] = []
    while not kills or time.monotonic() < end:
        began = time.monotonic()
        kills.append(bed.kill(changing=len(kills) % 2 == 1))
        usages.append(bed.usage())
        if LONG:
            wrong, needless = kills[-1]
            sys.stdout.write(f"kill {len(kills)}: {wrong} wrong statuses after {CHECKED} s, {needless:.0f} needless writes\n")
        change(bed, max(0.0, min(began + BETWEEN, end) - time.monotonic()))
        bed.fleet.settle(600)
    report(bed, usages, kills)
    assert [kill for kill in kills if any(kill)] == []
    grown = max(usages[-1][name].memory / max(usage[name].memory for usage in usages[: len(usages) // 2 + 1]) for name in bed.proxies)
    assert grown < 1.15


def report(bed, usages, kills):
    """Print the figures, for a run with `-s`. The CPU time of a member is that of its last start."""
    wrong, needless = map(sum, zip(*kills, strict=True))
    stored = {name: member.metric("cached_objects") for name, member in bed.members.running.items()}
    lines = [f"{SECONDS:.0f} s, {GRAPHS} graphs, {len(WATCHED)} kinds, stored objects {stored}"]
    for moment, usage in {"start": usages[0], "middle": usages[len(usages) // 2], "end": usages[-1]}.items():
        lines += [f"{moment:6} {name:20} {used}" for name, used in usage.items()]
    lines += [f"{len(kills)} kills, {wrong} wrong statuses {CHECKED} s later, {needless:.0f} writes on takeover that changed nothing"]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
