"""Findings about one command line: flags and values that the parser of its program refuses, and flags that have no effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from krm_fn.base import codes, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Severity
from krm_fn.review.arguments import connector_flags, document_messages, flag_tables, foreign_flags, value_types
from krm_fn.review.arguments.command_line_parser import DASHES, ParsedCommand, Problem, ProblemKind, Use, plain_option
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.foreign_flags import ForeignFlag
from krm_fn.review.arguments.message_parts import flag as _name
from krm_fn.review.arguments.message_parts import program as _program
from krm_fn.review.arguments.message_parts import release as _release
from krm_fn.review.arguments.message_parts import value as shown
from krm_fn.review.arguments.shell_words import Word
from krm_fn.review.arguments.value_ranges import ValueRange

_QUOTES = "\"'\\"
_BEGINNING = 3
"""The least number of letters of a value that can lack its last word: `bfloat` for bfloat16, `llama3` for llama3_json."""
_REST = re.compile(r"[_-]?[A-Za-z0-9]+")
"""The end of a value that a shorter value lacks: one more word, or the rest of a word."""
_WRITTEN = re.compile(r"; write (--[\w-]+)")
"""The flag that the fix of a word writes."""
_TENSOR_SIZES = ("--tensor-parallel-size", "--tp-size")
_MODELS = ("--model", "--model-path")
"""The flags with the name of a model on the Hub, or of its folder."""
_WITHOUT_LIMIT = ("0", "-1")
"""What people write for no limit."""
_TWO_WORDS = 4
"""The parts of an option of two words, with the two before and between its dashes."""
_ADDS_UP = ("append", "extend", "count")
_AT_FLAGS: tuple[ProblemKind, ...] = ("unknown", "refused", "ambiguous")
"""The kinds of problems whose fix is the name of a flag."""
_AT_VALUES: tuple[ProblemKind, ...] = ("choice", "type", "range", "advised range")
"""The kinds of problems whose fix can be another value."""


class ArgumentFinding(NamedTuple):
    """A finding at a word of a command line. `kind` is that of a problem of the parser; empty for another finding.

    `old` is the part of the word in whose place the fix says to write another word; empty if there is none. `is_same` is true if the fix
    changes nothing that runs. `added` are the words that the fix says to add behind the command. `items` are those that the fix says to
    write in place of the item that the word is.
    """

    code: str
    severity: Severity
    word: Word
    message: str
    kind: str = ""
    old: str = ""
    is_same: bool = False
    added: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, Word]:
        """The kind of the finding and its word, without the code and the text, which depend on a release."""
        return self.kind or self.code, self.word


def check(parsed: ParsedCommand, table: FlagTable) -> Iterator[ArgumentFinding]:
    """Yields the findings about a parsed command line."""
    written = _written_flags(parsed, table) if any(problem.kind == "required" for problem in parsed.problems) else set()
    for problem in parsed.problems:
        code, message, *items = _MESSAGES[problem.kind](problem, table)
        message += _with_values(problem) if message.endswith("; remove it") else ""
        if problem.kind == "required" and problem.flag and not written.isdisjoint(problem.flag.options):
            continue  # the flag is there under another name, and the fix of this name writes it
        severity: Severity = "warning" if problem.kind in ("ignored field", "advised range") else "error"
        yield ArgumentFinding(code, severity, problem.word, message, _kind(problem), _misspelt(problem), items=(*items,))
    yield from _check_uses(parsed, table)


def _with_values(problem: Problem) -> str:
    """The rest of a fix that removes an unknown flag: the words behind it are its values, and nothing else reads them."""
    count = len(problem.detail) if problem.kind == "unknown" else 0
    return f" and the {'word' if count == 1 else f'{count} words'} behind it" if count else ""


def _written_flags(parsed: ParsedCommand, table: FlagTable) -> set[str]:
    """Returns the flags that the fixes of unknown flags write. Each fix costs a search in the table, and a line can have thousands."""
    messages = (_unknown(problem, table)[1] for problem in parsed.problems if problem.kind == "unknown")
    return {match[1] for message in messages if (match := _WRITTEN.search(message))}


def keys(parsed: ParsedCommand, table: FlagTable) -> set[tuple[str, Word]]:
    """Returns the keys of all findings about a parsed command line. No text is made, because a line can have thousands of problems."""
    return {(_kind(problem), problem.word) for problem in parsed.problems} | {finding.key for finding in _check_uses(parsed, table)}


def _misspelt(problem: Problem) -> str:
    """Returns the part of a word that a fix replaces, if the fix is a single word."""
    mistake = problem.field
    if mistake is not None:
        return f'"{mistake.path[-1] if mistake.kind in ("unknown", "ignored") else mistake.value}"'
    return problem.word.text if problem.kind in _AT_VALUES else problem.word.text.partition("=")[0] if problem.kind in _AT_FLAGS else ""


def _kind(problem: Problem) -> str:
    """The kind of a problem, with its field. A flag that one release refuses, another one can lack."""
    if problem.field is not None:
        return f"{problem.kind} {problem.field.kind} {problem.field.field}"
    return {"refused": "unknown", "advised range": "range"}.get(problem.kind, problem.kind)


def _check_uses(parsed: ParsedCommand, table: FlagTable) -> Iterator[ArgumentFinding]:
    """Yields the findings about the flags that the parser knows."""
    yield from _check_repeated(parsed)
    refused = connector_flags.refused_use(parsed, table)
    if refused:
        yield ArgumentFinding(codes.REFUSED_CONNECTOR, "error", refused.use.word, refused.message)
    for use in parsed.uses:
        if refused and use == refused.use:
            continue
        if use.flag.name in _MODELS and use.text and use.text != use.text.strip() and (model := use.text.strip()):
            message = (
                f"the value of `{use.option}` of {_program(table)} has a blank at its {'end' if use.text[0] == model[0] else 'beginning'}"
            )
            yield ArgumentFinding(codes.FLAG_VALUE_OF_WRONG_TYPE, "error", use.values[0], f"{message}; write {model}", old=use.text)
        if use.option in use.flag.deprecated_aliases:
            message = f"`{use.option}` is a deprecated name in {_program(table)}; write {use.flag.name}"
            yield ArgumentFinding(codes.DEPRECATED_FLAG, "info", use.word, message, old=use.word.text.partition("=")[0], is_same=True)
        elif use.flag.deprecated:
            fix = _replacement(use, table)
            message = f"`{use.option}` is deprecated in {_program(table)}; {fix or 'a later release can remove it'}"
            yield ArgumentFinding(
                codes.DEPRECATED_FLAG, "warning" if fix else "info", use.word, message, old=use.word.text.partition("=")[0]
            )


def check_injected(parsed: ParsedCommand, injected: Mapping[str, str]) -> Iterator[ArgumentFinding]:
    """Yields the flags of an author that the render adds, too. `injected` has the names of these flags as the render writes them.

    A switch without a value, such as `--data-parallel-hybrid-lb`, may stand there twice.
    """
    for use in parsed.uses:
        if use.flag.name in injected and (use.text != "" or use.is_negated):
            message = (
                f"krm-fn adds `{injected[use.flag.name]}` to the command of a component on several nodes, and the last one counts; "
                f"remove `{use.option}`"
            )
            yield ArgumentFinding(codes.FLAG_ADDED_BY_KRM_FN, "warning", use.word, message)


def _check_repeated(parsed: ParsedCommand) -> Iterator[ArgumentFinding]:
    """Yields the flags that have two values. The last one counts."""
    earlier: dict[str, Use] = {}
    for use in parsed.uses:
        before = earlier.get(use.flag.name)
        earlier[use.flag.name] = use
        if before is None or use.flag.action in _ADDS_UP:
            continue
        if before.text is not None and use.text is not None and (before.text, before.is_negated) != (use.text, use.is_negated):
            message = f"`{use.option}` has two different values, and only the last one counts; remove one of them"
            yield ArgumentFinding(codes.FLAG_WITH_TWO_VALUES, "warning", use.word, message)


def _unknown(problem: Problem, table: FlagTable) -> tuple[str, str]:
    """Names the flag to write, by the surest knowledge: of this program's releases, of other programs, and then of typing mistakes."""
    option = _name(problem)
    plain = plain_option(problem.option)
    if plain != problem.option and plain in table.flags:
        what = (
            "begins with a dash that is no hyphen"
            if any(dash in problem.option[:2] for dash in DASHES)
            else "has quotes, which belong to the word"
        )
        return codes.UNKNOWN_FLAG, f"{option} {what}, so it is not a flag of {_program(table)}; write {plain}"
    bare = plain.replace("_", "-")
    is_known = bare in table.flags
    replacement = table.replacements.get(bare)
    if replacement and not is_known and not _is_later(replacement.since, table.release):
        fix = _without_flag(replacement.write)
        return codes.FLAG_OF_OTHER_RELEASE, f"{option} is no longer a flag of {_program(table)}, since {_release(replacement.since)}; {fix}"
    foreign = None if is_known else foreign_flags.of(bare, table)
    program = f"{_program(table)}{', the newest that krm-fn knows' if table.is_outdated else ''}"
    if foreign:
        return codes.UNKNOWN_FLAG, f"{option} is a flag of {foreign.source}, not of {program}; {_or_keep(_instead(foreign), table)}"
    releases = [] if is_known else flag_tables.releases_of(table.program, bare)
    if releases:
        first = next((release for release in releases if _is_later(release, table.release)), "")
        when = f"since {_release(first)}" if first else f"until {releases[-1]}"
        earlier = _earlier_name(bare, table) if first else ""
        image = f"use an image of {first.partition('.dev')[0]} or later, or remove it" if first else "remove it"
        fix = f"write {earlier}, its earlier name" if earlier else image
        return codes.FLAG_OF_OTHER_RELEASE, f"{option} is not a flag of {_program(table)}; it exists {when}; {fix}"
    if not is_known and (other := foreign_flags.program_with(bare, table)):
        moved = "dynamo.frontend" in {other, table.program}
        fix = f"write it in the command of {other}, or remove it" if moved else "remove it"
        return codes.UNKNOWN_FLAG, f"{option} is a flag of {other}, not of {program}; {_or_keep(fix, table)}"
    nearest = bare if is_known else _with_enable(bare, table) or spelling.nearest(bare, table.flags) or _with_one_more_word(bare, table)
    return codes.UNKNOWN_FLAG, f"{option} is not a flag of {program}; {_or_keep(f'write {nearest}' if nearest else 'remove it', table)}"


