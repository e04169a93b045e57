"""What becomes of a container's command when it starts: Kubernetes puts variables into its words, then it runs.

The programs it calls are stand-ins here, which note how they were called.

Not its business: what the engines do. A stand-in that launches another program (`mpirun`, `trtllm-llmapi-launch`) launches it.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from krm_fn.kube.types import Container

_REFERENCE = re.compile(r"\$(?:(\$)|\(([^)]*)\))")
_NOTE = """printf '%s\\0' "${{0##*/}}" "$#" "$@" >>"{log}"
{launch}"""
_LAUNCH = {"mpirun": 'shift $(($# - 3)); exec "$@"', "trtllm-llmapi-launch": 'exec "$@"'}


class Start(NamedTuple):
    """How a container's program ended, and the stand-ins it called, each with its arguments."""

    code: int
    calls: list[list[str]]
    said: str

    def words(self, program: str) -> list[str]:
        """The arguments of the one call of a program."""
        (call,) = [call for call in self.calls if call[0] == program]
        return call[1:]


def stand_ins(folder: Path, names: Iterable[str], **scripts: str) -> Path:
    """A folder for PATH with programs of these names that note their arguments; `scripts` are shell scripts of other ones."""
    folder.mkdir(exist_ok=True)
    notes = {name: _NOTE.format(log=folder / "calls", launch=_LAUNCH.get(name, "")) for name in names}
    for name, script in {**notes, **scripts}.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def start(container: Container, programs: Path, variables: Mapping[str, str], places: Mapping[str, Path] | None = None) -> Start:
    """Run a container's command; `places` say what is to be found where its text has an absolute path."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    for name, place in (places or {}).items():
        words = [word.replace(name, str(place)) for word in words]
    words = [expanded(word, variables) for word in words]
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    ran = subprocess.run(
        words, env={"PATH": path, "HOME": str(programs), **variables}, cwd=programs, capture_output=True, text=True, check=False, timeout=60
    )
    return Start(ran.returncode, _calls(programs / "calls"), ran.stdout + ran.stderr)


def _calls(log: Path) -> list[list[str]]:
    """Each call stands there as its name, the number of its arguments, and these."""
    noted = iter(log.read_text().split("\0")[:-1] if log.exists() else ())
    return [[name, *(next(noted) for _ in range(int(next(noted))))] for name in noted]


def expanded(word: str, variables: Mapping[str, str]) -> str:
    """A word of a command as Kubernetes hands it to the container runtime.

    `$(NAME)` is replaced where the container has the variable and stays otherwise, `$$` is a dollar sign; whatever stands between `$(` and
    the next `)` is a name (Kubernetes API reference, Container `command`; `third_party/forked/golang/expansion`).

    >>> expanded("$(A) $(B) $$(A) $((A + 1)) $(( 2 * $(A) ))", {"A": "7"})
    '7 $(B) $(A) $((A + 1)) $(( 2 * $(A) ))'
    """
    return _REFERENCE.sub(lambda match: "$" if match[1] else variables.get(match[2], match[0]), word)


def environment(container: Container, **variables: str) -> dict[str, Any]:
    """The variables with a value of their own, those of the carrier first."""
    return {**variables, **{entry["name"]: entry["value"] for entry in container.get("env") or () if entry.get("value")}}
