"""Marks generated objects with their owners, and merges generated objects into the items.

The owner is an annotation, because owner references need UIDs, which exist only in a cluster. Pod templates and selectors never carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.records import NamedTuple
from krm_fn.results import Result

Owner = tuple[str, str, str]


class Generated(NamedTuple):
    """A generated object, and the Dynamo resource that it was generated from.

    `is_shared` is true for an object that a namespace has once, for all its Dynamo resources; the user may provide it.
    """

    owner: Resource
    resource: Resource
    is_shared: bool = False


def owner(resource: Resource, namespace: str) -> Owner:
    """Returns the identity of an owner: kind, name and the namespace in which it is expanded."""
    address = results.ref(resource)
    return address.kind, address.name, namespace


def owners(resource: Resource) -> list[str]:
    """Returns the owners of a resource as `<Kind>/<name>`; empty if it carries no owner annotation."""
    written = labels.notes(resource).get(labels.OWNER)
    return written.split(",") if isinstance(written, str) and written else []


def is_marked(resource: Resource) -> bool:
    """True if the object carries both marks of generated objects, the label and the annotation."""
    return labels.of(resource).get(labels.MANAGED_BY) == labels.MANAGER and bool(owners(resource))


def place(
    resources: Sequence[Resource],
    generated: Iterable[Generated],
    present: set[Owner],
    home: str,
    is_prunable: Callable[[Resource], bool],
) -> tuple[list[Resource], list[Result]]:
    """Adds the generated objects to the items.

    An item with the owner annotation is replaced at its position if it is generated again. It is removed if its owner no longer generates
    it and `is_prunable` is true for it. An item without the annotation that has the identity of a generated object is an error, unless the
    object is shared: then the item stays the user's, with the fields of the generated object.
    `present` holds every owner among the items; objects of other owners stay. `home` is the namespace of items without one.
    """
    found: list[Result] = []
    wanted = _joined(generated, found)
    placed: list[Resource] = []
    unwanted = _Unwanted(present, is_prunable, found, {})
    taken = {path for resource in resources if isinstance(path := labels.notes(resource).get(labels.PATH), str)}
    for resource in resources:
        mine = owners(resource)
        new = wanted.pop(identity.key(resource, home), None) if wanted else None
        if new is not None and not mine and new.is_shared:
            placed.append(_completed(resource, new, found))
        elif new is not None and not mine:
            found.append(_collision(resource, new))
            placed.append(resource)
        elif new is not None:
            placed.append(_renewed(resource, new.resource))
        elif not mine or unwanted.stays(resource, mine):
            placed.append(resource)
    found.extend(unwanted.left_behind())
    placed.extend(_located(new, taken) for new in wanted.values())
    return placed, found


class _Unwanted(NamedTuple):
    """Decides about objects that carry an owner annotation and are not generated again.

    `moved` holds the objects of owners that changed their namespace, by owner and old namespace.
    """

    present: set[Owner]
    is_prunable: Callable[[Resource], bool]
    found: list[Result]
    moved: dict[tuple[str, str], list[Resource]]

    def stays(self, resource: Resource, mine: list[str]) -> bool:
        """False if the object is to be removed; reports each object that is removed or stays."""
        address, names = results.ref(resource), ", ".join(mine)
        absent = [name for name in mine if (*name.partition("/")[::2], address.namespace) not in self.present]
        if absent and all(self._namespaces(name) for name in absent):
            self.moved.setdefault((absent[0], address.namespace), []).append(resource)
        elif absent:
            message = f"the object stays, because its owner {', '.join(absent)} is not among the items; delete it if the owner is gone"
            self.found.append(results.warning("DYN053", message, address))
        elif self.is_prunable(resource):
            message = f"the object is removed, because {names} no longer needs it; to keep it, remove its annotation {labels.OWNER}"
            self.found.append(results.info("DYN056", message, address))
        else:
            message = f"the object stays, although {names} does not generate it; delete it, or remove its annotation {labels.OWNER}"
            self.found.append(results.warning("DYN081", message, address))
        return bool(absent) or not self.is_prunable(resource)

    def left_behind(self) -> Iterator[Result]:
        """Yields one warning for all objects that an owner left in its old namespace. Without an address it sorts before the others."""
        for (name, namespace), resources in self.moved.items():
            now = ", ".join(self._namespaces(name))
            message = (
                f"{name} is now in namespace {now}, but {len(resources)} objects that it generated in namespace {namespace or 'default'} "
                f"are still here and run as a second set; delete {', '.join(map(_named, resources))}"
            )
            yield results.warning("DYN084", message)

    def _namespaces(self, name: str) -> list[str]:
        """Namespaces in which an owner of this kind and name is among the items."""
        return sorted(namespace for *rest, namespace in self.present if "/".join(rest) == name)


def _named(resource: Resource) -> str:
    """Returns the file of an object if an orchestrator annotated it, otherwise its kind and name."""
    annotations, address = labels.notes(resource), results.ref(resource)
    return str(annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH) or f"{address.kind} {address.name}")


def _joined(generated: Iterable[Generated], found: list[Result]) -> dict[ObjectKey, Generated]:
    """Returns each object once, marked with all its owners. Two graphs may share an object only if both generate it with equal fields."""
    first: dict[ObjectKey, Generated] = {}
    names: dict[ObjectKey, set[str]] = {}
    for entry in generated:
        key, name = identity.key(entry.resource), f"{entry.owner['kind']}/{entry.owner['metadata']['name']}"
        before = first.setdefault(key, entry)
        if before is entry or before.resource == entry.resource:
            names.setdefault(key, set()).add(name)
        else:
            message = f"{min(names[key])} generates a different {key.kind} {key.name}; make it the same in both, or rename one"
            found.append(results.error("DYN051", message, results.ref(entry.owner), ("metadata", "name")))
    return {key: entry._replace(resource=_marked(entry.resource, sorted(names[key]))) for key, entry in first.items()}


def _marked(resource: Resource, names: list[str]) -> Resource:
    metadata = resource["metadata"]
    return {
        **resource,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), labels.MANAGED_BY: labels.MANAGER},
            "annotations": {**(metadata.get("annotations") or {}), labels.OWNER: ",".join(names)},
        },
    }


def _collision(resource: Resource, new: Generated) -> Result:
    owner = results.ref(new.owner)
    message = f"{owner.kind} {owner.name} generates an object of this name; rename this one, or delete it if it is an older copy"
    return results.error("DYN052", message, results.ref(resource), ("metadata", "name"))


def _completed(resource: Resource, new: Generated, found: list[Result]) -> Resource:
    """Returns a user's object with the fields of the generated one. Its metadata and all other fields stay (reference: rbac/manager.go)."""
    completed = {**resource, **{key: value for key, value in new.resource.items() if key != "metadata"}}
    if completed != resource:
        changed = ", ".join(key for key in completed if completed[key] != resource.get(key))
        message = f"{changed} must be those of the service account that krm-fn binds and are replaced; remove the object, or rename it"
        found.append(results.warning("DYN054", message, results.ref(resource), ("metadata", "name")))
    return completed


