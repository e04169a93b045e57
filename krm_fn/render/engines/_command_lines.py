"""Command lines of engines: adds flags to a user's command, joins its words into a shell line, and finds words that the shell changes.

Follows the operator's `internal/dynamo/utils.go` (injectFlagsIntoContainerCommand), `backend_sglang.go` (isPythonCommand) and
`backend_vllm.go`. A command that the user wrote for a shell is not checked. The check of other words follows POSIX.1-2017, Shell Command
Language, 2.2 to 2.6, and the bash manual, "Shell Expansions".
"""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise

from krm_fn.base import codes, results
from krm_fn.kubernetes import merge
from krm_fn.render.plan.facts import TOPOLOGY_VARIABLES, Addressing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.kubernetes.types import WordsField
    from krm_fn.render.plan import RolePlan


FIELDS: tuple[WordsField, ...] = ("command", "args")

# Compiled where they are used: few commands need most of these.
_PYTHON = r"(?a:(.*/)?(python\d*(\.\d+)*))"
_SHELL = r"(.*/)?(ba|da|z)?sh"
_CHANGES = (
    (r"\A\Z", "drops this empty word"),
    (r"[ \t\n]", "splits this word at blanks"),
    (r"""['"\\]""", "removes quotes and backslashes from this word"),
    (r"`|\$[A-Za-z0-9_@*#?$!({[-]", "expands $ or backquotes in this word"),
    (r"[;&|<>()]", "reads ; & | < > ( or ) in this word as an operator"),
    (r"\A#", "reads this word as the start of a comment"),
    (r"(?a:\A(~|[A-Za-z_]\w*\+?=(.*:)?~))", "replaces ~ in this word with a home directory"),
    (r"[*?]|\[.+\]", "replaces this word with the names of files that match it"),
    (r"\{.*(,|\.\.).*\}", "expands the braces in this word if it is bash"),
)
_REFERENCE = r"\$(?:\$|\(([^)]*)(?:\)|\Z))"  # to the end without `)`, so that no text is read twice
_VARIABLE = r"[A-Z_][A-Z0-9_]*"
_SPECIAL = r"""[ \t\n'"\\{}\[\]$`!]"""
_ESCAPED = r"""[\\"$`]"""
_BACKSLASH = r"\\\g<0>"
_FOR_KUBERNETES = r"\$[$(]"


def is_python(container: Container) -> bool:
    """Returns true if the container starts Python without a shell.

    >>> is_python({"command": ["/usr/bin/python3.11", "-m", "x"]}), is_python({"command": ["/bin/sh", "-c"]})
    (True, False)
    """
    command = container.get("command") or [""]
    return bool(re.fullmatch(_PYTHON, command[0]))


def is_shell(container: Container) -> bool:
    """Returns true if the container starts a shell. The shell then reads the arguments."""
    command = container.get("command") or [""]
    return bool(re.fullmatch(_SHELL, command[0]))


def words(container: Container) -> list[str]:
    """Returns the words of the command, then the words of the arguments."""
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def flat(words: Iterable[str]) -> list[str]:
    """Returns the words, split at blanks, so that the words in a line for a shell count too."""
    return [part for word in words for part in word.split()]


def has_option(words: Sequence[str], name: str, value: str) -> bool:
    """Returns true if the words hold an option with a value, also in a line for a shell (operator: containerCommandLineHasArg)."""
    return any(f"{name} {value}" in word or f"{name}={value}" in word for word in words) or (name, value) in pairwise(flat(words))


def inject(container: Container, flags: str, framework: str, *, needs_shell: bool, quoted: bool) -> Container:
    """Adds the flags of an engine on several nodes to a container's command line.

    A Python command gets the flags at its end. If the flags need a shell, the command runs in one; `quoted` is as in `shell_line`.
    In any other command, the flags follow the last word with the framework's name, in the first argument that starts the framework.

    Rule commands.flags: Flags of an engine are added to the arguments, or to the command line that a shell runs. (operator:
    internal/dynamo/utils.go injectFlagsIntoContainerCommand)
    """
    args = list(container.get("args") or ())
    if is_python(container):
        if needs_shell:
            return {**container, "command": ["sh", "-c"], "args": [f"exec {shell_line(words(container), quoted=quoted)} {flags}"]}
        return {**container, "args": [*args, *flags.split()]}
    for index, argument in enumerate(args):
        changed = after_framework(argument, flags, framework)
        if changed != argument:
            return {**container, "args": [*args[:index], changed, *args[index + 1 :]]}
    return container


def after_framework(text: str, flags: str, framework: str) -> str:
    """Adds flags after the word of a shell line that names the engine.

    >>> after_framework("cd /w && python3 -m dynamo.vllm --model m", "--f", "vllm")
    'cd /w && python3 -m dynamo.vllm --f --model m'

    Rule commands.flags-place: In a shell line, flags of an engine stand after the word that names the engine. (operator:
    internal/dynamo/utils.go injectFlagsIntoPythonCommand)
    """
    start = re.compile(rf"(?:\A|(?<=[|&;]))(?>[^|&;]*?python[0-9.]*\s)[^|&;]*{re.escape(framework)}[^\s|&;]*", re.ASCII)
    return start.sub(lambda match: f"{match[0]} {flags}", text)


