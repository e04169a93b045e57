"""Output of the commands: text as UTF-8, resources as YAML or JSON, and a check if a stream shows colours."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from krm_fn.yamlio import emitter

FORMATS = ("yaml", "json")


def write(text: str, *, err: bool = False) -> None:
    """Prints a text as UTF-8 in every locale. Raises OSError if the stream cannot be written."""
    click.echo(text.encode(errors="backslashreplace"), nl=False, err=err)


def resources(items: Iterable[Any], style: str) -> str:
    """Returns resources as YAML documents, or as one JSON List for kubectl."""
    if style == "json":
        return value({"apiVersion": "v1", "kind": "List", "items": list(items)}, style)
    return "---\n".join(emitter.text(resource) for resource in items)


def value(content: Any, style: str) -> str:
    """Returns one value as YAML or JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n" if style == "json" else emitter.text(content)


def line(content: Any) -> str:
    """Returns one value as JSON in one line."""
    return json.dumps(content, ensure_ascii=False)


def colours(*, err: bool = False) -> bool:
    """True if the stream is a terminal that shows colours and NO_COLOR is not set (https://no-color.org)."""
    stream = sys.stderr if err else sys.stdout
    return bool(stream and stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
