"""Flag tables: the flags that the parsers of Dynamo's programs accept in each release.

A table is a file in `tables/`. `make engine-flags` reads it from the parsers of the released packages. Version 1.7.0 has no packages: its
row is that of a nightly build of Dynamo four weeks before it, with the packages of the engines that the release notes of 1.7.0 name.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, takewhile
from typing import Any

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.version import Version
from krm_fn.render.kinds import floors
from krm_fn.review.arguments import value_ranges, value_types
from krm_fn.review.arguments.value_ranges import ValueRange

_NEGATIVE = re.compile(r"-[0-9]+|-[0-9]*\.[0-9]+", re.ASCII)
_PROGRAM = re.compile(r"dynamo\.[a-z_]+", re.ASCII)
_FRONTEND = "dynamo.frontend"


class Flag(NamedTuple):
    """A flag of one release. `name` is its first name, and `options` are all its names, without the negated ones.

    `values` is the number of values as in argparse: a number, `?`, `*` or `+`. `choices` are all allowed values; empty if all are allowed.
    `deprecated` is the parser's text about a deprecated flag, and `deprecated_aliases` are its deprecated names.
    `refused` says what to write in place of a flag whose use is an error. A flag with `replaced` has no abbreviations, because the program
    replaces it before it parses. `config` names the JSON document of its value, if the fields of the document are known.
    A flag with `late` is read after all parsers: only its last value counts. `range` has the numbers that are right; None for all.
    """

    name: str
    options: tuple[str, ...]
    values: str = "1"
    type: str = "str"
    choices: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    action: str = ""
    required: bool = False
    deprecated: str = ""
    stage: int = 0
    deprecated_aliases: tuple[str, ...] = ()
    refused: str = ""
    replaced: bool = False
    config: str = ""
    late: bool = False
    range: ValueRange | None = None

    @property
    def takes_json(self) -> bool:
        """True if a value is a JSON document."""
        return self.type in value_types.JSON


def is_negative(text: str) -> bool:
    """Returns true for a text that argparse reads as a negative number."""
    return bool(_NEGATIVE.fullmatch(text))


class Stage(NamedTuple):
    """One of the parsers through which a command line goes. A stage passes unknown words on to the next one.

    `abbreviations`: a unique beginning of a flag is the flag. `underscores`: `_` in a flag is `-`. `dotted`: `--x.y v` is JSON for `--x`.
    `files`: a word `@name` names a file with more words. `flags` has each flag by each of its names, also by the
    negated ones, and `ordered` has these names in their order. `has_numbers` is true if one of them is like
    a negative number.
    """

    abbreviations: bool
    underscores: bool
    dotted: bool
    files: bool
    flags: Mapping[str, Flag]
    ordered: tuple[str, ...]
    has_numbers: bool = False

    def beginning_with(self, text: str) -> list[str]:
        """Returns the names of flags that begin with a text."""
        first = bisect_left(self.ordered, text)
        return [*takewhile(lambda name: name.startswith(text), islice(self.ordered, first, None))]


class ParserFacts(NamedTuple):
    """The behaviour of a program's last parser in one release.

    `unknown` says what it does with an unknown flag: `refused`, `ignored` or `passed on`. `config_files` are the flags that name a file
    with more flags. `positionals` is `none` if no word may stand without a flag. Flags that begin with one of `dynamic` take any one value.
    A flag of `passes_on` with one of its values passes unknown flags on to another parser: a stage, or None if its flags are not known.
    """

    unknown: str = "refused"
    config_files: tuple[str, ...] = ()
    positionals: Any = "none"
    dynamic: tuple[str, ...] = ()
    passes_on: Mapping[str, Mapping[str, Stage | None]] = {}


class Replacement(NamedTuple):
    """The flag to write in place of a removed one, and the release that removed it."""

    since: str
    write: str


class FlagTable(NamedTuple):
    """The flags of one program in one release.

    `is_exact` is false if the release is only the nearest one to that of an image, and `is_outdated` is true if the image can have newer
    flags: its minor version is higher than that of all tables, or the table is that of a nightly build. `flags` has each flag of all
    stages by each of its names; `engine` is the engine that the release pins, for example `vllm 0.14.1`.
    """

    program: str
    release: str
    engine: str
    is_exact: bool
    parser: ParserFacts
    stages: tuple[Stage, ...]
    flags: Mapping[str, Flag]
    replacements: Mapping[str, Replacement]
    is_outdated: bool = False


@cache
def program_of(module: str) -> str | None:
    """Returns the program that `python3 -m` starts by the name of a module; None if no table has the module.

    >>> program_of("dynamo.planner.planner_sla"), program_of("dynamo.profiler")
    ('dynamo.planner', None)
    """
    name = ".".join(module.split(".", 2)[:2])
    try:
        is_known = bool(_PROGRAM.fullmatch(name)) and module in content(name)["modules"]
    except OSError:
        return None
    return name if is_known else None


@cache
def published_releases() -> tuple[Version, ...]:
    """Returns the releases of Dynamo of which a table has the flags, the older ones first. Every release has a frontend."""
    return tuple(sorted({number(release) for release in content(_FRONTEND)["releases"] if not is_nightly(release)}))


def of_version(program: str, version: Version) -> FlagTable | None:
    """Returns the table of the release of a version, or else of the nearest one; None if all are more than two minor versions away."""
    versions = _versions(program)
    older = [release for release, number in versions.items() if number <= version]
    release = older[-1] if older else next(iter(versions), None)
    if release is None or abs(floors.distance(versions[release], version)) > floors.OLDER:
        return None
    if is_nightly(release):
        return _table(program, release)._replace(is_exact=False, is_outdated=True)
    is_outdated = version[:2] > max(versions.values())[:2]
    return _table(program, release)._replace(is_exact=versions[release] == version, is_outdated=is_outdated)


def of_each_minor(program: str) -> Iterator[FlagTable]:
    """Yields the tables of the last release of each minor version, none of them exact. An unknown version may be any of them.

    The newest release is the last one, behind nightly builds.
    """
    newest = {number[:2]: release for release, number in _versions(program).items()}
    for release in sorted(newest.values(), key=is_nightly, reverse=True):
        yield _table(program, release)._replace(is_exact=False)


def releases_of(program: str, option: str, choice: str = "") -> list[str]:
    """Returns the releases with a flag, the older ones first. With a choice, these are the releases whose flag lists it."""
    releases, order = list(_versions(program)), list(content(program)["releases"])
    shapes = [shape for shape in _shapes(program).get(option, ()) if not choice or choice in shape.get("choices", ())]
    return [release for release in releases if any(is_in(shape, release, order) for shape in shapes)]


@cache
def content(program: str) -> dict[str, Any]:
    """Returns the content of the file of a program. Raises OSError without one."""
    table: dict[str, Any] = json.loads(registry.data(f"review/arguments/tables/{program}.json"))
    return table


@cache
def _shapes(program: str) -> dict[str, list[Mapping[str, Any]]]:
    """The shapes of the flags of all releases, by each of their names."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for name, shapes in content(program)["flags"].items():
        for shape in shapes:
            for option in dict.fromkeys((name, *shape.get("aliases", ()), *shape.get("negations", ()))):
                by_name.setdefault(option, []).append(shape)
    return by_name


