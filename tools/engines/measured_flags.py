"""Measures the flags of one program of one release, and how its parsers behave. Writes one JSON object to stdout.

Runs in the environment that `installation.py` makes; `engine_flags.py` starts it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines import json_readers, measured_configs, measured_ranges, real_parsers, stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable

# Each value that a type may accept: the answers to all of them name the type.
_PROBES = (
    "",
    "7",
    "-7",
    "1.5",
    "1e3",
    "1k",
    "1K",
    "2M",
    "1.5k",
    "1.5G",
    "auto",
    "none",
    "None",
    "true",
    "false",
    "1",
    "0",
    "word",
    "{}",
    "[]",
    '{"a": 1}',
    "a=1",
    "{x}",
    "{x",
)
_UNKNOWN = "--zz-unknown-flag"
_DYNAMIC = ("--trtllm.",)  # prefixes of flags that a program reads by itself
# Words that some releases rewrite before their parsers read them.
_REWRITTEN_CHOICES = {"--disaggregation-mode": ("agg", "aggregated", "encode", "pd", "prefill_and_decode")}
_REWRITTEN_FLAGS = {"--publish-events-and-metrics": "--publish-kv-events --publish-metrics", "--trust-remote-code": ""}
_REFUSED = (ValueError, TypeError, argparse.ArgumentTypeError, KeyError, AttributeError)

_KINDS = (
    (argparse._HelpAction, "help"),
    (argparse._VersionAction, "version"),
    (argparse._CountAction, "count"),
    (argparse._AppendAction, "append"),
    (argparse._AppendConstAction, "append"),
)


def main() -> None:
    """Measure the program that the first argument names."""
    stand_ins.install()
    print(json.dumps(measure(real_parsers.RealProgram(sys.argv[1]))))


def measure(program: real_parsers.RealProgram) -> dict[str, Any]:
    """The parser and the flags of a program, and the JSON documents of these flags."""
    flags: dict[str, Any] = {}
    for stage, call in enumerate(program.stages):
        for action in call.parser._actions:
            if action.option_strings:
                flags.setdefault(_name(action), _flag(action, _options(action, call.parser), stage, program.name))
    _add_rewritten(program, flags)
    _add_ranges(program, flags)
    with program.quiet():
        return {"parser": _parser(program), "flags": flags, "configs": _add_configs(program, flags)}


def _add_configs(program: real_parsers.RealProgram, flags: dict[str, Any]) -> dict[str, Any]:
    """Add to flags what the readers of their documents accept, and return the documents."""
    readers = json_readers.readers(program)
    for name, reader in readers.items():
        if reader.is_after and not flags[name].get("type"):
            flags[name] |= {"type": [probe for probe in _PROBES if not reader.refusals(probe)], "late": True}
        if reader.fields is not None:
            flags[name]["config"] = reader.name
    return measured_configs.measure(readers)


def _add_ranges(program: real_parsers.RealProgram, flags: dict[str, Any]) -> None:
    """Add the bounds of numbers."""
    ranges = measured_ranges.ranges(program)
    for call in program.stages:
        for action in call.parser._actions:
            if action.option_strings and action.dest in ranges:
                flags[_name(action)]["range"] = ranges[action.dest].bounds


def _add_rewritten(program: real_parsers.RealProgram, flags: dict[str, Any]) -> None:
    """Add what a program accepts although its parsers do not: it rewrites these words before the parsers see them."""
    for name, words in _REWRITTEN_CHOICES.items():
        if choices := flags.get(name, {}).get("choices"):
            accepted = {word for word in words if _fate(program, name, word) == "ignored"}
            flags[name]["choices"] = sorted({*choices, *accepted})
    known = {option for call in program.stages for option in call.parser._option_string_actions}
    for name, successor in _REWRITTEN_FLAGS.items() if _fate(program, _UNKNOWN) == "refused" else ():
        if name not in known and _fate(program, name) == "ignored":
            negation = f"--no-{name[2:]}"
            negations = {"negations": [negation]} if _fate(program, negation) == "ignored" else {}
            deprecated = {"deprecated": f"write {successor}"} if successor else {}
            flags[name] = {"values": "0", "replaced": True, **negations, **deprecated}


def _parser(program: real_parsers.RealProgram) -> dict[str, Any]:
    parser = {
        "stages": [_stage(program, index) for index in range(len(program.stages))],
        "unknown": _fate(program, _UNKNOWN),
        "positionals": _positionals(program),
        "config_files": _config_files(program),
        "dynamic": [prefix for prefix in _DYNAMIC if _fate(program, f"{prefix}zz", "1") == "ignored"],
        "passes_on": _passes_on(program),
    }
    return {key: value for key, value in parser.items() if value}


def _fate(program: real_parsers.RealProgram, *words: str) -> str:
    return "ignored" if program.run([*program.arguments, *words]).accepted else "refused"


def _passes_on(program: real_parsers.RealProgram) -> dict[str, dict[str, Any]]:
    """The flags and their choices with which a program gives unknown flags to one more parser, in place of refusing them by itself.

    Each choice has the flags of that parser if all of them take any one value, and otherwise null.
    """
    last = program.stages[-1]
    refusal = program.run([*program.arguments, _UNKNOWN]).message
    if last.complete:
        return {}
    choices = {_name(action): _choices(action) for action in last.parser._actions if action.choices and action.nargs is None}
    passed = {
        flag: {choice: _next_flags(program, flag, choice) for choice in own if _is_passed_on(program, refusal, flag, choice)}
        for flag, own in choices.items()
    }
    return {flag: own for flag, own in sorted(passed.items()) if own}


def _next_flags(program: real_parsers.RealProgram, flag: str, choice: str) -> list[str] | None:
    """The flags of the parser that gets the unknown flags; None if one of them is not a plain flag with one value."""
    calls = program.run([*program.arguments, flag, choice, _UNKNOWN]).calls[len(program.stages) :]
    actions = [action for call in calls for action in call.parser._actions]
    if not actions or not all(_Stage._is_simple(action) and isinstance(action, argparse._StoreAction) for action in actions):
        return None
    return sorted(option for action in actions for option in action.option_strings)


def _is_passed_on(program: real_parsers.RealProgram, refusal: str, flag: str, choice: str) -> bool:
    outcome = program.run([*program.arguments, flag, choice, _UNKNOWN])
    return len(outcome.calls) > len(program.stages) or (outcome.by == "parser" and outcome.message != refusal)


def _positionals(program: real_parsers.RealProgram) -> Any:
    own = [action for action in program.stages[-1].parser._actions if not action.option_strings]
    if own:
        return [{"name": action.dest, "values": _values(action)} for action in own]
    return "none" if _fate(program, "zz-word") == "refused" else "ignored"


def _stage(program: real_parsers.RealProgram, index: int) -> dict[str, bool]:
    """How one parser reads the spelling of its flags: each answer comes from command lines that it parses."""
    stage = _Stage(program, index)
    abbreviated = stage.first(lambda name: stage.is_unique_prefix(name[:-1]))
    dashed = stage.first(lambda name: "-" in name[2:] and _underscored(name) not in stage.names)
    text = stage.first(lambda name: isinstance(stage.action(name), argparse._StoreAction))
    return {
        "abbreviations": abbreviated is not None and stage.is_set(abbreviated, abbreviated[:-1]),
        "underscores": dashed is not None and stage.is_set(dashed, _underscored(dashed)),
        "dotted": text is not None and stage.is_set(text, f"{text}.key=1", value=False),
        "files": "No such file" in program.run([*program.arguments, "@/zz/absent"]).message
        and stage.call.parser.fromfile_prefix_chars == "@",
    }


class _Stage:
    """One parser of a program, to try words with."""

    def __init__(self, program: real_parsers.RealProgram, index: int) -> None:
        self.call: real_parsers.Call = program.stages[index]
        self.names = frozenset(self.call.parser._option_string_actions)
        self._program = program
        self._index = index

    def action(self, name: str) -> argparse.Action:
        """The action of an option string."""
        return self.call.parser._option_string_actions[name]

    def first(self, condition: Callable[[str], bool]) -> str | None:
        """The first long flag, of those that take any text or no value, for which the condition holds."""
        names = (_name(action) for action in self.call.parser._actions if self._is_simple(action))
        return next((name for name in names if name.startswith("--") and condition(name)), None)

    def is_unique_prefix(self, prefix: str) -> bool:
        """Whether exactly one option string of all parsers starts with it."""
        return sum(name.startswith(prefix) for call in self._program.stages for name in call.parser._option_string_actions) == 1

    def is_set(self, name: str, word: str, *, value: bool = True) -> bool:
        """Whether a word, and a value if the flag takes one, set the flag's option."""
        action = self.action(name)
        words = [word, "zz"] if value and isinstance(action, argparse._StoreAction) else [word]
        calls = self._program.run([*self._program.arguments, *words]).calls
        return len(calls) > self._index and getattr(calls[self._index].options, action.dest, None) != getattr(
            self.call.options, action.dest, None
        )

    @staticmethod
    def _is_simple(action: argparse.Action) -> bool:
        if isinstance(action, argparse._StoreTrueAction | argparse.BooleanOptionalAction):
            return action.default is not True
        return type(action) is argparse._StoreAction and action.type in (None, str) and action.nargs is None and not action.choices


