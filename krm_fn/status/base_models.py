"""Who uses the hash of a base model: models, EndpointSlices, and the graphs and components that serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from krm_fn.kube import identity, names
from krm_fn.status import endpoints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.status.endpoints import Slice
    from krm_fn.status.models import Model
    from krm_fn.status.subject import Subject

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
        """The EndpointSlices among resources. `home` is the namespace of resources without one."""
        found = cls()
        for resource in resources:
            if identity.key(resource)[:2] == (endpoints.GROUP, endpoints.KIND):
                found.put(endpoints.read(resource, home))
        return found

    def put(self, found: Slice) -> None:
        """Adds or replaces a slice."""
        self._slices.put(found.key, [found.model], found)

    def put_model(self, model: Model) -> None:
        """Adds or replaces a model."""
        self._models.put(model.key, [model.hash], model)

    def put_subject(self, subject: Subject) -> None:
        """Adds or replaces a graph or component."""
        self._subjects.put(subject.key, map(names.model_hash, subject.models), subject)

    def drop(self, key: ObjectKey) -> None:
        """Removes an object."""
        for each in (self._models, self._slices, self._subjects):
            each.drop(key)

    def models(self, namespace: str, hash_: str) -> list[Model]:
        """The models whose base model has this hash."""
        return self._models.get(namespace, hash_)

    def slices(self, model: Model) -> list[Slice]:
        """The slices of a model's base model."""
        return self._slices.get(model.key.namespace, model.hash)

    def rivals(self, model: Model) -> Iterator[Model]:
        """Other LoRA adapters of the same name for the same base model."""
        for each in self.models(model.key.namespace, model.hash):
            if each.key != model.key and each.lora and not each.deleted and (each.name, each.base) == (model.name, model.base):
                yield each

    def alike(self, model: Model) -> tuple[str, str]:
        """Another base model with the same hash, and the graph or component that serves it; two empty texts if there is none."""
        for each in sorted(self._subjects.get(model.key.namespace, model.hash), key=lambda each: each.key):
            for name in each.models:
                if name != model.base and names.model_hash(name) == model.hash:
                    return name, f"{each.key.kind} {each.key.name}"
        return "", ""
