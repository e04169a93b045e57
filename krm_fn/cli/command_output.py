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
    return "---\n".join(map(emitter.Writer().text, items))


def value(content: Any, style: str) -> str:
    """Returns one value as YAML or JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n" if style == "json" else emitter.text(content)


def line(content: Any) -> str:
    """Returns one value as JSON in one line."""
    return json.dumps(content, ensure_ascii=False)


def colours(*, err: bool = False) -> bool:
    """Returns true if a stream shows colours: as --color says, else if it is a terminal.

    Without --color, NO_COLOR (https://no-color.org) switches colours off, and FORCE_COLOR (https://force-color.org) on, in this order.
    """
    context = click.get_current_context(silent=True)
    if context and context.color is not None:
        return context.color
    if os.environ.get("NO_COLOR"):
        return False
    stream = sys.stderr if err else sys.stdout
    return bool(os.environ.get("FORCE_COLOR")) or (bool(stream and stream.isatty()) and os.environ.get("TERM") != "dumb")
