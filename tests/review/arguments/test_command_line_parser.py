"""The parser reads flags as argparse and vLLM's parser do, and reports what they refuse."""

from __future__ import annotations

import argparse
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_fn.review.arguments import command_line_parser, flag_tables
from krm_fn.review.arguments.shell_words import UNKNOWN, Word
from tests.support.cases import cases
from tests.support.flag_table import CONTENT
from tests.testbed import tier

TABLE = flag_tables.of_release(CONTENT, "1.1.0")
START = Word("toy")


def parsed(words):
    return command_line_parser.parse([Word(word) for word in words], TABLE, START)


def problems(line):
    """The kind and the word of each problem of a line, which has the required flag."""
    return [(problem.kind, problem.word.text) for problem in parsed([*shlex.split(line), "--model", "m"]).problems]


ACCEPTED = [
    ("no other flag", ""),
    ("a value behind a flag", "--size 2"),
    ("a value behind =", "--size=2"),
    ("a short name", "-s 2"),
    ("a short name with its value", "-s2"),
    ("a beginning of a flag of the second stage", "--enable"),
    ("a beginning with a value", "--shar=0.5"),
    ("underscores in the second stage", "--size_local 2 --enable_cache"),
    ("a negated flag", "--no-enable-cache"),
    ("a dotted flag", "--json.a.b 5 --json.c=d"),
    ("a dotted flag twice", "--json.a 5 --json.b 6"),
    ("a dotted flag with a text as its value", "--json.a text"),
    ("a negative number", "--size -3"),
    ("a number with underscores, as Python reads it", "--size 1_000"),
    ("no value where one is possible", "--maybe"),
    ("a value where one is possible", "--maybe 3"),
    ("no value where any number is possible", "--levels"),
    ("several values", "--levels 1 2 3 --names a b"),
    ("two values", "--pair a b"),
    ("a choice", "--kind half"),
    ("JSON", """--json '{"a": [1, 2]}'"""),
    ("an empty value", "--endpoint ''"),
    ("a value with a blank that begins with a dash", "--endpoint '-a b'"),
    ("a flag that adds up", "--plugin a --plugin b"),
    ("flags of both stages", "--switch --size 2 --endpoint e"),
]


@cases("line", ACCEPTED)
def test_a_right_command_line_has_no_problem(line):
    assert problems(line) == []


REFUSED = [
    ("an unknown flag", "--sizes 2", "unknown", "--sizes"),
    ("an unknown flag with =", "--sizes=2", "unknown", "--sizes=2"),
    ("an unknown short flag", "-x 2", "unknown", "-x"),
    ("a beginning of a flag of the first stage", "--end e", "unknown", "--end"),
    ("underscores in a flag of the first stage", "--end_point e", "unknown", "--end_point"),
    ("a flag of another release", "--old-mode a", "unknown", "--old-mode"),
    ("a beginning of two flags", "--siz 2", "ambiguous", "--siz"),
    ("no value at the end", "--model m --size", "missing value", "--size"),
    ("a flag in place of a value", "--size --switch", "missing value", "--size"),
    ("an unknown flag in place of a value", "--model --sizes", "missing value", "--model"),
    ("one value in place of two", "--pair a --switch", "missing value", "--pair"),
    ("= in place of two values", "--pair=a", "missing value", "--pair=a"),
    ("no value in place of some", "--names --switch", "missing value", "--names"),
    ("a value behind = of a flag without one", "--switch=true", "superfluous value", "true"),
    ("a word behind a flag without a value", "--switch true", "superfluous word", "true"),
    ("a word behind a value", "--size 2 3", "superfluous word", "3"),
    ("words behind --", "--model m -- a", "superfluous word", "--"),
    ("another choice", "--kind quarter", "choice", "quarter"),
    ("a choice in another case", "--kind Half", "choice", "Half"),
    ("a text in place of an integer", "--size two", "type", "two"),
    ("a fraction in place of an integer", "--size 2.5", "type", "2.5"),
    ("an empty text in place of an integer", "--size=", "type", ""),
    ("a text in place of a number", "--share half", "type", "half"),
    ("one wrong value of several", "--levels 1 b 3", "type", "b"),
    ("quotes of Python in JSON", """--json "{'a': 1}" """, "json", "{'a': 1}"),
    ("names without quotes in JSON", "--json '{a: 1}'", "json", "{a: 1}"),
]


@cases(("line", "kind", "word"), REFUSED)
def test_a_wrong_command_line_has_the_problem_at_its_word(line, kind, word):
    assert (kind, word) in problems(line)


def test_a_missing_required_flag_is_reported_at_the_program():
    assert [(problem.kind, problem.word, problem.option) for problem in parsed(["--size", "2"]).problems] == [
        ("required", START, "--model")
    ]


def test_behind_an_unknown_flag_no_word_is_reported():
    """They may be its values."""
    assert problems("--sizes 2 3 4") == [("unknown", "--sizes")]


