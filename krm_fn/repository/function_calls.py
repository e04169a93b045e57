"""Answers krm-fn in kustomize from this process, so that a build starts no other Python.

The plugin of kustomize is a script. It writes what kustomize gives it into a file, names its settings on a pipe, and waits on another pipe.
This process then renders, and the script prints the output. If there is no output, because of an error, the script fails, and so does the
build: the caller then builds with krm-fn as a program, so the messages are those of the pipeline.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from krm_fn.base import results
from krm_fn.base.yaml import emitter
from krm_fn.kubernetes.types import Resource
from krm_fn.render.krm import exec_plugin
from krm_fn.repository.files import short_objects
from krm_fn.repository.files.commands import PipeListener

_ITEMS, _OUTPUT, _CALLS, _ANSWERS, _ANSWERED = "items", "output", "calls", "answers", "answered"
NAMES = {"items": _ITEMS, "output": _OUTPUT, "calls": _CALLS, "answers": _ANSWERS, "answered": _ANSWERED}
"""The names of the files and pipes of a call, and the word that says that there is an output."""
_UNANSWERED = "failed"
InReader = Callable[[Callable[[], bytes | None]], bytes | None]


@contextlib.contextmanager
def open_calls(folder: Path, in_reader: InReader, *, shortens: bool) -> Iterator[FunctionCalls]:
    """Answers the calls of a build until its end. Its files are in a new folder inside of `folder`, and are removed."""
    with tempfile.TemporaryDirectory(prefix="calls-", dir=folder) as inside:
        calls = FunctionCalls(Path(inside), in_reader, shortens=shortens)
        try:
            yield calls
        finally:
            calls.close()


class FunctionCalls:
    """The calls of krm-fn in one build. kustomize makes them one after another.

    `shortens`: kustomize gets only the metadata of rendered objects where nothing can change the rest of them. `rest` has the rest.
    `in_reader` calls a function in the thread that reads the builds.
    """

    def __init__(self, folder: Path, in_reader: InReader, *, shortens: bool) -> None:
        self.folder, self.rest = folder, dict[str, Resource]()
        self._in_reader, self._shortens = in_reader, shortens
        self._text = b""
        self._descriptors = []
        for name in (_CALLS, _ANSWERS):
            os.mkfifo(folder / name, 0o600)
            self._descriptors.append(os.open(folder / name, os.O_RDWR))  # both ends: an open then never waits for the script

    def close(self) -> None:
        """Closes the pipes."""
        for descriptor in self._descriptors:
            os.close(descriptor)

    def listener(self) -> PipeListener:
        """Returns what answers the calls while kustomize runs."""
        return PipeListener(self._descriptors[0], self._hear)

    def _hear(self, data: bytes) -> None:
        self._text += data
        while b"\n" in self._text:
            settings, _, self._text = self._text.partition(b"\n")
            output = self._in_reader(lambda: self._answer(os.fsdecode(settings)))  # noqa: B023 - called before the next turn
            if output is not None:
                (self.folder / _OUTPUT).write_bytes(output)
            os.write(self._descriptors[1], f"{_UNANSWERED if output is None else _ANSWERED}\n".encode())

    def _answer(self, settings: str) -> bytes | None:
        """Returns the output of the function for the items of a call; None if the function fails."""
        try:
            items, rendered, findings = exec_plugin.expand_documents(settings, (self.folder / _ITEMS).read_bytes())
            if results.has_errors(findings):
                return None
            shown = short_objects.shorten(items, rendered, self.rest) if self._shortens else rendered
            return "---\n".join(map(emitter.YAMLWriter().text, shown)).encode()
        except Exception:  # noqa: BLE001 - the program reports it
            return None
