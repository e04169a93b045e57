"""How flags are measured with the parsers of a program, and how measurements become a table. The parsers here are of the tests."""

from __future__ import annotations

import argparse
import json
import textwrap

import engine_flags
import pytest
import yaml
from engines import installation, measured_flags, real_parsers, stand_ins, table_writer, value_types

from tests.support.flag_tables import TABLES, at, strings

# A program with two parsers: the second one reads what the first leaves over. Behind them the engine would start.
PROGRAM = """
    import argparse

    def parse_args(argv):
        argv = ["a" if word == "other" else word for word in argv if word != "--legacy"]
        first = argparse.ArgumentParser(allow_abbrev=False)
        first.add_argument("--namespace")
        options, rest = first.parse_known_args(argv)
        if options.namespace == "taken":
            raise ValueError("the namespace is taken")
        second = argparse.ArgumentParser(add_help=False, fromfile_prefix_chars="@")
        second.add_argument("--tensor-parallel-size", "-tp", type=int, required=True)
        second.add_argument("--enable-cache", action=argparse.BooleanOptionalAction)
        second.add_argument("--mode", choices=("b", "a"))
        second.add_argument("--names", nargs="+")
        second.add_argument("--tp", type=int, help="Deprecated: use --tensor-parallel-size instead.")
        second.parse_args(rest)
        raise AssertionError("the engine starts")
"""
PARSERS = {
    "stages": [
        {"abbreviations": False, "underscores": False, "dotted": False, "files": False},
        {"abbreviations": True, "underscores": False, "dotted": False, "files": True},
    ],
    "unknown": "refused",
    "positionals": "none",
}
FLAGS = {
    "--help": {"values": "0", "aliases": ["-h"], "action": "help"},
    "--namespace": {"values": "1"},
    "--tensor-parallel-size": {"values": "1", "aliases": ["-tp"], "type": ["7", "-7", "1", "0"], "required": True, "stage": 1},
    "--enable-cache": {"values": "0", "negations": ["--no-enable-cache"], "stage": 1},
    "--mode": {"values": "1", "choices": ["a", "b"], "stage": 1},
    "--names": {"values": "+", "stage": 1},
    "--tp": {"values": "1", "type": ["7", "-7", "1", "0"], "deprecated": "write --tensor-parallel-size", "stage": 1},
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "program_with_two_parsers.py").write_text(textwrap.dedent(PROGRAM))
    monkeypatch.syspath_prepend(tmp_path)
    known = real_parsers.Program(
        ("program_that_is_absent:parse_args", "program_with_two_parsers:parse_args"), ("--tensor-parallel-size", "1")
    )
    monkeypatch.setitem(real_parsers.PROGRAMS, "two", known)
    return real_parsers.RealProgram("two")


def test_the_flags_of_all_stages_are_measured(program):
    """Nothing is assumed of a parser: abbreviations, files, types and negations come from command lines that it reads."""
    assert measured_flags.measure(program) == {"parser": PARSERS, "flags": FLAGS, "configs": {}}


def test_option_strings_that_an_action_hides_are_measured_too():
    """Since vLLM 0.33, `--disable-x` negates `--enable-x`, and `--no-enable-x` still does, but is not in the help text."""
    parser = argparse.ArgumentParser(add_help=False)
    action = parser.add_argument("--enable-cache", "--disable-cache", action=argparse.BooleanOptionalAction)
    action.option_strings = ["--enable-cache", "--disable-cache"]
    vars(action)["negative_option_strings"] = {"--disable-cache", "--no-enable-cache", "--no-disable-cache"}
    flag = measured_flags._flag(action, measured_flags._options(action, parser), 0, "two")
    assert flag == {"values": "0", "negations": ["--disable-cache", "--no-disable-cache", "--no-enable-cache"]}


def test_a_flag_that_comes_back_keeps_its_replacement():
    """The releases without it refuse it. `--disable-log-requests` is gone from 1.1.0 to 1.6.1."""
    table = TABLES["dynamo.vllm"]
    assert table["replacements"]["--disable-log-requests"]["since"] == "1.1.0"
    assert "--disable-log-requests" in strings(at(table, list(table["releases"])[-1]))


