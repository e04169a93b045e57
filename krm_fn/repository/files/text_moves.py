"""Moves fields of a YAML or JSON text to other objects, with their comments and their format.

The lines of a field, with the comments directly above it, are indented as the fields of its new object are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.repository.files import text_nodes, text_scalars
from krm_fn.repository.files.text_nodes import NotEditableError, Replacement, TextNode, TextTree

_INDENT = 2


class _Field(NamedTuple):
    """A field to move: the mapping that it leaves, and the part of the text, `start` to `end`, in whose place `left` is then.

    `lines` are its lines with its new key, without line ends: the comments above it first. `column` is their indentation.
    """

    owner: TextNode
    start: int
    end: int
    left: str
    lines: tuple[str, ...]
    column: int


class _Target(NamedTuple):
    """The mapping that gets fields, and the keys of the objects that are missing between it and the fields."""

    node: TextNode
    missing: tuple[str, ...]


def replacements(text: str, tree: TextTree, moves: Mapping[Path, Path]) -> Iterator[Replacement]:
    """Yields the replacements that move fields, by their paths. Raises NotEditableError for one without a text of its own."""
    by_target: dict[tuple[int, tuple[str, ...]], tuple[_Target, list[_Field]]] = {}
    for path, to in moves.items():
        target = _target(tree, to)
        field = _field(text, _mapping(tree, path[:-1]), f"{path[-1]}", f"{to[-1]}")
        by_target.setdefault((id(target.node), target.missing), (target, []))[1].append(field)
    for target, fields in by_target.values():
        fields.sort(key=lambda field: field.start)
        if target.node.is_flow:
            yield from _into_flow(text, target, fields)
        elif target.missing and all(field.owner is target.node for field in fields):
            yield from _in_place(text, target, fields)
        else:
            yield from (Replacement(field.start, field.end, field.left) for field in fields)
            end = text_nodes.line_end(text, target.node.end)
            yield Replacement(end, end, "".join(_newline(text) + line for line in _block(target, fields, target.node.column)))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _mapping(tree: TextTree, path: Path) -> TextNode:
    location = tree.find(path)
    if location.rest or location.aliases or location.node.kind != "mapping":
        raise NotEditableError
    return location.node


def _target(tree: TextTree, to: Path) -> _Target:
    location = tree.find(to)
    *missing, _ = location.rest or ("",)
    if not location.rest or location.aliases or location.node.kind != "mapping" or not location.node.entries:
        raise NotEditableError
    if not all(isinstance(step, str) for step in location.rest):
        raise NotEditableError
    return _Target(location.node, (*map(str, missing),))


def _field(text: str, owner: TextNode, name: str, new: str) -> _Field:
    numbers = [number for number, (key, _) in enumerate(owner.entries) if key.kind == "scalar" and key.text == name]
    if len(numbers) != 1:
        raise NotEditableError
    key, value = owner.entries[numbers[0]]
    written = text[key.start : key.end] if name == new else text_scalars.replace_scalar(text, key, new)
    last = max(key.end, value.end)
    if owner.is_flow:
        lines = (*(written + text[key.end : last]).splitlines(),)
        return _Field(owner, *_flow_part(owner, numbers[0], last), lines, key.start - text.rfind("\n", 0, key.start) - 1)
    end = text_nodes.line_end(text, last)
    lines = (*(" " * owner.column + written + text[key.end : end]).splitlines(),)
    line = text.rfind("\n", 0, key.start) + 1
    is_behind_dash = bool(text[line : key.start].strip())
    above = line if is_behind_dash else _comments_above(text, line, owner.column)
    if len(owner.entries) == 1:
        before = len(text[:above].rstrip())
        left = " {}" if not is_behind_dash and text[before - 1 : before] == ":" else ""
        start = before if left else owner.start
        return _Field(
            owner, start, end if left else owner.end, left or "{}", (*text[above:line].splitlines() * bool(left), *lines), owner.column
        )
    if is_behind_dash:
        following = owner.entries[numbers[0] + 1][0].start
        if text[end:following].strip():  # a comment of the next field
            raise NotEditableError
        return _Field(owner, key.start, following, "", lines, owner.column)
    start = above - len(_newline(text)) if above else 0
    return _Field(owner, start, end, "", (*text[above:line].splitlines(), *lines), owner.column)


def _flow_part(owner: TextNode, number: int, last: int) -> tuple[int, int, str]:
    """Returns the part of a text that an entry of a flow mapping leaves, with a comma, and the text in its place."""
    if len(owner.entries) == 1:
        return owner.start, owner.end, "{}"
    if number < len(owner.entries) - 1:
        return owner.entries[number][0].start, owner.entries[number + 1][0].start, ""
    key, value = owner.entries[number - 1]
    return max(key.end, value.end), last, ""


def _comments_above(text: str, line: int, column: int) -> int:
    """Returns the offset of the first of the comments with lines of their own and an indentation that are directly above a line."""
    while line:
        above = text.rfind("\n", 0, line - 1) + 1
        if not text[above:line].startswith(" " * column + "#"):
            break
        line = above
    return line


def _block(target: _Target, fields: Sequence[_Field], column: int) -> Iterator[str]:
    """Yields the lines of fields in a block mapping, below the keys of the missing objects."""
    for depth, key in enumerate(target.missing):
        yield f"{' ' * (column + _INDENT * depth)}{key}:"
    indent = column + _INDENT * len(target.missing)
    for field in fields:
        for number, line in enumerate(field.lines):
            own = len(line) - len(line.lstrip(" "))
            first = number == 0 and field.owner.is_flow
            yield " " * indent + line if first else " " * max(0, own - field.column + indent) * bool(line.strip()) + line.lstrip(" ")


def _in_place(text: str, target: _Target, fields: Sequence[_Field]) -> Iterator[Replacement]:
    """Yields the replacements of fields that get an object around them: it begins where the first of them was."""
    first, newline = fields[0], _newline(text)
    written = newline.join(_block(target, fields, target.node.column))
    if text[first.start : first.start + 1] in ("\n", "\r", ""):
        yield Replacement(first.start, first.end, newline + written)
    elif first.left:  # the only field
        yield Replacement(first.start, first.end, newline + written if first.left == " {}" else written.lstrip(" "))
    elif first.start:  # behind a dash
        yield Replacement(first.start, first.end, written.lstrip(" ") + newline + " " * target.node.column)
    else:
        yield Replacement(first.start, first.end, written)
    yield from (Replacement(field.start, field.end, field.left) for field in fields[1:])


def _is_line(field: _Field) -> bool:
    """True for a field in block style with one line, which is also flow style."""
    return len(field.lines) == 1 and "#" not in field.lines[0] and field.lines[0][-1:] not in (":", "|", ">", "-", "+")


def _into_flow(text: str, target: _Target, fields: Sequence[_Field]) -> Iterator[Replacement]:
    """Yields the replacements of fields in flow style that move into an object in flow style."""
    around = bool(target.missing) and all(field.owner is target.node for field in fields)
    are_movable = all(field.owner.is_flow or _is_line(field) for field in fields)
    if not are_movable or (around and len(fields) > 1):
        raise NotEditableError
    is_json = text_scalars.is_json(text)
    keys = [f'"{key}"' if is_json else key for key in target.missing]
    inner = ", ".join("\n".join(field.lines).lstrip() for field in fields)
    written = "".join(f"{key}: {{" for key in keys) + inner + "}" * len(keys)
    if around:
        (field,) = fields
        is_first = text[field.start : field.start + 1] != ","
        behind = "" if not is_first else "}" if field.left else ", "
        yield Replacement(field.start, field.end, ("{" if field.left else "" if is_first else ", ") + written + behind)
        return
    yield from (Replacement(field.start, field.end, field.left) for field in fields)
    last = max(target.node.entries[-1][0].end, target.node.entries[-1][1].end)
    yield Replacement(last, last, f", {written}")
