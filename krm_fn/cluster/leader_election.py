"""Leader election by a Lease (client-go: tools/leaderelection): one of several replicas writes, and the others fill their caches.

The clocks of two machines are never compared: a follower measures the time since the last observed change of the Lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from krm_fn.cluster import timestamps
from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import ApiError, Client
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource

LEASES = ApiResource("coordination.k8s.io", "v1", "leases", "Lease")
NAME = "krm-fn-sync"
LEASE_DURATION = 15
"""Seconds without a renewal after which another replica takes over."""
RENEW_DEADLINE = 10.0
"""Seconds without a renewal after which the leader ends its process."""
RETRY_PERIOD = 2.0
"""Seconds between two attempts to acquire or to renew the Lease."""
FORBIDDEN_PERIOD = 30.0
"""Seconds until a follower that may not use the Lease tries again."""
REQUEST_TIMEOUT = 4.0
"""Seconds that one request may take: after a lost connection, a leader has time for a second one before `RENEW_DEADLINE`."""
RELEASE_TIMEOUT = 2.0
"""Seconds that a stopping process takes to give its Lease up."""
REQUEST_ERRORS = (TimeoutError, ApiError, ConnectionError, ClusterError)
"""The errors of requests for a Lease."""

_LOG = logging.getLogger(__name__)


def failure(error: Exception) -> str:
    """Returns the message about a request for a Lease that failed with one of `REQUEST_ERRORS`."""
    if isinstance(error, TimeoutError):
        return "the API server did not answer in time"
    return f"the API server answered {error}" if isinstance(error, ApiError) else str(error)


class LeaseRecord(NamedTuple):
    """The fields of a Lease that an election reads (client-go: LeaderElectionRecord). `duration` is in seconds."""

    holder: str = ""
    renew_time: str = ""
    duration: float = 0.0


def new_lease(namespace: str, name: str, spec: dict[str, Any]) -> Resource:
    """Returns the object of a Lease."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def abandon(reason: str) -> NoReturn:
    """Ends the process at once, so that nothing is written any more."""
    _LOG.error("%s; this process ends at once", reason)
    logging.shutdown()
    os._exit(1)


