"""Edits fields in a YAML or JSON text by their positions: everything else keeps its formatting, its comments and its order.

Each result is read again and compared with the wanted values, so that an anchor or a merge key can never change another field unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from yaml.error import YAMLError

from krm_fn.base import escaping
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.base.yaml import emitter, reader, scalars
from krm_fn.kubernetes import paths
from krm_fn.repository.files import text_nodes
from krm_fn.repository.files.text_nodes import Location, TextNode, TextTree

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@+-]*(?::[A-Za-z0-9._/@+-]+)*")
"""Texts that need no quotes in block and in flow style, if they are not numbers or words with a meaning."""


class EditedText(NamedTuple):
    """A text after edits, and the paths that could not be edited, in their order. These fields keep their values."""

    text: str
    failed: tuple[Path, ...] = ()


class _Replacement(NamedTuple):
    """A part of a text, and the text in its place."""

    start: int
    end: int
    new: str


class _NotEditableError(Exception):
    """An edit that has no position in the text."""


def edited(text: str, changes: Mapping[Path, Any]) -> EditedText:
    r"""Returns the first document of a text with other values at some paths. The values are strings; None removes the field.

    A field that is missing is added behind the other fields of its mapping. Never raises: a text that is not YAML fails at each path.

    >>> edited("a: {b: '1.5.1'} # c\nd: e\nf: g\n", {("a", "b"): "1.6.1", ("h",): "i", ("d",): None})
    EditedText(text="a: {b: '1.6.1'} # c\nf: g\nh: i\n", failed=())
    """
    documents, findings = reader.read(text)
    try:
        tree = text_nodes.parse(text)
    except YAMLError:
        tree = None
    if tree is None or findings or not documents:
        return EditedText(text, tuple(changes))
    old = documents[0].value
    editable = {path: new for path, new in changes.items() if _is_writable(text, tree, {path: new})}
    for attempt in (editable, {path: new for path, new in editable.items() if _is_alone(tree, path)}):
        result = _written(text, tree, attempt)
        if result is not None and _value(result) == _changed(old, attempt):
            return EditedText(result, tuple(path for path in changes if path not in attempt))
    return EditedText(text, tuple(changes))


def _changed(value: Any, changes: Mapping[Path, Any]) -> Any:
    for path, new in changes.items():
        value = paths.replaced(value, path, new)
    return value


def _value(text: str) -> Any:
    documents, findings = reader.read(text)
    return documents[0].value if documents and not findings else None


def _is_writable(text: str, tree: TextTree, change: Mapping[Path, Any]) -> bool:
    try:
        return bool(_replacements(text, tree, change)) or all(new is None for new in change.values())
    except _NotEditableError:
        return False


def _is_alone(tree: TextTree, path: Path) -> bool:
    """True if no anchor, alias or merge key is on the way to a path."""
    location = tree.find(path)
    above = [tree.find(path[:length]).node for length in range(len(path) + 1)]
    return not location.aliases and not any(node.anchor or node.kind == "alias" for node in above)


def _written(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> str | None:
    """Returns the text with all changes; None if two of them change the same part."""
    parts, done = [], 0
    for start, end, new in sorted(set(_replacements(text, tree, changes)), key=lambda part: (part.start, part.end)):
        if start < done:
            return None
        parts += [text[done:start], new]
        done = end
    return "".join((*parts, text[done:]))


def _replacements(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[_Replacement]:
    """Returns the replacements of all changes. Raises _NotEditableError if one has no position."""
    return [*_of_values(text, tree, changes), *_of_removals(text, tree, changes), *_of_additions(text, tree, changes)]


def _of_values(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[_Replacement]:
    """Returns the replacements of scalars. An alias stays if its anchor gets the same value."""
    located = {path: tree.find(path) for path, new in changes.items() if new is not None}
    existing = {path: location.node for path, location in located.items() if not location.rest}
    anchored = {id(node): changes[path] for path, node in existing.items()}
    replacements = []
    for path, node in existing.items():
        new = changes[path]
        target = tree.anchors.get(node.text) if node.kind == "alias" else None
        if target is None or anchored.get(id(target)) != new:
            replacements.append(_Replacement(node.start, node.end, _scalar(text, node, new)))
    return replacements


def _scalar(text: str, node: TextNode, new: Any) -> str:
    """Returns the text of a scalar with another value, in the style of the old one."""
    if node.kind not in ("scalar", "alias") or not isinstance(new, str):
        raise _NotEditableError
    if node.style == "'":
        return "'" + new.replace("'", "''") + "'"
    if node.style in ("|", ">"):
        return _block(text[node.start : node.end], new)
    plain = new if node.style == "" and _stays_plain(new) else escaping.json_text(new)
    return f" {plain}" if node.start == node.end and text[node.start - 1 : node.start] == ":" else plain


def _block(written: str, new: str) -> str:
    """Returns a block scalar of one line with another line."""
    header, newline, body = written.partition("\n")
    if not newline or len(body.strip().splitlines()) != 1 or "\n" in new:
        raise _NotEditableError
    return header + newline + body[: len(body) - len(body.lstrip())] + new


def _stays_plain(new: str) -> bool:
    try:
        return _PLAIN.fullmatch(new) is not None and scalars.resolve(new) == new
    except ValueError:
        return False


def _of_removals(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[_Replacement]:
    """Returns the replacements that remove fields."""
    removed: dict[int, tuple[TextNode, set[str]]] = {}
    for path in (path for path, new in changes.items() if new is None):
        parent, value = tree.find(path[:-1]), tree.find(path)
        mapping = tree.anchors.get(parent.node.text, parent.node) if parent.node.kind == "alias" else parent.node
        if not value.rest and not parent.rest:
            if mapping.kind != "mapping" or mapping.entry(str(path[-1])) is None:
                raise _NotEditableError
            removed.setdefault(id(mapping), (mapping, set()))[1].add(str(path[-1]))
    return [part for mapping, names in removed.values() for part in _without(text, mapping, names)]


def _without(text: str, mapping: TextNode, names: set[str]) -> list[_Replacement]:
    """Returns the replacements that remove some keys of a mapping."""
    remaining = [number for number, (key, _) in enumerate(mapping.entries) if key.text not in names]
    if not remaining:
        return [_Replacement(mapping.start, mapping.end, "{}")]
    parts = []
    for number, (key, value) in enumerate(mapping.entries):
        if number in remaining:
            continue
        line = text.rfind("\n", 0, key.start) + 1
        if not mapping.is_flow and not text[line : key.start].strip():
            parts.append(_Replacement(line, text_nodes.line_end(text, max(key.end, value.end), newline=True), ""))
        elif number < remaining[-1]:
            parts.append(_Replacement(key.start, mapping.entries[number + 1][0].start, ""))
        else:
            before_key, before = mapping.entries[number - 1]
            parts.append(_Replacement(max(before_key.end, before.end), max(key.end, value.end), ""))
    return parts


def _of_additions(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> Iterable[_Replacement]:
    """Returns the insertions of missing fields, one for each mapping that gets some."""
    nodes: dict[int, TextNode] = {}
    added: dict[int, dict[str, Any]] = {}
    for path, new in changes.items():
        location = tree.find(path)
        if new is None or not location.rest:
            continue
        node = _extended(tree, location)
        if any(isinstance(step, int) for step in location.rest):
            raise _NotEditableError
        nodes[id(node)] = node
        added[id(node)] = paths.replaced(added.get(id(node), {}), location.rest, new)
    return [_addition(text, node, added[key]) for key, node in nodes.items()]


def _extended(tree: TextTree, location: Location) -> TextNode:
    """Returns the mapping that gets the missing field; a field without a value becomes one."""
    node = tree.anchors.get(location.node.text, location.node) if location.node.kind == "alias" else location.node
    is_null = node.kind == "scalar" and node.style == "" and scalars.resolve(node.text) is None
    if node.kind != "mapping" and not is_null:
        raise _NotEditableError
    return node


def _addition(text: str, node: TextNode, fields: dict[str, Any]) -> _Replacement:
    if node.kind == "scalar":
        blank = " " if node.start == node.end and text[node.start - 1 : node.start] == ":" else ""
        return _Replacement(node.start, node.end, blank + _flow(fields, is_json=False))
    if node.is_flow:
        return _in_flow(text, node, fields)
    end = text_nodes.line_end(text, node.end)
    lines = emitter.text(fields, node.column).rstrip("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return _Replacement(end, end, newline + lines.replace("\n", newline))


def _in_flow(text: str, node: TextNode, fields: dict[str, Any]) -> _Replacement:
    """Returns the insertion behind the last entry of a flow mapping, on a line of its own if the first entry has one."""
    is_json = bool(node.entries and node.entries[0][0].style == '"')
    if not node.entries:
        return _Replacement(node.start, node.end, _flow(fields, is_json=text.lstrip().startswith("{")))
    first = node.entries[0][0].start
    line = text.rfind("\n", 0, first) + 1
    blank = text[text.rfind("\n", 0, line) : first] if line > node.start and not text[line:first].strip() else " "
    end = max(node.entries[-1][0].end, node.entries[-1][1].end)
    return _Replacement(end, end, "," + blank.lstrip(" ") * (blank != " ") + " " * (blank == " ") + _flow(fields, is_json=is_json)[1:-1])


def _flow(value: Any, *, is_json: bool) -> str:
    """Returns a value in flow style."""
    if isinstance(value, dict):
        entries = ", ".join(f"{_flow(key, is_json=is_json)}: {_flow(entry, is_json=is_json)}" for key, entry in value.items())
        return f"{{{entries}}}"
    return value if not is_json and _stays_plain(value) else escaping.json_text(value)


def with_text(text: str, old: str, new: str) -> str:
    r"""Returns the first document of a text with another text inside of its scalars, also in YAML that is written in a scalar.

    A longer reference that contains the text stays, and so do comments.

    >>> with_text("a: r:1.5 # r:1.5\nb: |\n  - c: r:1.5\n  - c: r:1.5.1\n", "r:1.5", "r:1.6")
    'a: r:1.6 # r:1.5\nb: |\n  - c: r:1.6\n  - c: r:1.5.1\n'
    """
    try:
        tree = text_nodes.parse(text)
    except YAMLError:
        return text
    whole = re.compile(rf"(?<![\w./:@-]){re.escape(old)}(?![\w/:@-]|\.\w)")
    parts, done = [], 0
    for node in sorted(_scalars(tree.root) if tree else (), key=lambda node: node.start):
        parts += [text[done : node.start], whole.sub(lambda _: new, text[node.start : node.end])]
        done = node.end
    return "".join((*parts, text[done:]))


def _scalars(node: TextNode) -> Iterator[TextNode]:
    """Yields the scalars that are values below a node."""
    if node.kind == "scalar":
        yield node
    for inner in (*(value for _, value in node.entries), *node.items):
        yield from _scalars(inner)
