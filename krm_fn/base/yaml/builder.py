"""Builds JSON values from YAML events, within limits.

The events come from PyYAML's C parser. Depth and aliases are counted while events arrive, so that no input can exhaust the process.
"""

from __future__ import annotations

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamStartEvent,
)

from krm_fn.base import codes, results
from krm_fn.base.yaml import scalars, stream, syntax_causes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from krm_fn.base.results import Result

DEPTH = 200
ALIASED = 100_000
FINDINGS = 100
TOO_DEEP = f"the text is nested deeper than {DEPTH} levels; remove levels, because no Kubernetes resource is this deep"

_OF_OBJECT = ("apiVersion", "kind", "metadata")
_STANDARD = "tag:yaml.org,2002:"
_MERGE = _STANDARD + "merge"
_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}


class Broken(Exception):  # noqa: N818 - the input is broken, not the program
    """Reading cannot continue. `result` is the finding with the reason."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.message)
        self.result = result


def size(value: Any, limit: int) -> tuple[int, int]:
    """Returns the number of nested values, and the depth. Counting stops soon after `limit`.

    >>> size({"a": [1, 2]}, 100)
    (4, 3)
    """
    level, count, depth = [value], 0, 0
    while level and count <= limit:
        count += len(level)
        depth += 1
        nodes = [node.values() if type(node) is dict else node for node in level if type(node) in (dict, list)]
        level = [child for node in nodes for child in node]
    return count, depth


class Builder:
    """Builds values from one stream of events.

    `next` returns the next event. `value` builds the whole value that an event begins. Errors after which reading can continue are added
    to `findings`; other errors raise Broken or yaml.YAMLError. `reach` is the lowest offset that an alias has pointed to since `reach` was
    last set. `handles` is true if the document declares short forms of tags.
    """

    def __init__(self, text: str, findings: list[Result], file: str = "", lines: int = 0, literal: Collection[str] = ()) -> None:
        """`lines` is the number of lines before the text in its file. Unquoted scalars in `literal` are strings."""
        self.next = stream.events(text)
        self.reach = len(text)
        self.handles = False
        self._found = findings
        self._text = text
        self._torn = 0
        self._file = file
        self._lines = lines
        self._plain = _Plain({text: text for text in literal})
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._merged: dict[int, set[str]] = {}
        self._depth = 0
        self._aliased = 0

    def begin(self) -> Any:
        """Returns the event that begins the next document's value, or None at the end of the text."""
        event = self.next()
        if type(event) is StreamStartEvent:
            event = self.next()
        if type(event) is not DocumentStartEvent:
            return None
        self.handles = bool(event.tags)
        return self.next()

    def end(self) -> int:
        """Leaves a document and returns the offset of its end."""
        self._anchors.clear()
        return int(self.next().start_mark.index)

    def value(self, event: Any) -> Any:
        """Builds the value that this event begins, and consumes the events up to its end."""
        if type(event) is ScalarEvent:
            return self._scalar(event)
        if type(event) is AliasEvent:
            return self._alias(event)
        self.enter(event)
        value = self._mapping() if type(event) is MappingStartEvent else self._sequence()
        self.leave(event, value)
        return value

    def key(self, event: Any) -> str | None:
        """Returns the key that this event begins, literally as written: `on:` is the key `on`. None if it is not a string."""
        if type(event) is ScalarEvent:
            value = self._scalar(event) if event.anchor or event.tag else None
            return value if isinstance(value, str) else str(event.value)
        value = self.value(event)
        if isinstance(value, str):
            return value
        self.report(codes.KEY_NOT_STRING, "the key is not a string; put a key that contains a brace or a bracket in quotes", event)
        return None

    def put(self, mapping: dict[str, Any], key: str | None, value: Any, event: Any) -> None:
        """Sets a key once, and merges the mapping after `<<`. Keys that are written out win over merged keys.

        Raises Broken for the first key of a second object, which lacks the line `---` before it.
        """
        merged = self._merged.get(id(mapping), set())
        if key == "<<" and type(event) is ScalarEvent and (event.implicit[0] or event.tag == _MERGE):
            self._merge(mapping, value, event)
        elif key in mapping and key not in merged:
            if self._depth == 1 and key in _OF_OBJECT and all(field in mapping for field in _OF_OBJECT):
                problem = f"the key {key} is set twice in this mapping, because a second object begins here"
                raise Broken(self._error(codes.DUPLICATE_KEY, f"{problem}; write a line --- above this one", event))
            if self._torn == id(mapping):
                return  # the rest of an entry without its dash
            if entry := syntax_causes.missing_dash(self._text, event.start_mark.index, key):
                self._torn = id(mapping)
                self.report(
                    codes.DUPLICATE_KEY,
                    f"the key {key} is set twice in this list entry, because a second one begins here; write {entry}",
                    event,
                )
                return
            is_joined = isinstance(value, (dict, list)) and type(mapping[key]) is type(value) and mapping[key] and mapping[key] != value
            fix = f"write the entries of both below one {key}" if is_joined and value else "remove one of the two"
            if is_joined and isinstance(value, dict) and not value.keys().isdisjoint(mapping[key]):
                fix = "give one of the two another name, or remove it"  # they are two things: their common keys cannot be below one
            self.report(codes.DUPLICATE_KEY, f"the key {key} is set twice in this mapping; {fix}", event)
        elif key is not None:
            mapping[key] = value
            merged.discard(key)

    def report(self, code: str, message: str, event: Any) -> None:
        """Adds an error at an event. Raises Broken after too many errors."""
        self._found.append(self._error(code, message, event))
        if len(self._found) >= FINDINGS:
            raise Broken(
                self._error(
                    codes.INVALID_YAML, f"the text has {FINDINGS} errors up to this line and is not read further; fix them first", event
                )
            )

    def enter(self, event: Any) -> None:
        """Enters the mapping or list that this event begins. Raises Broken if it is too deep."""
        self._depth += 1
        if self._depth > DEPTH:
            raise Broken(self._error(codes.YAML_TOO_DEEP, TOO_DEEP, event))
        if event.anchor:
            self._anchors.pop(event.anchor, None)
        if event.tag and event.tag not in ("!", _STANDARD + ("map" if type(event) is MappingStartEvent else "seq")):
            self._unknown(event)

    def leave(self, event: Any, value: Any) -> None:
        """Leaves the mapping or list that this event began; `value` is its content."""
        self._depth -= 1
        self._merged.pop(id(value), None)
        if event.anchor:
            self._anchors[event.anchor] = value, event.start_mark.index

    def _mapping(self) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        following, scalar = self.next, self._scalar
        while type(event := following()) is not MappingEndEvent:
            is_plain = type(event) is ScalarEvent and event.tag is None and event.anchor is None  # most keys, so not a call
            key = event.value if is_plain else self.key(event)
            child = following()
            value = scalar(child) if type(child) is ScalarEvent else self.value(child)
            if key is None or key in mapping or key == "<<":
                self.put(mapping, key, value, event)
            else:
                mapping[key] = value
        return mapping

    def _sequence(self) -> list[Any]:
        sequence: list[Any] = []
        following = self.next
        while type(event := following()) is not SequenceEndEvent:
            sequence.append(self.value(event))
        return sequence

    def _scalar(self, event: Any) -> Any:
        if event.anchor is None and event.tag is None:
            try:
                return self._plain[event.value] if event.implicit[0] else event.value
            except ValueError:
                return self._no_number(event)
        value = self._resolve_tag(event)
        if event.anchor:
            self._anchors[event.anchor] = value, event.start_mark.index
        return value

    def _resolve_tag(self, event: Any) -> Any:
        """Returns the value of a scalar that may have a tag. Tags of JSON types are honoured."""
        tag = (event.tag or "").removeprefix(_STANDARD)
        if tag in ("!", "str") or (not tag and not event.implicit[0]):
            return event.value
        if tag == "binary":
            return self._binary(event)
        if tag == "merge" and event.value == "<<":
            return "<<"  # kustomize writes the text `"<<"` this way; only a key merges
        if tag and tag not in _TYPES:
            return self._unknown(event)
        try:
            value = scalars.resolve(event.value)
        except ValueError:
            return self._no_number(event)
        if tag and type(value) not in _TYPES[tag]:
            self.report(codes.INVALID_YAML_TAG, f"the value does not match its tag !!{tag}; remove the tag or correct the value", event)
        return value

    def _binary(self, event: Any) -> str:
        from base64 import b64decode  # noqa: PLC0415 - hardly ever needed

        try:
            return b64decode(event.value).decode()
        except ValueError:
            self.report(codes.INVALID_YAML_TAG, "the value of !!binary is not text in base64; write the text itself", event)
            return str(event.value)

    def _unknown(self, event: Any) -> Any:
        self.report(codes.INVALID_YAML_TAG, "Kubernetes does not know the tag; remove the tag, or put the text in quotes", event)
        return getattr(event, "value", None)

    def _no_number(self, event: Any) -> str:
        self.report(codes.INVALID_JSON_NUMBER, "JSON cannot hold this number; put it in quotes if it is text", event)
        return str(event.value)

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            message = "the alias has no anchor before it; write the value out, or put it in quotes if it is text"
            raise Broken(self._error(codes.INVALID_YAML, message, event))
        value, start = self._anchors[event.anchor]
        count, depth = size(value, ALIASED)
        self._aliased += count
        if self._aliased > ALIASED or self._depth + depth > DEPTH:
            message = f"aliases up to this line expand to more than {ALIASED} values or {DEPTH} levels; use fewer aliases"
            raise Broken(self._error(codes.TOO_MANY_YAML_ALIASES, message, event))
        self.reach = min(self.reach, start)
        return value

    def _merge(self, mapping: dict[str, Any], value: Any, event: Any) -> None:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            message = "the merge key << needs a mapping or a list of mappings; put << in quotes if it is an ordinary key"
            self.report(codes.INVALID_YAML, message, event)
            return
        new = {key: item for source in reversed(sources) for key, item in source.items() if key not in mapping}
        self._merged.setdefault(id(mapping), set()).update(new)
        mapping.update(new)

    def _error(self, code: str, message: str, event: Any) -> Result:
        mark = event.start_mark
        return results.error(code, message, file=self._file, line=self._lines + mark.line + 1, column=mark.column + 1)


class _Plain(dict[str, scalars.Scalar]):
    """Values of unquoted scalars; each text is resolved once. Raises ValueError for a value that JSON does not have."""

    def __missing__(self, text: str) -> scalars.Scalar:
        value = self[text] = scalars.resolve(text)
        return value
