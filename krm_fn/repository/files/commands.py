"""Runs a command of a user, such as `kustomize build`, with limits for its output and its time."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from krm_fn.repository.files import reading

_MESSAGES = 64 * 1024
"""The number of bytes that are stored of stderr. Its end says what failed."""

_CHUNK = 64 * 1024
_PAUSE = 0.1
"""The longest time between two looks at an event that stops a command, in seconds."""
_OF_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""Variables of git hooks. With them, a git that the command runs would change the user's repository."""


class CommandResult(NamedTuple):
    """The output of a command. `problem` says why it failed; it is empty if the command succeeded. `slow` is true if it did not end."""

    data: bytes
    messages: str
    problem: str = ""
    slow: bool = False


class PipeListener(NamedTuple):
    """A descriptor on which the command says something, and the function that gets the bytes while the command runs."""

    descriptor: int
    hear: Callable[[bytes], None]


def split_words(text: str) -> list[str]:
    """Returns the words of a command line. No shell reads it. Raises ValueError if it has no words, or a quote without an end."""
    words = shlex.split(text)
    if not words:
        raise ValueError("the command is empty")
    return words


def run(  # noqa: PLR0913 - one for each property of a process
    command: Sequence[str],
    folder: Path,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b"",
    limit: int | None = None,
    stopped: threading.Event | None = None,
    listener: PipeListener | None = None,
) -> CommandResult:
    """Runs a command in a folder. Ends the command and its children after a time, and if it prints too much.

    `environment` replaces the environment of this process. The command reads `stdin` from a file without a name. `limit` is the most bytes
    that it may print; without it, they are those of the largest file that is read. The command is ended once `stopped` is set.
    What `listener` raises ends it, too.
    """
    inherited = os.environ if environment is None else environment
    variables = {name: value for name, value in inherited.items() if name not in _OF_REPOSITORY} | {"PWD": str(folder)}
    with contextlib.ExitStack() as stack:
        try:
            process = subprocess.Popen(
                command,
                stdin=stack.enter_context(_file(stdin)) if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=variables,
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:  # ValueError: a zero byte in a word
            reason = problem.strerror if isinstance(problem, OSError) else problem
            return CommandResult(b"", "", f"{command[0]} cannot be run: {reason}")
        stack.enter_context(process)
        try:
            return _collect_output(process, seconds, reading.LIMIT if limit is None else limit, stopped, listener)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _file(content: bytes) -> IO[bytes]:
    """A temporary file without a name, at its begin."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(content)
    file.seek(0)
    return file


def _collect_output(
    process: subprocess.Popen[bytes], seconds: float, limit: int, stopped: threading.Event | None, listener: PipeListener | None
) -> CommandResult:
    """Reads both streams until they end, or until the command must end."""
    out, err = bytearray(), bytearray()
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for stream, into in ((process.stdout, out), (process.stderr, err)):
            if stream:
                selector.register(stream, selectors.EVENT_READ, into.extend)
        if listener:
            selector.register(listener.descriptor, selectors.EVENT_READ, listener.hear)
        while len(selector.get_map()) > bool(listener):
            left = end - time.monotonic()
            if left <= 0:
                return CommandResult(b"", _text(err), f"did not end within {seconds:g} seconds", slow=True)
            if stopped and stopped.is_set():
                return CommandResult(b"", _text(err), "was stopped")
            _read_once(selector, min(left, _PAUSE) if stopped else left)
            del err[:-_MESSAGES]
            if len(out) > limit:
                return CommandResult(b"", _text(err), f"printed more than {limit // 1024**2} MiB")
    code = _code(process, end - time.monotonic())
    if code is None:
        return CommandResult(b"", _text(err), f"did not end within {seconds:g} seconds", slow=True)
    return CommandResult(bytes(out), _text(err), _ending(code))


def _read_once(selector: selectors.BaseSelector, seconds: float) -> None:
    """Passes on what the streams have; waits for the first of them. A stream that has ended is removed."""
    for key, _ in selector.select(seconds):
        data = os.read(key.fd, _CHUNK)
        key.data(data)
        if not data:
            selector.unregister(key.fileobj)


def _code(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(max(seconds, 1))
    except subprocess.TimeoutExpired:
        return None


def _ending(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code else ""


def _text(data: bytearray) -> str:
    return data.decode(errors="replace")
