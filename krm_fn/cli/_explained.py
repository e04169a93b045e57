"""The output of `krm-fn explain`: text, JSON, and YAML with the origins as comments."""

from __future__ import annotations

from os.path import normpath
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from krm_fn import config, report, results
from krm_fn.cli import _output
from krm_fn.files import reading
from krm_fn.kube import identity, labels
from krm_fn.review import explain, text
from krm_fn.yamlio import emitter, positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.files.sources import Sources
    from krm_fn.results import Path
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
    places = _Places(loaded, parts)
    if style == "json":
        return _output.value({"formatVersion": FORMAT_VERSION, "objects": [each for part in parts for each in _json(part, places)]}, "json")
    if style == "yaml":
        return "---\n".join(_yaml(each, places) for part in parts for each in part.objects)
    return "\n".join(_text(part, places, colour=_output.colours()) for part in parts if part.objects or part.heading)


def lines(loaded: Sources, file: str) -> dict[int, dict[int, list[Path]]]:
    """The lines of a file on which fields of Dynamo resources begin: their paths by the index of their resource."""
    wanted = normpath(reading.STDIN_NAME if file == reading.STDIN else file)
    read = {index: source for index, source in enumerate(loaded.resources) if source.file and normpath(source.file) == wanted}
    asked = [(index, path) for index, source in read.items() if identity.is_dynamo(source.value) for path in _paths(source.value, ())]
    where = reading.places((read[index], path) for index, path in asked)
    found: dict[int, dict[int, list[Path]]] = {}
    for (index, path), place in zip(asked, where, strict=True):
        found.setdefault(place["line"], {}).setdefault(index, []).append(path)
    return found


def _paths(value: Any, path: Path) -> Iterator[Path]:
    """The paths of all fields of a value."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from _paths(inner, (*path, step))


class _Places:
    """The places of origins in files. They are all found at once, because finding one means reading its file again."""

    def __init__(self, loaded: Sources, parts: Sequence[Part]) -> None:
        self._loaded = loaded
        fields = [field for part in parts for each in part.objects for field in each.fields]
        origins = [each for field in fields for each in (*field.origins, *(one for won in field.won for one in won.origins))]
        asked = list({(each.resource, each.path): None for each in origins if each.kind == "user"})
        found = reading.places((loaded.resources[index], path) for index, path in asked)
        self._known = dict(zip(asked, found, strict=True))
        self._settings = {path: _written(loaded, path) for path in {each.path for each in origins if each.kind == "config"}}

    def of(self, origin: Origin) -> dict[str, Any]:
        """File and line of an origin; empty for rules and defaults."""
        if origin.kind == "config":
            return self._settings[origin.path]
        return {key: self._known[origin.resource, origin.path][key] for key in ("file", "line")} if origin.kind == "user" else {}


def _written(loaded: Sources, path: Path) -> dict[str, Any]:
    """File and line of a key of the configuration; empty if the configuration does not have it."""
    dotted = ".".join(map(str, path))
    for source in loaded.configs[:1]:
        spots = [("spec", *path), ("data", dotted), ("metadata", "annotations", f"{labels.SETTINGS}{dotted}")]
        for spot in spots:
            held: Any = source.value
            for step in spot:
                held = held.get(step) if isinstance(held, dict) else None
            if held is not None:
                return {key: source.place(spot)[key] for key in ("file", "line")}
    return {}


def _is_default(origin: Origin, place: dict[str, Any]) -> bool:
    value: Any = config.Config()
    for step in origin.path:
        value = next(inner for name, inner in zip(value._fields, value, strict=True) if config.key(name) == step)
    return bool(not place and value == origin.value)


def _text(part: Part, places: _Places, *, colour: bool) -> str:
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


def _of_field(field: Field, places: _Places, told: set[str]) -> Iterator[tuple[str, str]]:
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


def _said(origin: Origin, places: _Places, told: set[str]) -> tuple[str, str]:
    """The kind of an origin, and the rest in words. A rule that is not among the `told` ones has its sentence, and is then among them."""
    place, field = places.of(origin), report.visible(results.field(origin.path))
    where = f"{report.visible(place['file'])}:{place['line']} " if place else ""
    if origin.kind == "user":
        return "user", f"{where}{field}"
    if origin.kind == "config":
        return "config", f"{where}{field}{' (default)' if _is_default(origin, place) else ''}"
    rule = origin.rule or explain.Rule("", "")
    if rule.name in told:
        return "rule", rule.name
    told.add(rule.name)
    return "rule", f"{rule.name}: {rule.says}" + (f" ({rule.follows})" if rule.follows else "")


def _json(part: Part, places: _Places) -> Iterator[dict[str, Any]]:
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


def _json_field(field: Field, places: _Places) -> dict[str, Any]:
    return {
        "field": results.field(field.path),
        "path": list(field.path),
        "value": field.value,
        "origins": [_json_origin(each, places) for each in field.origins] or [{"kind": "unknown"}],
        "placedBy": [_json_origin(each, places) for each in field.placed],
        "wonOver": [{"value": won.value, "origins": [_json_origin(each, places) for each in won.origins]} for won in field.won],
    }


def _json_origin(origin: Origin, places: _Places) -> dict[str, Any]:
    place = places.of(origin)
    if origin.kind == "user":
        return {"kind": "user", **place, "field": results.field(origin.path)}
    if origin.kind == "config":
        return {"kind": "config", "key": results.field(origin.path), **place, "default": _is_default(origin, place)}
    rule = origin.rule or explain.Rule("", "")
    return {"kind": "rule", "name": rule.name, "says": rule.says, **({"follows": rule.follows} if rule.follows else {})}


def _yaml(each: Explained, places: _Places) -> str:
    """An object with a comment behind each field. Only the explained fields have comments."""
    written = emitter.text(each.resource)
    lines = written.split("\n")
    found = positions.positions(written, [field.path for field in each.fields])
    for field in each.fields:
        number = found[field.path][0] - 1
        lines[number] += f"  # {'; '.join(_short(origin, places) for origin in _first(field.origins)) or 'unknown'}"
    return "\n".join(lines)


def _short(origin: Origin, places: _Places) -> str:
    return f"rule {origin.rule.name}" if origin.rule else " ".join(_said(origin, places, set()))
