"""Files for kustomize: the OpenAPI schema by which patches merge, and the fields that refer to other objects by name.

kustomize reads from the schema only lists with a merge key, and kinds without a namespace (kyaml `openapi`, `yaml/walk`): maps always
merge, and a list without a key is replaced. A schema named under `openapi:` replaces kustomize's own schema, so the Kubernetes kinds are in
it too.

The references are for `configurations` of kustomize, so that prefixes and hashes change them too. A path of kustomize can pass lists, but
not maps with user-defined keys. A caller must therefore name the services of v1alpha1. In v1beta1, components are a list. There the name of
a mount without a volume is the name of a claim too, but kustomize cannot distinguish such a mount from others: a pod whose claims get other
names needs volumes. The references also include the pods of LeaderWorkerSets and PodCliqueSets, which the function generates and kustomize
does not know, and the scaling adapters in autoscalers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from krm_fn import generate, registry
from krm_fn.generate import structural
from krm_fn.kube.types import Resource
from krm_fn.schema import table
from krm_fn.schema.schema_node import Schema

FILE = "generate/merging.json"
GVK = "x-kubernetes-group-version-kind"
_KEYS = ("x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-list-map-keys")
_NAMED = "/{name}"

GROUP, GRAPH = "nvidia.com", "DynamoGraphDeployment"
Paths = Mapping[str, tuple[str, ...]]

_VARIABLES: Paths = {"ConfigMap": ("valueFrom/configMapKeyRef/name",), "Secret": ("valueFrom/secretKeyRef/name",)}
_CONTAINER: Paths = {
    "ConfigMap": ("env/valueFrom/configMapKeyRef/name", "envFrom/configMapRef/name"),
    "Secret": ("env/valueFrom/secretKeyRef/name", "envFrom/secretRef/name"),
}
_POD: Paths = {
    "ConfigMap": ("volumes/configMap/name", "volumes/projected/sources/configMap/name"),
    "Secret": (
        *("volumes/secret/secretName", "volumes/projected/sources/secret/name", "volumes/csi/nodePublishSecretRef/name"),
        "imagePullSecrets/name",
    ),
    "PersistentVolumeClaim": ("volumes/persistentVolumeClaim/claimName",),
    "ServiceAccount": ("serviceAccountName",),
}
_COMPONENT: Paths = {
    "ConfigMap": ("eppConfig/configMapRef/name",),
    "Secret": ("envFromSecret", "ingress/tls/secretName"),
    "PersistentVolumeClaim": ("volumeMounts/name",),
}
_REQUEST: Paths = {"ConfigMap": ("profilingConfig/configMapRef/name",), "PersistentVolumeClaim": ("profilingConfig/outputPVC",)}
_NEWER_COMPONENT: Paths = {"ConfigMap": ("eppConfig/configMapRef/name",), "PersistentVolumeClaim": ("compilationCache/pvcName",)}
_NEWER_REQUEST: Paths = {"PersistentVolumeClaim": ("modelCache/pvcName",)}
_CONTAINERS = ("containers", "initContainers")
_ADAPTER = "DynamoGraphDeploymentScalingAdapter"
_GROUPS = {
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io",
    "PodCliqueSet": "grove.io",
    "HorizontalPodAutoscaler": "autoscaling",
    "ScaledObject": "keda.sh",
}
"""The groups of kinds that are not Dynamo's."""


class NameReference(NamedTuple):
    """A field that holds the name of another object."""

    target: str
    kind: str
    path: str


def schema() -> dict[str, Any]:
    """The whole schema in OpenAPI v2: Kubernetes' kinds from `merging.json`, and Dynamo's kinds."""
    native = json.loads(registry.data(FILE))
    known = generate.definitions()
    addresses = {
        definition: [{**_group(version), "kind": kind}]
        for kind, versions in table.load().kinds.items()
        for version, definition in versions.items()
    }
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes and Dynamo, as patches merge", "version": table.load().kubernetes},
        "paths": native["paths"],
        "definitions": native["definitions"] | _merging(known, addresses),
    }


