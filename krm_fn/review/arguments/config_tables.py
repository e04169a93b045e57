"""The JSON documents of flags in each release: their fields, and the behaviour of the programs that read them.

A document is in the table of its program, `tables/`, below `configs`: an entry with an empty name has the facts of the document, and each
other one is a field. `make engine-flags` measures them with the readers of the released packages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import config_types, flag_tables
from krm_fn.review.arguments.config_types import FieldProblem, FieldType

_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\\?\Z))', re.DOTALL)
"""A string of JSON. One without an end reaches to the end of the text."""
_UNIT = re.compile(r"\b([0-9]+)(?:\.[0-9]+)?[kKmMgGtT]\b", re.ASCII)
_LONGEST_NUMBER = 30


class ConfigField(NamedTuple):
    """A field of a document."""

    type: FieldType = FieldType()
    is_required: bool = False


class Config(NamedTuple):
    """A document of one release.

    `unknown` says what the reader does with an unknown field: `refused`, `ignored`, or `read`. `has_units` is true if a number may have a
    unit, as in `80m`. `has_dashes` is true if `-` in a name is `_`. `needs` has the fields that need another one.
    """

    unknown: str
    has_units: bool
    has_dashes: bool
    needs: Mapping[str, Sequence[str]]
    fields: Mapping[str, ConfigField]

    def as_json(self, text: str) -> str:
        """Returns a text without the units of its numbers. Follows vLLM's `_expand_json_human_readable_numbers`."""
        if not self.has_units or not _UNIT.search(text):
            return text
        parts = _QUOTED.split(text)
        return "".join(part if index % 2 else _UNIT.sub(lambda match: match[1], part) for index, part in enumerate(parts))


@cache
def get(program: str, release: str, name: str) -> Config | None:
    """Returns the document of a release; None if the release has none of this name."""
    content = flag_tables.content(program)
    order = list(content["releases"])
    entries = content.get("configs", {}).get(name, {})
    fields = {field: shape for field, shapes in entries.items() for shape in shapes if flag_tables.is_in(shape, release, order)}
    facts = fields.pop("", None)
    if facts is None:
        return None
    return Config(
        facts.get("unknown", "refused"),
        facts.get("units", False),
        facts.get("dashes", False),
        facts.get("needs", {}),
        {field: ConfigField(config_types.parse(shape.get("is", "")), shape.get("required", False)) for field, shape in fields.items()},
    )


def check(program: str, release: str, name: str, text: str) -> Iterator[FieldProblem]:
    """Yields the mistakes in the fields of a document. Nothing about a text that is no JSON object."""
    config = get(program, release, name)
    if config is None:
        return
    try:
        document = json.loads(config.as_json(text), parse_int=_integer)
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict):
        yield from _Checker(program, release).problems(config, document, ())


class _Checker:
    """Compares a document, and those within it, with the tables of one release."""

    def __init__(self, program: str, release: str) -> None:
        self.program = program
        self.release = release

    def problems(self, config: Config, document: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[FieldProblem]:
        used = {field.replace("-", "_") if config.has_dashes and field not in config.fields else field: field for field in document}
        for field, written in used.items():
            value, known = document[written], config.fields.get(field)
            if known is not None:
                yield from self._of_field(known.type, value, (*path, written))
            elif config.unknown != "read":
                yield FieldProblem("unknown" if config.unknown == "refused" else "ignored", (*path, written), detail=(*config.fields,))
        for field, known in config.fields.items():
            if known.is_required and field not in used:
                yield FieldProblem("missing", (*path, field))
        for field, others in config.needs.items():
            value = document.get(field)
            if value in (None, "") or not config.fields[field].type.accepts(value):
                continue
            if all(document.get(other) is None for other in others):
                yield FieldProblem("needs", (*path, field), detail=(*others,))

    def _of_field(self, expected: FieldType, value: Any, path: tuple[str, ...]) -> Iterator[FieldProblem]:
        inner = get(self.program, self.release, expected.config) if isinstance(value, dict) and expected.config else None
        if inner is not None:
            yield from self.problems(inner, value, path)
        else:
            yield from config_types.problems(expected, value, path)


def _integer(text: str) -> int:
    """The number of a text, of which only the first digits count: Python reads 4,300 digits at most, and not in linear time."""
    return int(text[:_LONGEST_NUMBER])
