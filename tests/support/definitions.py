"""The definitions of tests/crds with complete pod specs that refuse unknown fields, as in the real CRDs.

The files keep unknown fields in pod specs. This module inserts the native schemas that a real kube-apiserver published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from krm_fn.render.schema import table
from krm_fn.schemas.api import native
from krm_fn.schemas.generate import crds
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

Schema = dict[str, Any]

FOLDER = programs.ROOT / "tests" / "crds"
_OPEN = "x-kubernetes-preserve-unknown-fields"
_TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_EMBEDDED: Schema = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("annotations", "labels"), _TEXTS),
        **{key: {"type": "string"} for key in ("name", "namespace")},
        "finalizers": {"type": "array", "items": {"type": "string"}},
    },
}
_METADATA: dict[str, Schema] = {
    # controller-gen describes metadata inside a custom resource as an object without fields, unless it embeds ObjectMeta.
    "grove.io": {"type": "object"},
    "leaderworkerset.x-k8s.io": _EMBEDDED,
    "disaggregatedset.x-k8s.io": _EMBEDDED,
}


def serve(plane: ControlPlane, definitions: Sequence[Schema]) -> None:
    """Apply definitions, and return as soon as the control plane finds and lists their kinds; the two can happen at different times."""
    for each in definitions:
        answer = plane.apply(each, dry_run=False)
        assert answer.ok, answer.message
    for each in definitions:
        server.eventually(lambda: _served(plane, each["spec"]))  # noqa: B023 - called before the next turn


def _served(plane: ControlPlane, spec: Schema) -> bool:
    kind, plural = spec["names"]["kind"], spec["names"]["plural"]
    served = [f"{spec['group']}/{version['name']}" for version in spec["versions"] if version["served"]]
    return all(plane.client.knows(each, kind) and plane.client.request("GET", f"/apis/{each}/{plural}").ok for each in served)


def every() -> list[Schema]:
    """All definitions in the folder."""
    return [read(file) for file in sorted(FOLDER.glob("*.yaml"))]


def read(file: Path) -> Schema:
    """One definition."""
    definition: Schema = yaml.safe_load(file.read_text())
    spec = definition["spec"]
    for version in spec["versions"]:
        version["schema"] = _closed(version["schema"], spec["group"])
    return definition


def left_open(schema: Any, path: str = "") -> Iterator[str]:
    """The paths at which a schema accepts unknown fields."""
    if isinstance(schema, dict):
        if _OPEN in schema:
            yield path
        for key, inner in schema.items():
            yield from left_open(inner, f"{path}.{key}")


def _closed(schema: Any, group: str) -> Any:
    if not isinstance(schema, dict):
        return schema
    if _OPEN in schema:
        return _with_pod(schema, group)
    return {key: _closed(inner, group) for key, inner in schema.items()}


def _with_pod(schema: Schema, group: str) -> Schema:
    """The native pod spec with the rules and keywords that the file adds to it."""
    known = table.load().definitions
    pod: Schema = _without_words(crds.inline_references(known[native.CORE + "PodSpec"], known))
    volume = pod["properties"]["volumes"]["items"]["properties"]
    volume["ephemeral"]["properties"]["volumeClaimTemplate"]["properties"]["metadata"] = _METADATA[group]
    fields = {name: schema.get("properties", {}).get(name, {}) | field for name, field in pod["properties"].items()}
    return {key: keyword for key, keyword in schema.items() if key != _OPEN} | pod | {"properties": fields}


def _without_words(schema: Any) -> Any:
    """The schema without `enum`: controller-gen does not write the allowed values of native fields."""
    if not isinstance(schema, dict):
        return schema
    return {key: _without_words(inner) for key, inner in schema.items() if key != "enum" or not isinstance(inner, list)}
