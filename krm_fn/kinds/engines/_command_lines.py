"""Adds an engine's flags to a command line that the user wrote.

Follows the operator's `internal/dynamo/utils.go` (injectFlagsIntoContainerCommand) and `backend_sglang.go` (isPythonCommand).
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from krm_fn.kinds.engines import _shell_words
from krm_fn.kube import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.kube.native_types import Container

_PYTHON = re.compile(r"(.*/)?(python\d*(\.\d+)*)", re.ASCII)
_SHELL = re.compile(r"(.*/)?(ba|da|z)?sh")


def is_python(container: Container) -> bool:
    """Returns true if the container starts Python without a shell.

    >>> is_python({"command": ["/usr/bin/python3.11", "-m", "x"]}), is_python({"command": ["/bin/sh", "-c"]})
    (True, False)
    """
    command = container.get("command") or [""]
    return bool(_PYTHON.fullmatch(command[0]))


def is_shell(container: Container) -> bool:
    """Returns true if the container starts a shell. The shell then reads the arguments."""
    command = container.get("command") or [""]
    return bool(_SHELL.fullmatch(command[0]))


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
    """Flags of an engine are added to the arguments, or to the command line that a shell runs.

    A Python command gets the flags at its end. If the flags need a shell, the command runs in one; `quoted` is as in `_shell_words.line`.
    In any other command, the flags follow the last word with the framework's name, in the first argument that starts the framework.

    Follows the operator's `internal/dynamo/utils.go injectFlagsIntoContainerCommand`.
    Rule: commands.flags
    """
    args = list(container.get("args") or ())
    if is_python(container):
        if needs_shell:
            return {**container, "command": ["sh", "-c"], "args": [f"exec {_shell_words.line(words(container), quoted=quoted)} {flags}"]}
        return {**container, "args": [*args, *flags.split()]}
    for index, argument in enumerate(args):
        changed = after_framework(argument, flags, framework)
        if changed != argument:
            return {**container, "args": [*args[:index], changed, *args[index + 1 :]]}
    return container


def after_framework(text: str, flags: str, framework: str) -> str:
    """In a shell line, flags of an engine stand after the word that names the engine.

    >>> after_framework("cd /w && python3 -m dynamo.vllm --model m", "--f", "vllm")
    'cd /w && python3 -m dynamo.vllm --f --model m'

    Follows the operator's `internal/dynamo/utils.go injectFlagsIntoPythonCommand`.
    Rule: commands.flags-place
    """
    start = re.compile(rf"(python[0-9.]*\s+[^|&;]*{re.escape(framework)}[^|&;]*?)(\s|\Z|[|&;])", re.ASCII)
    return start.sub(lambda match: f"{match[1]} {flags}{match[2]}", text)


def shell(container: Container, line: str) -> Container:
    """A command line that a shell must read runs with `/bin/sh -c`.

    The container with a shell that runs one line.

    Follows the operator's `internal/dynamo/utils.go injectFlagsIntoContainerCommand`.
    Rule: commands.shell
    """
    return {**container, "command": ["/bin/sh", "-c"], "args": [line]}


def nested(container: Container) -> str:
    """Returns the whole command, quoted for the line of another shell."""
    return shlex.join(words(container))


def without_probes(container: Container) -> Container:
    """Returns the container without probes, for followers, which serve no requests."""
    return merge.without(container, *merge.PROBES)


def integer(text: str) -> int | None:
    """Returns the whole number in a text, as Go parses it: an optional sign and ASCII digits, 64 bits. None for any other text."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and abs(int(text)) < 2**63 else None
