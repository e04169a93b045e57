"""Flags in the command line of a container, from the flag table of its program and of the version of its image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from krm_fn.base.results import Path
from krm_fn.base.yaml.outline import Cursor
from krm_fn.kubernetes import version
from krm_fn.render.kinds import dynamo_images
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.flag_tables import Flag, FlagTable

_WORDS = ("args", "command")
_FRONTEND = "dynamo.frontend"
_TYPES = ("componentType", "type")
_TYPE_NAMES = {"str": "text", "int": "integer", "float": "number"}


class ArgumentWord(NamedTuple):
    """A word that can stand at a position: a flag, or a value of the flag before it. `detail` says what it is."""

    text: str
    detail: str
    is_flag: bool = True


def candidates(cursor: Cursor) -> list[ArgumentWord]:
    """Returns the words that can stand at a position in a command line; none outside of one, and for an unknown program.

    The words begin with the part that is written.
    """
    table = _table(cursor)
    if table is None:
        return []
    name, equals, _ = cursor.word.partition("=")
    if equals:
        flag = table.flags.get(name)
        return [ArgumentWord(f"{name}={choice}", _of(table), is_flag=False) for choice in flag.choices] if flag else []
    before = _word_before(cursor)
    flag = table.flags.get(before)
    if flag and flag.values != "0" and not cursor.word.startswith("-"):
        return [ArgumentWord(choice, f"{before} of {_of(table)}", is_flag=False) for choice in flag.choices]
    used = {word.partition("=")[0] for word in _words(cursor)}
    unique = {flag.name: flag for flag in table.flags.values()}
    listed = [flag for flag in unique.values() if used.isdisjoint(flag.options) and not flag.refused]
    return [ArgumentWord(option, _detail(flag, table)) for flag in listed for option in (flag.name, *flag.negations)]


def flag_help(cursor: Cursor) -> str:
    """Returns the help about the flag at a position, as Markdown; empty for any other word."""
    name = cursor.word.partition("=")[0]
    table = _table(cursor) if name.startswith("-") else None
    flag = table.flags.get(name) if table else None
    if flag is None or table is None:
        return ""
    others = [option for option in (*flag.options, *flag.negations) if option != name]
    parts = [f"`{name}`: {_detail(flag, table)}"]
    parts += [f"Also: {', '.join(f'`{option}`' for option in others)}"] if others else []
    parts += [f"Values: {', '.join(f'`{choice}`' for choice in flag.choices)}"] if flag.choices else []
    parts += [flag.deprecated] if flag.deprecated else []
    return "\n\n".join(parts)


def _detail(flag: Flag, table: FlagTable) -> str:
    kind = "switch" if flag.values == "0" else _TYPE_NAMES.get(flag.type, flag.type.replace("_", " "))
    return f"{kind}, {_of(table)}{', deprecated' if flag.deprecated else ''}"


def _of(table: FlagTable) -> str:
    return f"{table.program} {table.release}"


def _container(cursor: Cursor) -> Path | None:
    """Returns the path of the container whose command line has the position."""
    path = cursor.path
    return path[:-2] if len(path) > 2 and isinstance(path[-1], int) and path[-2] in _WORDS else None


def _words(cursor: Cursor) -> Iterator[str]:
    """Yields the words of the command line, without the one at the position."""
    container = _container(cursor)
    for name in reversed(_WORDS):
        yield from (field.value for field in cursor.fields if field.path[:-1] == (*(container or ()), name) and field.value)


def _word_before(cursor: Cursor) -> str:
    last = cursor.path[-1]
    return cursor.value((*cursor.path[:-1], last - 1)) if isinstance(last, int) and last else ""


def _table(cursor: Cursor) -> FlagTable | None:
    """Returns the flags of the program that the container starts, in the release of its image; else those of the newest release."""
    container = _container(cursor)
    if container is None:
        return None
    program = _program([*_words(cursor)]) or _default(cursor, container)
    if program is None:
        return None
    image = cursor.value((*container, "image"))
    known = version.of_image(image) if dynamo_images.tag_of(image) != "other" else None
    try:
        exact = flag_tables.of_version(program, known) if known else None
        return exact or flag_tables.of_version(program, flag_tables.published_releases()[-1])
    except OSError:
        return None


def _program(words: Sequence[str]) -> str | None:
    """Returns the program of the last word that names one: as a module, or in a line for a shell."""
    names = [flag_tables.program_of(part) for word in words for part in word.split()]
    return next((name for name in reversed(names) if name), None)


def _default(cursor: Cursor, container: Path) -> str | None:
    """Returns the program of a component without a command: a frontend, or the engine of the graph."""
    component = container[:3]
    kind = next(filter(None, (cursor.value((*component, name)) for name in _TYPES)), "")
    if kind == "frontend":
        return _FRONTEND
    framework = cursor.value(("spec", "backendFramework"))
    return f"dynamo.{framework}" if framework.isidentifier() else None