@cache
def _versions(program: str) -> dict[str, Version]:
    """The version numbers of the releases whose parser is known. A post release of a package has the number of its release."""
    releases = content(program)["releases"]
    return {release: number(release) for release, facts in releases.items() if facts.get("parser") is not None}


@cache
def _table(program: str, release: str) -> FlagTable:
    return of_release(content(program), release)


def of_release(content: Mapping[str, Any], release: str) -> FlagTable:
    """Returns the table of one release from the content of a file."""
    facts, order = content["releases"][release], list(content["releases"])
    flags = [_flag(name, shape) for name, shapes in content["flags"].items() for shape in shapes if is_in(shape, release, order)]
    parser = content["parsers"][facts["parser"]]
    stages = tuple(_stage(number, stage, flags) for number, stage in enumerate(parser.get("stages") or [parser]))
    last = ParserFacts(
        parser.get("unknown", "refused"),
        tuple(parser.get("config_files", ())),
        parser.get("positionals", "none"),
        tuple(parser.get("dynamic", ())),
        {flag: {value: _next_stage(names) for value, names in values.items()} for flag, values in parser.get("passes_on", {}).items()},
    )
    by_name = {option: flag for stage in reversed(stages) for option, flag in stage.flags.items()}
    return FlagTable(content["program"], release, facts.get("engine") or "", True, last, stages, by_name, _replacements(content))


def _stage(number: int, facts: Mapping[str, Any], flags: list[Flag]) -> Stage:
    by_name = {option: flag for flag in flags if flag.stage == number for option in (*flag.options, *flag.negations)}
    underscores, dotted, files = (bool(facts.get(name)) for name in ("underscores", "dotted", "files"))
    whole = tuple(sorted(name for name, flag in by_name.items() if not flag.replaced))
    return Stage(facts.get("abbreviations", True), underscores, dotted, files, by_name, whole, any(map(is_negative, by_name)))


def _next_stage(names: list[str] | None) -> Stage | None:
    """A parser with flags that take any one value."""
    return None if names is None else _stage(0, {}, [Flag(name, (name,)) for name in names])


def _replacements(content: Mapping[str, Any]) -> dict[str, Replacement]:
    return {option: Replacement(entry.get("since", ""), entry["write"]) for option, entry in content.get("replacements", {}).items()}


def number(release: str) -> Version:
    """Returns the version number of a release.

    >>> number("1.2.0.post1")
    (1, 2, 0)
    """
    major, minor, patch = map(int, release.split(".")[:3])
    return major, minor, patch


def is_nightly(release: str) -> bool:
    """Returns true for a nightly build.

    >>> is_nightly("1.7.0.dev20261026"), is_nightly("1.2.0.post1")
    (True, False)
    """
    return ".dev" in release


def is_in(shape: Mapping[str, Any], release: str, order: list[str]) -> bool:
    """Returns true if a release has this shape of a flag or of a field. `order` are all releases, the older ones first."""
    position = order.index(release)
    return order.index(shape["since"]) <= position and ("until" not in shape or position <= order.index(shape["until"]))


def _flag(name: str, shape: Mapping[str, Any]) -> Flag:
    return Flag(
        name,
        (name, *shape.get("aliases", ())),
        str(shape.get("values", "1")),
        shape.get("type", "str"),
        tuple(map(str, shape.get("choices", ()))),
        tuple(shape.get("negations", ())),
        shape.get("action", ""),
        shape.get("required", False),
        shape.get("deprecated", ""),
        shape.get("stage", 0),
        tuple(shape.get("deprecated_aliases", ())),
        shape.get("refused", ""),
        shape.get("replaced", False),
        shape.get("config", ""),
        shape.get("late", False),
        value_ranges.parse(shape["range"]) if "range" in shape else None,
    )
