"""The tables of flags, `krm_fn/arguments/tables`: their form, their facts, and the parsers that they come from."""

from __future__ import annotations

import json
import re

import engine_flags
import pytest
from engines import installation, table_writer

from tests.testbed import programs

REGENERATED = "1.5.1"
TABLES = {program: json.loads((table_writer.FOLDER / f"{program}.json").read_text()) for program in engine_flags.PROGRAMS}
# Program, flag, and the first release that refuses it: a graph of these releases was refused by its engine.
REMOVED = [
    ("dynamo.vllm", "--is-prefill-worker", "1.4.0", "--disaggregation-mode prefill"),
    ("dynamo.vllm", "--migration-limit", "1.0.0", "--migration-limit of dynamo.frontend"),
    ("dynamo.sglang", "--enable-piecewise-cuda-graph", "1.3.0.post1", "--enforce-piecewise-cuda-graph"),
    ("dynamo.trtllm", "--publish-events-and-metrics", "1.6.0", "--publish-kv-events"),
    ("dynamo.planner", "--ttft", "1.0.0", "--config with the field ttft"),
]


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


def test_the_tables_have_every_release_and_stay_small():
    """Each table names all releases, oldest first. All tables together stay below 600 KB, because a wheel and an image carry them."""
    for table in TABLES.values():
        assert list(table["releases"]) == list(installation.releases())
    assert sum(file.stat().st_size for file in table_writer.FOLDER.glob("*.json")) < 600_000


@pytest.mark.parametrize("program", TABLES)
def test_a_table_has_the_bytes_of_its_writer(program):
    """One flag a line, sorted: a review shows which flag changed."""
    assert (table_writer.FOLDER / f"{program}.json").read_text() == table_writer.text(TABLES[program])
    assert list(TABLES[program]["flags"]) == sorted(TABLES[program]["flags"])


@pytest.mark.parametrize("program", TABLES)
def test_an_option_string_belongs_to_one_flag_of_a_release_and_parser(program):
    """Otherwise the table would not say how the parser reads it."""
    for release in TABLES[program]["releases"]:
        flags = at(TABLES[program], release)
        options = [(flag.get("stage", 0), option) for name, flag in flags.items() for option in table_writer.options([flag], name)]
        assert sorted(options) == sorted(set(options))


@pytest.mark.parametrize("program", TABLES)
def test_a_replacement_is_accepted_by_the_release_that_removed_the_flag(program):
    """The remedy of a finding must not be refused itself, and each fact has a source."""
    table = TABLES[program]
    releases = list(table["releases"])
    for option, replacement in table["replacements"].items():
        since = replacement["since"]
        assert option not in strings(at(table, since)), option
        assert option in strings(at(table, releases[releases.index(since) - 1])), option
        assert replacement["source"]
        if " of dynamo." not in replacement["write"]:
            written = set(re.findall(r"--[a-z][\w-]*\w", replacement["write"].replace("{decode,prefill}", "decode")))
            assert written <= strings(at(table, since)), option


@pytest.mark.parametrize(("program", "option", "since", "write"), REMOVED)
def test_known_removals(program, option, since, write):
    replacement = TABLES[program]["replacements"][option]
    assert (replacement["since"], replacement["write"]) == (since, write)


@pytest.mark.parametrize("program", TABLES)
def test_the_tables_are_what_the_real_parsers_say(program):
    """Slow: imports the parsers of one release from NVIDIA's and the engines' wheels, and measures them again."""
    _need(REGENERATED)
    measured = engine_flags.measure(REGENERATED, program)
    table = TABLES[program]
    expected = table_writer.table(program, {REGENERATED: measured})
    assert table["parsers"][table["releases"][REGENERATED]["parser"]] == expected["parsers"][0]
    assert _by_options(at(table, REGENERATED)) == _by_options(at(expected, REGENERATED))


def test_the_real_parsers_judge_command_lines():
    """The parsers of vLLM accept and refuse, with a reason that names the flag; nothing is fetched or started."""
    _need(REGENERATED)
    lines = [["--model", "m", "--tensor-parallel-size", "2"], ["--is-prefill-worker"], ["--kv-transfer-config", "{"]]
    accepted, unknown, broken = engine_flags.judge(REGENERATED, "dynamo.vllm", lines)
    assert (accepted["verdict"], accepted["options"]["tensor_parallel_size"]) == ("accepted", 2)
    assert (unknown["verdict"], unknown["by"]) == ("refused", "parser")
    assert "--is-prefill-worker" in unknown["message"]
    assert "--kv-transfer-config" in broken["message"]


def test_releases_that_the_cache_lacks_are_named(monkeypatch):
    """A missing release is an error with its remedy, not an empty answer."""
    monkeypatch.setattr(installation, "find", lambda _: False)
    with pytest.raises(engine_flags.progress.BuildError, match=re.escape("1.5.1 is not in the cache; `make engine-flags`")):
        engine_flags.judge("1.5.1", "dynamo.vllm", [])


def _by_options(flags):
    """Flags by all their option strings: a table uses the newest name of a flag as its key."""
    keyed = {frozenset(table_writer.options([flag], name)): flag for name, flag in flags.items()}
    return {options: {key: value for key, value in flag.items() if key != "aliases"} for options, flag in keyed.items()}


def _need(release):
    if not installation.find(release):
        programs.missing(f"ai-dynamo {release} with its engines", {"missing": installation.REMEDY, "provided": False})
