"""Files and lines of the fields that name texts in objects, such as images and the names of Secrets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from krm_fn.base import results
from krm_fn.kubernetes import paths
from krm_fn.origins.field_authors import FieldAuthor, FieldLocation
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources


def find(authors: Iterable[FieldAuthor | None], loaded: Sources, root: Path | None = None) -> dict[FieldAuthor | None, FieldLocation]:
    """Returns the location of each author. None, for an unknown author, has an empty one. `root` is the root folder of a build."""
    numbers = {author: f"{number}" for number, author in enumerate(dict.fromkeys(author for author in authors if author))}
    unlocated = [results.info("", number, author.ref, author.path) for author, number in numbers.items() if author.ref]
    located = {result.message: result for result in reading.locate(unlocated, loaded.resources, root)}
    locations: dict[FieldAuthor | None, FieldLocation] = {None: FieldLocation("")}
    for author, number in numbers.items():
        result = located.get(number)
        field = results.field(author.path)
        locations[author] = FieldLocation(field, result.file, result.line, result.column) if result else _setting(author, loaded)
    return locations


def _setting(author: FieldAuthor, loaded: Sources) -> FieldLocation:
    """The location of a setting: its field in the configuration, or no file if the setting has its default."""
    name = author.path[-1]
    for path in (author.path, ("data", name)) if loaded.configs else ():
        if paths.at(loaded.configs[0].value, path) is not None:
            location = loaded.configs[0].location(path)
            return FieldLocation(results.field(path), location["file"], location["line"], location["column"])
    return FieldLocation(f"default of {'.'.join(str(step) for step in author.path[1:])}")
