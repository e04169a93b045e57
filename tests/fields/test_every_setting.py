"""Every setting of a DynamoRender and of an OperatorConfiguration changes a render, or a finding names it, or `SILENT` says why not."""

from __future__ import annotations

import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.render import function_config
from krm_fn.render.config import Config
from tests.fields import leaves
from tests.fields.effects import Context, Search

WRITTEN = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text())
VERSIONS = {"DynamoRender": function_config.API_VERSION, "OperatorConfiguration": "operator.config.dynamo.nvidia.com/v1alpha1"}
HEAD = ("apiVersion", "kind", "metadata")
SILENT = {
    ("DynamoRender", "spec.serviceMesh.provider"): "its only value is the default",
    ("DynamoRender", "spec.unknownFields"): "it decides the severity of a finding (tests/render/schema)",
}


def contexts(kind: str) -> list[Context]:
    """The settings to start from, each with all graphs."""
    head: dict[str, Any] = {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": {"name": "render"}}
    return [Context(name, [{**head, **settings}, *WRITTEN["items"]], Config()) for name, settings in WRITTEN[kind].items()]


@cache
def silent(kind: str) -> list[str]:
    """The settings that change nothing."""
    search = Search(contexts(kind))
    parts = [part for part in leaves.parts(kind, VERSIONS[kind]) if part not in HEAD]
    return [path for part in parts for path in search.silent(leaves.root(kind, VERSIONS[kind], part))]


@pytest.mark.parametrize("kind", VERSIONS)
def test_every_setting_is_read_or_named(kind):
    reasons = {path for of, path in SILENT if of == kind}
    assert [path for path in silent(kind) if not any(fnmatch.fnmatchcase(path, reason) for reason in reasons)] == []


def test_every_reason_is_needed():
    assert [row for row in SILENT if not any(fnmatch.fnmatchcase(path, row[1]) for path in silent(row[0]))] == []
