"""Origin versions: the version of the operator that created a graph, which decides how its engines start on several nodes.

An operator writes it on a graph once and keeps it. A graph without the annotation has the origin that the render assumes, so a step that
moves the release would move it too (`krm_fn.render.resolve.v1beta1_graphs.complete_annotations`).
"""

from __future__ import annotations

from krm_fn.base.results import Path
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import release_choice

PATH: Path = ("metadata", "annotations", labels.ORIGIN_VERSION)
"""The path of the annotation."""


def is_read(resource: Resource, config: Config) -> bool:
    """Returns true if the release that a graph follows reads the origin version."""
    return release_choice.release(resource, config).reads == dynamo_api.BETA1


def origin(resource: Resource, config: Config) -> str:
    """Returns the origin version with which a graph is rendered. Under a release that reads none, it is that of the release."""
    return f"{labels.annotations(resource).get(labels.ORIGIN_VERSION) or config.operator_version or lowest(resource, config)}"


def lowest(resource: Resource, config: Config) -> str:
    """Returns the lowest version of the release that a graph follows, for example `1.5.0`."""
    return ".".join(map(str, (*release_choice.release(resource, config).number, 0)))


def with_origin(resource: Resource, version: str) -> Resource:
    """Returns the graph with an origin version in its annotation."""
    metadata = resource.get("metadata") or {}
    return {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), labels.ORIGIN_VERSION: version}}}
