"""Edits fields in a YAML or JSON text by their positions: everything else keeps its formatting, its comments and its order.

Each result is read again and compared with the wanted values, so that an anchor or a merge key can never change another field unnoticed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from yaml.error import YAMLError

from krm_fn.base.edits import Addition, Items, Key, Move, Quotes, Removal, Word
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.base.yaml import emitter, positions, reader, scalars
from krm_fn.kubernetes import paths
from krm_fn.repository.files import text_lists, text_moves, text_nodes, text_scalars, text_structures
from krm_fn.repository.files.text_nodes import Location, NotEditableError, Replacement, TextNode, TextTree


class EditedText(NamedTuple):
    """A text after edits, and the paths that could not be edited, in their order. These fields keep their values."""

    text: str
    failed: tuple[Path, ...] = ()


class Words(NamedTuple):
    """Edits of words in one scalar, which follow each other in its text."""

    words: tuple[Word, ...]

    def of(self, value: Any) -> str:
        """Returns a text with the edits. Raises NotEditableError if it does not have the old words there."""
        text, parts, done = f"{value}", list[str](), 0
        for word in self.words:
            start = _behind(text, word.within)
            if not isinstance(value, str) or start < done or not text.startswith(word.old, start):
                raise NotEditableError
            parts += [text[done:start], word.new]
            done = start + len(word.old)
        return "".join((*parts, text[done:]))


def edit_document(text: str, changes: Mapping[Path, Any]) -> EditedText:
    r"""Returns the first document of a text with other values at some paths: scalars, or lists of them. None removes the field.

    A field that is missing is added behind the other fields of its mapping. A Key renames a field, a Move moves it, a Removal removes it,
    Quotes make a text of it, Words change parts of its text, and Items are several entries in place of one. Never raises: a text that is
    not YAML fails at each path.

    >>> edit_document("a: {b: '1.5.1'} # c\nd: e\nf: g\n", {("a", "b"): "1.6.1", ("h",): "i", ("d",): None})
    EditedText(text="a: {b: '1.6.1'} # c\nf: g\nh: i\n", failed=())
    """
    documents, findings = reader.read(text)
    tree = _tree(text)
    if tree is None or findings or not documents:
        return EditedText(text, tuple(changes))
    old = documents[0].value
    changes = {path: _plain(tree, path, new) for path, new in changes.items()}
    editable = {path: new for path, new in changes.items() if _is_writable(text, tree, old, {path: new})}
    for attempt in (editable, {path: new for path, new in editable.items() if _is_alone(tree, path)}):
        result = _write_changes(text, tree, attempt)
        if result is not None and _value(result) == _change_value(old, attempt):
            return EditedText(result, tuple(path for path in changes if path not in attempt))
    return EditedText(text, tuple(changes))


def _plain(tree: TextTree, path: Path, new: Any) -> Any:
    """Returns the value for a removal, which is None, for an addition, and for quotes, which is the text of the scalar."""
    node = tree.find(path).node
    if isinstance(new, (Removal, Addition)):
        return None if isinstance(new, Removal) else new.value
    return node.text if isinstance(new, Quotes) and node.kind == "scalar" else new


def is_shared(text: str, path: Path) -> bool:
    """True if an anchor, an alias or a merge key is on the way to a path: an edit there can be one of several fields."""
    tree = _tree(text)
    return tree is None or not _is_alone(tree, path)


@lru_cache(maxsize=8)  # several edits of a document ask for it
def _tree(text: str) -> TextTree | None:
    try:
        return text_nodes.parse(text)
    except YAMLError:
        return None


def _behind(text: str, count: int) -> int:
    """Returns the offset of the first character that has a number of others before it, without blanks."""
    for offset, letter in enumerate(text):
        if not letter.isspace():
            if count == 0:
                return offset
            count -= 1
    return len(text)


def _change_value(value: Any, changes: Mapping[Path, Any]) -> Any:
    """Returns a value with all changes, those of inner fields first, because a key above them can change.

    Raises NotEditableError for a word that the value does not have.
    """
    for path, new in sorted(changes.items(), key=_order):
        if isinstance(new, Key):
            fields = paths.at(value, path[:-1])
            renamed = {new.name if key == path[-1] else key: inner for key, inner in fields.items()}
            value = paths.replace_at(value, path[:-1], renamed)
        elif isinstance(new, Move):
            value = paths.replace_at(paths.replace_at(value, path, None), new.to, paths.at(value, path))
        elif isinstance(new, Items):
            entries = paths.at(value, path[:-1])
            number = int(path[-1])
            value = paths.replace_at(value, path[:-1], [*entries[:number], *new.texts, *entries[number + 1 :]])
        else:
            value = paths.replace_at(value, path, new.of(paths.at(value, path)) if isinstance(new, Words) else new)
    return value


def _order(change: tuple[Path, Any]) -> tuple[int, int]:
    """The order of changes: inner fields first, and the entries of a list from behind, after all that keep their number."""
    path, new = change
    return -len(path), -path[-1] if isinstance(new, Items) and isinstance(path[-1], int) else -sys.maxsize


def _value(text: str) -> Any:
    documents, findings = reader.read(text)
    return documents[0].value if documents and not findings else None


def _is_writable(text: str, tree: TextTree, value: Any, change: Mapping[Path, Any]) -> bool:
    try:
        _change_value(value, {path: new for path, new in change.items() if isinstance(new, Words)})
        return bool(_replacements(text, tree, change)) or all(new is None for new in change.values())
    except NotEditableError:
        return False


def _is_alone(tree: TextTree, path: Path) -> bool:
    """True if no anchor, alias or merge key is on the way to a path."""
    location = tree.find(path)
    above = [tree.find(path[:length]).node for length in range(len(path) + 1)]
    return not location.aliases and not any(node.anchor or node.kind == "alias" for node in above)


def _write_changes(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> str | None:
    """Returns the text with all changes; None if two of them change the same part, or have no position together."""
    try:
        replacements = {*_replacements(text, tree, changes)}
    except NotEditableError:
        return None
    parts, done = [], 0
    for start, end, new in sorted(replacements, key=lambda part: (part.start, part.end)):
        if start < done:
            return None
        parts += [text[done:start], new]
        done = end
    return "".join((*parts, text[done:]))


def _replacements(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[Replacement]:
    """Returns the replacements of all changes. Raises NotEditableError if one has no position."""
    values = {path: new for path, new in changes.items() if not isinstance(new, (Key, Words, Move, Items))}
    parts = [*_of_values(text, tree, values), *_of_removals(text, tree, values), *_of_additions(text, tree, values)]
    parts += text_moves.replacements(text, tree, {path: new.to for path, new in changes.items() if isinstance(new, Move)})
    parts += [_of_key(text, tree, path, new) for path, new in changes.items() if isinstance(new, Key)]
    parts += [_of_items(text, tree, path, new) for path, new in changes.items() if isinstance(new, Items)]
    return [*parts, *(part for path, new in changes.items() if isinstance(new, Words) for part in _of_words(text, tree, path, new))]


def _of_key(text: str, tree: TextTree, path: Path, new: Key) -> Replacement:
    """Returns the replacement of a key. A key that the mapping has already cannot stand in it twice."""
    parent = tree.find(path[:-1])
    mapping = tree.anchors.get(parent.node.text, parent.node) if parent.node.kind == "alias" else parent.node
    keys = [key for key, _ in mapping.entries if key.kind == "scalar" and key.text == path[-1]]
    if parent.rest or len(keys) != 1 or mapping.entry(new.name) is not None:
        raise NotEditableError
    return Replacement(keys[0].start, keys[0].end, text_scalars.replace_scalar(text, keys[0], new.name))


def _of_items(text: str, tree: TextTree, path: Path, new: Items) -> Replacement:
    """Returns the replacement of an entry of a list by several."""
    location = tree.find(path[:-1])
    if location.rest or location.node.kind != "list" or location.node.anchor:
        raise NotEditableError
    return text_lists.split_item(text, location.node, int(path[-1]), new.texts)


def _of_words(text: str, tree: TextTree, path: Path, new: Words) -> list[Replacement]:
    """Returns the replacements of words in a scalar: in their lines, or of the whole scalar if it has escapes, or then needs quotes."""
    location = tree.find(path)
    node = location.node
    if location.rest or node.kind != "scalar":
        raise NotEditableError
    own, whole = text[node.start : node.end], new.of(node.text)
    if node.style == "" and not isinstance(scalars.resolve(whole), str):
        return [Replacement(node.start, node.end, text_scalars.replace_scalar(text, node, whole))]
    lines = [0, *(match.end() for match in re.finditer("\n", own))]
    parts = []
    for word in new.words:
        line, column = positions.within(own, (1, 1), word.within)
        offset = node.start + lines[line - 1] + column - 1
        if not text.startswith(word.old, offset):
            return [Replacement(node.start, node.end, text_scalars.replace_scalar(text, node, whole))]
        parts.append(Replacement(offset, offset + len(word.old), word.new))
    return parts


def _of_values(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[Replacement]:
    """Returns the replacements of scalars. An alias stays if its anchor gets the same value."""
    located = {path: tree.find(path) for path, new in changes.items() if new is not None}
    existing = {path: location.node for path, location in located.items() if not location.rest}
    anchored = {id(node): changes[path] for path, node in existing.items()}
    replacements = []
    for path, node in existing.items():
        new = changes[path]
        target = tree.anchors.get(node.text) if node.kind == "alias" else None
        if target is not None and anchored.get(id(target)) == new:
            continue
        if text_structures.is_other(node, new):
            replacements.append(text_structures.replace_node(text, node, new))
        elif isinstance(new, list):
            replacements += text_lists.replacements(text, node, new)
        else:
            replacements.append(Replacement(node.start, node.end, text_scalars.replace_scalar(text, node, new)))
    return replacements


def _of_removals(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> list[Replacement]:
    """Returns the replacements that remove fields."""
    removed: dict[int, tuple[TextNode, set[str]]] = {}
    for path in (path for path, new in changes.items() if new is None):
        parent, value = tree.find(path[:-1]), tree.find(path)
        mapping = tree.anchors.get(parent.node.text, parent.node) if parent.node.kind == "alias" else parent.node
        if not value.rest and not parent.rest:
            if mapping.kind != "mapping" or mapping.entry(str(path[-1])) is None:
                raise NotEditableError
            removed.setdefault(id(mapping), (mapping, set()))[1].add(str(path[-1]))
    return [part for mapping, names in removed.values() for part in _without(text, mapping, names)]


def _without(text: str, mapping: TextNode, names: set[str]) -> list[Replacement]:
    """Returns the replacements that remove some keys of a mapping."""
    remaining = [number for number, (key, _) in enumerate(mapping.entries) if key.text not in names]
    if not remaining:
        return [Replacement(mapping.start, mapping.end, "{}")]
    parts = []
    for number, (key, value) in enumerate(mapping.entries):
        if number in remaining:
            continue
        line = text.rfind("\n", 0, key.start) + 1
        if not mapping.is_flow and not text[line : key.start].strip():
            parts.append(Replacement(line, text_nodes.line_end(text, max(key.end, value.end), newline=True), ""))
        elif number < remaining[-1]:
            parts.append(Replacement(key.start, mapping.entries[number + 1][0].start, ""))
        else:
            before_key, before = mapping.entries[number - 1]
            parts.append(Replacement(max(before_key.end, before.end), max(key.end, value.end), ""))
    return parts


def _of_additions(text: str, tree: TextTree, changes: Mapping[Path, Any]) -> Iterable[Replacement]:
    """Returns the insertions of missing fields, one for each mapping that gets some."""
    nodes: dict[int, TextNode] = {}
    added: dict[int, dict[str, Any]] = {}
    for path, new in changes.items():
        location = tree.find(path)
        if new is None or not location.rest:
            continue
        node = _extend_mapping(tree, location)
        if any(isinstance(step, int) for step in location.rest):
            raise NotEditableError
        nodes[id(node)] = node
        added[id(node)] = paths.replace_at(added.get(id(node), {}), location.rest, new)
    return [_addition(text, node, added[key]) for key, node in nodes.items()]


def _extend_mapping(tree: TextTree, location: Location) -> TextNode:
    """Returns the mapping that gets the missing field; a field without a value becomes one."""
    node = tree.anchors.get(location.node.text, location.node) if location.node.kind == "alias" else location.node
    is_null = node.kind == "scalar" and node.style == "" and scalars.resolve(node.text) is None
    if node.kind != "mapping" and not is_null:
        raise NotEditableError
    return node


def _addition(text: str, node: TextNode, fields: dict[str, Any]) -> Replacement:
    if node.kind == "scalar":
        blank = " " if node.start == node.end and text[node.start - 1 : node.start] == ":" else ""
        return Replacement(node.start, node.end, blank + text_structures.in_flow(fields, is_json=False))
    if node.is_flow:
        return _in_flow(text, node, fields)
    end = text_nodes.line_end(text, node.end)
    lines = emitter.text(fields, node.column).rstrip("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return Replacement(end, end, newline + lines.replace("\n", newline))


def _in_flow(text: str, node: TextNode, fields: dict[str, Any]) -> Replacement:
    """Returns the insertion behind the last entry of a flow mapping, on a line of its own if the first entry has one."""
    is_json = bool(node.entries and node.entries[0][0].style == '"')
    if not node.entries:
        return Replacement(node.start, node.end, text_structures.in_flow(fields, is_json=text.lstrip().startswith("{")))
    first = node.entries[0][0].start
    line = text.rfind("\n", 0, first) + 1
    blank = text[text.rfind("\n", 0, line) : first] if line > node.start and not text[line:first].strip() else " "
    end = max(node.entries[-1][0].end, node.entries[-1][1].end)
    inner = text_structures.in_flow(fields, is_json=is_json)[1:-1]
    return Replacement(end, end, "," + blank.lstrip(" ") * (blank != " ") + " " * (blank == " ") + inner)


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
    values = (tree.root, *(value for _, _, value in tree.root.fields())) if tree else ()
    for node in (value for value in values if value.kind == "scalar"):
        parts += [text[done : node.start], whole.sub(lambda _: new, text[node.start : node.end])]
        done = node.end
    return "".join((*parts, text[done:]))
