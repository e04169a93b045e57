"""Runs kustomize and kpt so that the only other program they can start is krm-fn.

Both get a private PATH, a private home, and a plugin folder of kustomize, which hold krm-fn alone. Without git, helm and a container engine
on the PATH, they cannot fetch remote bases, render charts or start containers.
"""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import krm_fn
from krm_fn.render.schema import table
from krm_fn.repository import function_calls, installation
from krm_fn.repository.files import commands
from krm_fn.repository.files.commands import CommandResult
from krm_fn.repository.function_calls import FunctionCalls

_STUBS = ("git",)
"""kpt ends if it does not find these programs, although a render does not need them."""
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from krm_fn.__main__ import start; start()"
_RENDER, _PASS, _CALL = "plugins", "plugins-without-render", "plugins-with-calls"
_CALL_FOLDER = "KRM_FN_CALLS"
_CALL_SCRIPT = """\
/bin/cat > "$KRM_FN_CALLS/{items}"
printf '%s\\n' "$1" > "$KRM_FN_CALLS/{calls}"
read -r answer < "$KRM_FN_CALLS/{answers}"
[ "$answer" = {answered} ] || exit 1
exec /bin/cat "$KRM_FN_CALLS/{output}\""""
"""A plugin that asks the process that runs kustomize for its output."""
_UNCHANGED_SCRIPT = 'items=$(/bin/cat); if [ -n "$items" ]; then printf "%s\\n" "$items"; else /bin/cat "$1"; fi'
"""A plugin that returns the resources that it gets. A generator gets none, and returns its own settings."""
_GO_VARIABLES = {"GOGC": "400", "GOMAXPROCS": "1"}
"""Programs in Go run one a core (`krm_fn.repository.side_by_side`) and end soon: a collector that starts less often saves a third."""
_DEAD_PROXY = "http://127.0.0.1:9"
"""The discard port. A program that tries to reach the network fails at once."""


class Programs(NamedTuple):
    """A folder with the private programs, and the seconds after which a program is killed."""

    folder: Path
    seconds: int

    def run(
        self,
        command: Sequence[str],
        at: Path,
        *,
        renders: bool = True,
        stopped: threading.Event | None = None,
        calls: FunctionCalls | None = None,
    ) -> CommandResult:
        """Runs kustomize, kubectl or kpt in a folder of the copy. Unless it `renders`, krm-fn passes resources through unchanged.

        The program is ended once `stopped` is set. With `calls`, they answer in place of krm-fn.
        """
        plugins = _CALL if calls else _RENDER if renders else _PASS
        environment = {
            "PATH": str(self.folder / "bin"),
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "KUSTOMIZE_PLUGIN_HOME": str(self.folder / plugins),
            **({_CALL_FOLDER: str(calls.folder)} if calls else {}),
            **_GO_VARIABLES,
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _DEAD_PROXY),
        }
        listener = calls.listener() if calls else None
        return commands.run(command, at, self.seconds, environment, stopped=stopped, listener=listener)


def create(folder: Path, seconds: int) -> Programs:
    """Writes the private programs into an empty folder."""
    for name in ("bin", "home", "tmp"):
        (folder / name).mkdir(parents=True)
    start = shlex.join([*installation.interpreter(), "-I", "-c", _START, str(Path(krm_fn.__file__).parents[1])])
    for plugin in _plugins():
        _script(folder / _RENDER / plugin, f'exec {start} "$1"')
        _script(folder / _PASS / plugin, _UNCHANGED_SCRIPT)
        _script(folder / _CALL / plugin, _CALL_SCRIPT.format(**function_calls.NAMES))
    _script(folder / "bin" / "krm-fn", f"exec {start}")
    for name in _STUBS:
        _script(folder / "bin" / name, "exit 1")
    return Programs(folder, seconds)


def _script(path: Path, line: str) -> None:
    """Writes a program. krm-fn gets no arguments of the repository: with arguments, it is not a function but a command."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def _plugins() -> Iterator[str]:
    """Yields the path of the plugin of each kind that can configure krm-fn, as `kustomize` searches for it."""
    yield "v1/configmap/ConfigMap"
    for kind, versions in table.load().kinds.items():
        yield from (f"{version}/{kind.lower()}/{kind}" for version in versions)


def find(name: str) -> str:
    """Returns the path of a program of the user; empty if it is not installed.

    Folders that are relative to the working directory are left out: their content is the repository's.
    """
    return shutil.which(name, path=search_path()) or ""


def search_path() -> str:
    """Returns the PATH of the user without folders that are relative to the working directory."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if os.path.isabs(folder))  # noqa: PTH117
