"""Reads single objects of a cluster, for commands that ask once and end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from krm_fn.sync.client import ApiError, Client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.sync.access.cluster import Cluster


def objects(cluster: Cluster, paths: Sequence[str]) -> list[Resource]:
    """The objects at paths of the API. An object that does not exist is left out.

    Raises ApiError, TransportError or ClusterError.
    """
    return [each for each in asyncio.run(_objects(cluster, paths)) if each]


async def _objects(cluster: Cluster, paths: Sequence[str]) -> list[Resource | None]:
    async with Client(cluster) as client:
        return [await _object(client, path) for path in paths]


async def _object(client: Client, path: str) -> Resource | None:
    try:
        return await client.request("GET", path)
    except ApiError as problem:
        if problem.status == 404:
            return None
        raise
