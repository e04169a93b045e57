"""Runs the command of a container: expands `$(NAME)` as Kubernetes does, then starts the result.

Stand-ins replace the programs that the command calls, and record their arguments. The stand-ins of `mpirun` and
`trtllm-llmapi-launch` start the program that they are given.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from krm_fn.kubernetes.native_types import Container

_REFERENCE = re.compile(r"\$(?:(\$)|\(([^)]*)\))")
_NOTE = """printf '%s\\0' "${{0##*/}}" "$#" "$@" >>"{log}"
{launch}"""
# The launcher of TensorRT-LLM runs its words as a command of a shell, which may also be `exec`.
_LAUNCH = {"mpirun": 'shift $(($# - 3)); exec "$@"', "trtllm-llmapi-launch": '"$@"'}


class Start(NamedTuple):
    """Exit code and output of a container's command, and its calls of stand-ins: name and arguments of each."""

    code: int
    calls: list[list[str]]
    said: str

    def words(self, program: str) -> list[str]:
        """The arguments of a program that was called once."""
        (call,) = [call for call in self.calls if call[0] == program]
        return call[1:]


def stand_ins(folder: Path, names: Iterable[str], **scripts: str) -> Path:
    """A folder for PATH with stand-ins that record their arguments. `scripts` adds other programs: shell scripts by name."""
    folder.mkdir(exist_ok=True)
    notes = {name: _NOTE.format(log=folder / "calls", launch=_LAUNCH.get(name, "")) for name in names}
    for name, script in {**notes, **scripts}.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def start(
    container: Container, programs: Path, variables: Mapping[str, str], places: Mapping[str, Path] | None = None, *, seconds: int = 300
) -> Start:
    """Run a container's command with the variables of the container and of the cluster.

    `places` maps absolute paths in the text of the command to the files to use in their place.
    """
    own: dict[str, str] = {}
    for entry in container.get("env") or ():
        if "value" in entry:
            own[entry["name"]] = expanded(entry["value"], {**own, **variables})
    variables = {**own, **variables}
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    for name, place in (places or {}).items():
        words = [word.replace(name, str(place)) for word in words]
    words = [expanded(word, variables) for word in words]
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    ran = subprocess.run(
        words,
        env={"PATH": path, "HOME": str(programs), **variables},
        cwd=programs,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    return Start(ran.returncode, _calls(programs / "calls"), ran.stdout + ran.stderr)


def _calls(log: Path) -> list[list[str]]:
    """Parse the log: each call is its name, the number of its arguments, and the arguments."""
    noted = iter(log.read_text().split("\0")[:-1] if log.exists() else ())
    return [[name, *(next(noted) for _ in range(int(next(noted))))] for name in noted]


def expanded(word: str, variables: Mapping[str, str]) -> str:
    """An argument of a command as Kubernetes passes it to the container runtime.

    `$(NAME)` is replaced if the container has the variable, and kept otherwise. `$$` becomes a dollar sign. All text between `$(` and the
    next `)` is the name (Kubernetes API reference, Container `command`; `third_party/forked/golang/expansion`).

    >>> expanded("$(A) $(B) $$(A) $((A + 1)) $(( 2 * $(A) ))", {"A": "7"})
    '7 $(B) $(A) $((A + 1)) $(( 2 * $(A) ))'
    """
    return _REFERENCE.sub(lambda match: "$" if match[1] else variables.get(match[2], match[0]), word)


def environment(container: Container, **variables: str) -> dict[str, Any]:
    """The variables of a container that have a `value`, and `variables`, which the workload kind sets."""
    return {**variables, **{entry["name"]: entry["value"] for entry in container.get("env") or () if entry.get("value")}}
