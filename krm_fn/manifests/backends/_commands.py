"""How an engine's flags get into a command line somebody else wrote.

Not its business: which flags. Follows the reference's `internal/dynamo/utils.go` (injectFlagsIntoContainerCommand) and
`backend_sglang.go` isPythonCommand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import merge

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import RolePlan
    from krm_fn.results import Path, Result

_PYTHON = re.compile(r"(.*/)?(python\d*(\.\d+)*)", re.ASCII)
_SHELL = re.compile(r"(.*/)?(ba|da|z)?sh")
_READ_OTHERWISE = re.compile(r"""[\s"'\\`;&|<>]""")
_REFERENCE = re.compile(r"\$\(\w+\)", re.ASCII)


def is_python(container: Container) -> bool:
    """Whether the container starts Python without a shell.

    >>> is_python({"command": ["/usr/bin/python3.11", "-m", "x"]}), is_python({"command": ["/bin/sh", "-c"]})
    (True, False)
    """
    command = container.get("command") or [""]
    return bool(_PYTHON.fullmatch(command[0]))


def is_shell(container: Container) -> bool:
    """Whether a shell reads the arguments."""
    command = container.get("command") or [""]
    return bool(_SHELL.fullmatch(command[0]))


def words(container: Container) -> str:
    """Command and arguments as one line, without quotes, as the reference joins them."""
    return " ".join([*(container.get("command") or ()), *(container.get("args") or ())])


def inject(container: Container, flags: str, framework: str, *, needs_shell: bool) -> Container:
    """The container with an engine's flags.

    A Python command gets them at its end, behind a shell where they need one; in anything else they follow the last word that names the
    framework, in the first argument that starts it.
    """
    args = list(container.get("args") or ())
    if is_python(container):
        if needs_shell:
            return {**container, "command": ["sh", "-c"], "args": [f"exec {words(container)} {flags}"]}
        return {**container, "args": [*args, *flags.split()]}
    for index, argument in enumerate(args):
        changed = after_framework(argument, flags, framework)
        if changed != argument:
            return {**container, "args": [*args[:index], changed, *args[index + 1 :]]}
    return container


def after_framework(text: str, flags: str, framework: str) -> str:
    """A shell text with flags behind the word that names the framework.

    >>> after_framework("cd /w && python3 -m dynamo.vllm --model m", "--f", "vllm")
    'cd /w && python3 -m dynamo.vllm --f --model m'
    """
    start = re.compile(rf"(python[0-9.]*\s+[^|&;]*{re.escape(framework)}[^|&;]*?)(\s|\Z|[|&;])", re.ASCII)
    return start.sub(lambda match: f"{match[1]} {flags}{match[2]}", text)


def shell(container: Container, line: str) -> Container:
    """The container running one line in a shell."""
    return {**container, "command": ["/bin/sh", "-c"], "args": [line]}


def nested(container: Container) -> str:
    """A shell's own call inside another shell, quoted so that it runs."""
    command, args = container.get("command") or (), container.get("args") or ()
    return " ".join([*command, *(quote(argument) for argument in args)])


def is_reference(text: str) -> bool:
    """Whether Kubernetes, rather than a shell, puts a value here. Inside a shell's own `$((…))` it does not.

    >>> is_reference("$(LWS_WORKER_INDEX)"), is_reference("$((GROVE_PCLQ_POD_INDEX + 1))")
    (True, False)
    """
    return bool(_REFERENCE.fullmatch(text))


def check_quotes(container: Container, role: RolePlan) -> Iterator[Result]:
    """Words of a Python command that a shell, once the command goes through one, reads otherwise.

    The reference joins words without quotes, and pods stay as it makes them. A whole command line in one word is meant for a shell.
    """
    if not is_python(container):
        return
    plan = role.component
    path: Path = (*plan.path, "extraPodSpec", "mainContainer")
    for field in ("command", "args"):
        for index, word in enumerate(container.get(field) or ()):
            if _READ_OTHERWISE.search(word) and "dynamo." not in word:
                message = (
                    f"on several nodes the {role.role} starts through a shell, which takes quotes and blanks of this word for its own; "
                    "write command: [/bin/sh, -c], and under args one line for a shell, with this word in quotes"
                )
                yield results.warning("DYN166", message, plan.ref, (*path, field, index))


def without_probes(container: Container) -> Container:
    """The container without any probe: a follower that serves nothing."""
    return {key: value for key, value in container.items() if key not in merge.PROBES}


def integer(text: str) -> int | None:
    """A whole number as Go reads it: an optional sign and ASCII digits, 64 bits."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and abs(int(text)) < 2**63 else None
