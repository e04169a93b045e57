"""Writes an object or a list in place of another value of a YAML or JSON text, in the style of the old value."""

from __future__ import annotations

import re
from typing import Any

from krm_fn.base import escaping
from krm_fn.base.yaml import emitter
from krm_fn.repository.files import text_nodes, text_scalars
from krm_fn.repository.files.text_nodes import NotEditableError, Replacement, TextNode

_COMMENT = re.compile(r"(?:\A|\s)#")
_INDENT = 2


def is_other(node: TextNode, new: Any) -> bool:
    """Returns true for a value that is no edit of the items of a list, nor of a scalar: the whole node is written again."""
    if isinstance(new, list):
        return node.kind != "list" or not all(isinstance(item, str) for item in new)
    return isinstance(new, dict) or node.kind == "list"


def replace_node(text: str, node: TextNode, new: Any) -> Replacement:
    """Returns the replacement of a node. Raises NotEditableError for a node with comments, which have no place in the new value."""
    is_block = node.kind != "scalar" and not node.is_flow
    end = text_nodes.line_end(text, node.end) if is_block else node.end
    if node.kind == "alias" or node.anchor or (node.kind != "scalar" and _COMMENT.search(text, node.start, end)):
        raise NotEditableError
    if node.kind == "scalar" and node.style in ("|", ">"):
        raise NotEditableError
    begin = text.rfind("\n", 0, node.start) + 1
    if not is_block or not isinstance(new, dict | list) or text[begin : node.start].strip():
        return Replacement(node.start, node.end, in_flow(new, is_json=text_scalars.is_json(text)))
    column = node.start - begin + (_INDENT if isinstance(new, dict) and node.kind == "list" else 0)
    lines = emitter.text(new, column).rstrip("\n").replace("\n", "\r\n" if "\r\n" in text else "\n")
    return Replacement(begin, end, lines)


def in_flow(value: Any, *, is_json: bool) -> str:
    """Returns a value in flow style.

    >>> in_flow({"name": "a", "args": ["b", "1"]}, is_json=False)
    '{name: a, args: ["b", "1"]}'
    """
    if isinstance(value, dict):
        entries = ", ".join(f"{in_flow(key, is_json=is_json)}: {in_flow(entry, is_json=is_json)}" for key, entry in value.items())
        return f"{{{entries}}}"
    return value if isinstance(value, str) and not is_json and text_scalars.stays_plain(value) else escaping.json_text(value)