def _renewed(old: Resource, new: Resource) -> Resource:
    """Returns the new object with the orchestrator's annotations of the old one, or the old object itself if they are equal."""
    kept = {key: value for key, value in labels.notes(old).items() if key.startswith(labels.INTERNAL)}
    merged = {**new, "metadata": {**new["metadata"], "annotations": {**labels.notes(new), **kept}}}
    return old if merged == old else merged


def _located(new: Generated, taken: set[str]) -> Resource:
    """Under kpt, gives a new object a path in the folder of its graph's file. kustomize needs no paths."""
    annotations, resource = labels.notes(new.owner), new.resource
    beside = annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH)
    if not beside:
        return resource
    address, folder = results.ref(resource), beside.rpartition("/")[0]
    stems = (f"{address.kind}_{address.name}", f"{address.kind}_{address.namespace}_{address.name}")
    paths = [f"{folder}/{stem}.yaml".lower().lstrip("/") for stem in stems]
    path = next((candidate for candidate in paths if candidate not in taken), paths[-1])
    taken.add(path)
    more = {key: annotations[key] for key in (labels.PACKAGE_PATH,) if key in annotations}
    return _annotated(resource, {labels.PATH: path, labels.LEGACY_PATH: path, **more})


def _annotated(resource: Resource, annotations: dict[str, Any]) -> Resource:
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}


def source(resource: Resource, annotations: dict[str, str], mode: str) -> Iterator[Resource]:
    """Yields the Dynamo resource with the annotations of the render. `mode` is the setting `source`: keep, local or drop.

    A graph that is its own kustomize generator loses the annotations of a generator. A graph that an earlier render wrote loses the request
    to the syncer if this render makes none. In all modes except `keep`, the resource is marked as local. In mode `drop`, nothing is
    yielded, except under kpt, where that would delete the user's file.
    """
    written = labels.notes(resource)
    under_kpt = labels.PATH in written or labels.LEGACY_PATH in written
    if mode == "drop" and not under_kpt:
        return
    dropped = {labels.FUNCTION, labels.LOCAL_CONFIG} if labels.FUNCTION in written else set()
    dropped |= {labels.RESTART} - annotations.keys()
    local = {labels.LOCAL_CONFIG: "true"} if mode != "keep" else {}
    kept = {key: value for key, value in written.items() if key not in dropped}
    new = {**kept, **annotations, **local}
    yield resource if new == written else {**resource, "metadata": {**resource["metadata"], "annotations": new}}
