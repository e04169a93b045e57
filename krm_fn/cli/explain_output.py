"""The output of `krm-fn explain`: text, JSON, and YAML with the origins as comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from krm_fn.base import escaping, report, results
from krm_fn.base.results import Path
from krm_fn.base.yaml import emitter, positions
from krm_fn.cli import command_output
from krm_fn.origins.explain import Explained, ExplainedField
from krm_fn.origins.origin import Origin
from krm_fn.review.inputs.explained_roots import RootSections, Section
from krm_fn.review.inputs.origin_locations import OriginLocations

FORMAT_VERSION = 1
_MOST = 6  # origins of one value that are shown; a hash has hundreds
_COLOURS = {"user": escaping.GREEN, "config": escaping.CYAN, "rule": escaping.BLUE, "unknown": escaping.RED}


def write(style: str, roots: Sequence[RootSections]) -> Iterator[str]:
    """Yields the parts of the output in one of the formats, as soon as an object is explained. Several roots have headings."""
    if style == "json":
        yield from _json_list(f'{{"formatVersion": {FORMAT_VERSION}, "objects": [', map(escaping.json_text, _all_json(roots)), "]}\n")
    elif style == "yaml":
        documents = (document for root in roots for document in _documents(root, is_named=len(roots) > 1))
        yield from (document if number == 0 else f"---\n{document}" for number, document in enumerate(documents))
    else:
        shown_rules, start = set[str](), ""
        for root in roots:
            locations, heading = (
                OriginLocations(root.loaded),
                f"{start}== {report.visible(root.name or 'files')}\n" if len(roots) > 1 else "",
            )
            for number, section in enumerate(root.sections):
                for text in _text(section, locations, shown_rules if not section.heading else set(), is_first=not number):
                    yield heading + text
                    heading, start = "", "\n"


def _all_json(roots: Sequence[RootSections]) -> Iterator[dict[str, Any]]:
    for root in roots:
        locations, name = OriginLocations(root.loaded), {"root": root.name} if len(roots) > 1 else {}
        yield from ({**name, **entry} for section in root.sections for entry in _json(section, locations))


def _documents(root: RootSections, *, is_named: bool) -> Iterator[str]:
    """Yields the objects of a root as YAML, each with a comment that names the root."""
    locations, heading = OriginLocations(root.loaded), f"# root: {report.visible(root.name)}\n" if is_named else ""
    yield from (heading + _yaml(explained, locations) for section in root.sections for explained in section.objects)


def _json_list(head: str, entries: Iterable[str], tail: str) -> Iterator[str]:
    """Yields a JSON list, one entry a line."""
    yield head
    number = -1
    for number, entry in enumerate(entries):
        yield f"{',' * (number > 0)}\n{entry}"
    yield f"{chr(10) * (number >= 0)}{tail}"


def _text(section: Section, locations: OriginLocations, shown_rules: set[str], *, is_first: bool) -> Iterator[str]:
    colour, number = command_output.colours(), -1
    start = [] if is_first else [""]
    for number, explained in enumerate(section.objects):
        locations.add(explained.fields)
        lines = [*start, f"{section.heading}:"] if section.heading and not number else []
        head = report.visible(
            f"{explained.key.kind}/{explained.key.name}" + (f" in {explained.key.namespace}" if explained.key.namespace else "")
        )
        lines.append(escaping.paint(head, escaping.BOLD) if colour else head)
        for field in explained.fields:
            lines.append(f"  {_field_name(field.path)}: {report.value(field.value)}")
            lines += [f"    {_style_word(word, words, colour=colour)}" for word, words in _of_field(field, locations, shown_rules)]
        yield escaping.join_lines(lines, colours=colour)
    if section.heading and number < 0:
        yield escaping.join_lines([*start, f"{section.heading}: nothing"])


def _of_field(field: ExplainedField, locations: OriginLocations, shown_rules: set[str]) -> Iterator[tuple[str, str]]:
    """The lines about a field, each as its first word and the rest. `shown_rules` are the rules whose sentences have been shown."""
    yield from (_describe_origin(origin, locations, shown_rules) for origin in _first(field.origins))
    if not field.origins:
        yield "unknown", ""
    if len(field.origins) > _MOST:
        yield "and", f"{len(field.origins) - _MOST} more"
    for origin in field.placed:
        yield "set by", _describe_origin(origin, locations, shown_rules)[1]
    for overridden in field.overridden:
        words = "; ".join(" ".join(_describe_origin(origin, locations, shown_rules)) for origin in _first(overridden.origins))
        yield "overrides", f"{report.value(overridden.value)}: {words}"


def _first(origins: Sequence[Origin]) -> Sequence[Origin]:
    """The first origins of a value, among them a rule if the value has any."""
    if len(origins) <= _MOST:
        return origins
    shown, rules = list(origins[:_MOST]), [origin for origin in origins if origin.kind == "rule"]
    return shown if any(origin.kind == "rule" for origin in shown) else [*shown[: _MOST - len(rules[:1])], *rules[:1]]


def _style_word(word: str, rest: str, *, colour: bool) -> str:
    padded = f"{word:<9}"
    return f"{escaping.paint(padded, _COLOURS.get(word, escaping.WHITE)) if colour else padded} {rest}".rstrip()


def _describe_origin(origin: Origin, locations: OriginLocations, shown_rules: set[str]) -> tuple[str, str]:
    """The kind of an origin, and its description. A rule outside of `shown_rules` gets its sentence, and is added to them."""
    if origin.kind == "rule":
        rule = origin.rule
        if rule.name in shown_rules:
            return "rule", rule.name
        shown_rules.add(rule.name)
        return "rule", f"{rule.name}: {rule.says}" + (f" ({rule.follows})" if rule.follows else "")
    location, field = locations.of(origin), _field_name(origin.path)
    where = f"{report.visible(location.file)}:{location.line} " if location else ""
    return origin.kind, f"{where}{field}{' (default)' if origin.kind == 'config' and locations.is_default(origin) else ''}"


@lru_cache(10_000)  # the objects of many graphs have the same fields
def _field_name(path: Path) -> str:
    return report.visible(results.field(path))


def _json(section: Section, locations: OriginLocations) -> Iterator[dict[str, Any]]:
    for explained in section.objects:
        locations.add(explained.fields)
        address = results.ref(explained.resource)
        fields = [json_field(field, locations) for field in explained.fields]
        yield {
            **({"line": section.heading} if section.heading else {}),
            "apiVersion": address.api_version,
            "kind": address.kind,
            "namespace": address.namespace,
            "name": address.name,
            "fields": fields,
        }


def json_field(field: ExplainedField, locations: OriginLocations) -> dict[str, Any]:
    """Returns a field with its origins as JSON. `locations` has the locations of these origins."""
    return {
        "field": results.field(field.path),
        "path": list(field.path),
        "value": field.value,
        "origins": [_json_origin(origin, locations) for origin in field.origins] or [{"kind": "unknown"}],
        "placedBy": [_json_origin(origin, locations) for origin in field.placed],
        "wonOver": [
            {"value": overridden.value, "origins": [_json_origin(origin, locations) for origin in overridden.origins]}
            for overridden in field.overridden
        ],
    }


def _json_origin(origin: Origin, locations: OriginLocations) -> dict[str, Any]:
    location = locations.of(origin)
    line = {"file": location.file, "line": location.line} if location else {}
    if origin.kind == "user":
        return {"kind": "user", **line, "field": results.field(origin.path)}
    if origin.kind == "config":
        return {"kind": "config", "key": results.field(origin.path), **line, "default": locations.is_default(origin)}
    rule = origin.rule
    return {"kind": "rule", "name": rule.name, "says": rule.says, **({"follows": rule.follows} if rule.follows else {})}


def _yaml(explained: Explained, locations: OriginLocations) -> str:
    """An object with a comment behind each field. Only the explained fields have comments."""
    locations.add(explained.fields)
    written = emitter.text(explained.shown)
    lines = written.split("\n")
    positions_by_path = positions.positions(written, [field.path for field in explained.fields])
    for field in explained.fields:
        number = positions_by_path[field.path][0] - 1
        lines[number] += f"  # {'; '.join(_short(origin, locations) for origin in _first(field.origins)) or 'unknown'}"
    return "\n".join(lines)


def _short(origin: Origin, locations: OriginLocations) -> str:
    return f"rule {origin.rule.name}" if origin.kind == "rule" else " ".join(_describe_origin(origin, locations, set()))
