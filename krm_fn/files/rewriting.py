"""Rewrites some documents of a file. All other documents, and the comments before and after a document, stay as they are."""

from __future__ import annotations

import json
import re
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.yamlio import emitter, reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.files.reading import Source
    from krm_fn.kube.types import Resource

_TAIL = re.compile(r"(?:^(?:#.*)?(?:\n|\Z))+\Z", re.MULTILINE)  # an indented line can be the end of a text
_SEPARATOR = "---\n"


class Change(NamedTuple):
    """A value of a file, and the resources that take its place."""

    source: Source
    resources: list[Resource]


def rewritten(text: str, changes: Iterable[Change]) -> str:
    """The text of a file with some values replaced. The changes must be in the order of the file."""
    parts, done = [], 0
    for _, group in groupby(changes, key=lambda change: change.source.document):
        listed = [*group]
        source = listed[0].source
        parts += [text[done : source.start], _document(source.text, listed)]
        done = source.start + len(source.text)
    return "".join((*parts, text[done:]))


def _document(text: str, changes: list[Change]) -> str:
    """The text of one document with its changes."""
    resources = changes[0].resources if changes[0].source.at == () else [_with_items(text, changes)]
    if reader.json_value(text) is not None:
        return _json(text, resources)
    head = _SEPARATOR if text.startswith("---") else ""
    tail = _TAIL.search(text)
    new = head + _SEPARATOR.join(emitter.text(resource) for resource in resources)
    return (new.replace("\n", "\r\n") if "\r\n" in text else new) + (tail[0] if tail else "")


def _with_items(text: str, changes: list[Change]) -> Resource:
    """The List or ResourceList of a text, with some items replaced."""
    whole: dict[str, Any] = reader.read(text)[0][0].value
    new = {change.source.at: change.resources for change in changes}
    items = [resource for place, item in enumerate(whole["items"]) for resource in new.get(("items", place), [item])]
    return {**whole, "items": items}


def _json(text: str, resources: list[Resource]) -> str:
    """JSON has no separator of documents, so that several resources become a List."""
    value = resources[0] if len(resources) == 1 else {"apiVersion": "v1", "kind": "List", "items": resources}
    ends = "\n" if text.endswith("\n") else ""
    return json.dumps(value, indent=2 if "\n" in text.strip() else None, ensure_ascii=False) + ends


def joined(texts: Iterable[str]) -> str:
    """The texts of several files as one stream of documents."""
    parts: list[str] = []
    for text in filter(None, texts):
        ended = text if text.endswith("\n") else f"{text}\n"
        parts.append(ended if not parts or ended.startswith("---") else _SEPARATOR + ended)
    return "".join(parts)


def save(path: str, text: str) -> None:
    """Replaces the content of a file at once, and keeps its mode. A link stays, and its target is replaced. Raises OSError."""
    target = Path(path).resolve()
    mark = "\ufeff" if target.read_bytes().startswith(b"\xef\xbb\xbf") else ""
    with tempfile.NamedTemporaryFile("wb", prefix=".krm-fn-", dir=target.parent, delete=False) as file:
        made = Path(file.name)
        try:
            file.write((mark + text).encode())
            file.flush()
            made.chmod(target.stat().st_mode)
            made.replace(target)
        except BaseException:
            made.unlink()
            raise
