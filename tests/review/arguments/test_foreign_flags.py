"""The flags of other engines and older releases: each remedy, applied to the command line, leaves no finding."""

from __future__ import annotations

import functools
import re

import pytest

from krm_fn.review.arguments import argument_rules, command_line_parser, config_tables, flag_tables, foreign_flags
from krm_fn.review.arguments.shell_words import Word
from tests.support.cases import cases
from tests.support.flag_tables import TABLES, at, strings

ROWS = [(program, option, row) for program, flags in foreign_flags.rows().items() for option, rows in flags.items() for row in rows]
BASE = {"dynamo.vllm": ["--model", "m"], "dynamo.sglang": ["--model-path", "m"]}
SAMPLES = {"int": "8", "float": "0.5", "json": "{}", "config": "{}", "size": "8"}
PROGRAMS = {"vLLM": "dynamo.vllm", "SGLang": "dynamo.sglang"}


@functools.cache
def tables(program):
    """The table of each release of a program."""
    return [flag_tables.of_release(TABLES[program], release) for release in TABLES[program]["releases"]]


def problems(table, words):
    """The findings about a command line."""
    model = BASE.get(table.program, [])
    texts = words if model[:1] == words[:1] else [*model, *words]
    line = [Word(text, "args", number) for number, text in enumerate(texts)]
    return [*argument_rules.check(command_line_parser.parse(line, table, Word(table.program, "command")), table)]


def sample(flag):
    """A value that a flag accepts."""
    if flag.choices:
        return flag.choices[0]
    if flag.takes_json:
        return "{}"
    if flag.range and flag.range.multiple:
        return str(flag.range.multiple)
    return SAMPLES.get(flag.type.removeprefix("optional_").partition("_")[0], "8")


def field_sample(table, option, flag):
    """A value that a field of a JSON document accepts, for a dotted flag."""
    config = config_tables.get(table.program, table.release, flag.config)
    field = config.fields.get(option.partition(".")[2]) if config else None
    if field is None:
        return "8"
    return next((value for value in (*field.type.texts(), "8", "word") if field.type.accepts(int(value) if value == "8" else value)), "")


def applied(table, foreign):
    """The words that a remedy writes, with a value where the flag needs one."""
    if not foreign.write or foreign.write.startswith("nothing") or " of dynamo." in foreign.write:
        return []
    words = foreign.write.split()
    flag = table.flags.get(words[-1]) or table.flags.get(words[-1].partition(".")[0])
    if flag and flag.values != "0":
        words.append(sample(flag) if words[-1] in table.flags else field_sample(table, words[-1], flag))
    return [*words, "true"] if words[-1].startswith("--trtllm.") else words


def written(foreign):
    """The part of a message that a remedy is. A flag of another program belongs into the command of that one."""
    return foreign.write.partition(":")[2] if foreign.write.startswith("nothing") else foreign.write.replace(" of ", " in the command of ")


@cases(("program", "option"), sorted({(f"{program} {option}", program, option) for program, option, _ in ROWS}))
def test_a_remedy_leaves_no_finding(program, option):
    """In each release without the flag, the finding names its source, and what the finding says to write is accepted."""
    judged = 0
    for table in tables(program):
        found = problems(table, [option])
        if option in table.flags or option in table.replacements or not found or found[0].code not in ("DYN600", "DYN607"):
            continue
        foreign = foreign_flags.of(option, table)
        assert foreign
        assert len(found) == 1
        assert found[0].code == "DYN607" or found[0].message.startswith(f"`{option}` is a flag of {foreign.source}, not of {program} ")
        assert written(foreign) in found[0].message
        assert problems(table, applied(table, foreign)) == [], (table.release, foreign)
        judged += 1
    assert judged


@pytest.mark.parametrize(("program", "option", "row"), ROWS, ids=[f"{program} {option} {row.write}" for program, option, row in ROWS])
def test_each_row_is_offered_and_its_source_has_the_flag(program, option, row):
    """A row that no release needs would be dead. A flag of an engine with a table is in that table, also in an abbreviated form."""
    assert any(foreign_flags.of(option, table) == row and option not in table.flags for table in tables(program))
    source = PROGRAMS.get(row.source, row.source)
    if source in TABLES:
        known = {name for release in TABLES[source]["releases"] for name in strings(at(TABLES[source], release))}
        assert any(name.startswith(option) for name in known)
    else:
        assert re.fullmatch(r"vllm serve|trtllm-serve|TGI|llama\.cpp|(vLLM|SGLang|Dynamo) [0-9.]+", row.source)


def test_a_flag_of_another_program_without_a_row_is_named():
    table = flag_tables.of_version("dynamo.vllm", (1, 5, 1))
    assert table
    [finding] = problems(table, ["--enable-nan-detection"])
    assert "is a flag of dynamo.sglang, not of dynamo.vllm" in finding.message
