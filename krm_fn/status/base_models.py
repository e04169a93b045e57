"""Who uses the hash of a base model: models, EndpointSlices, and the graphs and components that serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from krm_fn.kube import identity, names
from krm_fn.status import endpoints, models, subject
from krm_fn.status.endpoints import Slice
from krm_fn.status.models import Model
from krm_fn.status.observe import Observation
from krm_fn.status.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource

V = TypeVar("V")


class _Users(Generic[V]):
    """Values by namespace and hash of a base model. One value may have several hashes."""

    def __init__(self) -> None:
        self._hashes: dict[ObjectKey, frozenset[str]] = {}
        self._found: dict[tuple[str, str], dict[ObjectKey, V]] = {}

    def put(self, key: ObjectKey, hashes: Iterable[str], value: V) -> None:
        """Adds a value, or replaces the one with the same key."""
        self.drop(key)
        if chosen := frozenset(hashes):
            self._hashes[key] = chosen
            for each in chosen:
                self._found.setdefault((key.namespace, each), {})[key] = value

    def drop(self, key: ObjectKey) -> None:
        """Removes a value, if there is one."""
        for each in self._hashes.pop(key, ()):
            place = (key.namespace, each)
            del self._found[place][key]
            if not self._found[place]:
                del self._found[place]

    def get(self, namespace: str, hash_: str) -> list[V]:
        """The values with a hash."""
        return list(self._found.get((namespace, hash_), {}).values())


class BaseModels:
    """The models, the EndpointSlices, and the graphs and components of each base model."""

    def __init__(self) -> None:
        self._models: _Users[Model] = _Users()
        self._slices: _Users[Slice] = _Users()
        self._subjects: _Users[Subject] = _Users()

    @classmethod
    def of(cls, resources: Iterable[Resource], home: str = "") -> BaseModels:
        """The models, slices, graphs and components among resources. `home` is the namespace of resources without one."""
        found = cls()
        for resource in resources:
            key = identity.key(resource, home)
            if reader := _READERS.get((key.group, key.kind)):
                found.take(key, None, reader(resource, home))
        return found

    def take(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the index after a change of any object; None stands for no object. Returns the models whose status may change with it."""
        found = {key} if isinstance(before or after, Model) else set()
        if _facts(before) == _facts(after):
            return found
        found |= self._concerned(before)
        self._index(key, after)
        return found | self._concerned(after)

    def models(self, namespace: str, hash_: str) -> list[Model]:
        """The models whose base model has this hash."""
        return self._models.get(namespace, hash_)

    def slices(self, model: Model) -> list[Slice]:
        """The slices of a model's base model."""
        return self._slices.get(model.key.namespace, model.hash)

    def rivals(self, model: Model) -> Iterator[Model]:
        """Other LoRA adapters for the same base model."""
        for each in self.models(model.key.namespace, model.hash):
            if each.key != model.key and each.base == model.base and each.lora and not each.deleted:
                yield each

    def alike(self, model: Model) -> tuple[str, str]:
        """Another base model with the same hash, and the graph or component that serves it; two empty texts if there is none."""
        for each in sorted(self._subjects.get(model.key.namespace, model.hash), key=lambda each: each.key):
            for name in each.models:
                if name != model.base and names.model_hash(name) == model.hash:
                    return name, f"{each.key.kind} {each.key.name}"
        return "", ""

    def _index(self, key: ObjectKey, value: Any) -> None:
        stores: list[_Users[Any]] = [self._models, self._slices, self._subjects]
        for each in stores:
            each.drop(key)
        for each, kind in zip(stores, (Model, Slice, Subject), strict=True):
            if isinstance(value, kind):
                each.put(key, _hashes(value), value)

    def _concerned(self, value: Any) -> set[ObjectKey]:
        """The models that an object concerns: all of its base model, or for a model those of the same name."""
        users = (each for hash_ in _hashes(value) for each in self.models(value.key.namespace, hash_))
        return {each.key for each in users if not isinstance(value, Model) or each.name == value.name}


def _facts(value: Any) -> Any:
    """What models depend on of an object."""
    if isinstance(value, Model):
        return value._replace(status={})
    if isinstance(value, Observation):
        return value.peer
    return (value.models or None) if isinstance(value, Subject) else value


def _hashes(value: Any) -> set[str]:
    """The hashes of the base models that an object names."""
    if isinstance(value, Model):
        return {value.hash}
    if isinstance(value, Slice):
        return {value.model}
    if isinstance(value, Observation):
        return {value.peer.model} if value.peer else set()
    return set(map(names.model_hash, value.models)) if isinstance(value, Subject) else set()


_READERS: dict[tuple[str, str], Callable[[Resource, str], Any]] = {
    (identity.DYNAMO_GROUP, models.KIND): models.read,
    (identity.DYNAMO_GROUP, subject.GRAPH): subject.read,
    (identity.DYNAMO_GROUP, subject.COMPONENT): subject.read,
    (endpoints.GROUP, endpoints.KIND): endpoints.read,
}
