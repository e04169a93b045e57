"""The Leases of the members that share the namespaces: each process renews its own, and observes those of its peers.

A member whose Lease was not renewed for its duration is not live any more. The clocks of two machines are never compared, as in leader
election: the duration begins at the last observed change of the Lease. A member that cannot renew its Lease stops before that.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from krm_fn.cluster import timestamps
from krm_fn.cluster.client import ApiError, Client
from krm_fn.cluster.leader_election import (
    LEASE_DURATION,
    LEASES,
    NAME,
    RELEASE_TIMEOUT,
    RENEW_DEADLINE,
    REQUEST_ERRORS,
    REQUEST_TIMEOUT,
    RETRY_PERIOD,
    failure,
    new_lease,
)
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.status import live_fields

LABELS = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "shard"}
"""The labels of the Leases of all members of an installation."""
PERIOD = 1.0
"""Seconds between two lists of the Leases, so a member that stops is replaced in about a second."""
_SELECTOR = ",".join(f"{key}={value}" for key, value in LABELS.items())
_FORBIDDEN_PERIOD = 5.0
"""Seconds until a process that may not use the Leases tries again."""
_OTHER_CHARACTERS = re.compile(r"[^a-z0-9.-]+")

_LOG = logging.getLogger(__name__)


class _ObservedLease(NamedTuple):
    """The Lease of a peer: its resourceVersion, the monotonic time of the first observation of this version, and its seconds."""

    version: str
    since: float
    duration: float

    def age(self) -> float:
        """Returns the time since the last renewal, in durations of the Lease. A Lease of 1 or more has expired."""
        return (time.monotonic() - self.since) / self.duration


class Membership:
    """The membership of one process. `changed(members, rejoined)` is called for each change of the live members.

    `rejoined` is true for the first call, and after a time in which peers could have replaced this member.
    """

    def __init__(self, client: Client, namespace: str, name: str, changed: Callable[[frozenset[str], bool], None]) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._changed = changed
        self._peers: dict[str, _ObservedLease] = {}
        self._members: frozenset[str] = frozenset()
        self._renew_time: float | None = None  # monotonic time before the last renewal; None: not a member yet
        self._last_problem = ""

    def leading(self) -> bool:
        """Returns True while no peer can take over. After a pause of the process that was too long, returns False."""
        return self._renew_time is not None and time.monotonic() - self._renew_time < RENEW_DEADLINE

    async def run(self) -> None:
        """Renews the Lease and observes the peers until the task is cancelled."""
        while True:
            pause = PERIOD
            try:
                async with asyncio.timeout(RENEW_DEADLINE):
                    await self._attempt()
            except REQUEST_ERRORS as error:
                self._report(failure(error))
                if self._renew_time is None and isinstance(error, ApiError) and error.status in {401, 403}:
                    pause = _FORBIDDEN_PERIOD
            await asyncio.sleep(pause)

    async def release(self) -> None:
        """Deletes the Lease, so that the peers take over at once. Call it after `run` was cancelled."""
        if self._renew_time is None:
            return
        self._renew_time = None
        with contextlib.suppress(*REQUEST_ERRORS):
            async with asyncio.timeout(RELEASE_TIMEOUT):
                await self._client.request("DELETE", LEASES.path(self._namespace, self._name))
                _LOG.info("deleted the Lease %s/%s: the peers serve its namespaces", self._namespace, self._name)

    async def _attempt(self) -> None:
        """Renews the Lease if it is time to, and updates the live members."""
        began = time.monotonic()
        leases = await self._list()
        lapsed = False
        if not self.leading() or began - (self._renew_time or 0.0) >= RETRY_PERIOD:
            await self._renew(leases.get(self._name))
            lapsed, self._renew_time = not self.leading(), began
        if lapsed:
            self._peers.clear()  # a time without answers says nothing about the peers
        self._observe(leases)
        members = frozenset({self._name, *(name for name, lease in self._peers.items() if lease.age() < 1)})
        if lapsed or members != self._members:
            self._members = members
            self._changed(members, lapsed)
        self._last_problem = ""
        await self._delete_expired()

    async def _list(self) -> dict[str, Resource]:
        """Lists the Leases of all members by name."""
        answer = await self._client.request("GET", LEASES.path(self._namespace), {"labelSelector": _SELECTOR}, timeout=REQUEST_TIMEOUT)
        return {lease["metadata"]["name"]: lease for lease in values.objects(answer.get("items"))}

    async def _renew(self, lease: Resource | None) -> None:
        """Renews the Lease, or creates it. Raises ApiError, also if another client changed it."""
        now, path = timestamps.now_micro(), LEASES.path(self._namespace)
        spec: dict[str, Any] = {"holderIdentity": self._name, "leaseDurationSeconds": LEASE_DURATION, "renewTime": now}
        if lease is None:
            body = new_lease(self._namespace, self._name, {**spec, "acquireTime": now})
            body["metadata"]["labels"] = LABELS
            await self._client.request("POST", path, body=body, timeout=REQUEST_TIMEOUT)
        else:
            body = {**lease, "spec": {**values.mapping(lease, "spec"), **spec}}
            await self._client.request("PUT", f"{path}/{self._name}", body=body, timeout=REQUEST_TIMEOUT)

    def _observe(self, leases: dict[str, Resource]) -> None:
        """Updates the observed Leases of the peers."""
        peers: dict[str, _ObservedLease] = {}
        for name, lease in leases.items():
            version, known = lease["metadata"]["resourceVersion"], self._peers.get(name)
            seconds = live_fields.whole_number(values.mapping(lease, "spec").get("leaseDurationSeconds"))
            if name != self._name:
                is_same = known is not None and known.version == version
                peers[name] = known if known and is_same else _ObservedLease(version, time.monotonic(), float(seconds or LEASE_DURATION))
        self._peers = peers

    async def _delete_expired(self) -> None:
        """Deletes the Leases of members that ended without deleting them, one duration after they expired."""
        for name, lease in self._peers.items():
            if lease.age() >= 2:
                options = {"preconditions": {"resourceVersion": lease.version}}
                try:
                    await self._client.request("DELETE", LEASES.path(self._namespace, name), body=options, timeout=REQUEST_TIMEOUT)
                except ApiError as error:
                    if error.status not in {404, 409}:  # a peer deleted it first, or the member is back
                        raise

    def _report(self, problem: str) -> None:
        """Logs a problem once, and once more when this member has to stop."""
        if self._renew_time is not None and not self.leading():
            problem = f"{problem}; this process writes nothing until it can renew its Lease"
        if problem != self._last_problem:
            self._last_problem = problem
            _LOG.warning("the Lease %s/%s cannot be renewed: %s", self._namespace, self._name, problem)


def lease_name(instance: str) -> str:
    """Returns the name of the Lease of a process, which is also the name of the member.

    >>> lease_name("krm-fn-sync-6d5f-x"), lease_name("Laptop_7-4711")
    ('krm-fn-sync-6d5f-x', 'krm-fn-sync-laptop-7-4711')
    """
    name = _OTHER_CHARACTERS.sub("-", instance.lower()).strip("-.")
    return name if name.startswith(f"{NAME}-") else f"{NAME}-{name}"
