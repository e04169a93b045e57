"""Inputs for the rules that only newer releases have: some that break a rule, and similar ones that do not."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.kube import labels
from krm_fn.kube.types import Resource
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

_NEWER = {"behaviour": "v1.5"}
_AT = "spec.components[0]"
_POD = f"{_AT}.podTemplate.spec"
_SERVICE = "spec.services.Worker"


def older(written: Resource, **spec: Any) -> Resource:
    """A graph in v1alpha1 with one service, called `Worker`."""
    return given.graph({"Worker": written}, **spec)


def newer(**fields: Any) -> Resource:
    """A graph in v1beta1 with one worker, called `Worker`."""
    return beta.graph(beta.component("Worker", **fields))


def _without_main(**spec: Any) -> Resource:
    return beta.graph({"name": "Worker", "type": "worker", **spec})


def _keeping(graph: Resource, text: str) -> Resource:
    """The graph with this text in the annotation of kept fields."""
    return _annotated(graph, labels.PRESERVED_GRAPH, text)


def _created(graph: Resource) -> Resource:
    """The graph as an operator of 1.5 creates it."""
    return _annotated(graph, labels.ORIGIN_VERSION, "1.5.0")


def _annotated(graph: Resource, key: str, text: str) -> Resource:
    return {**graph, "metadata": {**graph["metadata"], "annotations": {key: text}}}


_BESIDE = ({"name": "a", "image": "a:1"},)

MAIN_CONTAINERS = [
    fires("DYN450", f"{_POD}.containers", "a component without a pod", _without_main()),
    fires(
        "DYN450",
        f"{_POD}.containers",
        "a pod without a main container",
        _without_main(podTemplate={"spec": {"containers": [{"name": "a", "image": "a:1"}]}}),
    ),
    fires(
        "DYN450",
        f"{_POD}.containers",
        "no main container, although the graph has variables for it",
        beta.graph({"name": "Worker", "type": "worker"}, env=[{"name": "A", "value": "b"}]),
    ),
    fires(
        "DYN450",
        f"{_SERVICE}.extraPodSpec.mainContainer",
        "a service without a pod",
        older({"componentType": "worker"}),
        **_NEWER,
    ),
    fires(
        "DYN205",
        f"{_POD}.containers[1].image",
        "a main container without an image",
        _without_main(podTemplate={"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "main"}]}}),
    ),
    fires("DYN451", f"{_AT}.runtimeVersionOverride", "an image without a version", newer(main={"image": "dynamo:latest"})),
    fires("DYN451", f"{_AT}.runtimeVersionOverride", "an image with a digest alone", newer(main={"image": f"dynamo@sha256:{'0' * 64}"})),
    fires("DYN451", f"{_AT}.runtimeVersionOverride", "a version of two numbers", newer(main={"image": "dynamo:1.5"})),
    fires(
        "DYN451",
        f"{_SERVICE}.runtimeVersionOverride",
        "a service whose image has no version",
        older(beta.service(main={"image": "registry.example:5000/dynamo"})),
        **_NEWER,
    ),
    quiet("an image without a version, and the version beside it", newer(main={"image": "dynamo:latest"}, runtimeVersionOverride="1.5.0")),
    quiet("a version with a prefix and a suffix", newer(main={"image": "dynamo:v1.5.1-rc1+gpu"})),
    quiet("a service whose image has a version", older(beta.service()), **_NEWER),
]

_KEPT = f"metadata.annotations['{labels.PRESERVED_GRAPH}']"
_SECRETS: dict[str, Any] = {"envFromSecret": "token", "main": {"envFrom": [{"configMapRef": {"name": "settings"}}]}}
_GROUPED: dict[str, Any] = {"experimental": {"grove": {"forceScalingGroup": True}}}

CONVERSIONS = [
    fires("DYN409", _KEPT, "kept fields that are no JSON", _keeping(beta.graph(), "{")),
    fires("DYN409", _KEPT, "a kept field of a wrong type", _keeping(beta.graph(), '{"version":1,"spec":{"pvcs":5}}')),
    fires("DYN409", _KEPT, "5 MB of kept fields", _keeping(beta.graph(), json.dumps({"spec": {"a": "b" * 5_000_000}}))),
    fires("DYN409", _KEPT, "a service with kept fields of another version", _keeping(older(beta.service()), "[]")),
    quiet("kept fields of a service", _keeping(beta.graph(), '{"version":1,"spec":{"services":{"Worker":{"labels":{"a":"b"}}}}}')),
    fires("DYN411", f"{_AT}.experimental.grove", "a feature that 0.9 has no field for", newer(**_GROUPED), behaviour="v0.9"),
    fires(
        "DYN411", f"{_AT}.frontendSidecar", "a sidecar of one's own under 0.9", newer(frontendSidecar="a", beside=_BESIDE), behaviour="v0.9"
    ),
    quiet("a component that 0.9 has fields for", newer(sharedMemorySize="1Gi", replicas=2), behaviour="v0.9"),
    fires("DYN413", f"{_SERVICE}.envFromSecret", "a Secret beside envFrom under v1.5", older(beta.service(**_SECRETS)), **_NEWER),
    quiet("a Secret beside envFrom under v0.9", older(beta.service(**_SECRETS))),
    quiet("a Secret beside envFrom in a graph of a newer operator", _created(older(beta.service(**_SECRETS)))),
]

ALL: list[Case] = [*MAIN_CONTAINERS, *CONVERSIONS]
