"""The Lease `dynamo-operator-namespace-scope`: its holder serves the namespace alone (operator: `internal/namespace_scope`).

`NamespaceLeases` watches the Leases of others: the syncer skips a namespace while another holder's Lease is valid. `HeldNamespaces` holds
the Lease in namespaces of this syncer, which keeps a cluster-wide Dynamo operator out.

The clocks of two machines are never compared, as in client-go's leader election: a Lease is valid for its duration after the last observed
renewal.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import krm_fn
from krm_fn.cluster import timestamps
from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.client import ApiError, Client
from krm_fn.cluster.informer import Store
from krm_fn.cluster.leader_election import LEASES, new_lease
from krm_fn.cluster.reflector import Listener
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.syncer.status import live_fields

NAME = dynamo_api.NAMESPACE_LEASE
KIND = LEASES._replace(field_selector=f"metadata.name={NAME}")
LEASE_DURATION = 30
"""Seconds, as in the operator."""
RENEW_PERIOD = 10.0
_FAILURE_LIMIT = LEASE_DURATION // int(RENEW_PERIOD) - 1
"""Failures in a row after which the process ends, as in the operator."""
HANDOVER = 10
"""Seconds that the Lease of a stopping leader stays valid, so that the next leader can take it over without a gap."""
_RELEASE_TIMEOUT = 5.0
_REFUSAL_LIMIT = 3
"""Answers of 403 in a row after which the right counts as missing. A server that just started forbids everything for a moment."""
_PROGRAM = "krm-fn"

_LOG = logging.getLogger(__name__)


def identity(installation: str) -> str:
    """Returns the holder in our namespace Leases: program, version, and the installation whose replicas share the Lease."""
    return f"{_PROGRAM} {krm_fn.__version__} {installation}"


def is_ours(holder: str, installation: str) -> bool:
    """Returns True for a holder of this installation, in any version."""
    words = holder.split(" ")
    return len(words) == 3 and words[0] == _PROGRAM and words[2] == installation


class NamespaceLease(NamedTuple):
    """The fields of a namespace Lease. Each renewal changes `renewed`. A Lease without one of its times has a duration of 0 seconds."""

    holder: str = ""
    renewed: str = ""
    duration: int = 0


def read(lease: Resource) -> NamespaceLease:
    """Reads the fields of a Lease."""
    spec = values.mapping(lease, "spec")
    renewed, duration = spec.get("renewTime"), live_fields.whole_number(spec.get("leaseDurationSeconds"))
    is_timed = timestamps.parse(renewed) is not None and duration is not None
    return NamespaceLease(values.text(spec.get("holderIdentity")), values.text(renewed), duration or 0 if is_timed else 0)


class NamespaceLeases(Listener):
    """Namespace Leases of other holders. Calls `freed(namespace)` when a namespace has no valid Lease any more, also when a Lease expires.

    It listens to the reflectors of the Leases, and passes their events on to `listener`. `forbidden` is set once the server refuses to list
    the Leases: they need a right of their own, and without it the syncer serves every namespace.
    """

    def __init__(self, installation: str, freed: Callable[[str], None], listener: Listener) -> None:
        self.store: Store[NamespaceLease] = Store("Lease")
        self.forbidden = asyncio.Event()
        self._installation = installation
        self._freed = freed
        self._listener = listener
        self._refusals = 0
        self._excluded: dict[str, str] = {}
        self._valid_until: dict[str, float] = {}  # by namespace, in monotonic seconds
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def restarted(self, kind: str, reason: str) -> None:
        """Counts the end of a watch."""
        self._listener.restarted(kind, reason)
        self._refusals = self._refusals + 1 if reason == "forbidden" else 0
        if self._refusals >= _REFUSAL_LIMIT and not self.forbidden.is_set():
            self.forbidden.set()
            _LOG.warning("the Leases %s cannot be read: namespaces with another holder are served, too", NAME)

    def relisted(self, kind: str) -> None:
        """Records a complete list."""
        self._listener.relisted(kind)
        self.forbidden.clear()

    def rejected(self, kind: str) -> None:
        """Counts a Lease in a namespace of another member."""
        self._listener.rejected(kind)

    def is_excluded(self, namespace: str) -> bool:
        """Returns True if another holder has a valid Lease in the namespace."""
        lease = self._lease(namespace)
        return (
            lease is not None and not is_ours(lease.holder, self._installation) and time.monotonic() < self._valid_until.get(namespace, 0.0)
        )

    def changed(self, key: ObjectKey, _before: NamespaceLease | None, after: NamespaceLease | None) -> None:
        """Handles a new, renewed or deleted Lease."""
        if after is None:
            self._valid_until.pop(key.namespace, None)
        else:
            self._valid_until[key.namespace] = time.monotonic() + after.duration
        self._update(key.namespace)

    def _lease(self, namespace: str) -> NamespaceLease | None:
        return self.store.get(ObjectKey(LEASES.group, LEASES.kind, namespace, NAME))

    def _update(self, namespace: str) -> None:
        timer = self._timers.pop(namespace, None)
        if timer:
            timer.cancel()
        lease = self._lease(namespace)
        if lease is not None and self.is_excluded(namespace):
            if self._excluded.get(namespace) != lease.holder:
                _LOG.info("namespace %s is left to %r, which holds the Lease %s", namespace, lease.holder, NAME)
            self._excluded[namespace] = lease.holder
            delay = max(0.0, self._valid_until[namespace] - time.monotonic()) + 0.05
            self._timers[namespace] = asyncio.get_running_loop().call_later(delay, self._update, namespace)
        elif self._excluded.pop(namespace, None) is not None:
            _LOG.info("namespace %s is served again: the Lease %s is gone or expired", namespace, NAME)
            self._freed(namespace)


class NamespaceLeaseError(Exception):
    """A namespace Lease of this syncer could not be written. The message names the namespace and the reason."""


class HeldNamespaces:
    """Namespace Leases that this syncer holds, for namespaces that it serves alone. `owns(namespace)` is false while a peer serves it."""

    def __init__(self, client: Client, namespaces: Iterable[str], installation: str, owns: Callable[[str], bool] = lambda _: True) -> None:
        self._client = client
        self._namespaces = tuple(namespaces)
        self._installation = installation
        self._identity = identity(installation)
        self._acquired: set[str] = set()
        self._owns = owns
        self._moved = asyncio.Event()

    async def run(self) -> None:
        """Writes the Leases now and every 10 s until the task is cancelled.

        Without namespaces it does nothing. Raises NamespaceLeaseError if the first write fails, and if a Lease could not be renewed twice:
        then a cluster-wide operator may serve the namespace.
        """
        failures = dict.fromkeys(self._namespaces, _FAILURE_LIMIT - 1)  # the first write must succeed
        while self._namespaces:
            began = time.monotonic()
            self._moved.clear()
            await asyncio.gather(*(self._renew(namespace, failures) for namespace in self._namespaces if self._owns(namespace)))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(began + RENEW_PERIOD - time.monotonic()):
                    await self._moved.wait()

    def move(self) -> None:
        """Writes the Leases of namespaces that this process has gained at once."""
        self._moved.set()

    async def _renew(self, namespace: str, failures: dict[str, int]) -> None:
        try:
            async with asyncio.timeout(RENEW_PERIOD):
                await self._write(namespace, LEASE_DURATION)
        except (ApiError, ConnectionError, ClusterError, TimeoutError) as error:
            failures[namespace] += 1
            reason = str(error) or "the API server did not answer in time"
            if failures[namespace] >= _FAILURE_LIMIT:
                raise NamespaceLeaseError(f"the Lease {namespace}/{NAME} cannot be held: {reason}") from error
            _LOG.warning("the Lease %s/%s could not be renewed: %s", namespace, NAME, reason)
        else:
            failures[namespace] = 0

    async def release(self, *, successor: bool) -> None:
        """Releases the Leases that this syncer still holds. `successor` is true if another replica may take them over.

        A Lease that cannot be released in five seconds expires by itself.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_RELEASE_TIMEOUT):
                await asyncio.gather(*(self._release(namespace, successor) for namespace in sorted(filter(self._owns, self._acquired))))

    async def _release(self, namespace: str, successor: bool) -> None:
        path = LEASES.path(namespace, NAME)
        try:
            lease = await self._client.find(path)
            if lease is None or not is_ours(read(lease).holder, self._installation):
                return
            if successor:
                await self._put(lease, HANDOVER)
            else:
                await self._client.request(
                    "DELETE", path, body={"preconditions": {"resourceVersion": lease["metadata"]["resourceVersion"]}}
                )
        except (ApiError, ConnectionError, ClusterError) as error:
            if not (isinstance(error, ApiError) and error.status == 404):
                _LOG.warning("the Lease %s/%s could not be given up, it expires by itself: %s", namespace, NAME, error)

    async def _write(self, namespace: str, duration: int) -> None:
        """Creates the Lease, or overwrites that of any holder, as the operator does."""
        lease = await self._client.find(LEASES.path(namespace, NAME))
        if lease is None:
            spec = self._spec(duration)
            body = new_lease(namespace, NAME, {**spec, "acquireTime": spec["renewTime"]})
            await self._client.request("POST", LEASES.path(namespace), body=body)
        else:
            holder = read(lease).holder
            if holder and not is_ours(holder, self._installation):
                _LOG.warning("took the Lease %s/%s from %r", namespace, NAME, holder)
            await self._put(lease, duration)
        if namespace not in self._acquired:
            self._acquired.add(namespace)
            _LOG.info("hold namespace %s: a cluster-wide Dynamo operator leaves it alone", namespace)

    async def _put(self, lease: Resource, duration: int) -> None:
        body = {**lease, "spec": {**(lease.get("spec") or {}), **self._spec(duration)}}
        await self._client.request("PUT", LEASES.path(lease["metadata"]["namespace"], NAME), body=body)

    def _spec(self, duration: int) -> dict[str, Any]:
        return {"holderIdentity": self._identity, "leaseDurationSeconds": duration, "renewTime": timestamps.now_micro()}