def _earlier_name(option: str, table: FlagTable) -> str:
    """Returns the flag that a later release calls by this option; empty without one."""
    names = (name for name, entry in table.replacements.items() if entry.write == option and name in table.flags)
    return next(names, "")


def _with_enable(option: str, table: FlagTable) -> str:
    """Returns the flag that turns something on or off if an option lacks only the word for it: `--no-x` for `--no-enable-x`."""
    begin = "--no-" if option.startswith("--no-") else "--"
    longer = f"{begin}enable-{option.removeprefix(begin)}"
    return longer if longer in table.flags else ""


def _with_one_more_word(option: str, table: FlagTable) -> str:
    """Returns the only flag that has a word more than an option of two words or more; empty without one."""
    words = option.split("-")
    if len(words) < _TWO_WORDS:
        return ""
    longer = (name for name in table.flags if name.count("-") == len(words))
    names = [
        name for name in longer if any(words == [*parts[:at], *parts[at + 1 :]] for parts in [name.split("-")] for at in range(len(parts)))
    ]
    return names[0] if len(names) == 1 else ""


def _or_keep(fix: str, table: FlagTable) -> str:
    """The fix of an unknown flag: an image that is newer than all tables may have it."""
    if not table.is_outdated:
        return fix
    return f"{'' if fix == 'remove it' else f'{fix}, or '}keep it if your image has it"


