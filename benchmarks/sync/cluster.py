"""The API server as the measurement uses it: patches Deployments, watches graphs, and counts requests."""

from __future__ import annotations

import contextlib
import json
import re
import ssl
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp

from benchmarks.sync import objects

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from benchmarks.sync.fleet import Workload

GRAPHS = "/apis/nvidia.com/v1alpha1/dynamographdeployments"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_LONGEST_LINE = 2**22  # of a watch
_COUNTED = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Requests(NamedTuple):
    """Numbers of requests to the API server: writes of a graph's status, writes with a conflict, and reads (GET and LIST)."""

    writes: int
    conflicts: int
    reads: int

    def since(self, before: Requests) -> Requests:
        """The requests between two moments."""
        return Requests(self.writes - before.writes, self.conflicts - before.conflicts, self.reads - before.reads)


class Cluster:
    """A connection to the API server of a kubeconfig that `tests.testbed` wrote."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def set_ready(self, workload: Workload, *, ready: bool) -> None:
        """Patches the status of a Deployment; returns when the whole response has arrived."""
        path = f"/apis/apps/v1/namespaces/{workload.namespace}/deployments/{workload.deployment}/status"
        body = json.dumps({"status": objects.deployment_status(ready=ready)})
        async with self._session.patch(path, data=body, headers=_MERGE) as response:
            text = await response.read()
            if response.status != 200:
                raise OSError(text.decode())

    async def graphs(self) -> tuple[list[dict[str, Any]], str]:
        """All graphs, and the resourceVersion to watch from."""
        async with self._session.get(GRAPHS, raise_for_status=True) as response:
            listed = json.loads(await response.read())
        return listed["items"], listed["metadata"]["resourceVersion"]

    async def watch(self, version: str) -> AsyncIterator[bytes]:
        """The lines of a watch of all graphs after a resourceVersion."""
        asked = {"watch": "1", "resourceVersion": version, "timeoutSeconds": "7200"}
        async with self._session.get(GRAPHS, params=asked, raise_for_status=True) as response:
            async for line in response.content:
                yield line

    async def requests(self) -> Requests:
        """Reads the request counters of the API server since its start."""
        async with self._session.get("/metrics", raise_for_status=True) as response:
            return _requests(await response.text())


@contextlib.asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Cluster]:
    """A cluster, until the block ends."""
    place, user = _read(kubeconfig)
    trust = ssl.create_default_context(cafile=place["certificate-authority"])
    async with aiohttp.ClientSession(
        place["server"],
        connector=aiohttp.TCPConnector(ssl=trust, limit=0),
        headers={"Authorization": f"Bearer {user['token']}"},
        timeout=aiohttp.ClientTimeout(total=None),
        read_bufsize=_LONGEST_LINE,
    ) as session:
        yield Cluster(session)


def _read(kubeconfig: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The cluster and the user of a kubeconfig of the test bed, which is JSON."""
    config = json.loads(kubeconfig.read_text())
    return config["clusters"][0]["cluster"], config["users"][0]["user"]


def _requests(metrics: str) -> Requests:
    counts: Counter[str] = Counter()
    for labels, value in _COUNTED.findall(metrics):
        label = dict(_LABEL.findall(labels))
        if label["verb"] in {"PATCH", "PUT", "APPLY"} and (label["resource"], label["subresource"]) == ("dynamographdeployments", "status"):
            counts["writes"] += int(float(value))
            counts["conflicts"] += int(float(value)) if label["code"] == "409" else 0
        elif label["verb"] in {"GET", "LIST"} and label["resource"] in {"dynamographdeployments", "deployments"}:
            counts["reads"] += int(float(value))
    return Requests(counts["writes"], counts["conflicts"], counts["reads"])
