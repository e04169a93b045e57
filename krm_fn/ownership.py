"""Marks generated objects with their owners, and merges generated objects into the items.

The owner is an annotation, because owner references need UIDs, which exist only in a cluster. Pod templates and selectors never carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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
    ref = results.ref(resource)
    return ref.kind, ref.name, namespace


def owners(resource: Resource) -> list[str]:
    """Returns the owners of a resource as `<Kind>/<name>`; empty if it carries no owner annotation."""
    written = labels.annotations(resource).get(labels.OWNER)
    return written.split(",") if isinstance(written, str) and written else []


def is_marked(resource: Resource) -> bool:
    """Returns true if the object carries both marks of generated objects, the label and the annotation."""
    return labels.of(resource).get(labels.MANAGED_BY) == labels.MANAGER and bool(owners(resource))


def merge(
    items: Sequence[Resource],
    generated: Iterable[Generated],
    present: set[Owner],
    default_namespace: str,
    is_prunable: Callable[[Resource], bool],
) -> tuple[list[Resource], list[Result]]:
    """Merges the generated objects into the items.

    An item with the owner annotation is replaced at its position if it is generated again. It is removed if its owner no longer generates
    it and `is_prunable` is true for it. An item without the annotation that has the identity of a generated object is an error, unless the
    object is shared: then the item stays the user's, with the fields of the generated object.
    `present` holds every owner among the items; objects of other owners stay. `default_namespace` is that of items without one.
    """
    findings: list[Result] = []
    pending = _unique(generated, findings)
    output: list[Resource] = []
    orphans = _Orphans(present, is_prunable, findings, {})
    files = {path for item in items if isinstance(path := labels.annotations(item).get(labels.PATH), str)}
    for item in items:
        item_owners = owners(item)
        new = pending.pop(identity.key(item, default_namespace), None) if pending else None
        if new is None:
            if not item_owners or orphans.stays(item, item_owners):
                output.append(item)
        elif item_owners:
            output.append(_replacement(item, new.resource))
        elif new.is_shared:
            output.append(_completed(item, new, findings))
        else:
            findings.append(_collision(item, new))
            output.append(item)
    findings.extend(orphans.left_behind())
    output.extend(_with_path(new, files) for new in pending.values())
    return output, findings


class _Orphans(NamedTuple):
    """Decides about objects that carry an owner annotation and are not generated again.

    `moved` holds the objects of owners that changed their namespace, by owner and old namespace.
    """

    present: set[Owner]
    is_prunable: Callable[[Resource], bool]
    findings: list[Result]
    moved: dict[tuple[str, str], list[Resource]]

    def stays(self, resource: Resource, names: list[str]) -> bool:
        """Returns false if the object is to be removed; reports each object that is removed or stays. `names` are its owners."""
        ref, joined = results.ref(resource), ", ".join(names)
        absent = [name for name in names if (*name.partition("/")[::2], ref.namespace) not in self.present]
        if absent and all(self._namespaces(name) for name in absent):
            self.moved.setdefault((absent[0], ref.namespace), []).append(resource)
        elif absent:
            message = f"the object stays, because its owner {', '.join(absent)} is not among the items; delete it if the owner is gone"
            self.findings.append(results.warning("DYN053", message, ref))
        elif self.is_prunable(resource):
            message = f"the object is removed, because {joined} no longer needs it; to keep it, remove its annotation {labels.OWNER}"
            self.findings.append(results.info("DYN056", message, ref))
        else:
            message = f"the object stays, although {joined} does not generate it; delete it, or remove its annotation {labels.OWNER}"
            self.findings.append(results.warning("DYN081", message, ref))
        return bool(absent) or not self.is_prunable(resource)

    def left_behind(self) -> Iterator[Result]:
        """Yields one warning for all objects that an owner left in its old namespace. Without an address it sorts before the others."""
        for (name, namespace), resources in self.moved.items():
            now = ", ".join(self._namespaces(name))
            message = (
                f"{name} is now in namespace {now}, but {len(resources)} objects that it generated in namespace {namespace or 'default'} "
                f"are still here and run as a second set; delete {', '.join(map(_file_or_name, resources))}"
            )
            yield results.warning("DYN084", message)

    def _namespaces(self, name: str) -> list[str]:
        """Lists the namespaces in which an owner of this kind and name is among the items."""
        return sorted(namespace for *rest, namespace in self.present if "/".join(rest) == name)


def _file_or_name(resource: Resource) -> str:
    """Returns the file of an object if an orchestrator annotated it, otherwise its kind and name."""
    annotations, ref = labels.annotations(resource), results.ref(resource)
    return str(annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH) or f"{ref.kind} {ref.name}")


def _unique(generated: Iterable[Generated], findings: list[Result]) -> dict[ObjectKey, Generated]:
    """The owner of an object is the kind and the name of each resource that the object is generated from.

    Returns each object once, marked with all its owners. Two graphs may share an object only if both generate it with equal fields.

    Rule: metadata.owners
    """
    unique: dict[ObjectKey, Generated] = {}
    names: dict[ObjectKey, set[str]] = {}
    for entry in generated:
        key, name = identity.key(entry.resource), f"{entry.owner['kind']}/{entry.owner['metadata']['name']}"
        first = unique.setdefault(key, entry)
        if first is entry or first.resource == entry.resource:
            names.setdefault(key, set()).add(name)
        else:
            message = f"{min(names[key])} generates a different {key.kind} {key.name}; make it the same in both, or rename one"
            findings.append(results.error("DYN051", message, results.ref(entry.owner), ("metadata", "name")))
    return {key: entry._replace(resource=_with_owners(entry.resource, sorted(names[key]))) for key, entry in unique.items()}


def _with_owners(resource: Resource, names: list[str]) -> Resource:
    """Each generated object has a label that names krm-fn and an annotation that names its owner.

    Rule: metadata.owner
    """
    metadata = resource["metadata"]
    return {
        **resource,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), labels.MANAGED_BY: labels.MANAGER},
            "annotations": {**(metadata.get("annotations") or {}), labels.OWNER: ",".join(names)},
        },
    }


def _collision(item: Resource, new: Generated) -> Result:
    """Reports an item of the user with the identity of a generated object."""
    ref = results.ref(new.owner)
    message = f"{ref.kind} {ref.name} generates an object of this name; rename this one, or delete it if it is an older copy"
    return results.error("DYN052", message, results.ref(item), ("metadata", "name"))


def _completed(item: Resource, new: Generated, findings: list[Result]) -> Resource:
    """Sets the fields of the generated object in a user's object.

    Its metadata and all other fields stay, as in the operator's `rbac/manager.go`.
    """
    completed = {**item, **{key: value for key, value in new.resource.items() if key != "metadata"}}
    if completed != item:
        changed = ", ".join(key for key in completed if completed[key] != item.get(key))
        message = f"{changed} must be those of the service account that krm-fn binds and are replaced; remove the object, or rename it"
        findings.append(results.warning("DYN054", message, results.ref(item), ("metadata", "name")))
    return completed


def _replacement(item: Resource, new: Resource) -> Resource:
    """Returns the new object with the orchestrator's annotations of the item, or the item itself if they are equal."""
    internal = {key: value for key, value in labels.annotations(item).items() if key.startswith(labels.INTERNAL)}
    merged = {**new, "metadata": {**new["metadata"], "annotations": {**labels.annotations(new), **internal}}}
    return item if merged == item else merged


