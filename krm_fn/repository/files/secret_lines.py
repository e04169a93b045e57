"""Finds the lines of a text that hold secret values, so that no finding shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from krm_fn.base.results import Path
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import secret_values


def of(text: str) -> Collection[int]:
    """Returns the numbers of the lines that have a part of a secret value, from 1.

    In a text with syntax errors, the lines of a value are unknown. All lines count then, if the text has a word that names a secret.
    """
    if not secret_values.may_be_in_text(text):
        return ()
    everything = range(1, text.count("\n") + 2)
    documents, errors = reader.read(text)
    if errors:
        return everything if secret_values.is_likely_in_text(text) else ()
    lines: set[int] = set()
    for document in documents:
        secrets = secret_values.paths(document.value)
        root = _compose_node(text[document.start : document.end]) if secrets else None
        if secrets and root is None:
            return everything
        for path in secrets:
            lines.update(document.line + line for node in _nodes(root, path) for line in _lines(node))
    return lines


def _compose_node(text: str) -> Node | None:
    """Returns the node of a document; None if it cannot be parsed. An alias is the node of its anchor, whose lines have the value."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(text.removeprefix("\ufeff"))
    try:
        node: Node | None = loader.get_single_node()
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError):
        return None
    finally:
        loader.dispose()
    return node


def _nodes(node: Any, path: Path) -> Iterator[Node]:
    """Yields the nodes at a path: several if a merged mapping has the key, too. Without a node, the nearest one above."""
    values = [*_values(node, path[0])] if path else []
    for value in values:
        yield from _nodes(value, path[1:])
    if not values:
        yield node


def _values(node: Node, step: str | int) -> Iterator[Node]:
    """Yields the nodes of a key, also in merged mappings, or the entry of a list."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value == step:
                yield value
            elif key.value == "<<":
                for source in value.value if isinstance(value, SequenceNode) else [value]:
                    yield from _values(source, step)
    elif isinstance(node, SequenceNode) and isinstance(step, int):
        yield from node.value[step : step + 1]


def _lines(node: Node) -> range:
    """Returns the lines of a node, from 0. A block ends at the beginning of the line behind it."""
    last = node.end_mark.line - (node.end_mark.column == 0 and node.end_mark.line > node.start_mark.line)
    return range(node.start_mark.line, last + 1)
