"""The tables of flags, `krm_fn/review/arguments/tables`: their form, and facts that every reader needs."""

from __future__ import annotations

import re

import pytest
from engines import installation, table_writer

from tests.support.flag_tables import TABLES, at, strings

# Program, flag, and the first release that refuses it: a graph of these releases was refused by its engine.
REMOVED = [
    ("dynamo.vllm", "--is-prefill-worker", "1.4.0", "--disaggregation-mode prefill"),
    ("dynamo.vllm", "--migration-limit", "1.0.0", "--migration-limit of dynamo.frontend"),
    ("dynamo.sglang", "--enable-piecewise-cuda-graph", "1.3.0.post1", "--enforce-piecewise-cuda-graph"),
    ("dynamo.trtllm", "--store-kv", "1.0.0", "--discovery-backend"),
    ("dynamo.planner", "--ttft", "1.0.0", "--config with the field ttft"),
]


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
            written = set(re.findall(r"--[a-z][\w-]*\w", replacement["write"]))
            assert written <= strings(at(table, since)), option


def test_words_that_dynamo_rewrites_for_an_engine_are_accepted():
    """Dynamo translates these words before the parsers of the engine, or its own, read them."""
    assert {"agg", "encode", "pd", "prefill"} <= set(at(TABLES["dynamo.sglang"], "1.6.1")["--disaggregation-mode"]["choices"])
    flag = at(TABLES["dynamo.trtllm"], "1.6.1")["--publish-events-and-metrics"]
    assert flag["deprecated"] == "write --publish-kv-events --publish-metrics"


DEPRECATED = [
    ("dynamo.frontend", "--router-temperature", "router_temperature in the default policy parameters in --router-policy-config"),
    ("dynamo.router", "--router-queue-threshold", "policy_classes[].prefill_busy_threshold_frac in --router-policy-config"),
    ("dynamo.vllm", "--router-decode-policy", "worker_selection.decode in --router-policy-config"),
    ("dynamo.sglang", "--disable-cuda-graph", "--cuda-graph-backend-decode=disabled --cuda-graph-backend-prefill=disabled"),
]


@pytest.mark.parametrize(("program", "option", "write"), DEPRECATED)
def test_a_deprecated_flag_names_its_successor(program, option, write):
    """The parser's own text says it (`kv_router_args.py`), or the action has it. Words in braces are flags of their own."""
    assert at(TABLES[program], "1.6.1")[option]["deprecated"] == f"write {write}"


@pytest.mark.parametrize(("program", "option", "since", "write"), REMOVED)
def test_known_removals(program, option, since, write):
    replacement = TABLES[program]["replacements"][option]
    assert (replacement["since"], replacement["write"]) == (since, write)
