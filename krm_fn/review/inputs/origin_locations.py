"""Locates origins in files: the file and the line of each, and the origins that a line of a file has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os.path import normpath
from pathlib import Path as FilePath
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import paths
from krm_fn.origins import explain
from krm_fn.origins.explain import ExplainedField
from krm_fn.origins.origin import FieldLocation, Origin
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources


def by_line(loaded: Sources, file: str) -> dict[int, list[Origin]]:
    """Returns the fields of Dynamo resources and the keys of the configuration that begin on each line of a file: first the fields."""
    wanted = normpath(reading.STDIN_NAME if file == reading.STDIN else file)
    fields = [
        (source, path)
        for source in loaded.resources
        if dynamo_api.is_dynamo(source.value) and any(part.file and normpath(part.file) == wanted for part in (source, *source.patches))
        for path in paths_of(source.value)
    ]
    origins = [Origin("user", path, source.address) for source, path in fields]
    located = [*zip(origins, map(_location, origins, reading.field_locations(fields)), strict=True)]
    settings = [Origin("config", path) for path in explain.settings_of(loaded.config)]
    located += [(origin, location) for origin in settings if (location := setting(origin.path, loaded))]
    lines: dict[int, list[Origin]] = {}
    for origin, location in located:
        if normpath(location.file) == wanted:
            lines.setdefault(location.line, []).append(origin)
    return lines


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the paths of all fields of a value."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from paths_of(inner, (*path, step))


def _location(origin: Origin, location: dict[str, Any]) -> FieldLocation:
    return FieldLocation(results.field(origin.path), location["file"], location["line"], location["column"])


class OriginLocations:
    """The locations of origins in files. Those of several fields are computed together, because each one needs the text of its file."""

    def __init__(self, loaded: Sources) -> None:
        self._loaded = loaded
        self._known: dict[Origin, FieldLocation | None] = {}
        self._sources: dict[Ref, Source] = {source.address: source for source in reversed(loaded.resources)}
        self._by_text: dict[int, list[Source]] = {}
        for source in loaded.resources:
            self._by_text.setdefault(id(source.text), []).append(source)

    def add(self, fields: Iterable[ExplainedField]) -> None:
        """Computes the locations of the origins of some fields."""
        listed = [origins for field in fields for origins in (field.origins, *(old.origins for old in field.overridden))]
        origins = {origin for origins in listed for origin in origins}
        missing = {origin for origin in origins if origin.kind == "user" and origin not in self._known}
        for ref in {origin.ref for origin in missing if origin.ref}:  # a List has many resources in one text, which is read only once
            for source in self._by_text.pop(id(self._sources[ref].text), ()):
                missing |= {Origin("user", path, source.address) for path in ((), *paths_of(source.value))}
        ordered = [(origin, self._sources[origin.ref]) for origin in missing if origin.ref]
        locations = reading.field_locations((source, origin.path) for origin, source in ordered)
        self._known |= {origin: _location(origin, location) for (origin, _), location in zip(ordered, locations, strict=True)}
        self._known |= {origin: setting(origin.path, self._loaded) for origin in origins if origin.kind == "config"}

    def of(self, origin: Origin) -> FieldLocation | None:
        """Returns the location of an origin; None for a rule, and for a setting that no file sets."""
        return self._known.get(origin)

    def is_default(self, origin: Origin) -> bool:
        """True for a setting that no file sets, and that has its default."""
        return not self.of(origin) and explain.setting(Config(), origin.path) == explain.setting(self._loaded.config, origin.path)


def setting(path: Path, loaded: Sources) -> FieldLocation | None:
    """Returns the location of a key of the configuration; None if the configuration does not have it."""
    dotted = ".".join(map(str, path))
    for source in loaded.configs[:1]:
        for candidate in (("spec", *path), ("data", dotted), ("metadata", "annotations", f"{labels.SETTINGS}{dotted}")):
            if paths.at(source.value, candidate) is not None:
                return _location(Origin("config", candidate), source.location(candidate))
    return None


def of_authors(authors: Iterable[Origin | None], loaded: Sources, root: FilePath | None = None) -> dict[Origin | None, FieldLocation]:
    """Returns the locations of origins of texts in the files that a build names. None, for an unknown origin, has an empty one.

    `root` is the root folder of a build.
    """
    numbers = {author: f"{number}" for number, author in enumerate(dict.fromkeys(author for author in authors if author))}
    unlocated = [results.info("", number, author.ref, author.path) for author, number in numbers.items() if author.ref]
    located = {result.message: result for result in reading.locate(unlocated, loaded.resources, root)}
    locations: dict[Origin | None, FieldLocation] = {None: FieldLocation("")}
    for author, number in numbers.items():
        if result := located.get(number):
            locations[author] = FieldLocation(results.field(author.path), result.file, result.line, result.column)
        else:
            locations[author] = setting(author.path, loaded) or FieldLocation(f"default of {'.'.join(map(str, author.path))}")
    return locations
