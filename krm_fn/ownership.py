"""Who owns a generated object, and how generated objects meet those that are there already.

Not its business: what is generated. The owner is an annotation, since a build knows no UIDs; it stands on the object only, never in pod
templates or selectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.results import Result

Owner = tuple[str, str, str]


class Generated(NamedTuple):
    """An object with the resource it stands for."""

    owner: Resource
    resource: Resource


def owner(resource: Resource, namespace: str) -> Owner:
    """What an owner is known by: kind, name and the namespace it counts for."""
    address = results.ref(resource)
    return address.kind, address.name, namespace


def owners(resource: Resource) -> list[str]:
    """The owners of a resource as `<Kind>/<name>`; none where it is not ours."""
    written = labels.notes(resource).get(labels.OWNER)
    return written.split(",") if isinstance(written, str) and written else []


def place(
    resources: Sequence[Resource], generated: Iterable[Generated], present: set[Owner], home: str
) -> tuple[list[Resource], list[Result]]:
    """The items with the generated objects among them.

    An object of ours that is there already is replaced where it stands, one that nobody wants any more is dropped, a foreign one in our
    place is an error. `present` holds every owner among the items; objects of others stay. `home` is the namespace of items that carry
    none.
    """
    found: list[Result] = []
    wanted = _joined(generated, found)
    placed: list[Resource] = []
    taken = {path for resource in resources if isinstance(path := labels.notes(resource).get(labels.PATH), str)}
    for resource in resources:
        mine = owners(resource)
        new = wanted.pop(identity.key(resource, home), None) if wanted else None
        if new is not None and not mine:
            found.append(_collision(resource, new))
            placed.append(resource)
        elif new is not None:
            placed.append(_renewed(resource, new.resource))
        elif not mine or not _forgotten(resource, mine, present, found):
            placed.append(resource)
    placed.extend(_located(new, taken) for new in wanted.values())
    return placed, found


def _joined(generated: Iterable[Generated], found: list[Result]) -> dict[ObjectKey, Generated]:
    """Each object once, marked with all its owners; graphs may share one only if they want it equal."""
    joined: dict[ObjectKey, Generated] = {}
    for owner, resource in generated:
        key, name = identity.key(resource), f"{owner['kind']}/{owner['metadata']['name']}"
        before = joined.get(key)
        if before is None:
            joined[key] = Generated(owner, _marked(resource, [name]))
        elif _without_marks(before.resource) == _without_marks(_marked(resource, [])):
            joined[key] = Generated(before.owner, _marked(resource, sorted({*owners(before.resource), name})))
        else:
            message = (
                f"{key[1]} {key[3]} is also made by {owners(before.resource)[0]}, but differently; make it the same in both, or rename one"
            )
            found.append(results.error("DYN051", message, results.ref(owner), ("metadata", "name")))
    return joined


def _marked(resource: Resource, names: list[str]) -> Resource:
    metadata = resource["metadata"]
    marks = {labels.OWNER: ",".join(names)} if names else {}
    return {
        **resource,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), labels.MANAGED_BY: labels.MANAGER},
            "annotations": {**(metadata.get("annotations") or {}), **marks},
        },
    }


def _without_marks(resource: Resource) -> Resource:
    metadata = resource["metadata"]
    kept = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != labels.OWNER}
    return {**resource, "metadata": {**metadata, "annotations": kept}}


def _collision(resource: Resource, new: Generated) -> Result:
    owner = results.ref(new.owner)
    message = f"is in the place of an object that {owner.kind} {owner.name} stands for; rename it, or remove it if it is an older copy"
    return results.error("DYN052", message, results.ref(resource), ("metadata", "name"))


def _renewed(old: Resource, new: Resource) -> Resource:
    """The new object with the notes that the orchestrator keeps on the old one; the old one itself where they are equal."""
    kept = {key: value for key, value in labels.notes(old).items() if key.startswith(labels.INTERNAL)}
    merged = {**new, "metadata": {**new["metadata"], "annotations": {**labels.notes(new), **kept}}}
    return old if merged == old else merged


def _forgotten(resource: Resource, mine: list[str], present: set[Owner], found: list[Result]) -> bool:
    """Whether everybody who owned an object is here and no longer wants it."""
    namespace = results.ref(resource).namespace
    absent = [name for name in mine if (*name.partition("/")[::2], namespace) not in present]
    if absent:
        message = f"stays: its owner {', '.join(absent)} is not among the items; remove it by hand if the owner is gone for good"
        found.append(results.warning("DYN053", message, results.ref(resource)))
    return not absent


def _located(new: Generated, taken: set[str]) -> Resource:
    """Under kpt a new object gets a file beside its graph's; kustomize writes no files."""
    notes, resource = labels.notes(new.owner), new.resource
    beside = notes.get(labels.PATH) or notes.get(labels.LEGACY_PATH)
    if not beside:
        return resource
    address, folder = results.ref(resource), beside.rpartition("/")[0]
    stems = (f"{address.kind}_{address.name}", f"{address.kind}_{address.namespace}_{address.name}")
    paths = [f"{folder}/{stem}.yaml".lower().lstrip("/") for stem in stems]
    path = next((candidate for candidate in paths if candidate not in taken), paths[-1])
    taken.add(path)
    more = {key: notes[key] for key in (labels.PACKAGE_PATH,) if key in notes}
    return _annotated(resource, {labels.PATH: path, labels.LEGACY_PATH: path, **more})


def _annotated(resource: Resource, notes: dict[str, Any]) -> Resource:
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **notes}}}


def source(resource: Resource, notes: dict[str, str], mode: str) -> Iterator[Resource]:
    """What becomes of the Dynamo resource itself: kept with its notes, kept for the build only, or dropped.

    kustomize marks a generator's own file as local and strips nothing else; a graph that is to reach the cluster loses both marks. Under
    kpt dropping would delete the user's file, so there it stays local.
    """
    written = labels.notes(resource)
    under_kpt = labels.PATH in written or labels.LEGACY_PATH in written
    if mode == "drop" and not under_kpt:
        return
    dropped = {labels.FUNCTION, labels.LOCAL_CONFIG} if labels.FUNCTION in written else set()
    local = {labels.LOCAL_CONFIG: "true"} if mode != "keep" else {}
    kept = {key: value for key, value in written.items() if key not in dropped}
    new = {**kept, **notes, **local}
    yield resource if new == written else {**resource, "metadata": {**resource["metadata"], "annotations": new}}