def _instead(foreign: ForeignFlag) -> str:
    """The fix of a flag of another engine or older release."""
    if not foreign.write:
        return "remove it"
    return f"{_without_flag(foreign.write)}{f' with {foreign.value}' if foreign.value else ''}"


def _ambiguous(problem: Problem, table: FlagTable) -> tuple[str, str]:
    names = sorted(problem.detail, key=len)
    bare = problem.option.replace("_", "-")
    replacement, foreign = table.replacements.get(bare), foreign_flags.of(bare, table)
    fix = _without_flag(replacement.write) if replacement else _instead(foreign) if foreign else "write the whole name"
    listed = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    return codes.AMBIGUOUS_FLAG, f"{_name(problem)} can mean several flags of {_program(table)}: {listed}; {fix}"


def _missing_value(problem: Problem, table: FlagTable) -> tuple[str, str]:
    flag = problem.flag
    several = flag is not None and flag.values not in ("1", "?")
    return (
        codes.FLAG_WITHOUT_VALUE,
        f"{_name(problem)} of {_program(table)} needs {_count(flag.values if flag and several else '1')}; write it behind the flag",
    )


def _superfluous_value(problem: Problem, table: FlagTable) -> tuple[str, str]:
    negated = f"--no-{problem.option[2:]}"
    negated = negated if problem.flag and negated in problem.flag.negations else ""
    fix = f"remove the value, or write {negated} to turn it off" if negated else "remove the value"
    return codes.UNREAD_WORD, f"{_name(problem)} of {_program(table)} takes no value; {fix}"


