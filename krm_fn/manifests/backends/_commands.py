"""How an engine's flags get into a command line that the user wrote.

Not its business: which flags. Follows the reference's `internal/dynamo/utils.go` (injectFlagsIntoContainerCommand) and
`backend_sglang.go` (isPythonCommand).
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from krm_fn.kube import merge
from krm_fn.manifests.backends import _shell

if TYPE_CHECKING:
    from krm_fn.kube.types import Container

_PYTHON = re.compile(r"(.*/)?(python\d*(\.\d+)*)", re.ASCII)
_SHELL = re.compile(r"(.*/)?(ba|da|z)?sh")


def is_python(container: Container) -> bool:
    """True if the container starts Python without a shell.

    >>> is_python({"command": ["/usr/bin/python3.11", "-m", "x"]}), is_python({"command": ["/bin/sh", "-c"]})
    (True, False)
    """
    command = container.get("command") or [""]
    return bool(_PYTHON.fullmatch(command[0]))


def is_shell(container: Container) -> bool:
    """True if the container starts a shell, which then reads the arguments."""
    command = container.get("command") or [""]
    return bool(_SHELL.fullmatch(command[0]))


def words(container: Container) -> list[str]:
    """The words of the command, then those of the arguments."""
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def inject(container: Container, flags: str, framework: str, *, needs_shell: bool) -> Container:
    """The container with an engine's flags.

    A Python command gets the flags at its end, and goes through a shell if the flags need one. In any other command the flags follow the
    last word that names the framework, in the first argument that starts the framework.
    """
    args = list(container.get("args") or ())
    if is_python(container):
        if needs_shell:
            return {**container, "command": ["sh", "-c"], "args": [f"exec {_shell.line(words(container))} {flags}"]}
        return {**container, "args": [*args, *flags.split()]}
    for index, argument in enumerate(args):
        changed = after_framework(argument, flags, framework)
        if changed != argument:
            return {**container, "args": [*args[:index], changed, *args[index + 1 :]]}
    return container


def after_framework(text: str, flags: str, framework: str) -> str:
    """A line for a shell with flags after the word that names the framework.

    >>> after_framework("cd /w && python3 -m dynamo.vllm --model m", "--f", "vllm")
    'cd /w && python3 -m dynamo.vllm --f --model m'
    """
    start = re.compile(rf"(python[0-9.]*\s+[^|&;]*{re.escape(framework)}[^|&;]*?)(\s|\Z|[|&;])", re.ASCII)
    return start.sub(lambda match: f"{match[1]} {flags}{match[2]}", text)


def shell(container: Container, line: str) -> Container:
    """The container running one line in a shell."""
    return {**container, "command": ["/bin/sh", "-c"], "args": [line]}


def nested(container: Container) -> str:
    """The whole command, quoted so that it runs inside the line of another shell."""
    return shlex.join(words(container))


def without_probes(container: Container) -> Container:
    """The container without probes, for a follower, which serves no requests."""
    return merge.without(container, *merge.PROBES)


def integer(text: str) -> int | None:
    """A whole number as Go reads it: an optional sign and ASCII digits, 64 bits. None if the text is no such number."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and abs(int(text)) < 2**63 else None
