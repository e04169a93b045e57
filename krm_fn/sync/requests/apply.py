"""Creates a graph and its objects in the cluster, in an order that a crash at any moment cannot confuse.

First the graph without its annotation `workloads`, because the other objects need its uid for their owner references. Last the graph with
the annotation, which says that nothing is missing. An object that exists is never changed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, labels, values
from krm_fn.records import NamedTuple
from krm_fn.sync import logs
from krm_fn.sync.client import JSON_PATCH
from krm_fn.sync.kinds import Kind
from krm_fn.sync.writer import Retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.sync.writer import Outcome, Writer

SOON = 5.0
"""Seconds until an object is looked at again that Kubernetes is about to delete."""
LATER = 60.0
"""Seconds until a graph is looked at again that only a person can complete."""
_UNKNOWN = "404 page not found"
"""What an API server says about a kind that it does not have."""
_CLAIM = "PersistentVolumeClaim"
_MARKS = (labels.REQUEST_NAME, labels.REQUEST_NAMESPACE)

_LOG = logging.getLogger(__name__)


class Applied(NamedTuple):
    """What became of a graph.

    `graph` is the graph as the server has it, if it is complete or somebody else's. `refused` names an object that is somebody else's and
    is in the way, `problem` says why the server does not take an object. After either, the next attempt makes sense after `pause` seconds
    at the latest.
    """

    graph: Resource | None = None
    refused: str = ""
    problem: str = ""
    pause: float = LATER


class _StopError(Exception):
    """The graph cannot be completed now."""

    def __init__(self, applied: Applied) -> None:
        super().__init__(applied.refused or applied.problem)
        self.applied = applied


class Applier:
    """Applies graphs. `retain_volumes`: the claims of a graph stay when the graph is deleted."""

    def __init__(self, writer: Writer, *, retain_volumes: bool = True) -> None:
        self._writer = writer
        self._retain_volumes = retain_volumes

    async def apply(self, graph: Resource, objects: Sequence[Resource]) -> Applied:
        """Creates a graph and its objects, or those that are missing after an attempt that did not end. `graph` is rendered.

        Raises Retry.
        """
        try:
            live = await self._begin(graph)
            if _complete(live) or not _same_request(live, graph):
                return Applied(live)
            for each in objects:
                await self._put(each, live)
            return Applied(await self._finish(graph, live))
        except _StopError as stop:
            return stop.applied

    async def _begin(self, graph: Resource) -> Resource:
        """The graph in the cluster; creates it without the annotation `workloads` if it does not exist."""
        live = await self._found(graph)
        if live is None:
            annotations = {key: value for key, value in labels.notes(graph).items() if key != labels.WORKLOADS}
            return await self._written({**graph, "metadata": {**graph["metadata"], "annotations": annotations}})
        _leaving(live)
        return live

    async def _finish(self, graph: Resource, live: Resource) -> Resource:
        """Writes the annotation `workloads`. Raises Retry if the graph was deleted in the meantime, or created again."""
        same = {**graph, "metadata": {**graph["metadata"], "uid": live["metadata"]["uid"]}}
        outcome = await self._writer.apply(kind_of(same), identity.key(same), same)
        if outcome.result == "invalid" and "metadata.uid" in outcome.message:
            raise Retry(outcome.message)
        return _answer(same, outcome)

    async def _put(self, wanted: Resource, graph: Resource) -> None:
        """Creates one object of a graph, unless the graph has it or shares it."""
        live, owner = await self._found(wanted), _reference(graph)
        owned = not (self._retain_volumes and wanted["kind"] == _CLAIM)
        if live is None:
            metadata = wanted["metadata"] | ({"ownerReferences": [owner]} if owned else {})
            await self._written({**wanted, "metadata": metadata})
        elif not any(each.get("uid") == owner["uid"] for each in _owners(live)):
            _leaving(live)
            _former(live, owner)
            _shared(live, wanted)
            if owned and _owners(live):
                await self._join(live, owner)

    async def _join(self, live: Resource, owner: dict[str, Any]) -> None:
        """Adds the graph to the owners of an object that it shares with others, so that the object stays until the last one is deleted."""
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}
        body = [version, {"op": "add", "path": "/metadata/ownerReferences/-", "value": owner}]
        _answer(live, await self._writer.patch(kind_of(live), identity.key(live), body, content_type=JSON_PATCH))

    async def _found(self, resource: Resource) -> Resource | None:
        outcome = await self._writer.find(kind_of(resource), identity.key(resource))
        if outcome.result == "gone":
            return None
        live = _answer(resource, outcome)
        return {**live, "apiVersion": resource["apiVersion"], "kind": resource["kind"]}

    async def _written(self, resource: Resource) -> Resource:
        answer = _answer(resource, await self._writer.apply(kind_of(resource), identity.key(resource), resource))
        key = identity.key(resource)
        _LOG.debug("applied", extra=logs.about(kind=key.kind, namespace=key.namespace, name=key.name))
        return answer


def kind_of(resource: Resource) -> Kind:
    """The kind of an object that a graph expands to, as the API server addresses it."""
    group, _, version = resource["apiVersion"].rpartition("/")
    plural = resource["kind"].lower()
    return Kind(group, version, f"{plural}es" if plural.endswith("s") else f"{plural}s", resource["kind"])


def _answer(about: Resource, outcome: Outcome) -> Resource:
    """The object in an answer. Raises _StopError if the server refused the request."""
    if outcome.resource is not None:
        return outcome.resource
    said = outcome.message.strip()
    if said == _UNKNOWN:
        said = f"the cluster has no {about['kind']} of {about['apiVersion']}; install its definition"
    raise _StopError(Applied(problem=f"{_named(about)} cannot be created: {said}", pause=outcome.pause or LATER))


def _leaving(live: Resource) -> None:
    """Raises _StopError for an object that is being deleted."""
    if "deletionTimestamp" in live["metadata"]:
        raise _StopError(Applied(problem=f"{_named(live)} is being deleted", pause=SOON))


def _former(live: Resource, owner: dict[str, Any]) -> None:
    """Raises _StopError for an object of an earlier graph of the same name, which Kubernetes deletes soon."""
    if any(all(each.get(field) == owner[field] for field in ("kind", "name")) for each in _owners(live)):
        raise _StopError(Applied(problem=f"{_named(live)} of an earlier {owner['kind']} {owner['name']} is not deleted yet", pause=SOON))


def _shared(live: Resource, wanted: Resource) -> None:
    """Raises _StopError for an object that is somebody else's.

    Graphs share an object if it is the same in all of them, with the same marks: an account, or the Service of a model. So the claims of an
    earlier graph are used again, too.
    """
    metadata = {"labels": labels.of(wanted), "annotations": {k: v for k, v in labels.notes(wanted).items() if k != labels.OWNER}}
    if not _covers(live, {**wanted, "metadata": metadata}):
        said = f"{_named(live)} exists and is not the one that the graph needs; delete or rename it, or use another namespace"
        raise _StopError(Applied(refused=said))


def _covers(live: Any, wanted: Any) -> bool:
    """True if an object has all fields of another one. The server may have added fields."""
    if isinstance(wanted, dict):
        found = live if isinstance(live, dict) else {}
        return all(_covers(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(live, list) and len(live) == len(wanted) and all(map(_covers, live, wanted))
    return bool(live == wanted)


def _complete(live: Resource) -> bool:
    return labels.WORKLOADS in labels.notes(live)


def _same_request(live: Resource, graph: Resource) -> bool:
    """True if a graph in the cluster comes from the same request."""
    return all(labels.of(live).get(mark) == labels.of(graph).get(mark) for mark in _MARKS)


def _owners(live: Resource) -> list[dict[str, Any]]:
    return values.objects(live["metadata"].get("ownerReferences"))


def _reference(graph: Resource) -> dict[str, Any]:
    metadata = graph["metadata"]
    return {"apiVersion": graph["apiVersion"], "kind": graph["kind"], "name": metadata["name"], "uid": metadata["uid"]}


def _named(resource: Resource) -> str:
    return f"{resource['kind']} {resource['metadata']['name']}"
