"""Findings about single words of a command: several words in one, and variables that nothing replaces.

Kubernetes replaces `$(NAME)` in `command` and `args` with the variables of the container, and leaves a name that it does not know as it is.
It knows `env`, `envFrom`, and the variables of Services and devices, but not those of the image (kubelet: `makeEnvironmentVariables` and
`ExpandContainerCommandAndArgs`). It does not replace `$NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial

from krm_fn.base import codes, spelling
from krm_fn.kubernetes import secret_values
from krm_fn.review.arguments import engine_commands
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.engine_commands import Reference
from krm_fn.review.arguments.judged_commands import AuthorContainer, JudgedCommand

SEVERAL = codes.SEVERAL_WORDS_IN_ONE
"""The code of several words in one."""
_FLAG_AND_VALUE = re.compile(r"(--?[A-Za-z][\w.-]*)\s+\S", re.ASCII)
_INNER_FLAG = re.compile(r"\s(--[A-Za-z][\w.-]*)(?![^\s=])", re.ASCII)
_ANY_TEXT = ("template", "args", "prompt")
"""Parts of the names of flags whose values can hold flags."""
_QUOTING = {*"\"'\\{[$`"}
"""Characters of a word whose blanks may be inside of a value."""
_UPPER_CASE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
_DOLLAR = re.compile(r"(?:\A|(?<=[=/:,\"'{\[]))\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))", re.ASCII)
_IN_SINGLE_QUOTES = re.compile(r"(?:\A|=)'\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))'\Z", re.ASCII)
"""A word of a shell, or the value in it, that is nothing but a variable in single quotes."""
_ADDED_LATER = re.compile(
    r"(?:LWS|GROVE|PCIDEVICE)_\w+|NVIDIA_VISIBLE_DEVICES|JOB_COMPLETION_INDEX|\w+_SERVICE_(?:HOST|PORT)(?:_\w+)?"
    r"|\w+_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_\w+)?",
    re.ASCII,
)
"""Variables that a controller, a device plugin or the kubelet adds to a container."""
_EXPANDS = "template"
"""Dynamo replaces `$NAME` itself in the path of a chat template (`os.path.expandvars` in the modules `args` of its programs)."""


def check_words(judged: JudgedCommand) -> Iterator[ArgumentFinding]:
    """Yields the findings about the words behind the name of one of Dynamo's programs."""
    superfluous = {problem.word for problem in judged.parsed.problems if problem.kind == "superfluous word"}
    rendered = _rendered_words(judged)
    known_names = cache(partial(variables, judged.container))
    before = ""
    for word in judged.command.words:
        option, before = before, word.text
        if rendered is not None and word.text not in rendered:
            continue
        match = _FLAG_AND_VALUE.match(word.text)
        fix = "remove the quotes around them" if judged.command.is_in_shell else "write each of them as an item of its own"
        items = () if judged.command.is_in_shell or not _QUOTING.isdisjoint(word.text) else (*word.text.split(),)
        if match and (word in superfluous or _is_flag(match[1], judged)):
            message = f"`{match[1][:60]}` and the words behind it are one word here, so the program does not read the flag; {fix}"
            yield ArgumentFinding(SEVERAL, "error", word, message, items=items)
        elif flag := _inner_flag(word.text, option, judged):
            message = f"`{flag[:60]}` and the words before it are one word here, so the program does not read the flag; {fix}"
            yield ArgumentFinding(SEVERAL, "error", word, message, items=items)
        elif not judged.command.is_in_shell and (name := _shell_variable(judged.container.fields[word.field][word.item], option)):
            known = known_names()
            addition = ", which Kubernetes replaces" if known is None or name in known else ", and add the variable"
            message = f"no shell reads this word, so the program gets `${name}` as it is; write $({name}){addition}"
            yield ArgumentFinding(codes.VARIABLE_WITHOUT_SHELL, "warning", word, message)
        elif judged.command.is_in_shell and (match := _IN_SINGLE_QUOTES.search(word.source)) and _EXPANDS not in option:
            name, known = match[1] or match[2], known_names()
            if known is None or name in known:
                message = (
                    f"a shell replaces no variable in single quotes, so the program gets `${name}` as it is; write it in double quotes"
                )
                yield ArgumentFinding(codes.VARIABLE_WITHOUT_SHELL, "warning", word, message)


def _inner_flag(text: str, before: str, judged: JudgedCommand) -> str:
    """Returns the first flag of the program in a value with blanks; empty without one. JSON and templates can hold any text."""
    name, _, attached = text.partition("=") if text.startswith("-") else (before, "", text.lstrip())
    if attached.startswith(("{", "[")) or any(part in name for part in _ANY_TEXT):
        return ""
    return next((match[1] for match in _INNER_FLAG.finditer(attached) if _is_flag(match[1], judged)), "")