def shell(container: Container, line: str) -> Container:
    """Returns the container with a shell that runs one line.

    Rule commands.shell: A command line that a shell must read runs with `/bin/sh -c`. (operator: internal/dynamo/utils.go
    injectFlagsIntoContainerCommand)
    """
    return {**container, "command": ["/bin/sh", "-c"], "args": [line]}


def quote_command(container: Container) -> str:
    """Returns the whole command, quoted for the line of another shell."""
    return shlex.join(words(container))


def without_probes(container: Container) -> Container:
    """Returns the container without probes, for followers, which serve no requests."""
    return merge.without(container, *merge.PROBES)


def shell_line(words: Iterable[str], *, quoted: bool) -> str:
    """Returns words as one shell line.

    If not `quoted`, JSON is in single quotes, and all other words have no quotes, as in the operator.

    >>> print(shell_line(["python3", "--kv", '{"role": "both"}', "--name", "$NAME"], quoted=False))
    python3 --kv '{"role": "both"}' --name $NAME

    Rule commands.quoting: The words of a command become one shell line. (operator: internal/dynamo/backend_*.go shellQuoteForBashC)
    """
    if quoted:
        return " ".join(map(_quote_word, words))
    return " ".join(shlex.quote(word) if _is_json(word) and change(word) else word for word in words)


def single_quoted(word: str) -> str:
    r"""Returns a word in single quotes, in which Kubernetes replaces each `$(NAME)`.

    A `$(` without an end does not hide those in the next words.

    >>> print(single_quoted("it's"), single_quoted("$(NAME)"), single_quoted("$(A"))
    'it'\''s' '$(NAME)' '$''(A'
    """
    closed, end, unclosed = word.replace("'", r"'\''").rpartition(")")
    return "'" + closed + end + unclosed.replace("$(", "$''(") + "'"


def _quote_word(word: str) -> str:
    r"""Returns a word for a shell line that the program gets as written, after Kubernetes has replaced each `$(NAME)` in it.

    The quotes are the operator's (shellQuoteForBashC), except in three cases in which the program would get another word: single quotes,
    references for Kubernetes, and characters that the operator does not quote.

    >>> print(*map(_quote_word, ('{"a": 1}', "it's", "$NAME", "$(NAME)", "a;b", "a#b")))
    "{\"a\": 1}" "it's" "\$NAME" '$(NAME)' "a;b" a#b
    """
    if re.search(_FOR_KUBERNETES, word):
        return single_quoted(word)
    if not (re.search(_SPECIAL, word) or change(word)):
        return word
    return f'"{re.sub(_ESCAPED, _BACKSLASH, word)}"'


def change(word: str) -> str:
    """Returns the change that a shell makes to a word, as the end of a sentence; empty if neither a POSIX shell nor bash changes the word.

    A file name pattern counts as changed, although a shell changes it only if a file matches.

    >>> change("my model"), change("Qwen/Qwen3-0.6B")
    ('splits this word at blanks', '')
    """
    return next((does for pattern, does in _CHANGES if re.search(pattern, word)), "")


def check_words(container: Container, role: RolePlan, fields: Iterable[WordsField] = FIELDS) -> Iterator[Result]:
    """Reports the words in these fields that the shell of a role changes. It changes none that is quoted, such as JSON."""
    plan = role.component
    if plan.release.engines.quotes_words:
        return
    literals = {entry.get("name", ""): entry.get("value", "") for entry in container.get("env") or () if "valueFrom" not in entry}
    variables = {name: value for name, value in literals.items() if "$" not in value}
    for field in fields:
        for index, word in enumerate(container.get(field) or ()):
            does = "" if _is_json(word) else change(_expand_references(word, variables))
            if does:
                message = (
                    f"the {role.role} starts through a shell on several nodes, and that shell {does}; "
                    "write command: [/bin/sh, -c], and the whole command as one line in args, quoted for a shell"
                )
                yield results.warning(codes.SHELL_CHANGES_ARGUMENT, message, plan.ref, plan.at("main", field, index))


def _is_json(word: str) -> bool:
    """Returns true for the text of a JSON object or array."""
    if not word.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(word, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _expand_references(word: str, variables: Mapping[str, str]) -> str:
    """Returns the word that Kubernetes passes to the shell: `$(NAME)` is a variable, `$$` is a dollar sign.

    A variable with an unknown value becomes the text `x`, which no shell changes. A name with lower-case letters and an unknown value
    stays, and the shell runs it as a program: Kubernetes does not expand variables that the container does not define.
    """

    def replace_reference(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "$"
        return variables.get(name, "x" if re.fullmatch(_VARIABLE, name) else match[0])

    closed, end, unclosed = word.rpartition(")")
    return re.sub(_REFERENCE, replace_reference, closed + end) + unclosed.replace("$$", "$")


def addressing(role: RolePlan) -> Addressing:
    """Returns the words for the leader's host and the ranks in a command line of an engine.

    Kubernetes expands the variables, so no command needs a shell for them.

    Rule commands.topology-aliases: The leader's host and the ranks in a command line are those of the workload, or since Dynamo 1.6
    variables of Dynamo. (operator: internal/dynamo/backend_vllm.go, internal/dynamo/backend_sglang.go)
    """
    if not role.component.placement.names_topology:
        return role.addressing
    host, rank = (f"$({name})" for name in TOPOLOGY_VARIABLES)
    return role.addressing._replace(leader=host, leader_word=host, rank=rank, leader_rank=rank, rank_needs_shell=False)