def _config_files(program: real_parsers.RealProgram) -> list[str]:
    """The flags that name a file with more flags: such a file sets an option of the last parser."""
    actions = program.stages[-1].parser._actions
    number = next((action for action in actions if action.type is int and action.nargs is None and not action.choices), None)
    names = {"--config"} | {name for call in program.stages for name in call.parser._option_string_actions if "config" in name}
    if number is None:
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        Path(file.name).write_text(f"{_name(number).lstrip('-')}: 77\n")
        return sorted(name for name in names if name.startswith("--") and _sets(program, number.dest, [name, file.name]))


def _sets(program: real_parsers.RealProgram, dest: str, words: list[str]) -> bool:
    outcome = program.run([*program.arguments, *words])
    return outcome.accepted and len(outcome.calls) == len(program.stages) and getattr(outcome.calls[-1].options, dest, None) == 77


def _flag(action: argparse.Action, options: list[str], stage: int, program: str) -> dict[str, Any]:
    name = _name(action)
    negations = [option for option in options if _is_negation(option, action)]
    obsolete = re.findall(r"deprecating flag: (--[\w-]+)", action.help or "")
    values = _values(action)
    flag = {
        "values": values,
        "aliases": sorted({*options} - {name, *negations}),
        "negations": sorted(negations),
        "deprecated_aliases": sorted(obsolete),
        "action": next((kind for of, kind in _KINDS if isinstance(action, of)), ""),
        "type": _type(action) if values != "0" else "",
        "choices": _choices(action),
        "required": action.required,
        "deprecated": _deprecation(action, program),
        "refused": _refusal(action),
        "stage": stage,
    }
    return {key: value for key, value in flag.items() if value}