def _is_flag(name: str, judged: JudgedCommand) -> bool:
    return name in judged.table.flags or name.replace("_", "-") in judged.table.flags


def _rendered_words(judged: JudgedCommand) -> set[str] | None:
    """Returns the words that a program gets in the pods; None if these are the author's.

    On several nodes, a render can join the words of an author to a line for a shell, which splits them and replaces variables.
    """
    if not judged.container.is_main or judged.plan.placement.nodes == 1:
        return None
    commands = [command for main in judged.container.rendered_containers() for command in engine_commands.read(main).commands]
    return {word.text for command in commands if command.is_in_shell == judged.command.is_in_shell for word in command.words}


def _shell_variable(text: str, before: str) -> str:
    """Returns the name in `$NAME` or `${NAME}` in an item; empty without one. A secret value counts only if it is nothing else."""
    match = _DOLLAR.search(text) if "$" in text else None
    option = text.partition("=")[0] if text.startswith("-") else before
    if match is None or _EXPANDS in option or (secret_values.is_secret_name(option) and match[0] != text):
        return ""
    return str(match[1] or match[2])


def check_references(
    container: AuthorContainer, references: Iterable[Reference], known: set[str] | None = None
) -> Iterator[ArgumentFinding]:
    """Yields the findings about the references to variables that a container does not have, one for each name.

    `known` are the names of its variables; without them, only a container without `envFrom` is checked.
    """
    names: set[str] = set()
    for reference in references:
        name = reference.name
        is_plain = _UPPER_CASE.fullmatch(name) or (container.is_main and not reference.is_in_shell and "." not in name and "-" not in name)
        if name in names or not is_plain or is_added_later(name):
            continue
        names.add(name)
        known = variables(container) if known is None else known
        if known is None:
            return
        if name not in known:
            yield ArgumentFinding(codes.REFERENCE_TO_MISSING_VARIABLE, "warning", reference.word, _unknown_variable(reference, known))


def is_added_later(name: str) -> bool:
    """Returns true for a variable that a controller, a device plugin or the kubelet adds to a container."""
    return _ADDED_LATER.fullmatch(name) is not None


def _unknown_variable(reference: Reference, known: Iterable[str]) -> str:
    name = reference.name
    nearest = spelling.nearest(name, known)
    longer = [other for other in known if other.startswith(f"{name}_") or other.endswith(f"_{name}") or _is_abbreviated(name, other)]
    longer = longer or [other for other in known if _shares_words(name, other)]
    name = name[:60]
    problem = f"this container has no variable `{name}`"
    longer = longer if len(longer) == 1 and not nearest else []
    fix = f"write $({nearest})" if nearest else "".join((*(f"write $({other}), or " for other in longer), "add the variable"))
    if reference.is_in_shell:
        own = "" if nearest else f", or write ${{{name}}} if the image or the line sets it"
        return f"{problem}, so the shell runs a program of this name in its place; {fix}{own}"
    return f"{problem}, so the program gets `$({name})` as it is; {fix}"


def _shares_words(name: str, other: str) -> bool:
    """True if one name has all words of the other one, of at least two.

    >>> _shares_words("MAX_MODEL_LEN", "MAX_LEN"), _shares_words("MODEL_LEN", "MAX_LEN"), _shares_words("MODEL", "MODEL_LEN")
    (True, False, False)
    """
    words, others = {*name.split("_")}, {*other.split("_")}
    return min(len(words), len(others)) > 1 and (words <= others or others <= words)


def _is_abbreviated(name: str, other: str) -> bool:
    """True if the last word of one name is an abbreviation of that of the other one, and the words before it are the same.

    >>> _is_abbreviated("KV_TRANSFER_CFG", "KV_TRANSFER_CONFIG"), _is_abbreviated("HF_HOME", "HF_TOKEN")
    (True, False)
    """
    (start, _, last), (other_start, _, other_last) = name.rpartition("_"), other.rpartition("_")
    short, long = sorted((last, other_last), key=len)
    letters = iter(long)
    return bool(start) and start == other_start and len(short) > 1 and short[0] == long[0] and all(letter in letters for letter in short)


def variables(container: AuthorContainer) -> set[str] | None:
    """Returns the names of the variables of a container, with those that a render adds. None if a Secret or a ConfigMap can have more."""
    names: set[str] = set()
    for fields in container.in_all_forms():
        if fields.get("envFrom"):
            return None
        names |= {entry.get("name", "") for entry in fields.get("env") or ()}
    return names
