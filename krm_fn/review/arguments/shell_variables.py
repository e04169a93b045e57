"""Findings about `$NAME` in a line for a shell that neither the container nor the line sets: the shell writes nothing in its place.

An image can set any variable. So a name is a mistake only next to a variable of the container that nothing reads, and in an image of
NVIDIA, as the whole value of a flag.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes, spelling
from krm_fn.review.arguments import judged_commands, word_rules
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.shell_words import Word
from krm_fn.review.arguments.worker_modes import WorkerFinding

_PART = re.compile(r"'[^']*'|\\.|\$(?:\{(?P<braced>[A-Z_][A-Z0-9_]*)\}|(?P<plain>[A-Z_][A-Z0-9_]*))", re.ASCII | re.DOTALL)
_BEFORE = re.compile(r"--[A-Za-z][\w.-]*(?:=|\s+)(?:\\\n\s*)?\"?\Z", re.ASCII)
_BEHIND = re.compile(r"\"?(?:\s|\Z)")
_SET = re.compile(r"(?<![\w$])([A-Za-z_]\w*)\+?=|(?<![\w-])(?:for|select|read(?:\s+-\w+)*|export|declare|local)\s+([A-Za-z_]\w*)", re.ASCII)
_HIDES = re.compile(r"(?:(?<=[\s;&|({])|\A)(?:source|\.|eval|mapfile|getopts|set -a|printf -v)\s")
"""Commands that can set a variable whose name the line does not show."""
_OF_SHELL = re.compile(
    r"(?:HOME|PATH|PWD|OLDPWD|HOSTNAME|USER|SHELL|TERM|UID|EUID|PPID|RANDOM|SECONDS|LINENO|IFS|LANG|OPTARG|OPTIND|REPLY|TMPDIR|PIPESTATUS"
    r"|FUNCNAME|MACHTYPE|OSTYPE|HOSTTYPE|VIRTUAL_ENV|PYTHONPATH|DYNAMO_HOME|WORKSPACE_DIR)"
    r"|(?:BASH|LC|LD|CUDA|NVIDIA|NCCL|NIXL|UCX|DYN|VLLM|SGLANG|TRTLLM|TRT|TORCH|HF|RAY|OMPI|PMIX|SLURM|KUBERNETES|POD|NODE|XDG)_\w*",
    re.ASCII,
)
"""Variables of shells, and names that images and controllers set."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LEAST_WORD = 4


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each name in the lines of main containers."""
    for judged in commands:
        known = word_rules.variables(judged.container) if judged.command.is_in_shell else None
        if known is not None:
            yield from (WorkerFinding(judged, finding) for finding in _of_line(judged, known))


def _of_line(judged: JudgedCommand, known: Collection[str]) -> Iterator[ArgumentFinding]:
    start = judged.command.start
    container: Mapping[str, Any] = judged.container.fields
    line = f"{container[start.field][start.item]}"
    if _HIDES.search(line):
        return
    assigned = {name for match in _SET.findall(line) for name in match if name}
    uses = [(match, match["braced"] or match["plain"]) for match in _PART.finditer(line) if match["braced"] or match["plain"]]
    read = {*_NAME.findall(line)}
    reported: set[str] = set()
    for match, name in uses:
        if name in assigned or name in known or name in reported or word_rules.is_added_later(name) or _OF_SHELL.fullmatch(name):
            continue
        reported.add(name)
        near = _near(name, [entry for entry in known if entry not in read])
        is_value = _BEFORE.search(line, 0, match.start()) and _BEHIND.match(line, match.end())
        if near or (is_value and judged_commands.engine_of_image(judged.container)):
            message = f"neither the container nor this line sets {name[:60]}, so the shell writes nothing in its place"
            fix = f"write ${near}" if near else f"add the variable {name[:60]}"
            word = Word(match[0], start.field, start.item, match.start())
            yield ArgumentFinding(codes.SHELL_VARIABLE_WITHOUT_VALUE, "warning", word, f"{message}; {fix}", old=match[0])


def _near(name: str, names: Collection[str]) -> str:
    """Returns the only variable that a name means: a slip, or one that shares a word with it.

    >>> _near("MODEL_DIR", ["MODEL_PATH", "PORT"]), _near("MODLE", ["MODEL"]), _near("PORT", ["HOST_PORT", "HTTP_PORT"])
    ('MODEL_PATH', 'MODEL', '')
    """
    slip = spelling.nearest(name, names)
    words = {word for word in name.split("_") if len(word) >= _LEAST_WORD}
    sharing = [other for other in names if words.intersection(other.split("_"))]
    return slip or (sharing[0] if len(sharing) == 1 else "")