UNKNOWN_PARTS = [
    ("the value of a flag", ["--size", UNKNOWN]),
    ("a part of a value", ["--size", f"{UNKNOWN}0"]),
    ("a value behind =", [f"--size={UNKNOWN}"]),
    ("a choice", ["--kind", UNKNOWN]),
    ("a JSON document", ["--json", f'{{"a": {UNKNOWN}']),
    ("more flags", [UNKNOWN]),
    ("more flags with values behind them", [UNKNOWN, "a", "b"]),
    ("the name of a flag", [f"--{UNKNOWN}", "a"]),
]


@cases("words", UNKNOWN_PARTS)
def test_a_part_with_an_unknown_text_is_no_mistake(words):
    assert parsed(["--model", "m", *words]).problems == []


@pytest.mark.parametrize("words", [[UNKNOWN], ["--config", "file.yaml"]], ids=["a variable", "a file"])
def test_where_more_flags_can_be_none_counts_as_missing(words):
    command = parsed(words)
    assert not command.is_complete
    assert command.problems == []


def test_an_unknown_part_that_may_be_several_words_can_be_all_values():
    word = Word(UNKNOWN, is_single=False)
    command = command_line_parser.parse([Word("--model"), Word("m"), Word("--pair"), word], TABLE, START)
    assert command.problems == []


def real_parser():
    """The second stage of the table as a parser of argparse."""
    parser = argparse.ArgumentParser(prog="toy", add_help=False, exit_on_error=False)
    types = {"int": int, "float": float, "str": str}
    for flag in {id(flag): flag for flag in TABLE.stages[1].flags.values()}.values():
        if flag.negations:
            parser.add_argument(*flag.options, action=argparse.BooleanOptionalAction)
        elif flag.type != "json":
            nargs = {"1": None, "2": 2}.get(flag.values, flag.values)
            more = {"action": "append"} if flag.action else {"nargs": nargs}
            parser.add_argument(*flag.options, type=types[flag.type], choices=flag.choices or None, required=flag.required, **more)
    return parser


ONE_STAGE = TABLE._replace(stages=(TABLE.stages[1]._replace(underscores=False, dotted=False),))
WORDS = st.sampled_from(
    [
        *("--size", "--siz", "--size=2", "-s", "-s3", "--size-local", "--kind", "half", "--kind=half", "--kin", "quarter", "--levels"),
        *("--maybe", "--names", "--pair", "--plugin", "--share", "0.5", "-1", "1", "--enable-cache", "--no-enable-cache", "--no", "a b"),
        *("--model", "m", "--model=m", "--unknown", "--enable-cache=1", "-x", "-", "", "-a b", "--deprecated", "two"),
    ]
)


@settings(max_examples=tier.number(300, 10), deadline=None)
@given(st.lists(WORDS, max_size=8))
def test_the_verdict_is_that_of_argparse(words):
    """Each random command line of one stage is accepted or refused as argparse does."""
    try:
        real_parser().parse_args(words)
        accepted = True
    except (argparse.ArgumentError, SystemExit):
        accepted = False
    flags = {name: flag for name, flag in ONE_STAGE.stages[0].flags.items() if flag.type != "json"}
    stage = ONE_STAGE.stages[0]._replace(flags=flags, ordered=tuple(sorted(flags)))
    table = ONE_STAGE._replace(stages=(stage,), flags=flags, parser=ONE_STAGE.parser._replace(config_files=()))
    command = command_line_parser.parse([Word(word) for word in words], table, START)
    assert (not command.problems) == accepted, command.problems


PASSED_ON = [
    ("a flag of SGLang's chat processor", "--dyn-chat-processor sglang --tool-call-parser hermes", []),
    ("underscores, which neither parser reads", "--dyn-chat-processor sglang --router_mode=kv", ["--router_mode=kv"]),
    ("a flag of an engine", "--dyn-chat-processor sglang --tp 2 --chat-template a", ["--tp"]),
    ("a processor with the flags of an engine", "--dyn-chat-processor vllm --tensor-parallel-size 2", []),
    ("an unknown processor", "--dyn-chat-processor $(A) --tp 2", []),
    ("the last processor counts", "--dyn-chat-processor vllm --dyn-chat-processor dynamo --tp 2", ["--tp"]),
]


@cases(("line", "expected"), PASSED_ON)
def test_flags_for_the_next_parser_are_those_that_it_has(line, expected):
    """The frontend gives unknown flags to the parser of its chat processor: three flags for SGLang, and all flags of vLLM."""
    table = flag_tables.of_version("dynamo.frontend", (1, 6, 1))
    assert table
    words = [Word(UNKNOWN if word == "$(A)" else word, item=index) for index, word in enumerate(line.split())]
    assert [problem.word.text for problem in command_line_parser.parse(words, table, START).problems] == expected


def test_only_the_last_value_counts_of_a_flag_that_is_read_later():
    """SGLang reads the document behind its parser, which keeps the last one."""
    table = flag_tables.of_version("dynamo.sglang", (1, 6, 1))
    assert table
    line = ["--model-path", "m", "--kv-events-config", "{", "--kv-events-config", '{"publisher": "zmq"}']
    for words, expected in ((line, []), ([*line, "--kv-events-config", "["], ["["])):
        parsed_words = [Word(word, item=index) for index, word in enumerate(words)]
        assert [problem.word.text for problem in command_line_parser.parse(parsed_words, table, START).problems] == expected