def natively(documents: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The native part, from the OpenAPI v3 documents of an API server: `paths` of kinds without a namespace, and `definitions`."""
    every = list(documents)
    schemas = {name: schema for document in every for name, schema in document["components"]["schemas"].items()}
    addresses = {name: schema[GVK] for name, schema in schemas.items() if len(schema.get(GVK, ())) == 1}
    paths = {path: operations for document in every for path, operations in document["paths"].items()}
    return {"paths": _global(paths), "definitions": _merging(structural.native_part(every), addresses)}


def _merging(known: dict[str, Schema], addresses: dict[str, list[dict[str, str]]]) -> dict[str, Schema]:
    """Returns the definitions that contain or refer to a list with a merge key, reduced to the fields that lead to it."""
    useful: dict[str, Schema] = {}
    before = -1
    while before < len(useful):
        before = len(useful)
        for name, definition in known.items():
            reduced = _reduced(definition, useful)
            if reduced is not None:
                useful[name] = reduced
    return {name: {**useful[name], **({GVK: addresses[name]} if name in addresses else {})} for name in sorted(useful)}


def _reduced(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """Reduces a schema to the fields that lead to lists with a merge key; None if no field does."""
    if "$ref" in schema:
        return {"$ref": f"#/definitions/{schema['$ref']}"} if schema["$ref"] in useful else None
    if schema.get("type") == "array":
        return _list(schema, useful)
    fields = {name: inner for name, field in schema.get("properties", {}).items() if (inner := _reduced(field, useful)) is not None}
    entry = _reduced(schema["additionalProperties"], useful) if "additionalProperties" in schema else None
    if not fields and entry is None:
        return None
    return {"type": "object", **({"properties": fields} if fields else {}), **({"additionalProperties": entry} if entry else {})}


def _list(schema: Schema, useful: dict[str, Schema]) -> Schema | None:
    """A list with a merge key; None for other lists, which patches replace as a whole."""
    if "merge" not in schema.get(_KEYS[0], "").split(","):
        return None
    return {"type": "array", **{key: schema[key] for key in _KEYS if key in schema}, "items": _reduced(schema["items"], useful) or {}}


def _global(paths: dict[str, Any]) -> dict[str, Any]:
    """The paths of kinds without a namespace."""
    named = {
        path: operations["get"][GVK]
        for path, operations in sorted(paths.items())
        if path.endswith(_NAMED) and GVK in operations.get("get", {})
    }
    return {
        path: {"get": {GVK: address, "responses": {}}}
        for path, address in named.items()
        if "{namespace}" not in path and "/watch/" not in path
    }


def _group(api_version: str) -> dict[str, str]:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version}


def references(services: Iterable[str] = ()) -> Resource:
    """The content of a file for `configurations`. `services` are the keys under `spec.services` of the graphs."""
    every = sorted({*_fixed(), *(reference for service in services for reference in _of_service(service))})
    return {
        "nameReference": [
            {
                **_target(target),
                "fieldSpecs": [{"path": field.path, "group": _GROUPS.get(field.kind, GROUP), "kind": field.kind} for field in fields],
            }
            for target, fields in groupby(every, key=lambda field: field.target)
        ]
    }


def _target(kind: str) -> Resource:
    return {"group": GROUP, "kind": kind} if kind in (GRAPH, _ADAPTER) else {"version": "v1", "kind": kind}


def _fixed() -> Iterator[NameReference]:
    """The references outside of services, those of v1alpha1 before those of v1beta1."""
    yield from _component("DynamoComponentDeployment", "spec")
    yield from _under("DynamoGraphDeployment", "spec/envs", _VARIABLES)
    yield from _under("DynamoGraphDeploymentRequest", "spec", _REQUEST)
    yield NameReference(GRAPH, _ADAPTER, "spec/dgdRef/name")
    for template in ("leaderTemplate", "workerTemplate"):
        yield from _pod("LeaderWorkerSet", f"spec/leaderWorkerTemplate/{template}/spec")
    yield from _pod("PodCliqueSet", "spec/template/cliques/spec/podSpec")
    yield from (NameReference(_ADAPTER, kind, "spec/scaleTargetRef/name") for kind in ("HorizontalPodAutoscaler", "ScaledObject"))
    yield from _newer_component("DynamoComponentDeployment", "spec")
    yield from _newer_component(GRAPH, "spec/components")
    yield from _under(GRAPH, "spec/env", _VARIABLES)
    yield from _under("DynamoGraphDeploymentRequest", "spec", _NEWER_REQUEST)
    yield from _pod("DynamoGraphDeploymentRequest", "spec/overrides/profilingJob/template/spec")


def _of_service(service: str) -> Iterator[NameReference]:
    """The references of a service, and the names of claims, because a service mounts claims by name."""
    yield NameReference("PersistentVolumeClaim", GRAPH, "spec/pvcs/name")
    yield from _component(GRAPH, f"spec/services/{service.replace('/', chr(92) + '/')}")


def _component(kind: str, at: str) -> Iterator[NameReference]:
    yield from _under(kind, at, _COMPONENT)
    yield from _under(kind, f"{at}/envs", _VARIABLES)
    yield from _pod(kind, f"{at}/extraPodSpec", "mainContainer")


def _newer_component(kind: str, at: str) -> Iterator[NameReference]:
    yield from _under(kind, at, _NEWER_COMPONENT)
    yield from _pod(kind, f"{at}/podTemplate/spec")


def _pod(kind: str, at: str, *more: str) -> Iterator[NameReference]:
    """The references of a pod; `more` are fields with a container, besides the lists of containers."""
    yield from _under(kind, at, _POD)
    for container in (*more, *_CONTAINERS):
        yield from _under(kind, f"{at}/{container}", _CONTAINER)


def _under(kind: str, at: str, paths: Paths) -> Iterator[NameReference]:
    for target, below in paths.items():
        for path in below:
            yield NameReference(target, kind, f"{at}/{path}")