def _options(action: argparse.Action, parser: argparse.ArgumentParser) -> list[str]:
    """All option strings that lead to an action. Since vLLM 0.33 an action hides some of them from the help text."""
    hidden = [option for option, other in parser._option_string_actions.items() if other is action and option not in action.option_strings]
    return [*action.option_strings, *hidden]


def _name(action: argparse.Action) -> str:
    """The first long option of an action, or its first one."""
    return next((option for option in action.option_strings if option.startswith("--")), action.option_strings[0])


def _underscored(name: str) -> str:
    return "--" + name[2:].replace("-", "_")


def _is_negation(option: str, action: argparse.Action) -> bool:
    positives = {f"--no-{other[2:]}" for other in action.option_strings if other.startswith("--")}
    return _values(action) == "0" and option in positives.union(getattr(action, "negative_option_strings", ()))


def _values(action: argparse.Action) -> str:
    return "1" if action.nargs is None else str(action.nargs)


def _choices(action: argparse.Action) -> list[str]:
    """The words that a parser accepts as choices. Some types read a choice as another value: the text `None` as None."""
    words = [str(getattr(choice, "value", choice)) for choice in action.choices or ()]
    return sorted(word for word in words if _is_choice(action, word))


def _is_choice(action: argparse.Action, word: str) -> bool:
    try:
        value = action.type(word) if callable(action.type) else word
    except (ValueError, TypeError, argparse.ArgumentTypeError):
        return False
    return value in (action.choices or ())


def _type(action: argparse.Action) -> Any:
    """The probes that the type of an action accepts, "" for all of them."""
    if action.type is None or action.type is str:
        return ""
    answers = [probe for probe in _PROBES if _accepts(action.type, probe)]
    return answers if len(answers) < len(_PROBES) else ""


def _accepts(convert: Any, probe: str) -> bool:
    try:
        convert(probe)
    except _REFUSED:
        return False
    except Exception as error:
        return not type(error).__module__.startswith(("pydantic", "json"))
    return True


def _deprecation(action: argparse.Action, program: str) -> str:
    """What the parser says of a deprecated flag: the flag to write in its place, if it names one, and otherwise "deprecated"."""
    text = " ".join((action.help or "").split())
    start = re.match(r"\W*(?:note: \S+ is )?deprecated(?: for (\w+))?", text, re.IGNORECASE)
    other = start is not None and start.group(1) is not None and start.group(1).lower() not in program
    if (start is None or other) and not type(action).__name__.startswith("Deprecated"):
        return ""
    successor = _without_braces(getattr(action, "new_flag", None) or "") or _part_of_value(text) or _named(text)
    return f"write {successor}" if successor else "deprecated"


def _refusal(action: argparse.Action) -> str:
    """What the parser names in the error that every use of a flag causes."""
    message = getattr(action, "error_message", None)
    if not message:
        return ""
    return f"write {successor}" if (successor := _named(message)) else "refused"


def _without_braces(text: str) -> str:
    """A successor with a flag for each word in braces: `--graph-{a,b}=off` is `--graph-a=off --graph-b=off`."""
    before, brace, rest = text.partition("{")
    words, _, after = rest.partition("}")
    return " ".join(f"{before}{word}{after}" for word in words.split(",")) if brace else text


def _part_of_value(text: str) -> str | None:
    """The part of another flag's value that a text says to use, such as `temperature in --policy`."""
    match = re.search(r"is deprecated and will be removed in [\w.]+; use ([^;]+? in --[a-z-]*\w)\.", text)
    return match.group(1) if match else None


def _named(text: str) -> str | None:
    """The flag that a text says to use."""
    match = re.search(r"(?:use|alias for) [`'\"]?(--[a-z][\w-]*\w(?:=\w+)?)(?![\w{-])", text, re.IGNORECASE)
    return match.group(1) if match else None


if __name__ == "__main__":
    main()
