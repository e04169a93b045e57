"""The versions in which an API server serves Dynamo's kinds. It serves one of two, and which one can change while the syncer runs."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.kube.identity import DYNAMO_GROUP

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from krm_fn.sync.api_resources import ApiResource

SERVED = "*"
"""Stands in the address of a kind for the version that the server serves."""
_KNOWN = ("v1beta1", "v1alpha1")
"""The versions that this program reads and writes. Of two that are served, the first is used, because the other is deprecated."""
_OTHERWISE = "v1alpha1"
"""The version in the address of a kind that the server does not have. The server then says so."""
_PLACE = f"/apis/{DYNAMO_GROUP}/{SERVED}/"

_LOG = logging.getLogger(__name__)


class ServedVersions:
    """The version of each of Dynamo's kinds by its plural name. `get` sends a GET for a path, and returns None for an answer of 404."""

    def __init__(self, get: Callable[[str], Awaitable[dict[str, Any] | None]]) -> None:
        self._get = get
        self._lock = asyncio.Lock()
        self._found: dict[str, str] | None = None
        self._told: dict[str, str] = {}

    def of(self, resource: str) -> str:
        """The version of a kind as the server told it last."""
        return (self._found or self._told).get(resource, _OTHERWISE)

    def version(self, kind: ApiResource) -> str:
        """The version of any kind."""
        return self.of(kind.resource) if kind.version == SERVED else kind.version

    async def path(self, path: str) -> str:
        """A path with the version of its kind in place of `SERVED`. Asks the server for the versions the first time, and after `forget`."""
        if not path.startswith(_PLACE):
            return path
        if self._found is None:
            await self._ask()
        rest = path.removeprefix(_PLACE)
        steps = rest.split("/")
        resource = steps[2] if steps[0] == "namespaces" and len(steps) > 2 else steps[0]
        return f"/apis/{DYNAMO_GROUP}/{self.of(resource)}/{rest}"

    def forget(self) -> None:
        """Asks the server again before the next request: it did not know a path, so its definitions may have changed."""
        self._found = None

    async def _ask(self) -> None:
        async with self._lock:
            if self._found is not None:
                return
            versions: dict[str, str] = {}
            for version in _KNOWN:
                answer = await self._get(f"/apis/{DYNAMO_GROUP}/{version}")
                for resource in values.objects((answer or {}).get("resources")):
                    versions.setdefault(values.text(resource.get("name")), version)
            self._found = versions
            kinds = {name: version for name, version in versions.items() if "/" not in name}
            if kinds != self._told:
                served = ", ".join(f"{name} as {version}" for name, version in sorted(kinds.items()))
                _LOG.info("the server serves %s", served or "no kind of Dynamo")
            self._told = kinds