class LeaderElector:
    """Takes part in the election for one replica. `elected` is called each time this replica becomes the leader."""

    def __init__(self, client: Client, namespace: str, name: str, identity: str, elected: Callable[[], None]) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._elected = elected
        self._lease: Resource | None = None
        self._observed = LeaseRecord()
        self._observed_time = 0.0  # monotonic time of the last observed change of the Lease
        self._renew_time: float | None = None  # monotonic time before the last renewal; None: not the leader
        self._last_problem = ""

    def leading(self) -> bool:
        """Returns True while no other replica can be the leader. After a pause of the process that was too long, returns False."""
        return self._renew_time is not None and time.monotonic() - self._renew_time < RENEW_DEADLINE

    async def run(self) -> None:
        """Acquires and renews the Lease until the task is cancelled. Ends the process if the leader cannot renew it in time."""
        while True:
            try:
                pause = await self._attempt()
            except REQUEST_ERRORS as error:
                pause = self._report(failure(error))
                if self._renew_time is None and isinstance(error, ApiError) and error.status in {401, 403}:
                    pause = FORBIDDEN_PERIOD
            await asyncio.sleep(pause)

    async def release(self) -> None:
        """Releases the Lease, so that another replica takes over within two seconds. Call it after `run` was cancelled."""
        if self._renew_time is None:
            return
        self._renew_time = None
        with contextlib.suppress(*REQUEST_ERRORS):
            async with asyncio.timeout(RELEASE_TIMEOUT):
                await self._clear_holder()

    async def _clear_holder(self) -> None:
        """Removes this replica from the Lease. Reads the Lease first: `run` may have been cancelled between a renewal and its answer."""
        lease = await self._read()
        if lease is not None and self._observed.holder == self._identity:
            await self._write(lease, "", 1)
            _LOG.info("released the Lease %s/%s", self._namespace, self._name)

    async def _attempt(self) -> float:
        """Makes one attempt; returns the seconds until the next."""
        began = time.monotonic()
        remaining = RENEW_DEADLINE if self._renew_time is None else max(0.0, self._renew_time + RENEW_DEADLINE - began)
        async with asyncio.timeout(remaining):
            held = await self._acquire_or_renew()
        self._last_problem = ""
        if held:
            first, self._renew_time = self._renew_time is None, began
            if first:
                _LOG.info("this replica is the leader: it holds the Lease %s/%s as %r", self._namespace, self._name, self._identity)
                self._elected()
            return RETRY_PERIOD
        if self._renew_time is not None:
            abandon(f"the Lease {self._namespace}/{self._name} went to {self._observed.holder!r}")
        return min(RETRY_PERIOD, max(0.0, self._expires() - time.monotonic()) + 0.01)

    async def _acquire_or_renew(self) -> bool:
        """Acquires or renews the Lease. Returns False if another replica holds it.

        Raises ApiError, also for a conflict while this replica leads.
        """
        if self._renew_time is not None and self._lease is not None and await self._renew(self._lease):
            return True
        try:
            lease = await self._read()
            if lease is None:
                await self._create()
            elif not self._is_free():
                return False
            else:
                self._observe(await self._write(lease, self._identity, LEASE_DURATION))
        except ApiError as error:
            if error.status != 409 or self._renew_time is not None:
                raise
            return False
        return True

    async def _renew(self, lease: Resource) -> bool:
        """Renews the Lease in its last observed version. Returns False if another client changed or deleted it since."""
        try:
            self._observe(await self._write(lease, self._identity, LEASE_DURATION))
        except ApiError as error:
            if error.status not in {404, 409}:
                raise
            return False
        return True

    async def _read(self) -> Resource | None:
        """Reads the Lease; None if it does not exist."""
        lease = await self._client.find(LEASES.path(self._namespace, self._name), timeout=REQUEST_TIMEOUT)
        if lease is not None:
            self._observe(lease)
        return lease

    async def _create(self) -> None:
        now = timestamps.now_micro()
        spec = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": LEASE_DURATION,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 0,
        }
        body = new_lease(self._namespace, self._name, spec)
        self._observe(await self._client.request("POST", LEASES.path(self._namespace), body=body, timeout=REQUEST_TIMEOUT))

    async def _write(self, lease: Resource, holder: str, duration: int) -> Resource:
        """Writes the Lease. The server rejects the write if the Lease changed since it was read."""
        spec, now = dict(lease.get("spec") or {}), timestamps.now_micro()
        if holder and spec.get("holderIdentity") != holder:
            spec |= {"acquireTime": now, "leaseTransitions": int(spec.get("leaseTransitions") or 0) + 1}
        spec |= {"holderIdentity": holder, "leaseDurationSeconds": duration, "renewTime": now}
        path = LEASES.path(self._namespace, self._name)
        return await self._client.request("PUT", path, body={**lease, "spec": spec}, timeout=REQUEST_TIMEOUT)

    def _observe(self, lease: Resource) -> None:
        self._lease = lease
        spec = values.mapping(lease, "spec")
        duration = float(spec.get("leaseDurationSeconds") or LEASE_DURATION)
        observed = LeaseRecord(values.text(spec.get("holderIdentity")), values.text(spec.get("renewTime")), duration)
        if observed != self._observed:
            self._observed, self._observed_time = observed, time.monotonic()

    def _is_free(self) -> bool:
        return self._observed.holder in {"", self._identity} or time.monotonic() >= self._expires()

    def _expires(self) -> float:
        return self._observed_time + self._observed.duration

    def _report(self, problem: str) -> float:
        """Logs a problem once. Ends the process if it lasts too long for a leader."""
        if problem != self._last_problem:
            self._last_problem = problem
            _LOG.warning("the Lease %s/%s cannot be read or written: %s", self._namespace, self._name, problem)
        if self._renew_time is not None and not self.leading():
            abandon(f"the Lease {self._namespace}/{self._name} could not be renewed for {RENEW_DEADLINE:.0f} s: {problem}")
        return 1.0 if self._renew_time is not None else RETRY_PERIOD