def _superfluous_word(problem: Problem, table: FlagTable) -> tuple[str, ...]:
    text = problem.word.text
    items: tuple[str, ...] = ()
    before = "".join(problem.detail)
    if before.startswith("--") and before.endswith("="):
        joined = f"write {before[:60]}{shown(problem.word)} as one item"
        fix = f"remove the blank behind {before[:60]}" if problem.word.source else joined
    elif flag := _inner_flag(before, table):
        fix = f"write a blank before {flag} in `{before[:60]}`"
    elif text != text.strip() and text.strip().startswith("--"):
        is_before = text[:1].isspace()
        fix = "remove the blank before the flag" if is_before else "remove the blank at the end of the flag"
        items = () if is_before else (text.rstrip(),)
    else:
        fix = f"write {problem.option} before it" if problem.option else "remove it, or quote it"
    return codes.UNREAD_WORD, f"`{shown(problem.word)}` is not the value of a flag, and {_program(table)} reads no such word; {fix}", *items


def _inner_flag(text: str, table: FlagTable) -> str:
    """Returns the flag of a program at the end of a value, without a blank between them, as in `2--page-size`; empty without one."""
    value, dashes, name = text.partition("--")
    flag = f"{dashes}{name.partition('=')[0]}"
    return flag if value and not value.startswith("-") and flag in table.flags else ""


def _choice(problem: Problem, table: FlagTable) -> tuple[str, str]:
    choices = problem.flag.choices if problem.flag else ()
    others = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
    fix = _right_choice(problem, choices, table)
    value = shown(problem.word, problem.option)
    return codes.UNKNOWN_FLAG_VALUE, f"`{value}` is not a value of {_name(problem)} in {_program(table)}, which has {others}; {fix}"


def _right_choice(problem: Problem, choices: tuple[str, ...], table: FlagTable) -> str:
    """The fix of a value: without its quotes, a later release, the only longer value that begins with it, or a typing mistake."""
    text = problem.word.text
    if (bare := text.strip(_QUOTES)) in choices:
        return f"remove the quotes: write {bare}"
    releases = flag_tables.releases_of(table.program, problem.option, text)
    first = next((release for release in releases if _is_later(release, table.release)), "")
    if first:
        return (
            f"it is a value since {_release(first)}, so use an image of {first.partition('.dev')[0]} or later, or write one of these values"
        )
    longer = [choice for choice in choices if len(text) >= _BEGINNING and choice.startswith(text) and _REST.fullmatch(choice[len(text) :])]
    nearest = longer[0] if len(longer) == 1 else choices[0] if len(choices) == 1 else spelling.nearest(text, choices)
    return f"write {nearest}" if nearest else "write one of these values"


