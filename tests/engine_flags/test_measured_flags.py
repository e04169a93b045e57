"""The tables of flags are what the real parsers of a release say, and the real parsers judge command lines."""

from __future__ import annotations

import re

import engine_flags
import progress
import pytest
from engines import installation, table_writer

from tests.support.flag_tables import TABLES, at
from tests.testbed import programs

REGENERATED = "1.5.1"


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
    with pytest.raises(progress.BuildError, match=re.escape("1.5.1 is not in the cache; `make tools-engines`")):
        engine_flags.judge("1.5.1", "dynamo.vllm", [])


def _by_options(flags):
    """Flags by all their option strings: a table uses the newest name of a flag as its key."""
    keyed = {frozenset(table_writer.options([flag], name)): flag for name, flag in flags.items()}
    return {options: {key: value for key, value in flag.items() if key != "aliases"} for options, flag in keyed.items()}


def _need(release):
    if not installation.find(release):
        programs.missing(f"ai-dynamo {release} with its engines", {"missing": installation.REMEDY, "provided": True})