def _with_path(new: Generated, files: set[str]) -> Resource:
    """Under kpt, gives a new object a path in the folder of its graph's file. kustomize needs no paths. `files` holds the used paths."""
    annotations, resource = labels.annotations(new.owner), new.resource
    owner_path = annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH)
    if not owner_path:
        return resource
    ref, folder, metadata = results.ref(resource), owner_path.rpartition("/")[0], resource["metadata"]
    stems = (f"{ref.kind}_{ref.name}", f"{ref.kind}_{ref.namespace}_{ref.name}")
    paths = [f"{folder}/{stem}.yaml".lower().lstrip("/") for stem in stems]
    path = next((candidate for candidate in paths if candidate not in files), paths[-1])
    files.add(path)
    located = {**(metadata.get("annotations") or {}), labels.PATH: path, labels.LEGACY_PATH: path}
    if labels.PACKAGE_PATH in annotations:
        located[labels.PACKAGE_PATH] = annotations[labels.PACKAGE_PATH]
    return {**resource, "metadata": {**metadata, "annotations": located}}


def source(resource: Resource, annotations: dict[str, str], mode: str) -> Iterator[Resource]:
    """Yields the Dynamo resource with the annotations of the render. `mode` is the setting `source`: keep, local or drop.

    A graph that is its own kustomize generator loses the annotations of a generator. A graph that an earlier render wrote loses the request
    to the syncer if this render makes none. In all modes except `keep`, the resource is marked as local. In mode `drop`, nothing is
    yielded, except under kpt, where that would delete the user's file.
    """
    written = labels.annotations(resource)
    under_kpt = labels.PATH in written or labels.LEGACY_PATH in written
    if mode == "drop" and not under_kpt:
        return
    dropped = {labels.FUNCTION, labels.LOCAL_CONFIG} if labels.FUNCTION in written else set()
    dropped |= {labels.RESTART} - annotations.keys()
    local = {labels.LOCAL_CONFIG: "true"} if mode != "keep" else {}
    remaining = {key: value for key, value in written.items() if key not in dropped}
    new = {**remaining, **annotations, **local}
    yield resource if new == written else {**resource, "metadata": {**resource["metadata"], "annotations": new}}
