"""Files generated from the models: definitions for API servers, schemas for editors and kustomize, the field reference."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from krm_fn.render.schema import table
from krm_fn.render.schema.table import Schema
from krm_fn.schemas.generate import structural

_PARTS = ("kinds", "definitions", "paths")


@cache
def definitions() -> dict[str, Schema]:
    """Every definition by name: native definitions as in the table, Dynamo's with descriptions and rules."""
    known = table.load().definitions
    return known | structural.described_definitions(known)


def text(content: dict[str, Any]) -> str:
    """An object as JSON text. Each kind, definition and path has its own line, so that diffs are readable."""
    return "{" + ",\n".join(f"{word(key)}:{_lines(value) if key in _PARTS else word(value)}" for key, value in content.items()) + "}\n"


def write(files: dict[Path, str]) -> None:
    """Writes files in UTF-8 and creates missing folders."""
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def _lines(part: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{word(name)}:{word(entry)}" for name, entry in part.items()) + "\n}"


def word(value: object) -> str:
    """A JSON value on one line."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
