"""ResourceLists for measurements: a typical one, one without Dynamo resources, and any number of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krm_fn.base.yaml import emitter, reader
from krm_fn.render import dynamo_api, labels
from krm_fn.render.convert import versions

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "older-planner" / "graph.yaml"
_RUNTIME = "0.8.0"  # the version of the images of the example


def typical(size: int) -> bytes:
    """One graph and native resources, together `size` bytes or a little more."""
    return _listed([*_graph(), *_fill(size - len(EXAMPLE.read_bytes()))])


def untouched(size: int) -> bytes:
    """Native resources only, `size` bytes or a little more."""
    return _listed(list(_fill(size)))


def graphs(count: int, version: str = dynamo_api.ALPHA1, **settings: Any) -> bytes:
    """`count` graphs of three components each, in a version of the API. `settings` are those of the render.

    The images have a version of Dynamo 1.5, so that graphs of both versions follow the same release.
    """
    written = graph(version)
    return _listed([{**written, "metadata": {**written["metadata"], "name": f"graph-{number}"}} for number in range(count)], **settings)


def graph(version: str) -> dict[str, Any]:
    """A graph of three components, in a version of the API, with images of Dynamo 1.5."""
    (whole,) = _graph(runtime="1.5.1")
    services = dict(list(whole["spec"]["services"].items())[:3])
    written = versions.to(version, {**whole, "spec": {**whole["spec"], "services": services}})
    annotations = {key: value for key, value in labels.annotations(written).items() if key not in labels.PRESERVED}
    return {**written, "metadata": {**written["metadata"], "annotations": annotations}}


def _graph(runtime: str = _RUNTIME) -> list[dict[str, Any]]:
    documents, problems = reader.read(EXAMPLE.read_text("utf-8").replace(f":{_RUNTIME}", f":{runtime}"), str(EXAMPLE))
    if problems:
        raise ValueError(problems)
    return [document.value for document in documents if document.value["kind"] == "DynamoGraphDeployment"]


def _fill(size: int) -> Iterator[dict[str, Any]]:
    written = number = 0
    while written < size:
        for resource in (_config(number), _service(number), _deployment(number)):
            written += len(emitter.text([resource]))
            yield resource
        number += 1


def _listed(items: list[dict[str, Any]], **settings: Any) -> bytes:
    config = {
        "apiVersion": "dynamo.krm-fn.io/v1alpha1",
        "kind": "DynamoRender",
        "metadata": {"name": "render"},
        "spec": {"natsAddress": "nats://nats.dynamo:4222", **settings},
    }
    listed = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "functionConfig": config, "items": items}
    return emitter.text(listed).encode()


def _metadata(name: str) -> dict[str, Any]:
    return {"name": name, "namespace": "apps", "labels": {"app.kubernetes.io/name": name, "team": "platform"}}


def _config(number: int) -> dict[str, Any]:
    lines = "".join(f"setting.{line}={number}-{line}\n" for line in range(12))
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(f"settings-{number}"), "data": {"app.properties": lines}}


def _service(number: int) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(f"app-{number}"),
        "spec": {"selector": {"app.kubernetes.io/name": f"app-{number}"}, "ports": ports},
    }


def _deployment(number: int) -> dict[str, Any]:
    name = f"app-{number}"
    container = {
        "name": "app",
        "image": f"registry.example.com/team/app:{number}",
        "args": ["--listen", ":8080", "--verbose"],
        "env": [{"name": f"SETTING_{index}", "value": f"{number}-{index}"} for index in range(8)],
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/app"}],
    }
    template = {
        "metadata": {"labels": {"app.kubernetes.io/name": name}},
        "spec": {"containers": [container], "volumes": [{"name": "settings", "configMap": {"name": f"settings-{number}"}}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(name),
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app.kubernetes.io/name": name}}, "template": template},
    }