def test_words_that_a_program_rewrites_are_measured_too(program, monkeypatch):
    """A program may accept more than its parsers: Dynamo translates some of its words for the engine."""
    monkeypatch.setattr(measured_flags, "_REWRITTEN_CHOICES", {"--mode": ("other", "third"), "--absent": ("x",)})
    monkeypatch.setattr(measured_flags, "_REWRITTEN_FLAGS", {"--legacy": "--enable-cache", "--unread": "--mode"})
    flags = measured_flags.measure(program)["flags"]
    assert flags["--mode"]["choices"] == ["a", "b", "other"]
    assert flags["--legacy"] == {"values": "0", "replaced": True, "deprecated": "write --enable-cache"}
    assert "--unread" not in flags


@pytest.mark.parametrize(
    ("line", "accepted", "by", "message"),
    [
        (["-tp", "2", "--namespace", "n"], True, "", ""),
        (["-tp", "2", "--namesp", "n"], False, "parser", "program: error: unrecognized arguments: --namesp n"),
        (["-tp", "x"], False, "parser", "program: error: argument --tensor-parallel-size/-tp: invalid int value: 'x'"),
        (["-tp", "2", "--namespace", "taken"], False, "check", "ValueError: the namespace is taken"),
    ],
)
def test_a_program_stops_after_its_last_parser(program, line, accepted, by, message):
    """The engine never starts, and a refusal says whether a parser or another check refused."""
    outcome = program.run(line)
    assert (outcome.accepted, outcome.by, outcome.message) == (accepted, by, message)


def test_a_program_that_no_release_has_is_an_import_error(monkeypatch):
    monkeypatch.setitem(real_parsers.PROGRAMS, "absent", real_parsers.Program(("program_that_is_absent:parse_args",), ()))
    with pytest.raises(ImportError, match="program_that_is_absent"):
        real_parsers.RealProgram("absent")


def test_a_shape_ends_where_a_flag_changes():
    """A renamed flag is one flag if both releases accept the new name, and a shape names its first and last release."""
    parser: dict[str, list[str]] = {"stages": []}
    one = {"--tp": {"values": "1", "aliases": ["--tensor"]}, "--old": {"values": "0", "deprecated": "write --tensor"}}
    two = {"--tensor": {"values": "1", "aliases": ["--tp"]}}
    three = {"--tensor": {"values": "2", "aliases": ["--tp"]}}
    measured = {f"1.{minor}": {"parser": parser, "flags": flags, "configs": {}} for minor, flags in enumerate((one, two, three))}
    table = table_writer.table("dynamo.router", measured)
    assert table["flags"] == {
        "--old": [{"since": "1.0", "until": "1.0", "values": "0", "deprecated": "write --tensor"}],
        "--tensor": [
            {"since": "1.0", "until": "1.1", "values": "1", "aliases": ["--tp"]},
            {"since": "1.2", "values": "2", "aliases": ["--tp"]},
        ],
    }
    assert table["replacements"] == {"--old": {"since": "1.1", "write": "--tensor", "source": "the parser of 1.0"}}
    assert json.loads(table_writer.text(table)) == table


def test_a_type_without_a_name_stops_the_table():
    """A new type must be named, and its meaning be written, before a table says anything about it."""
    with pytest.raises(KeyError):
        value_types.name(["7", "word"])


def test_each_researched_replacement_is_used():
    """An entry for a flag that no program removed would be a mistake of writing."""
    for group in yaml.safe_load((installation.HERE / "replacements.yaml").read_text()):
        assert set(group["programs"]) <= set(engine_flags.PROGRAMS)
        for option in group["flags"]:
            assert any(option in TABLES[program]["replacements"] for program in group["programs"]), option


def test_the_programs_have_parsers():
    """The list that tables are written for is the list of programs that can be judged."""
    assert tuple(sorted(real_parsers.PROGRAMS)) == engine_flags.PROGRAMS


@pytest.mark.parametrize("use", [lambda x: x | None, lambda x: x[int], lambda x: -x, list, lambda x: x(print), lambda x: x.a.b >= 1])
def test_a_stand_in_can_be_used_as_modules_use_torch(use):
    """Modules of the engines compute with GPU packages while they are imported."""
    use(stand_ins.StandIn())
    use(stand_ins.StandIn)


def test_stand_ins_are_only_the_listed_packages():
    names = (installation.HERE / "stand_ins.txt").read_text().splitlines()
    packages = [name for name in names if name and not name.startswith("#")]
    assert packages == [*sorted(name for name in packages if "." not in name), *sorted(name for name in packages if "." in name)]