def _wrong_type(problem: Problem, table: FlagTable) -> tuple[str, str]:
    expected = value_types.get(problem.flag.type) if problem.flag else None
    name, value = expected.name if expected else "another type", shown(problem.word, problem.option)
    if flag := _inner_flag(problem.word.text, table):
        return (
            codes.FLAG_VALUE_OF_WRONG_TYPE,
            f"{_name(problem)} of {_program(table)} needs {name}, not `{value}`; write a blank before {flag}",
        )
    number = problem.flag.range.fix(problem.word.text) if problem.flag and problem.flag.range else ""
    meant = number or (value_types.meant(expected, value) if expected and value == problem.word.text else "")
    return codes.FLAG_VALUE_OF_WRONG_TYPE, f"{_name(problem)} of {_program(table)} needs {name}, not `{value}`; write {meant or name}"


def _outside(problem: Problem, table: FlagTable) -> tuple[str, str]:
    right = (problem.flag and problem.flag.range) or ValueRange()
    what = f"{_name(problem)} of {_program(table)} needs {right.name}, not `{shown(problem.word, problem.option)}`"
    if _name(problem).startswith("`--max-") and problem.word.text in _WITHOUT_LIMIT:
        return codes.NUMBER_REFUSED_BY_ENGINE, f"{what}; remove it, which leaves the default"
    if problem.flag and problem.flag.name in _TENSOR_SIZES and problem.word.text == "0":
        return codes.NUMBER_REFUSED_BY_ENGINE, f"{what}; write the number of GPUs of the pod"
    return codes.NUMBER_REFUSED_BY_ENGINE, f"{what}; write {right.fix(problem.word.text) or right.name}"


def _report_required(problem: Problem, table: FlagTable) -> tuple[str, str]:
    return codes.MISSING_FLAG, f"{_program(table)} needs {_name(problem)}; add it"


def _report_refused(problem: Problem, table: FlagTable) -> tuple[str, str]:
    return (
        codes.FLAG_OF_OTHER_RELEASE,
        f"{_program(table)} refuses {_name(problem)}; {problem.flag.refused if problem.flag else 'remove it'}",
    )


_MESSAGES: dict[ProblemKind, Callable[[Problem, FlagTable], tuple[str, ...]]] = {
    "unknown": _unknown,
    "ambiguous": _ambiguous,
    "missing value": _missing_value,
    "superfluous value": _superfluous_value,
    "superfluous word": _superfluous_word,
    "choice": _choice,
    "type": _wrong_type,
    "json": document_messages.wrong_json,
    "torn": document_messages.torn,
    "field": document_messages.field,
    "ignored field": document_messages.field,
    "required": _report_required,
    "refused": _report_refused,
    "range": _outside,
    "advised range": _outside,
}


def _count(values: str) -> str:
    return f"{values} values" if values.isdigit() and values != "1" else "at least one value" if values == "+" else "a value"


def _replacement(use: Use, table: FlagTable) -> str:
    """The fix of a deprecated flag; empty if the parser names none."""
    if use.flag.deprecated.startswith("write "):
        return use.flag.deprecated
    replacement = table.replacements.get(use.flag.name)
    return _without_flag(replacement.write) if replacement else ""


def _without_flag(write: str) -> str:
    """The fix of a removed flag: a text of the table such as `--flag value`, `--flag of dynamo.router`, or `nothing: it is so`."""
    option, _, program = write.partition(" of dynamo.")
    if program and " " not in program:
        return f"write {option} in the command of dynamo.{program}, or remove it"
    return f"remove it{write.removeprefix('nothing')}" if write.startswith("nothing") else f"write {write}"


def _is_later(release: str, other: str) -> bool:
    """True if a release is later than another one."""
    return flag_tables.number(release) > flag_tables.number(other)
