"""Reads the YAML of any ResourceList from the events of a parser, and records the lines of each item."""

from __future__ import annotations

from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from krm_fn.base import codes, results
from krm_fn.base.yaml import builder
from krm_fn.render.krm.layout import Layout, LayoutPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.yaml.builder import Builder

_ODD_BREAKS = ("\x85", "\u2028", "\u2029")


class EventLayout(Layout):
    """The layout of a text that is not in block style. A text in block style has the same layout here, only later."""

    def read(self, events: Builder) -> Any:
        """Returns the value of the only document. Raises builder.Broken if the text has several."""
        root = events.begin()
        if type(root) is MappingStartEvent:
            value: Any = self._mapping(events, root)
        elif root:
            value = events.value(root)
            events.end()
        else:
            return None
        second = events.begin()
        if second and (type(second) is not ScalarEvent or second.value):
            message = "the input holds several documents, not one ResourceList; use `krm-fn render` for plain files"
            raise builder.Broken(
                results.error(codes.INPUT_NOT_RESOURCE_LIST, message, line=second.start_mark.line + 1, column=second.start_mark.column + 1)
            )
        return value

    def _mapping(self, events: Builder, root: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        parts: list[LayoutPart] = []
        events.enter(root)
        while type(key := events.next()) is not MappingEndEvent:
            name, event = events.key(key), events.next()
            listed = name == "items" and type(event) is SequenceStartEvent
            part = self._sequence(events, event) if listed else _part(events, event)
            parts.append(part._replace(start=key.start_mark.index))
            events.put(fields, name, part.value, key)
            if isinstance(part.value, dict):
                self.lines.setdefault(id(part.value), key.start_mark.line + 1)
        events.leave(root, fields)
        end = events.end()
        if _has_line_feeds_only(self.text) and not (root.flow_style or root.start_mark.column or events.handles):
            self.measure(parts, end)
        return fields

    def _sequence(self, events: Builder, opening: Any) -> LayoutPart:
        """Reads the list of items."""
        events.enter(opening)
        self.column = opening.start_mark.column
        self.items = []
        while type(event := events.next()) is not SequenceEndEvent:
            part = _part(events, event)
            if type(event) is AliasEvent and isinstance(part.value, dict):
                part = part._replace(value=dict(part.value))  # every item is an object of its own
            self.lines[id(part.value)] = event.start_mark.line + 1
            self.items.append(part)
        values = [part.value for part in self.items]
        events.leave(opening, values)
        return LayoutPart(0, values, own=not opening.flow_style)


def _part(events: Builder, event: Any) -> LayoutPart:
    start = events.reach = event.start_mark.index
    value = events.value(event)
    return LayoutPart(start, value, own=type(event) is MappingStartEvent and events.reach == start)


def _has_line_feeds_only(text: str) -> bool:
    """True if all lines end in a line feed. YAML 1.1 has other line ends too, and spans would be wrong with them."""
    return not any(odd in text for odd in _ODD_BREAKS) and text.count("\r") == text.count("\r\n")
