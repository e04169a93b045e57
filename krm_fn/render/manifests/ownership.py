"""Marks generated objects with their owners, recognizes them in a later run, and merges them into the items.

The owner is an annotation, because owner references need UIDs, which exist only in a cluster. Pod templates and selectors never carry it.
"""

from __future__ import annotations

from functools import cache

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.kinds import types
from krm_fn.render.manifests import workloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Labels, Resource

Owner = tuple[str, str, str]
"""The identity of an owner: kind, name and the namespace in which it is expanded."""

_BESIDE_WORKLOADS = {
    ("", "ConfigMap"),
    ("", "PersistentVolumeClaim"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("batch", "Job"),
    ("inference.networking.k8s.io", "InferencePool"),
    ("networking.istio.io", "DestinationRule"),
    ("networking.istio.io", "VirtualService"),
    ("networking.k8s.io", "Ingress"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    (dynamo_api.GROUP, "DynamoComponentDeployment"),
    (dynamo_api.GROUP, "DynamoGraphDeploymentScalingAdapter"),
}


class Generated(NamedTuple):
    """A generated object, and the Dynamo resource that it was generated from.

    `is_shared` is true for an object that a namespace has once, for all its Dynamo resources; the user may provide it.
    """

    owner: Resource
    resource: Resource
    is_shared: bool = False


def mark_owned(owner: Resource, objects: Iterable[Resource]) -> list[Generated]:
    """Returns the objects that a render generates from a Dynamo resource."""
    return [Generated(owner, resource, is_shared(resource)) for resource in objects]


def owners_among(resources: Iterable[Resource], default_namespace: str) -> dict[Owner, list[Resource]]:
    """Returns the Dynamo resources by their identity as owners. Resources with the same identity generate the same objects."""
    by_owner: dict[Owner, list[Resource]] = {}
    for resource in filter(dynamo_api.is_dynamo, resources):
        ref = results.ref(resource)
        by_owner.setdefault((ref.kind, ref.name, ref.namespace or default_namespace), []).append(resource)
    return by_owner


def owners(resource: Resource) -> list[str]:
    """Returns the owners of a resource as `<Kind>/<name>`; empty if it carries no owner annotation."""
    written = labels.annotations(resource).get(labels.OWNER)
    return written.split(",") if isinstance(written, str) and written else []


def is_marked(resource: Resource) -> bool:
    """Returns true if the object carries both marks of generated objects, the label and the annotation."""
    return labels.of(resource).get(labels.MANAGED_BY) == labels.MANAGER and bool(owners(resource))


def is_shared(resource: Resource) -> bool:
    """Returns true for a service account with a fixed name, which all Dynamo resources of a namespace use, and for its RoleBinding."""
    kind, name = resource["kind"], resource["metadata"]["name"]
    if kind not in ("ServiceAccount", "RoleBinding") or names.is_discovery(name):
        return False
    return (kind, name) in _shared_accounts()


@cache
def _shared_accounts() -> frozenset[tuple[str, str]]:
    """Returns kind and name of the service accounts with a fixed name, and of their RoleBindings."""
    accounts = {types.get(name).account for name in types.names()} - {""} | {names.PROFILING_ACCOUNT}
    return frozenset({*(("ServiceAccount", name) for name in accounts), *(("RoleBinding", names.binding(name)) for name in accounts)})


def is_generated(resource: Resource) -> bool:
    """Returns true if an earlier run generated this object: it carries both marks and is of a kind that the function generates."""
    if not is_marked(resource):
        return False
    return identity.key(resource)[:2] in kinds()


def without_generated(resources: Iterable[Resource]) -> list[Resource]:
    """Returns the resources of users, without the objects that an earlier run generated."""
    return [resource for resource in resources if not is_generated(resource)]


def kinds() -> frozenset[tuple[str, str]]:
    """Returns group and kind of all objects that the function generates."""
    return workloads.objects() | _BESIDE_WORKLOADS


def is_prunable(resource: Resource) -> bool:
    """Returns true if the object may be removed when no owner needs it any more. Dynamo resources are never removed."""
    return is_generated(resource) and not dynamo_api.is_dynamo(resource)


def merge(
    items: Sequence[Resource],
    generated: Iterable[Generated],
    present: Collection[Owner],
    default_namespace: str,
    failed: Collection[Owner] = (),
) -> tuple[list[Resource], list[Result]]:
    """Merges the generated objects into the items.

    An item with the owner annotation is replaced at its position if it is generated again. It is removed if its owner no longer generates
    it and the object is prunable. An item without the annotation that has the identity of a generated object is an error, unless the
    object is shared: then the item stays the user's, with the fields of the generated object.
    `present` holds every owner among the items; objects of other owners stay. `failed` holds the owners with errors, which generate
    nothing; their objects stay, without a finding. `default_namespace` is that of items without one.
    """
    findings: list[Result] = []
    pending = _unique(generated, findings)
    output: list[Resource] = []
    orphans = _Orphans(present, failed, findings, {})
    for item in items:
        item_owners = owners(item)
        new = pending.pop(identity.key(item, default_namespace), None) if pending else None
        if new is None:
            if not item_owners or orphans.stays(item, item_owners):
                output.append(item)
        elif item_owners:
            output.append(_replacement(item, new.resource))
        elif new.is_shared:
            output.append(_complete_object(item, new, findings))
        else:
            findings.append(_collision(item, new))
            output.append(item)
    findings.extend(orphans.left_behind())
    output.extend(_with_paths(pending.values(), items))
    return output, findings


class _Orphans(NamedTuple):
    """Decides about objects that carry an owner annotation and are not generated again.

    `moved` holds the objects of owners that changed their namespace, by owner and old namespace.
    """

    present: Collection[Owner]
    failed: Collection[Owner]
    findings: list[Result]
    moved: dict[tuple[str, str], list[Resource]]

    def stays(self, resource: Resource, names: list[str]) -> bool:
        """Returns false if the object is to be removed; reports each object that is removed or stays. `names` are its owners."""
        ref, joined = results.ref(resource), ", ".join(names)
        keys = {name: (*name.partition("/")[::2], ref.namespace) for name in names}
        if any(key in self.failed for key in keys.values()):
            return True
        absent = [name for name, key in keys.items() if key not in self.present]
        if absent and all(self._namespaces(name) for name in absent):
            self.moved.setdefault((absent[0], ref.namespace), []).append(resource)
        elif absent:
            message = f"the object stays, because its owner {', '.join(absent)} is not among the items; delete it if the owner is gone"
            self.findings.append(results.warning(codes.MISSING_OWNER, message, ref))
        elif is_prunable(resource):
            message = f"the object is removed, because {joined} no longer needs it; to keep it, remove its annotation {labels.OWNER}"
            self.findings.append(results.info(codes.GENERATED_OBJECT_REMOVED, message, ref))
        else:
            message = f"the object stays, although {joined} does not generate it; delete it, or remove its annotation {labels.OWNER}"
            self.findings.append(results.warning(codes.UNGENERATED_OBJECT_WITH_OWNER, message, ref))
        return bool(absent) or not is_prunable(resource)

    def left_behind(self) -> Iterator[Result]:
        """Yields one warning for all objects that an owner left in its old namespace. Without an address it sorts before the others."""
        for (name, namespace), resources in self.moved.items():
            now = ", ".join(self._namespaces(name))
            message = (
                f"{name} is now in namespace {now}, but {len(resources)} objects that it generated in namespace {namespace or 'default'} "
                f"are still here and run as a second set; delete {', '.join(map(_file_or_name, resources))}"
            )
            yield results.warning(codes.OBJECTS_IN_OLD_NAMESPACE, message)

    def _namespaces(self, name: str) -> list[str]:
        """Lists the namespaces in which an owner of this kind and name is among the items."""
        return sorted(namespace for *rest, namespace in self.present if "/".join(rest) == name)


def _file_or_name(resource: Resource) -> str:
    """Returns the file of an object if an orchestrator annotated it, otherwise its kind and name."""
    annotations, ref = labels.annotations(resource), results.ref(resource)
    return str(annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH) or f"{ref.kind} {ref.name}")


def _unique(generated: Iterable[Generated], findings: list[Result]) -> dict[ObjectKey, Generated]:
    """Returns each object once, marked with all its owners. Two graphs may share an object only if both generate it with equal fields.

    Rule metadata.owners: The owner of an object is the kind and the name of each resource that the object is generated from. (krm-fn)
    """
    unique: dict[ObjectKey, Generated] = {}
    names: dict[ObjectKey, set[str]] = {}
    for entry in generated:
        key, name = _key(entry.resource), f"{entry.owner['kind']}/{entry.owner['metadata']['name']}"
        first = unique.setdefault(key, entry)
        if first is entry or first.resource == entry.resource:
            names.setdefault(key, set()).add(name)
        else:
            message = f"{min(names[key])} generates a different {key.kind} {key.name}; make it the same in both, or rename one"
            findings.append(results.error(codes.CONFLICTING_GENERATED_OBJECTS, message, results.ref(entry.owner), ("metadata", "name")))
    return {key: entry._replace(resource=_with_owners(entry.resource, sorted(names[key]))) for key, entry in unique.items()}


def _key(generated: Resource) -> ObjectKey:
    """Returns the key of an object that the function made. `identity.key` is for items, whose fields can have any type."""
    metadata = generated["metadata"]
    return ObjectKey(generated["apiVersion"].rpartition("/")[0], generated["kind"], metadata.get("namespace", ""), metadata["name"])


def _with_owners(resource: Resource, names: list[str]) -> Resource:
    """Returns an object with its label and its annotation of ownership.

    Rule metadata.owner: Each generated object has a label that names krm-fn and an annotation that names its owner. (krm-fn)
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
    return results.error(codes.OBJECT_ALREADY_EXISTS, message, results.ref(item), ("metadata", "name"))


def _complete_object(item: Resource, new: Generated, findings: list[Result]) -> Resource:
    """Sets the fields of the generated object in a user's object.

    Its metadata and all other fields stay, as in the operator's `rbac/manager.go`.
    """
    completed = {**item, **{key: value for key, value in new.resource.items() if key != "metadata"}}
    if completed != item:
        changed = ", ".join(key for key in completed if completed[key] != item.get(key))
        message = f"{changed} must be those of the service account that krm-fn binds and are replaced; remove the object, or rename it"
        findings.append(results.warning(codes.SHARED_OBJECT_CORRECTED, message, results.ref(item), ("metadata", "name")))
    return completed


def _replacement(item: Resource, new: Resource) -> Resource:
    """Returns the new object with the orchestrator's annotations of the item, or the item itself if they are equal."""
    internal = {key: value for key, value in labels.annotations(item).items() if key.startswith(labels.INTERNAL)}
    merged = {**new, "metadata": {**new["metadata"], "annotations": {**labels.annotations(new), **internal}}}
    return item if merged == item else merged


def _with_paths(generated: Iterable[Generated], items: Sequence[Resource]) -> Iterator[Resource]:
    """Yields new objects. Under kpt, each gets a path in the folder of its graph's file, which no item has. kustomize needs no paths."""
    paths: set[str] | None = None
    for new in generated:
        annotations, resource = new.owner["metadata"].get("annotations") or {}, new.resource
        owner_path = annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH)
        if not owner_path:
            yield resource
            continue
        if paths is None:
            paths = {path for item in items if isinstance(path := labels.annotations(item).get(labels.PATH), str)}
        yield _with_path(resource, annotations, owner_path, paths)


def _with_path(resource: Resource, annotations: Labels, owner_path: str, used: set[str]) -> Resource:
    """Returns an object with a path in the folder of `owner_path`, and adds that path to the `used` ones."""
    ref, folder, metadata = results.ref(resource), owner_path.rpartition("/")[0], resource["metadata"]
    stems = (f"{ref.kind}_{ref.name}", f"{ref.kind}_{ref.namespace}_{ref.name}")
    paths = [f"{folder}/{stem}.yaml".lower().lstrip("/") for stem in stems]
    path = next((candidate for candidate in paths if candidate not in used), paths[-1])
    used.add(path)
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
