"""Locates the origins of values in files, and the fields that a line of a file has, for `krm-fn explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os.path import normpath
from typing import Any

from krm_fn.base.results import Path
from krm_fn.origins import explain
from krm_fn.origins.explain import ExplainedField, LeafOrigin
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources


def fields_by_line(loaded: Sources, file: str) -> tuple[dict[int, dict[int, list[Path]]], dict[int, list[Path]]]:
    """The lines of a file on which fields of Dynamo resources begin, and those on which keys of the configuration begin.

    The first has the paths of the fields by the index of their resource, the second the paths of the keys.
    """
    wanted = normpath(reading.STDIN_NAME if file == reading.STDIN else file)
    fields_of_users = [
        (index, path)
        for index, source in enumerate(loaded.resources)
        if dynamo_api.is_dynamo(source.value) and any(part.file and normpath(part.file) == wanted for part in (source, *source.patches))
        for path in paths_of(source.value)
    ]
    locations = reading.field_locations((loaded.resources[index], path) for index, path in fields_of_users)
    fields: dict[int, dict[int, list[Path]]] = {}
    for (index, path), location in zip(fields_of_users, locations, strict=True):
        if normpath(location["file"]) == wanted:
            fields.setdefault(location["line"], {}).setdefault(index, []).append(path)
    keys: dict[int, list[Path]] = {}
    for path in explain.settings_of(loaded.config):
        written = _find_setting(loaded, path)
        if written and normpath(written["file"]) == wanted:
            keys.setdefault(written["line"], []).append(path)
    return fields, keys


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the paths of all fields of a value."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from paths_of(inner, (*path, step))


class OriginLocations:
    """The locations of origins in files. Those of several fields are computed together, because each one needs the text of its file."""

    def __init__(self, loaded: Sources) -> None:
        self._loaded = loaded
        self._known: dict[tuple[int, Path], dict[str, Any]] = {}
        self._settings: dict[Path, dict[str, Any]] = {}
        self._by_text: dict[int, list[int]] = {}
        for index, source in enumerate(loaded.resources):
            self._by_text.setdefault(id(source.text), []).append(index)

    def add(self, fields: Iterable[ExplainedField]) -> None:
        """Computes the locations of the origins of some fields."""
        origins = [
            origin for field in fields for origin in (*field.origins, *(origin for old in field.overridden for origin in old.origins))
        ]
        wanted = {(origin.resource, origin.path) for origin in origins if origin.kind == "user"}
        missing = {field for field in wanted if field not in self._known}
        for index in {index for index, _ in missing}:  # a List has many resources in one text, which is read only once
            sources = self._by_text.pop(id(self._loaded.resources[index].text), ())
            missing |= {(other, path) for other in sources for path in ((), *paths_of(self._loaded.resources[other].value))}
        ordered = [*missing]
        locations = reading.field_locations((self._loaded.resources[index], path) for index, path in ordered)
        self._known.update(zip(ordered, locations, strict=True))
        for path in {origin.path for origin in origins if origin.kind == "config" and origin.path not in self._settings}:
            self._settings[path] = _find_setting(self._loaded, path)

    def of(self, origin: LeafOrigin) -> dict[str, Any]:
        """File and line of an origin; empty for rules and defaults."""
        if origin.kind == "config":
            return self._settings[origin.path]
        return {key: self._known[origin.resource, origin.path][key] for key in ("file", "line")} if origin.kind == "user" else {}


def _find_setting(loaded: Sources, path: Path) -> dict[str, Any]:
    """File and line of a key of the configuration; empty if the configuration does not have it."""
    dotted = ".".join(map(str, path))
    for source in loaded.configs[:1]:
        candidates = [("spec", *path), ("data", dotted), ("metadata", "annotations", f"{labels.SETTINGS}{dotted}")]
        for candidate in candidates:
            held: Any = source.value
            for step in candidate:
                held = held.get(step) if isinstance(held, dict) else None
            if held is not None:
                return {key: source.location(candidate)[key] for key in ("file", "line")}
    return {}


def is_default(origin: LeafOrigin, location: dict[str, Any]) -> bool:
    """True for a setting that no file sets. `location` is its location."""
    return bool(not location and explain.setting(Config(), origin.path) == origin.value)
