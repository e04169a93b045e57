"""Reads the navigation of the site: `navigation.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import yaml

FILE = Path(__file__).parent / "navigation.yaml"


class NavigationError(Exception):
    """The navigation names a page that does not exist, or lacks one."""


class Entry(NamedTuple):
    """A page with its title, or a section with its entries. A page without a title is listed with its first heading."""

    title: str
    path: str  # of a page in the repository; empty for a section
    entries: tuple[Entry, ...] = ()

    def paths(self) -> Iterator[str]:
        """Yields the path of the page, or the paths of all pages of the section."""
        if self.path:
            yield self.path
        for entry in self.entries:
            yield from entry.paths()


class Navigation(NamedTuple):
    """The entries, and the patterns of pages that are not listed."""

    entries: tuple[Entry, ...]
    unlisted: tuple[str, ...]

    @property
    def start(self) -> str:
        """The path of the start page."""
        return next(path for entry in self.entries for path in entry.paths())

    def listed(self) -> list[str]:
        """Returns the paths of all listed pages in their order."""
        return [path for entry in self.entries for path in entry.paths()]


def read(pages: Iterable[str], file: Path = FILE, *, strict: bool = True) -> Navigation:
    """Returns the navigation of the pages of a tree.

    A pattern such as `examples/*/README.md` lists all pages that match it and are not listed by name. Without `strict`, pages that do not
    exist are left out. Raises NavigationError if an entry names no page, or if a page is not in the navigation.
    """
    content = yaml.safe_load(file.read_text("utf-8"))
    known = sorted(pages)
    named = {*_named(content["navigation"])}
    entries = tuple(_expanded(content["navigation"], known, named))
    navigation = Navigation(entries if strict else tuple(_existing(entries, {*known})), tuple(content["unlisted"]))
    listed = navigation.listed()
    problems = [f"{path} does not exist" for path in listed if path not in known]
    problems += [f"{path} is listed twice" for path in sorted({path for path in listed if listed.count(path) > 1})]
    missing = [path for path in known if path not in listed and not any(fnmatch(path, pattern) for pattern in navigation.unlisted)]
    problems += [f"{path} is missing: list it, or add it to `unlisted`" for path in missing]
    if problems and strict:
        raise NavigationError("".join(f"{file.name}: {problem}\n" for problem in problems))
    return navigation


def _named(items: list[object]) -> Iterator[str]:
    """Yields the paths that the navigation names without a pattern."""
    for item in items:
        value = next(iter(item.values())) if isinstance(item, dict) else item
        if isinstance(value, list):
            yield from _named(value)
        elif "*" not in str(value):
            yield str(value)


def _expanded(items: list[object], pages: list[str], named: set[str]) -> Iterator[Entry]:
    for item in items:
        title, value = next(iter(item.items())) if isinstance(item, dict) else ("", item)
        if isinstance(value, list):
            yield Entry(str(title), "", tuple(_expanded(value, pages, named)))
        elif "*" in str(value):
            yield from (Entry("", page) for page in pages if fnmatch(page, str(value)) and page not in named)
        else:
            yield Entry(str(title), str(value))


def _existing(entries: Iterable[Entry], pages: set[str]) -> Iterator[Entry]:
    for entry in entries:
        kept = entry._replace(entries=tuple(_existing(entry.entries, pages)))
        if kept.path in pages or kept.entries:
            yield kept
