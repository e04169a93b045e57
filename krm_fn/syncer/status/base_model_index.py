"""Indexes by the hash of a base model: models, EndpointSlices, and the graphs and components that serve it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, names
from krm_fn.syncer.status import cached_model, cached_object, model_endpoints
from krm_fn.syncer.status.cached_model import CachedModel
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.model_endpoints import ModelSlice
from krm_fn.syncer.status.replica_status import ReplicaStatus

V = TypeVar("V")


class _HashIndex(Generic[V]):
    """Indexes values by namespace and hash of a base model. A value may have several hashes."""

    def __init__(self) -> None:
        self._hashes: dict[ObjectKey, frozenset[str]] = {}
        self._values: dict[tuple[str, str], dict[ObjectKey, V]] = {}

    def put(self, key: ObjectKey, hashes: Iterable[str], value: V) -> None:
        """Adds a value, or replaces the one with the same key."""
        self.drop(key)
        if chosen := frozenset(hashes):
            self._hashes[key] = chosen
            for hash_ in chosen:
                self._values.setdefault((key.namespace, hash_), {})[key] = value

    def drop(self, key: ObjectKey) -> None:
        """Removes a value, if there is one."""
        for hash_ in self._hashes.pop(key, ()):
            namespaced = (key.namespace, hash_)
            del self._values[namespaced][key]
            if not self._values[namespaced]:
                del self._values[namespaced]

    def get(self, namespace: str, hash_: str) -> list[V]:
        """Returns the values with a hash."""
        return list(self._values.get((namespace, hash_), {}).values())


class _Server(NamedTuple):
    """A graph or a component, and the base models that it serves."""

    key: ObjectKey
    models: tuple[str, ...]


class BaseModelIndex:
    """The models, the EndpointSlices, and the graphs and components of each base model."""

    def __init__(self) -> None:
        self._models: _HashIndex[CachedModel] = _HashIndex()
        self._same_names: _HashIndex[ObjectKey] = _HashIndex()
        self._slices: _HashIndex[ModelSlice] = _HashIndex()
        self._servers: _HashIndex[_Server] = _HashIndex()

    @classmethod
    def of(cls, resources: Iterable[Resource], default_namespace: str = "") -> BaseModelIndex:
        """Indexes the models, slices, graphs and components among resources. `default_namespace` is that of resources without one."""
        index = cls()
        for resource in resources:
            key = identity.key(resource, default_namespace)
            if reader := _READERS.get((key.group, key.kind)):
                index.update(key, None, reader(resource, default_namespace))
        return index

    def update(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the index after a change of any object; None means no object. Returns the models whose status may change with it."""
        affected = {key} if isinstance(before or after, CachedModel) else set()
        if _relevant(before) == _relevant(after):
            return affected
        affected |= self._affected_models(before)
        self._put(key, after)
        return affected | self._affected_models(after)

    def models(self, namespace: str, hash_: str) -> list[CachedModel]:
        """Returns the models whose base model has this hash."""
        return self._models.get(namespace, hash_)

    def slices(self, model: CachedModel) -> list[ModelSlice]:
        """Returns the slices of a model's base model."""
        return self._slices.get(model.key.namespace, model.hash)

    def other_adapters(self, model: CachedModel) -> Iterator[CachedModel]:
        """Yields the other LoRA adapters for the same base model."""
        for other in self.models(model.key.namespace, model.hash):
            if other.key != model.key and other.base == model.base and other.lora and not other.deleted:
                yield other

    def hash_collision(self, model: CachedModel) -> tuple[str, str]:
        """Finds another base model with the same hash, and the graph or component that serves it; two empty texts if there is none."""
        for server in sorted(self._servers.get(model.key.namespace, model.hash), key=lambda server: server.key):
            for name in server.models:
                if name != model.base and names.model_hash(name) == model.hash:
                    return name, f"{server.key.kind} {server.key.name}"
        return "", ""

    def _put(self, key: ObjectKey, value: Any) -> None:
        indexes: list[_HashIndex[Any]] = [self._models, self._slices, self._servers]
        for index in indexes:
            index.drop(key)
        for index, kind in zip(indexes, (CachedModel, ModelSlice, CachedObject), strict=True):
            if isinstance(value, kind):
                index.put(key, _hashes(value), _Server(value.key, value.models) if isinstance(value, CachedObject) else value)
        self._same_names.drop(key)
        if isinstance(value, CachedModel):
            self._same_names.put(key, {_hash_of_model(value)}, key)

    def _affected_models(self, value: Any) -> set[ObjectKey]:
        """Returns the models that an object concerns: all of its base model, or for a model those of the same name."""
        if isinstance(value, CachedModel):
            return set(self._same_names.get(value.key.namespace, _hash_of_model(value)))
        return {model.key for hash_ in _hashes(value) for model in self.models(value.key.namespace, hash_)}


def _relevant(value: Any) -> Any:
    """Returns the fields of an object that models depend on."""
    if isinstance(value, CachedModel):
        return value._replace(status={})
    if isinstance(value, ReplicaStatus):
        return value.worker
    return (value.models or None) if isinstance(value, CachedObject) else value


def _hash_of_model(model: CachedModel) -> str:
    """Returns the hash of the base model of a model with the model's own name."""
    return f"{model.hash}/{model.name}"


def _hashes(value: Any) -> set[str]:
    """Returns the hashes of the base models that an object names."""
    if isinstance(value, CachedModel):
        return {value.hash}
    if isinstance(value, ModelSlice):
        return {value.model}
    if isinstance(value, ReplicaStatus):
        return {value.worker.model} if value.worker else set()
    return set(map(names.model_hash, value.models)) if isinstance(value, CachedObject) else set()


_READERS: dict[tuple[str, str], Callable[[Resource, str], Any]] = {
    (dynamo_api.GROUP, cached_model.KIND): cached_model.read,
    (dynamo_api.GROUP, cached_object.GRAPH): cached_object.read,
    (dynamo_api.GROUP, cached_object.COMPONENT): cached_object.read,
    (model_endpoints.GROUP, model_endpoints.KIND): model_endpoints.read,
}
