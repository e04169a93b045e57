"""Finds the objects that must exist beside a render: what its objects name and nobody among the items creates.

An API server accepts an object that names a missing Secret, claim or class. Its pods then wait, and the reason stands only in their events.
`krm_fn.kubernetes.references` has the fields with names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.origins.origin import Origin
from krm_fn.render import dynamo_api, dynamo_references, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership, workloads
from krm_fn.render.resolve import cluster
from krm_fn.review import pods


class ObjectUse(NamedTuple):
    """One use of an object that must exist. `keys` are the keys of its data that the use needs.

    `ref` is the object that names it, `path` the field there, and `author` the field of the input; None if the render made the name.
    """

    key: ObjectKey
    keys: tuple[str, ...]
    ref: Ref
    path: Path
    author: Origin | None


NAMESPACE = "Namespace"
_INITIAL_NAMESPACES = ("", "default", "kube-node-lease", "kube-public", "kube-system")
"""The namespaces with which a cluster starts: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/."""
_NATIVE_GROUPS = ("", "apps", "batch", "policy", "autoscaling")
_NATIVE_SUFFIX = ".k8s.io"
_PROMISED_SECRETS = {
    ("bitnami.com", "SealedSecret"): ("spec", "template", "metadata", "name"),
    ("external-secrets.io", "ExternalSecret"): ("spec", "target", "name"),
}
"""The field that names the Secret, by group and kind. Without it, the Secret has the name of its source."""
_ADDED_GROUPS = ("inference.networking.k8s.io", "gateway.networking.k8s.io")
"""Groups of definitions that look like groups of Kubernetes, besides those of workloads."""
_GATED_APIS = {("scheduling.k8s.io/v1beta1", "PodGroup"): "v1beta1.scheduling.k8s.io"}
"""The APIService of each kind of Kubernetes that a server serves only with a feature gate that is off by default, by API version and kind.

Source: v1beta1Storage in kubernetes `pkg/registry/scheduling/rest/storage_scheduling.go`, for the gate `GenericWorkload`.
"""


def of_render(resources: Sequence[Resource], config: Config) -> list[ObjectUse]:
    """Finds what the rendered objects need, without what is among the items or rendered itself, in the order of the output.

    Resources with errors are left out.
    """
    from krm_fn.origins.text_origins import TextOrigins  # noqa: PLC0415 - `krm-fn check` traces nothing

    default_namespace = cluster.default_namespace(config)
    rendered = [resource for planned in expand.plans(resources, config) for resource in planned.objects]
    origins = TextOrigins(resources, rendered, config)
    known = {identity.key(resource, default_namespace) for resource in (*resources, *rendered)}
    known |= {*promised_secrets(resources, default_namespace)}
    known |= {key._replace(namespace="") for key in known}  # cluster-scoped objects have no namespace, whatever the default is
    return [
        requirement._replace(author=origins.of(resource, requirement.path))
        for resource in rendered
        for requirement in _of_object(resource, identity.key(resource, default_namespace).namespace)
        if requirement.key not in known and not _is_built_in(requirement.key)
    ]


def of_objects(objects: Iterable[tuple[ObjectKey, Resource]]) -> list[ObjectUse]:
    """Finds what finished objects need, without what is among them. No requirement has an author: nobody says who wrote the objects."""
    by_key = dict(objects)
    known = {*by_key, *(key._replace(namespace="") for key in by_key)}
    needed = (requirement for key, resource in by_key.items() for requirement in _of_object(resource, key.namespace))
    return [requirement for requirement in needed if requirement.key not in known and not _is_built_in(requirement.key)]


def namespaces(resources: Sequence[Resource], default_namespace: str) -> list[ObjectUse]:
    """Finds the namespaces of Dynamo resources, without those that are among the resources, and without those that each cluster has."""
    keys = [identity.key(resource, default_namespace) for resource in resources]
    known = {*_INITIAL_NAMESPACES, *(key.name for key in keys if (key.group, key.kind) == ("", NAMESPACE))}
    uses = []
    for resource, key in zip(resources, keys, strict=True):
        if dynamo_api.is_dynamo(resource) and key.namespace not in known:
            ref, path = results.ref(resource), ("metadata", "namespace")
            author = Origin("user", path, ref) if paths.at(resource, path) else None
            uses.append(ObjectUse(ObjectKey("", NAMESPACE, "", key.namespace), (), ref, path, author))
    return uses


def definitions(rendered: Iterable[Resource]) -> list[tuple[str, str]]:
    """Lists the API version and the kind of each rendered object whose kind comes from a CustomResourceDefinition, each once."""
    written = [resource for resource in rendered if not labels.is_local(resource)]
    refs = [results.ref(resource) for resource in written if ownership.owners(resource) or dynamo_api.is_dynamo(resource)]
    kinds = {(ref.api_version, ref.kind) for ref in refs if not _is_native(ref.api_version.rpartition("/")[0])}
    return sorted(kinds - _GATED_APIS.keys())


def _is_native(group: str) -> bool:
    added = (*_ADDED_GROUPS, *(group for group, _ in workloads.objects()))
    return group in _NATIVE_GROUPS or (group.endswith(_NATIVE_SUFFIX) and group not in added)


def _is_built_in(key: ObjectKey) -> bool:
    return ((key.group, key.kind), key.name) in name_fields.BUILT_IN


def _of_object(resource: Resource, namespace: str) -> Iterator[ObjectUse]:
    """Yields the requirements of an object and of its pods."""
    yield from _of_queues(resource)
    ref = results.ref(resource)
    if served := _GATED_APIS.get((ref.api_version, ref.kind)):
        yield ObjectUse(ObjectKey("apiregistration.k8s.io", "APIService", "", served), (), ref, ("apiVersion",), None)
    for reference in dynamo_references.of(resource):
        if not reference.is_optional:
            at = (reference.namespace or namespace) if name_fields.is_namespaced(reference.group, reference.kind) else ""
            yield ObjectUse(ObjectKey(reference.group, reference.kind, at, reference.name), reference.keys, ref, reference.path, None)


def _of_queues(resource: Resource) -> Iterator[ObjectUse]:
    """Yields the queues that labels and annotations of an object and of its pods name, each once."""
    holders: list[tuple[Path, dict[str, Any]]] = [(("metadata", "labels"), labels.of(resource))]
    holders.append((("metadata", "annotations"), labels.annotations(resource)))
    holders += [((*template.path, "metadata", "labels"), template.labels) for template in pods.of(resource)]
    queues: dict[ObjectKey, Path] = {}
    for path, fields in holders:
        for label, (group, kind) in name_fields.QUEUES.items():
            if isinstance(name := fields.get(label), str):
                queues.setdefault(ObjectKey(group, kind, "", name), (*path, label))
    for key, path in queues.items():
        yield ObjectUse(key, (), results.ref(resource), path, None)


def promised_secrets(resources: Iterable[Resource], default_namespace: str) -> Iterator[ObjectKey]:
    """Yields the keys of the Secrets that controllers make from resources: Sealed Secrets and External Secrets.

    References: https://github.com/bitnami-labs/sealed-secrets and https://external-secrets.io/latest/api/externalsecret/.
    """
    for resource in resources:
        key = identity.key(resource, default_namespace)
        if path := _PROMISED_SECRETS.get((key.group, key.kind)):
            name = paths.at(resource, path)
            yield ObjectKey("", "Secret", key.namespace, name if isinstance(name, str) and name else key.name)
