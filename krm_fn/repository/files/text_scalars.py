"""Scalars of a YAML or JSON text: another value in the style of the old one, and the style of a new value."""

from __future__ import annotations

import re
from typing import Any

from krm_fn.base import escaping
from krm_fn.base.yaml import scalars
from krm_fn.repository.files.text_nodes import NotEditableError, TextNode

_PLAIN = re.compile(r"(?:--)?[A-Za-z0-9][A-Za-z0-9._/@+-]*(?::[A-Za-z0-9._/@+-]+)*")
"""Texts that need no quotes in block and in flow style, if they are not numbers or words with a meaning."""


def replace_scalar(text: str, node: TextNode, new: Any) -> str:
    """Returns the text of a scalar with another value, in the style of the old one. Raises NotEditableError for another node."""
    if node.kind not in ("scalar", "alias"):
        raise NotEditableError
    blank = " " if node.start == node.end and text[node.start - 1 : node.start] == ":" else ""
    if not isinstance(new, str):
        return f"{blank}{escaping.json_text(new)}"
    if node.style == "'":
        return "'" + new.replace("'", "''") + "'"
    if node.style in ("|", ">"):
        return _block(text[node.start : node.end], new)
    plain = new if node.style == "" and stays_plain(new) else write_scalar(new, is_json=node.style != "" or is_json(text))
    return f"{blank}{plain}"


def _block(written: str, new: str) -> str:
    """Returns a block scalar of one line with another line."""
    header, newline, body = written.partition("\n")
    if not newline or len(body.strip().splitlines()) != 1 or "\n" in new:
        raise NotEditableError
    return header + newline + body[: len(body) - len(body.lstrip())] + new


def is_json(text: str) -> bool:
    """Returns true for a text that can be JSON, which has double quotes only."""
    return text.lstrip().startswith(("{", "["))


def write_scalar(new: str, *, is_json: bool) -> str:
    """Returns a new value: without quotes if YAML allows it, and in single quotes if it has double quotes, such as a JSON document."""
    if is_json:
        return escaping.json_text(new)
    if stays_plain(new):
        return new
    return f"'{new}'" if '"' in new and "'" not in new and new.isprintable() else escaping.json_text(new)


def stays_plain(new: str) -> bool:
    """Returns true for a text that needs no quotes."""
    try:
        return _PLAIN.fullmatch(new) is not None and scalars.resolve(new) == new
    except ValueError:
        return False
