"""Leader election by a Lease, as client-go does it: of several replicas one writes, and the others keep their caches warm.

The clocks of two machines are never compared: a follower measures how long it has not seen the Lease change.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from typing import TYPE_CHECKING, Any

from krm_fn.sync import timestamps
from krm_fn.sync.access.cluster_access import ClusterError
from krm_fn.sync.api_resources import ApiResource
from krm_fn.sync.client import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from krm_fn.kube.types import Resource
    from krm_fn.sync.client import Client

LEASES = ApiResource("coordination.k8s.io", "v1", "leases", "Lease")
NAME = "krm-fn-sync"
DURATION = 15
"""Seconds without a renewal after which another replica takes over."""
DEADLINE = 10.0
"""Seconds without a renewal after which the leader ends its process."""
RETRY = 2.0
"""Seconds between two attempts to take or to renew the Lease."""
REFUSED = 30.0
"""Seconds until a follower that may not use the Lease tries again."""
ATTEMPT = 4.0
"""Seconds that one request may take: after a lost connection, a leader has time for a second one before `DEADLINE`."""
_RELEASE = 2.0

_LOG = logging.getLogger(__name__)


def abandon(why: str) -> NoReturn:
    """Ends the process at once, so that nothing is written any more."""
    _LOG.error("%s; this process ends at once", why)
    logging.shutdown()
    os._exit(1)


class LeaderElector:
    """One replica's part in the election. `elected` is called each time this replica becomes the leader."""

    def __init__(self, client: Client, namespace: str, name: str, identity: str, elected: Callable[[], None]) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._elected = elected
        self._lease: Resource | None = None
        self._seen: tuple[Any, ...] = ()
        self._changed = 0.0  # monotonic time of the last change of the Lease that this replica saw
        self._renewed: float | None = None  # monotonic time before the last renewal; None: not the leader
        self._said = ""

    def leading(self) -> bool:
        """True while no other replica can be the leader. A process that was paused for too long gets False."""
        return self._renewed is not None and time.monotonic() - self._renewed < DEADLINE

    async def run(self) -> None:
        """Takes and renews the Lease until the task is cancelled. Ends the process if the leader cannot renew it in time."""
        while True:
            try:
                pause = await self._turn()
            except TimeoutError:
                pause = self._report("the API server did not answer in time")
            except ApiError as error:
                pause = self._report(f"the API server answered {error}")
                if self._renewed is None and error.status in {401, 403}:
                    pause = REFUSED
            except (ConnectionError, ClusterError) as error:
                pause = self._report(str(error))
            await asyncio.sleep(pause)

    async def release(self) -> None:
        """Gives the Lease back, so that another replica takes over within two seconds. Call it after `run` was cancelled."""
        if self._renewed is None:
            return
        self._renewed = None
        with contextlib.suppress(ApiError, ConnectionError, ClusterError, TimeoutError):
            async with asyncio.timeout(_RELEASE):
                await self._give_up()

    async def _give_up(self) -> None:
        """Reads the Lease first: `run` may have been cancelled between a renewal and its answer."""
        lease = await self._read()
        if lease is not None and self._seen[0] == self._identity:
            await self._write(lease, "", 1)
            _LOG.info("released the Lease %s/%s", self._namespace, self._name)

    async def _turn(self) -> float:
        """One attempt; returns the seconds until the next."""
        began = time.monotonic()
        left = DEADLINE if self._renewed is None else max(0.0, self._renewed + DEADLINE - began)
        async with asyncio.timeout(left):
            held = await self._take()
        self._said = ""
        if held:
            first, self._renewed = self._renewed is None, began
            if first:
                _LOG.info("this replica is the leader: it holds the Lease %s/%s as %r", self._namespace, self._name, self._identity)
                self._elected()
            return RETRY
        if self._renewed is not None:
            abandon(f"the Lease {self._namespace}/{self._name} went to {self._seen[0]!r}")
        return min(RETRY, max(0.0, self._expires() - time.monotonic()) + 0.01)

    async def _take(self) -> bool:
        """Takes or renews the Lease. False if another replica holds it. Raises ApiError, also for a conflict while this replica leads."""
        if self._renewed is not None and self._lease is not None and await self._renew(self._lease):
            return True
        try:
            lease = await self._read()
            if lease is None:
                await self._create()
            elif not self._is_free():
                return False
            else:
                self._see(await self._write(lease, self._identity, DURATION))
        except ApiError as error:
            if error.status != 409 or self._renewed is not None:
                raise
            return False
        return True

    async def _renew(self, lease: Resource) -> bool:
        """Renews the Lease as this replica knows it. False if somebody changed or deleted it since."""
        try:
            self._see(await self._write(lease, self._identity, DURATION))
        except ApiError as error:
            if error.status not in {404, 409}:
                raise
            return False
        return True

    async def _read(self) -> Resource | None:
        """Reads the Lease. None if it does not exist."""
        try:
            lease = await self._client.request("GET", LEASES.path(self._namespace, self._name), timeout=ATTEMPT)
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        self._see(lease)
        return lease

    async def _create(self) -> None:
        now = timestamps.now_micro()
        spec = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": DURATION,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 0,
        }
        metadata = {"name": self._name, "namespace": self._namespace}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        self._see(await self._client.request("POST", LEASES.path(self._namespace), body=body, timeout=ATTEMPT))

    async def _write(self, lease: Resource, holder: str, duration: int) -> Resource:
        """Writes the Lease if nobody changed it since it was read."""
        spec, now = dict(lease.get("spec") or {}), timestamps.now_micro()
        if holder and spec.get("holderIdentity") != holder:
            spec |= {"acquireTime": now, "leaseTransitions": int(spec.get("leaseTransitions") or 0) + 1}
        spec |= {"holderIdentity": holder, "leaseDurationSeconds": duration, "renewTime": now}
        path = LEASES.path(self._namespace, self._name)
        return await self._client.request("PUT", path, body={**lease, "spec": spec}, timeout=ATTEMPT)

    def _see(self, lease: Resource) -> None:
        self._lease = lease
        spec = lease.get("spec") or {}
        seen = (spec.get("holderIdentity") or "", spec.get("renewTime"), spec.get("leaseDurationSeconds"))
        if seen != self._seen:
            self._seen, self._changed = seen, time.monotonic()

    def _is_free(self) -> bool:
        return self._seen[0] in {"", self._identity} or time.monotonic() >= self._expires()

    def _expires(self) -> float:
        return self._changed + float(self._seen[2] or DURATION) if self._seen else 0.0

    def _report(self, problem: str) -> float:
        """Logs a problem once. Ends the process if it lasts too long for a leader."""
        if problem != self._said:
            self._said = problem
            _LOG.warning("the Lease %s/%s cannot be read or written: %s", self._namespace, self._name, problem)
        if self._renewed is not None and not self.leading():
            abandon(f"the Lease {self._namespace}/{self._name} could not be renewed for {DEADLINE:.0f} s: {problem}")
        return 1.0 if self._renewed is not None else RETRY
