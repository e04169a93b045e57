"""The output of `krm-fn explain`: text, JSON, and YAML with the origins as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import _origin_places, _output
from krm_fn.cli._origin_places import Places
from krm_fn.review import explain, text
from krm_fn.yamlio import emitter, positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.files.sources import Sources
    from krm_fn.review.explain import Explained, Field, Origin

FORMAT_VERSION = 1
_MOST = 6  # origins of one value that are shown; a hash has hundreds
_COLOURS = {"user": "green", "config": "cyan", "rule": "blue", "unknown": "red"}


class Part(NamedTuple):
    """Objects under one heading: what a line `reaches` and what it `decides`; without a heading, all objects."""

    heading: str
    objects: list[Explained]


def write(style: str, parts: Sequence[Part], loaded: Sources) -> str:
    """The parts in one of the formats."""
    places = Places(loaded, [field for part in parts for each in part.objects for field in each.fields])
    if style == "json":
        return _output.value({"formatVersion": FORMAT_VERSION, "objects": [each for part in parts for each in _json(part, places)]}, "json")
    if style == "yaml":
        return "---\n".join(_yaml(each, places) for part in parts for each in part.objects)
    return "\n".join(_text(part, places, colour=_output.colours()) for part in parts if part.objects or part.heading)


def _text(part: Part, places: Places, *, colour: bool) -> str:
    if part.heading and not part.objects:
        return f"{part.heading}: nothing\n"
    lines, told = [f"{part.heading}:"] if part.heading else [], set[str]()
    for each in part.objects:
        head = report.visible(f"{each.key.kind}/{each.key.name}" + (f" in {each.key.namespace}" if each.key.namespace else ""))
        lines.append(click.style(head, bold=True) if colour else head)
        for field in each.fields:
            lines.append(f"  {report.visible(results.field(field.path))}: {text.value(field.value)}")
            lines += [f"    {_styled(word, said, colour=colour)}" for word, said in _of_field(field, places, told)]
    return "".join(f"{line}\n" for line in lines)


def _of_field(field: Field, places: Places, told: set[str]) -> Iterator[tuple[str, str]]:
    """The lines about a field, each as its first word and the rest. `told` are the rules whose sentences have been shown."""
    yield from (_said(origin, places, told) for origin in _first(field.origins))
    if not field.origins:
        yield "unknown", ""
    if len(field.origins) > _MOST:
        yield "and", f"{len(field.origins) - _MOST} more"
    for origin in field.placed:
        yield "placed by", _said(origin, places, told)[1]
    for won in field.won:
        said = "; ".join(" ".join(_said(origin, places, told)) for origin in _first(won.origins))
        yield "won over", f"{text.value(won.value)}: {said}"


def _first(origins: Sequence[Origin]) -> list[Origin]:
    """The origins that are shown. One of them is a rule if the value has any."""
    shown, rules = list(origins[:_MOST]), [each for each in origins if each.kind == "rule"]
    return shown if any(each.kind == "rule" for each in shown) else [*shown[: _MOST - len(rules[:1])], *rules[:1]]


def _styled(word: str, said: str, *, colour: bool) -> str:
    padded = f"{word:<9}"
    return f"{click.style(padded, fg=_COLOURS.get(word, 'white')) if colour else padded} {said}".rstrip()


def _said(origin: Origin, places: Places, told: set[str]) -> tuple[str, str]:
    """The kind of an origin, and the rest in words. A rule that is not among the `told` ones has its sentence, and is then among them."""
    place, field = places.of(origin), report.visible(results.field(origin.path))
    where = f"{report.visible(place['file'])}:{place['line']} " if place else ""
    if origin.kind == "user":
        return "user", f"{where}{field}"
    if origin.kind == "config":
        return "config", f"{where}{field}{' (default)' if _origin_places.is_default(origin, place) else ''}"
    rule = origin.rule or explain.Rule("", "")
    if rule.name in told:
        return "rule", rule.name
    told.add(rule.name)
    return "rule", f"{rule.name}: {rule.says}" + (f" ({rule.follows})" if rule.follows else "")


def _json(part: Part, places: Places) -> Iterator[dict[str, Any]]:
    for each in part.objects:
        address = results.ref(each.resource)
        fields = [_json_field(field, places) for field in each.fields]
        yield {
            **({"line": part.heading} if part.heading else {}),
            "apiVersion": address.api_version,
            "kind": address.kind,
            "namespace": address.namespace,
            "name": address.name,
            "fields": fields,
        }


def _json_field(field: Field, places: Places) -> dict[str, Any]:
    return {
        "field": results.field(field.path),
        "path": list(field.path),
        "value": field.value,
        "origins": [_json_origin(each, places) for each in field.origins] or [{"kind": "unknown"}],
        "placedBy": [_json_origin(each, places) for each in field.placed],
        "wonOver": [{"value": won.value, "origins": [_json_origin(each, places) for each in won.origins]} for won in field.won],
    }


def _json_origin(origin: Origin, places: Places) -> dict[str, Any]:
    place = places.of(origin)
    if origin.kind == "user":
        return {"kind": "user", **place, "field": results.field(origin.path)}
    if origin.kind == "config":
        return {"kind": "config", "key": results.field(origin.path), **place, "default": _origin_places.is_default(origin, place)}
    rule = origin.rule or explain.Rule("", "")
    return {"kind": "rule", "name": rule.name, "says": rule.says, **({"follows": rule.follows} if rule.follows else {})}


def _yaml(each: Explained, places: Places) -> str:
    """An object with a comment behind each field. Only the explained fields have comments."""
    written = emitter.text(each.resource)
    lines = written.split("\n")
    found = positions.positions(written, [field.path for field in each.fields])
    for field in each.fields:
        number = found[field.path][0] - 1
        lines[number] += f"  # {'; '.join(_short(origin, places) for origin in _first(field.origins)) or 'unknown'}"
    return "\n".join(lines)


def _short(origin: Origin, places: Places) -> str:
    return f"rule {origin.rule.name}" if origin.rule else " ".join(_said(origin, places, set()))
