"""Lists the objects of several kinds once, for commands that read a cluster and end. The syncer itself watches."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from krm_fn.cluster.access import Cluster
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import ApiError, Client
from krm_fn.kubernetes.types import Resource

_PAGE = "500"
"""Objects in one answer, as kubectl asks for them."""
_EXPIRED = 410
"""The HTTP status for a page of a list that the server no longer has."""


class ObjectLists(NamedTuple):
    """The objects, a message for each kind that the account may not list, and the kinds that were not listed.

    A kind that the server does not have is not listed either.
    """

    objects: list[Resource]
    problems: list[str]
    unlisted: list[ApiResource]


def read(cluster: Cluster, kinds: Iterable[ApiResource], namespace: str = "") -> ObjectLists:
    """Lists kinds in one namespace, or in all namespaces (""). Raises ApiError, TransportError or ClusterError."""
    return asyncio.run(_read(cluster, list(dict.fromkeys(kinds)), namespace))


async def _read(cluster: Cluster, kinds: list[ApiResource], namespace: str) -> ObjectLists:
    lists = ObjectLists([], [], [])
    async with Client(cluster) as client:
        for kind in kinds:
            try:
                lists.objects.extend(await _list(client, kind, namespace))
            except ApiError as error:
                lists.unlisted.append(kind)
                if error.status == 403:
                    lists.problems.append(f"cannot list {kind.resource}: {error.message}")
                elif error.status != 404:
                    raise
    return lists


async def _list(client: Client, kind: ApiResource, namespace: str) -> list[Resource]:
    """Lists one kind, page by page. Begins again once if the server dropped the rest of the pages."""
    try:
        return await _pages(client, kind, namespace)
    except ApiError as error:
        if error.status != _EXPIRED:
            raise
        return await _pages(client, kind, namespace)


async def _pages(client: Client, kind: ApiResource, namespace: str) -> list[Resource]:
    objects: list[Resource] = []
    parameters = {**kind.selectors(), "limit": _PAGE}
    while True:
        page = await client.request("GET", kind.path(namespace if kind.namespaced else ""), parameters)
        fields = {"apiVersion": page.get("apiVersion"), "kind": kind.kind}  # the items of a list have neither
        objects.extend({**fields, **item} for item in page.get("items") or ())
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return objects
        parameters["continue"] = token
