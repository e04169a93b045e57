"""Creates a graph and its objects in the cluster, in an order that a crash at any moment cannot confuse.

It first creates the graph without its annotation `workloads`, because the other objects need its uid for their owner references. It writes
the annotation last: a graph with the annotation is complete. An object that exists is never changed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.cluster import logs
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import JSON_PATCH
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.writer import Retry, Writer, WriteResult

DELETION_RETRY = 5.0
"""Seconds until the next attempt while Kubernetes deletes an object."""
LAST_RETRY = 60.0
"""Seconds until the next attempt for a graph that only a person can complete."""
_UNKNOWN = "404 page not found"
"""The message of an API server about a kind that it does not have."""
_VOLUME_CLAIM = "PersistentVolumeClaim"
_REQUEST_LABELS = (labels.REQUEST_NAME, labels.REQUEST_NAMESPACE)

_LOG = logging.getLogger(__name__)


class AppliedGraph(NamedTuple):
    """The result of an attempt.

    `graph` is the graph as the server has it, if it is complete or another program's. `rejected` names an object of another program that is
    in the way, `problem` is the reason why the server rejects an object. After either, the next attempt makes sense after `pause` seconds
    at the latest.
    """

    graph: Resource | None = None
    rejected: str = ""
    problem: str = ""
    pause: float = LAST_RETRY


class _StoppedError(Exception):
    """Ends an attempt that cannot complete the graph."""

    def __init__(self, applied: AppliedGraph) -> None:
        super().__init__(applied.rejected or applied.problem)
        self.applied = applied


class GraphApplier:
    """Applies graphs. With `retain_volumes`, the PersistentVolumeClaims of a graph stay when the graph is deleted."""

    def __init__(self, writer: Writer, *, retain_volumes: bool = True) -> None:
        self._writer = writer
        self._retain_volumes = retain_volumes

    async def apply(self, graph: Resource, objects: Sequence[Resource]) -> AppliedGraph:
        """Creates a graph and its objects, or those that are missing after an interrupted attempt. `graph` is rendered.

        Raises Retry.
        """
        try:
            live = await self._create_graph(graph)
            if _complete(live) or not _same_request(live, graph):
                return AppliedGraph(live)
            for resource in objects:
                await self._ensure(resource, live)
            return AppliedGraph(await self._write_annotation(graph, live))
        except _StoppedError as stop:
            return stop.applied

    async def _create_graph(self, graph: Resource) -> Resource:
        """Returns the graph in the cluster; creates it without the annotation `workloads` if it does not exist."""
        live = await self._find(graph)
        if live is None:
            annotations = {key: value for key, value in labels.annotations(graph).items() if key != labels.WORKLOADS}
            return await self._create({**graph, "metadata": {**graph["metadata"], "annotations": annotations}})
        _require_alive(live)
        return live

    async def _write_annotation(self, graph: Resource, live: Resource) -> Resource:
        """Writes the annotation `workloads`. Raises Retry if the graph was deleted in the meantime, or created again."""
        same = {**graph, "metadata": {**graph["metadata"], "uid": live["metadata"]["uid"]}}
        result = await self._writer.apply(kind_of(same), identity.key(same), same)
        if result.result == "invalid" and "metadata.uid" in result.message:
            raise Retry(result.message)
        return _answer(same, result)

    async def _ensure(self, desired: Resource, graph: Resource) -> None:
        """Creates one object of a graph, unless the graph has it or shares it."""
        live, owner = await self._find(desired), _reference(graph)
        owned = not (self._retain_volumes and desired["kind"] == _VOLUME_CLAIM)
        if live is None:
            metadata = desired["metadata"] | ({"ownerReferences": [owner]} if owned else {})
            await self._create({**desired, "metadata": metadata})
        elif not any(reference.get("uid") == owner["uid"] for reference in _owners(live)):
            _require_alive(live)
            _require_present_owner(live, owner)
            _require_shareable(live, desired)
            if owned and _owners(live):
                await self._join(live, owner)

    async def _join(self, live: Resource, owner: dict[str, Any]) -> None:
        """Adds the graph to the owners of an object that it shares with others, so that the object stays until the last one is deleted."""
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}
        body = [version, {"op": "add", "path": "/metadata/ownerReferences/-", "value": owner}]
        _answer(live, await self._writer.patch(kind_of(live), identity.key(live), body, content_type=JSON_PATCH))

    async def _find(self, resource: Resource) -> Resource | None:
        result = await self._writer.find(kind_of(resource), identity.key(resource))
        if result.result == "gone":
            return None
        live = _answer(resource, result)
        return {**live, "apiVersion": resource["apiVersion"], "kind": resource["kind"]}

    async def _create(self, resource: Resource) -> Resource:
        answer = _answer(resource, await self._writer.apply(kind_of(resource), identity.key(resource), resource))
        key = identity.key(resource)
        _LOG.debug("applied", extra=logs.about(kind=key.kind, namespace=key.namespace, name=key.name))
        return answer


def kind_of(resource: Resource) -> ApiResource:
    """Returns the kind of an object that a graph expands to, as the API server addresses it."""
    group, _, version = resource["apiVersion"].rpartition("/")
    plural = resource["kind"].lower()
    return ApiResource(group, version, f"{plural}es" if plural.endswith("s") else f"{plural}s", resource["kind"])


def _answer(resource: Resource, result: WriteResult) -> Resource:
    """Returns the object in an answer. Raises _StoppedError if the server rejected the request."""
    if result.resource is not None:
        return result.resource
    message = result.message.strip()
    if message == _UNKNOWN:
        message = f"the cluster has no {resource['kind']} of {resource['apiVersion']}; install its definition"
    raise _StoppedError(AppliedGraph(problem=f"{_name(resource)} cannot be created: {message}", pause=result.pause or LAST_RETRY))


def _require_alive(live: Resource) -> None:
    """Raises _StoppedError for an object that is being deleted."""
    if "deletionTimestamp" in live["metadata"]:
        raise _StoppedError(AppliedGraph(problem=f"{_name(live)} is being deleted", pause=DELETION_RETRY))


def _require_present_owner(live: Resource, owner: dict[str, Any]) -> None:
    """Raises _StoppedError for an object of an earlier graph of the same name, which Kubernetes deletes soon."""
    if any(all(reference.get(field) == owner[field] for field in ("kind", "name")) for reference in _owners(live)):
        raise _StoppedError(
            AppliedGraph(problem=f"{_name(live)} of an earlier {owner['kind']} {owner['name']} is not deleted yet", pause=DELETION_RETRY)
        )


def _require_shareable(live: Resource, desired: Resource) -> None:
    """Raises _StoppedError for an object of another program.

    Graphs share an object if it is the same in all of them, with the same labels and annotations: an account, or the Service of a model. So
    the PersistentVolumeClaims of an earlier graph are used again, too.
    """
    metadata = {"labels": labels.of(desired), "annotations": {k: v for k, v in labels.annotations(desired).items() if k != labels.OWNER}}
    if not _covers(live, {**desired, "metadata": metadata}):
        message = f"{_name(live)} exists and is not the one that the graph needs; delete or rename it, or use another namespace"
        raise _StoppedError(AppliedGraph(rejected=message))


def _covers(live: Any, desired: Any) -> bool:
    """Returns True if an object has all fields of another one. The server may have added fields."""
    if isinstance(desired, dict):
        fields = live if isinstance(live, dict) else {}
        return all(_covers(fields.get(key), value) for key, value in desired.items())
    if isinstance(desired, list):
        return isinstance(live, list) and len(live) == len(desired) and all(map(_covers, live, desired))
    return bool(live == desired)


def _complete(live: Resource) -> bool:
    return labels.WORKLOADS in labels.annotations(live)


def _same_request(live: Resource, graph: Resource) -> bool:
    """Returns True if a graph in the cluster comes from the same request."""
    return all(labels.of(live).get(label) == labels.of(graph).get(label) for label in _REQUEST_LABELS)


def _owners(live: Resource) -> list[dict[str, Any]]:
    return values.objects(live["metadata"].get("ownerReferences"))


def _reference(graph: Resource) -> dict[str, Any]:
    metadata = graph["metadata"]
    return {"apiVersion": graph["apiVersion"], "kind": graph["kind"], "name": metadata["name"], "uid": metadata["uid"]}


def _name(resource: Resource) -> str:
    return f"{resource['kind']} {resource['metadata']['name']}"
