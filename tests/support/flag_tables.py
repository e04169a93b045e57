"""The tables of flags, `krm_fn/review/arguments/tables`, and the flags of one release in them."""

from __future__ import annotations

import json

import engine_flags
from engines import table_writer

TABLES = {program: json.loads((table_writer.FOLDER / f"{program}.json").read_text()) for program in engine_flags.PROGRAMS}


def at(table, release):
    """The flags of one release, without the bounds of their shapes."""
    releases = list(table["releases"])
    index = releases.index(release)
    flags = {}
    for name, shapes in table["flags"].items():
        for shape in shapes:
            if releases.index(shape["since"]) <= index <= releases.index(shape.get("until", releases[-1])):
                flags[name] = {key: value for key, value in shape.items() if key not in ("since", "until")}
    return flags


def strings(flags):
    """All option strings of flags."""
    return {option for name, flag in flags.items() for option in table_writer.options([flag], name)}
