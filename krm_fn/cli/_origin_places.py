"""The places of origins in the files that were read, and the fields on a line of a file."""

from __future__ import annotations

from os.path import normpath
from typing import TYPE_CHECKING, Any

from krm_fn.config import Config
from krm_fn.files import reading
from krm_fn.kube import identity, labels
from krm_fn.review import explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.files.sources import Sources
    from krm_fn.results import Path
    from krm_fn.review.explain import Field, Origin


def of_file(loaded: Sources, file: str) -> tuple[dict[int, dict[int, list[Path]]], dict[int, list[Path]]]:
    """The lines of a file on which fields of Dynamo resources begin, and those on which keys of the configuration begin.

    The first has the paths of the fields by the index of their resource, the second the paths of the keys.
    """
    wanted = normpath(reading.STDIN_NAME if file == reading.STDIN else file)
    read = {index: source for index, source in enumerate(loaded.resources) if source.file and normpath(source.file) == wanted}
    asked = [(index, path) for index, source in read.items() if identity.is_dynamo(source.value) for path in _paths(source.value, ())]
    where = reading.places((read[index], path) for index, path in asked)
    fields: dict[int, dict[int, list[Path]]] = {}
    for (index, path), place in zip(asked, where, strict=True):
        fields.setdefault(place["line"], {}).setdefault(index, []).append(path)
    keys: dict[int, list[Path]] = {}
    for path in explain.settings_of(loaded.config):
        spot = _written(loaded, path)
        if spot and normpath(spot["file"]) == wanted:
            keys.setdefault(spot["line"], []).append(path)
    return fields, keys


def _paths(value: Any, path: Path) -> Iterator[Path]:
    """The paths of all fields of a value."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from _paths(inner, (*path, step))


class Places:
    """The places of origins in files. They are all found at once, because finding one means reading its file again."""

    def __init__(self, loaded: Sources, fields: Iterable[Field]) -> None:
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


def is_default(origin: Origin, place: dict[str, Any]) -> bool:
    """True for a setting that nobody wrote. `place` is its place."""
    return bool(not place and explain.setting(Config(), origin.path) == origin.value)
