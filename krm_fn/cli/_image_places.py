"""Finds the file and line of the fields that name images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.files import locations
from krm_fn.kube import paths
from krm_fn.review.images.formats import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krm_fn.files.sources import Sources
    from krm_fn.review.images import Author, Use


def of(found: Sequence[Use], loaded: Sources, root: Path | None = None) -> list[tuple[Use, Place]]:
    """The uses with the places of their fields, in the same order."""
    marks = {author: f"{number}" for number, author in enumerate(dict.fromkeys(use.author for use in found if use.author))}
    asked = [results.info("", mark, author.ref, author.path) for author, mark in marks.items() if author.ref]
    located = {result.message: result for result in locations.of(asked, loaded.resources, root)}
    places: dict[Author | None, Place] = {None: Place("")}
    for author, mark in marks.items():
        result = located.get(mark)
        field = results.field(author.path)
        places[author] = Place(field, result.file, result.line, result.column) if result else _setting(author, loaded)
    return [(use, places[use.author]) for use in found]


def _setting(author: Author, loaded: Sources) -> Place:
    """The place of a setting: its field in the configuration, or no file if the setting has its default."""
    name = author.path[-1]
    for path in (author.path, ("data", name)) if loaded.configs else ():
        if paths.at(loaded.configs[0].value, path) is not None:
            place = loaded.configs[0].place(path)
            return Place(results.field(path), place["file"], place["line"], place["column"])
    return Place(f"default of {'.'.join(str(step) for step in author.path[1:])}")
