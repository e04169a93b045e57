"""Dotted flags of vLLM: fields of a JSON document. Follows vLLM's `FlexibleArgumentParser.parse_args`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from krm_fn.review.arguments.shell_words import UNKNOWN, Word

_DEEPEST = 50
"""A name with more dots stays as it is."""


def as_json(words: Sequence[Word]) -> list[Word]:
    """Replaces the dotted flags of each name with one flag and its JSON document, behind all other words.

    `--x.a 1 --x.b=c` is `--x={"a": 1, "b": "c"}`. Every word counts that begins with `-` and has a dot in its name, also a negative number.
    """
    others: list[Word] = []
    documents: dict[str, tuple[Word, dict[str, Any] | None]] = {}
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        option, equals, value = word.text.partition("=")
        name, *keys = option.split(".", _DEEPEST + 1)
        is_dotted = option[:1] == "-" and keys and len(keys) <= _DEEPEST and UNKNOWN not in name
        if not is_dotted or (not equals and position == len(words)):
            others.append(word)
            continue
        if not equals:
            value = words[position].text
            position += 1
        name = f"{name[:2]}{name[2:].replace('_', '-')}"
        first, document = documents.get(name, (word, {}))
        is_known = document is not None and UNKNOWN not in option + value
        documents[name] = first, _merge_value(document or {}, keys, value) if is_known else None
    return [*others, *(part for name, (word, document) in documents.items() for part in _flag(name, word, document))]


def _merge_value(document: dict[str, Any], keys: list[str], text: str) -> dict[str, Any]:
    """Adds a value to a document, below its keys. A `+` behind the last key makes a list of the value."""
    *parents, last = keys
    inner = document
    for key in parents:
        if not isinstance(inner.get(key), dict):
            inner[key] = {}
        inner = inner[key]
    inner[last.removesuffix("+")] = text.split(",") if last.endswith("+") else _value(text)
    return document


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _flag(name: str, word: Word, document: dict[str, Any] | None) -> list[Word]:
    """The words of a flag with its document: one word, but two for a short name, because it may be a negative number."""
    text = UNKNOWN if document is None else json.dumps(document)
    if name.startswith("--"):
        return [word._replace(text=f"{name}={text}")]
    return [word._replace(text=name), word._replace(text=text)]
