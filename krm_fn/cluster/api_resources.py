"""Addresses of kinds in the API, and the versions in which the API server serves the kinds of a group of custom resources.

The server serves one of two versions of such a kind, and which one can change while a client runs.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.types import Resource

SERVED = "*"
"""Version of a kind in the version that the server serves."""
_VERSIONS = ("v1beta1", "v1alpha1")
"""The versions that this program reads and writes. Of two that are served, the first is used, because the other is deprecated."""
_DEFAULT_VERSION = "v1alpha1"
"""The version of a kind that the server does not have. The server answers such a path with 404."""
_PATH = re.compile(rf"/apis/([^/]+)/{re.escape(SERVED)}/(.+)")

_LOG = logging.getLogger(__name__)


class ApiResource(NamedTuple):
    """A kind in the API (Kubernetes: APIResource). `resource` is the plural name in paths; the selectors limit what the server sends.

    `namespaced` is false for a kind whose objects are in no namespace.
    """

    group: str
    version: str
    resource: str
    kind: str
    label_selector: str = ""
    field_selector: str = ""
    namespaced: bool = True

    def path(self, namespace: str = "", name: str = "") -> str:
        """Returns the path of all objects, of those in one namespace, or of one object."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{scope}/{self.resource}{f'/{name}' if name else ''}"

    def selects(self, resource: Resource) -> bool:
        """Returns True if the label selector selects an object. Its terms are KEY, !KEY and KEY=VALUE."""
        own = identity.labels_of(resource)
        for term in filter(None, self.label_selector.split(",")):
            key, has_value, value = term.removeprefix("!").partition("=")
            if (key in own) is term.startswith("!") or (has_value and own.get(key) != value):
                return False
        return True

    def selectors(self) -> dict[str, str]:
        """Returns the selectors as query parameters."""
        parameters = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector}
        return {name: value for name, value in parameters.items() if value}


class ServedVersions:
    """Discovers the version of each kind in `SERVED`, by its plural name. These kinds are of one group, which their paths name.

    `get` sends a GET, and returns None for an answer of 404.
    """

    def __init__(self, get: Callable[[str], Awaitable[dict[str, Any] | None]]) -> None:
        self._get = get
        self._lock = asyncio.Lock()
        self._versions: dict[str, str] | None = None  # None: the next request discovers them
        self._last_kinds: dict[str, str] = {}

    def of(self, resource: str) -> str:
        """Returns the version of a kind as the server last reported it."""
        return (self._versions or self._last_kinds).get(resource, _DEFAULT_VERSION)

    def version(self, kind: ApiResource) -> str:
        """Returns the version of any kind."""
        return self.of(kind.resource) if kind.version == SERVED else kind.version

    async def path(self, path: str) -> str:
        """Returns a path with the version of its kind in place of `SERVED`. Discovers the versions first, once and again after `forget`."""
        served = _PATH.fullmatch(path)
        if not served:
            return path
        group, rest = served.groups()
        if self._versions is None:
            await self._discover(group)
        steps = rest.split("/")
        resource = steps[2] if steps[0] == "namespaces" and len(steps) > 2 else steps[0]
        return f"/apis/{group}/{self.of(resource)}/{rest}"

    def forget(self) -> None:
        """Discovers the versions again before the next request: the server did not know a path, so its definitions may have changed."""
        self._versions = None

    async def _discover(self, group: str) -> None:
        async with self._lock:
            if self._versions is not None:
                return
            versions: dict[str, str] = {}
            for version in _VERSIONS:
                resource_list = await self._get(f"/apis/{group}/{version}")
                for resource in values.objects((resource_list or {}).get("resources")):
                    versions.setdefault(values.text(resource.get("name")), version)
            self._versions = versions
            kinds = {name: version for name, version in versions.items() if "/" not in name}
            if kinds != self._last_kinds:
                served = ", ".join(f"{name} as {version}" for name, version in sorted(kinds.items()))
                _LOG.info("the server serves %s", served or f"no kind of {group}")
            self._last_kinds = kinds
