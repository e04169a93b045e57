"""Reads a ResourceList from stdin and writes one to stdout. The text of an unchanged item stays the same.

Follows the KRM Functions Specification, section ResourceList.
"""

from __future__ import annotations

import json
import re

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import emitter, libyaml, reader
from krm_fn.render.krm import envelope, origin
from krm_fn.render.krm.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource

_BLOCK = r"(?m)[|>][-+1-9]*[ \t\r]*(?:#.*)?$"  # compiled where it is used: hardly any input ends without a line end


class ResourceList(NamedTuple):
    """The input. `results` are its errors; `complete` is true if every item can be written unchanged."""

    text: str
    fields: dict[str, Any]
    layout: Layout
    results: list[Result]
    complete: bool

    @property
    def items(self) -> list[Any]:
        """All items, also those that are not resources."""
        return self.fields["items"] if self.complete else []

    @property
    def resources(self) -> list[Resource]:
        """All items that are mappings."""
        return [item for item in self.items if isinstance(item, dict)]

    @property
    def function_config(self) -> Resource | None:
        """The functionConfig, or None if it is absent or not a mapping."""
        config = self.fields.get("functionConfig")
        return config if isinstance(config, dict) else None


def parse(data: bytes) -> ResourceList:
    """Reads a ResourceList in YAML or JSON, with all its errors. Never raises, whatever the bytes are."""
    text, findings = reader.decode(data)
    if not text.endswith("\n") and not re.search(_BLOCK, text):
        text += "\n"
    layout = Layout(text)
    value = None if findings else reader.json_value(text) or layout.read_block()
    if value is None and not findings:
        layout, value, findings = _parse_yaml(text)
    if value is None:
        return ResourceList(text, {}, layout, findings or [_empty()], complete=False)
    if wrong := list(envelope.check_list(value)):
        return ResourceList(text, {}, layout, [*findings, *wrong], complete=False)
    complete = not findings or all(id(item) in layout.spans for item in value["items"])
    return ResourceList(text, value, layout, [*findings, *envelope.check_items(value, layout.lines)], complete)


def _parse_yaml(text: str) -> tuple[Layout, Any, list[Result]]:
    """Reads a text that is neither JSON nor YAML in block style."""
    libyaml.prepare()
    from krm_fn.render.krm.event_layout import EventLayout  # noqa: PLC0415 - orchestrators write block style

    layout = EventLayout(text)
    return layout, *reader.attempt(layout.read, text)


def from_items(items: list[Any], function_config: Any, findings: list[Result]) -> ResourceList:
    """Makes a ResourceList of items that came in another form. Findings about the list are added to `findings`."""
    fields = {"items": items, "functionConfig": function_config}
    return ResourceList("", fields, Layout(""), [*findings, *envelope.check_items(fields, {})], complete=True)


def render(received: ResourceList, resources: list[Any], findings: list[Result]) -> bytes:
    """Writes the output list with these resources. The findings follow the results of earlier functions.

    A resource that is the same object as in the input keeps its text, with comments and quotes. Other resources are formatted anew.
    """
    layout, fields, write = received.layout, received.fields, emitter.YAMLWriter().text
    head = {key: value for key, value in fields.items() if key not in ("items", "functionConfig", "results")}
    parts = [write(head), "items:\n" if resources else "items: []\n"]
    for index, resource in enumerate(resources):
        written = _verbatim(received, resource)
        parts.append((_from_first_word(written) if index else written) or write([resource], layout.column))
    if (config := fields.get("functionConfig")) is not None:
        parts.append(_verbatim(received, config) or write({"functionConfig": config}))
    new = [results.wire(result) for result in findings]
    if earlier := [*_earlier(fields.get("results"), new), *new]:
        parts.append(write({"results": earlier}))
    return "".join(parts).encode()


def locations(received: ResourceList, resource: Resource, paths: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """Returns the places of fields of an item or of the functionConfig as fields of a Result: the file, or line and column in the input.

    The resource's text is read once for all paths.
    """
    libyaml.prepare()
    from krm_fn.base.yaml import positions  # noqa: PLC0415 - only findings need it

    asked = list(paths)
    at = origin.location(resource, received.layout.lines.get(id(resource), 0))
    text = _verbatim(received, resource)
    if "file" in at or not at or not text:
        return dict.fromkeys(asked, at)
    root: Path = ("functionConfig",) if resource is received.function_config else (0,)
    positions_by_path = positions.positions(text, [root, *((*root, *path) for path in asked)])
    offset = received.layout.lines[id(resource)] - positions_by_path[root][0]
    return {path: {"line": offset + positions_by_path[*root, *path][0], "column": positions_by_path[*root, *path][1]} for path in asked}


def _verbatim(received: ResourceList, value: Any) -> str:
    start, end = received.layout.spans.get(id(value), (0, 0))
    return received.text[start:end]


def _from_first_word(written: str) -> str:
    """Returns the text of an item without blank lines at its start. Below another item they could be a part of its last text."""
    start = 0
    while written[start : (end := written.find("\n", start) + 1)].isspace():
        start = end
    return written[start:]


def _earlier(message: Any, new: list[Any]) -> Iterator[Any]:
    """Yields the results of earlier functions that are not among the new ones. The TypeScript SDK wraps results in a mapping."""
    listed = message.get("items") if isinstance(message, dict) else message
    if isinstance(listed, list) and listed:
        repeated = {_fingerprint(result) for result in new}
        yield from (result for result in listed if _fingerprint(result) not in repeated)


def _fingerprint(result: Any) -> str:
    """Returns a hashable form, so that many results can be compared in linear time."""
    return json.dumps(result, sort_keys=True)


def _empty() -> Result:
    return results.error(codes.NO_INPUT, "the input is empty; pass a ResourceList, see `krm-fn --help`")
