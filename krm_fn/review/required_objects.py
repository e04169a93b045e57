"""Finds the objects that must exist beside a render: what its objects name and nobody among the items creates.

An API server accepts an object that names a missing Secret, claim or class. Its pods then wait, and the reason stands only in their events.
The fields are those of the Kubernetes API v1.36 that hold names of other objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn import expand, results
from krm_fn.config import Config
from krm_fn.kube import identity, labels, paths
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.paths import EVERY
from krm_fn.kube.types import Resource
from krm_fn.manifests import ownership
from krm_fn.provenance import copied_texts
from krm_fn.records import NamedTuple
from krm_fn.resolve import cluster
from krm_fn.results import Path, Ref
from krm_fn.review import field_authors, pods, secret_sources
from krm_fn.review.field_authors import FieldAuthor


class NameField(NamedTuple):
    """A field that names an object. `kind` and `group` are those of the named object; a cluster-scoped one has no namespace.

    `keys` are the paths of keys that the object must have, from the parent of the name. A sibling `optional: true` lifts the requirement.
    """

    path: Path
    kind: str
    group: str = ""
    namespaced: bool = True
    keys: tuple[Path, ...] = ()


class Requirement(NamedTuple):
    """One use of an object that must exist. `keys` are the keys of its data that the use needs.

    `ref` is the object that names it, `path` the field there, and `author` the field of the input; None if the render made the name.
    """

    key: ObjectKey
    keys: tuple[str, ...]
    ref: Ref
    path: Path
    author: FieldAuthor | None


_ITEMS: tuple[Path, ...] = (("items", EVERY, "key"),)
_VOLUME: Path = ("volumes", EVERY)
_SOURCE: Path = (*_VOLUME, "projected", "sources", EVERY)
_CONTAINERS: tuple[Path, ...] = (("initContainers", EVERY), ("containers", EVERY))
_OF_CONTAINERS = (
    NameField(("env", EVERY, "valueFrom", "secretKeyRef", "name"), "Secret", keys=(("key",),)),
    NameField(("env", EVERY, "valueFrom", "configMapKeyRef", "name"), "ConfigMap", keys=(("key",),)),
    NameField(("envFrom", EVERY, "secretRef", "name"), "Secret"),
    NameField(("envFrom", EVERY, "configMapRef", "name"), "ConfigMap"),
)
_OF_PODS = (
    *(field._replace(path=(*container, *field.path)) for container in _CONTAINERS for field in _OF_CONTAINERS),
    NameField((*_VOLUME, "persistentVolumeClaim", "claimName"), "PersistentVolumeClaim"),
    NameField((*_VOLUME, "secret", "secretName"), "Secret", keys=_ITEMS),
    NameField((*_VOLUME, "configMap", "name"), "ConfigMap", keys=_ITEMS),
    NameField((*_SOURCE, "secret", "name"), "Secret", keys=_ITEMS),
    NameField((*_SOURCE, "configMap", "name"), "ConfigMap", keys=_ITEMS),
    NameField((*_VOLUME, "csi", "nodePublishSecretRef", "name"), "Secret"),
    NameField(
        (*_VOLUME, "ephemeral", "volumeClaimTemplate", "spec", "storageClassName"), "StorageClass", "storage.k8s.io", namespaced=False
    ),
    NameField(("imagePullSecrets", EVERY, "name"), "Secret"),
    NameField(("serviceAccountName",), "ServiceAccount"),
    NameField(("priorityClassName",), "PriorityClass", "scheduling.k8s.io", namespaced=False),
    NameField(("runtimeClassName",), "RuntimeClass", "node.k8s.io", namespaced=False),
    NameField(("resourceClaims", EVERY, "resourceClaimName"), "ResourceClaim", "resource.k8s.io"),
    NameField(("resourceClaims", EVERY, "resourceClaimTemplateName"), "ResourceClaimTemplate", "resource.k8s.io"),
)
_REQUEST: Path = ("devices", "requests", EVERY)
_DEVICE_FIELDS = tuple(
    NameField((*spec, *_REQUEST, *holder, "deviceClassName"), "DeviceClass", "resource.k8s.io", namespaced=False)
    for spec in (("spec",), ("spec", "spec"))
    for holder in (("exactly",), ("firstAvailable", EVERY))
)
_OF_OBJECTS = {
    "Ingress": (
        NameField(("spec", "ingressClassName"), "IngressClass", "networking.k8s.io", namespaced=False),
        NameField(("spec", "tls", EVERY, "secretName"), "Secret"),
    ),
    "PersistentVolumeClaim": (NameField(("spec", "storageClassName"), "StorageClass", "storage.k8s.io", namespaced=False),),
    "ResourceClaim": _DEVICE_FIELDS[:2],
    "ResourceClaimTemplate": _DEVICE_FIELDS[2:],
}
_ROLE_REF = "roleRef"
_BUILT_IN_ACCOUNT = "default"
"""Kubernetes creates this ServiceAccount in each namespace."""
_BUILT_IN_PRIORITIES = ("system-cluster-critical", "system-node-critical")
_QUEUES = {labels.KAI_QUEUE: ("Queue", "scheduling.run.ai"), labels.VOLCANO_QUEUE: ("Queue", "scheduling.volcano.sh")}
"""Labels and annotations of pods, and of the set, that name a queue of a scheduler."""
_NATIVE_GROUPS = ("", "apps", "batch", "policy", "autoscaling")
_NATIVE_SUFFIX = ".k8s.io"
_ADDED_GROUPS = ("leaderworkerset.x-k8s.io", "inference.networking.k8s.io", "gateway.networking.k8s.io")
"""Groups of definitions that look like groups of Kubernetes."""


def of_render(resources: Sequence[Resource], config: Config) -> list[Requirement]:
    """Finds what the rendered objects need, without what is among the items or rendered itself, in the order of the output.

    Resources with errors are left out.
    """
    default_namespace = config.namespace or cluster.NAMESPACE
    inputs = copied_texts.distinct(resources, config)
    rendered = [resource for planned in expand.plans(inputs.resources, inputs.settings) for resource in planned.objects]
    known = {identity.key(resource, default_namespace) for resource in (*resources, *rendered)}
    known |= {*secret_sources.secrets(resources, default_namespace)}
    known |= {key._replace(namespace="") for key in known}  # cluster-scoped objects have no namespace, whatever the default is
    return [
        requirement._replace(author=field_authors.of_copy(requirement.key.name, inputs))
        for resource in rendered
        for requirement in _of_object(resource, identity.key(resource, default_namespace).namespace)
        if requirement.key not in known and not _is_built_in(requirement.key)
    ]


def definitions(rendered: Iterable[Resource]) -> list[tuple[str, str]]:
    """Lists the API version and the kind of each rendered object whose kind comes from a CustomResourceDefinition, each once."""
    written = [resource for resource in rendered if not labels.is_local(resource)]
    refs = [results.ref(resource) for resource in written if ownership.owners(resource) or identity.is_dynamo(resource)]
    return sorted({(ref.api_version, ref.kind) for ref in refs if not _is_native(ref.api_version.rpartition("/")[0])})


def _is_native(group: str) -> bool:
    return group in _NATIVE_GROUPS or (group.endswith(_NATIVE_SUFFIX) and group not in _ADDED_GROUPS)


def _is_built_in(key: ObjectKey) -> bool:
    return (key.kind, key.name) == ("ServiceAccount", _BUILT_IN_ACCOUNT) or (
        key.kind == "PriorityClass" and key.name in _BUILT_IN_PRIORITIES
    )


def _of_object(resource: Resource, namespace: str) -> Iterator[Requirement]:
    """Yields the requirements of an object and of its pods."""
    yield from _of_role(resource, namespace)
    yield from _of_queues(resource)
    ref = results.ref(resource)
    for field in _OF_OBJECTS.get(ref.kind, ()):
        yield from _named(resource, (), field, namespace, ref)
    for template in pods.of(resource):
        for field in _OF_PODS:
            yield from _named(template.spec, template.path, field, namespace, ref)


def _named(value: Any, start: Path, field: NameField, namespace: str, ref: Ref) -> Iterator[Requirement]:
    """Yields a requirement for each name that a field has in a value. `start` is the path of the value in its object."""
    for path, name in paths.find(value, [field.path]):
        parent = paths.at(value, path[:-1]) if len(path) > 1 else value
        if isinstance(name, str) and name and not (isinstance(parent, dict) and parent.get("optional") is True):
            key = ObjectKey(field.group, field.kind, namespace if field.namespaced else "", name)
            keys = tuple(str(name_of_key) for _, name_of_key in paths.find(parent, field.keys))
            yield Requirement(key, keys, ref, (*start, *path), None)


def _of_role(resource: Resource, namespace: str) -> Iterator[Requirement]:
    """Yields the role of a RoleBinding."""
    role = resource.get(_ROLE_REF)
    if isinstance(role, dict) and isinstance(name := role.get("name"), str):
        kind = str(role.get("kind"))
        key = ObjectKey(str(role.get("apiGroup")), kind, "" if kind.startswith("Cluster") else namespace, name)
        yield Requirement(key, (), results.ref(resource), (_ROLE_REF, "name"), None)


def _of_queues(resource: Resource) -> Iterator[Requirement]:
    """Yields the queues that labels and annotations of an object and of its pods name, each once."""
    holders: list[tuple[Path, dict[str, Any]]] = [(("metadata", "labels"), labels.of(resource))]
    holders.append((("metadata", "annotations"), labels.annotations(resource)))
    holders += [((*template.path, "metadata", "labels"), template.labels) for template in pods.of(resource)]
    queues: dict[ObjectKey, Path] = {}
    for path, fields in holders:
        for label, (kind, group) in _QUEUES.items():
            if isinstance(name := fields.get(label), str):
                queues.setdefault(ObjectKey(group, kind, "", name), (*path, label))
    for key, path in queues.items():
        yield Requirement(key, (), results.ref(resource), path, None)
