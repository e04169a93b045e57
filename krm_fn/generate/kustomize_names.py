"""Fields of Dynamo's kinds that refer to other objects, for `configurations` of kustomize, so that prefixes and hashes change them too.

A path of kustomize can pass lists, but not maps with user-defined keys. A caller must therefore name the services of v1alpha1. In
v1beta1, components are a list. There the name of a mount without a volume is the name of a claim too, but kustomize cannot tell such a
mount from others: a pod whose claims get other names needs volumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from krm_fn.kube.types import Resource

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


class NameReference(NamedTuple):
    """A field of a Dynamo kind that holds the name of another object."""

    target: str
    kind: str
    path: str


def references(services: Iterable[str] = ()) -> Resource:
    """The content of a file for `configurations`. `services` are the keys under `spec.services` of the graphs."""
    every = sorted({*_fixed(), *(reference for service in services for reference in _of_service(service))})
    return {
        "nameReference": [
            {**_target(target), "fieldSpecs": [{"path": field.path, "group": GROUP, "kind": field.kind} for field in fields]}
            for target, fields in groupby(every, key=lambda field: field.target)
        ]
    }


def _target(kind: str) -> Resource:
    return {"group": GROUP, "kind": kind} if kind == GRAPH else {"version": "v1", "kind": kind}


def _fixed() -> Iterator[NameReference]:
    """The references outside of services, those of v1alpha1 before those of v1beta1."""
    yield from _component("DynamoComponentDeployment", "spec")
    yield from _under("DynamoGraphDeployment", "spec/envs", _VARIABLES)
    yield from _under("DynamoGraphDeploymentRequest", "spec", _REQUEST)
    yield NameReference(GRAPH, "DynamoGraphDeploymentScalingAdapter", "spec/dgdRef/name")
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
