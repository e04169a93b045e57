"""The output of the commands, as UTF-8: escaped text for people, resources as YAML or JSON, and a check if a stream shows colours.

No other module prints.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any

import click

from krm_fn.base import escaping
from krm_fn.base.yaml import emitter

FORMATS = ("yaml", "json")
_FOR_PEOPLE = ("text", "oneline", "table", "markdown")
_MOST_COLUMNS = 120
"""The longest line of a text on a terminal. Longer ones are hard to read."""


def write(text: str, style: str = "text", *, err: bool = False) -> None:
    """Prints an output as UTF-8 in every locale. Raises OSError if the stream cannot be written.

    `style` is its format. In a format for people, each character that acts on a terminal or a CI system is escaped, whatever wrote it. A
    format for programs is printed as it is.
    """
    shown = escaping.output(text, colours=colours(err=err)) if style in _FOR_PEOPLE else text
    click.echo(shown.encode(errors="backslashreplace"), nl=False, err=err)


def print_line(text: str, *, err: bool = False) -> None:
    """Prints one line for people, and what `write` raises. A line feed in the text is escaped."""
    write(escaping.join_lines([text]), err=err)


def resources(items: Iterable[Any], style: str) -> str:
    """Returns resources as YAML documents, or as one JSON List for kubectl."""
    if style == "json":
        return value({"apiVersion": "v1", "kind": "List", "items": list(items)}, style)
    return "---\n".join(map(emitter.YAMLWriter().text, items))


def value(content: Any, style: str) -> str:
    """Returns one value as YAML or JSON."""
    return escaping.json_text(content, 2) + "\n" if style == "json" else emitter.text(content)


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


def columns(*, err: bool = False) -> int:
    """Returns the columns of the terminal that shows a stream, at most 120; 0 without a terminal. The variable COLUMNS comes first."""
    stream = sys.stderr if err else sys.stdout
    return min(shutil.get_terminal_size().columns, _MOST_COLUMNS) if stream and stream.isatty() else 0
