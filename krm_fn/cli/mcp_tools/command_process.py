"""Runs a command of krm-fn in a confined process of its own, and returns its report.

A process is needed because commands change signal handlers and the standard streams, and because a call must end after a time. It is forked
from a process that has imported the commands (`multiprocessing` calls it the fork server), which takes ten milliseconds.
"""

from __future__ import annotations

import gc
import io
import json
import multiprocessing
import os
import re
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn import cli
from krm_fn.cli.mcp_tools import confinement, result_limits
from krm_fn.cli.mcp_tools.allowed_paths import ToolError

_PRELOADED = [f"krm_fn.cli.{verb}_command" for verb in ("check", "diff", "explain", "needs", "render", "upgrade")]
_LONGEST_MESSAGES = 4_000
_PATIENCE = 5
"""The seconds in which a process removes its copies after its time limit."""
_RARE_COLLECTIONS = 100_000
_ERROR = re.compile(r"^Error: (.*)", re.MULTILINE | re.DOTALL)
_USAGE = 2


class CommandCall(NamedTuple):
    """A command below a root: its words, the paths that it reads, and the text that it gets on stdin.

    With `file`, the text is a file with this name in an empty folder, in which the command runs.
    """

    root: Path
    words: tuple[str, ...]
    paths: tuple[str, ...] = ()
    text: str | None = None
    file: str = ""


class CommandReport(NamedTuple):
    """The exit code of a command, its report, and its messages. The report is JSON, or a text such as a patch."""

    code: int
    report: dict[str, Any] | str
    messages: str


def run(call: CommandCall) -> CommandReport:
    """Runs a command in a new process. Raises ToolError if it does not answer within a time, or prints no report."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with tempfile.TemporaryDirectory(prefix="krm-fn-mcp-", ignore_cleanup_errors=True) as temporary:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_answer, args=(sender, call, temporary), daemon=True)
        process.start()
        sender.close()
        try:
            if not receiver.poll(result_limits.SECONDS):
                raise ToolError(f"the call did not end within {result_limits.SECONDS} seconds; name fewer paths")
            answer = receiver.recv()
        except EOFError:
            raise ToolError("the process of the call ended without an answer; name fewer paths") from None
        finally:
            receiver.close()
            _end(process)
    if isinstance(answer, ToolError):
        raise answer
    return CommandReport(*answer)


def _end(process: multiprocessing.process.BaseProcess) -> None:
    """Waits for a process, and ends it if it still runs."""
    process.join(_PATIENCE if process.exitcode is not None else 0.2)
    if process.exitcode is None:
        process.terminate()
        process.join(_PATIENCE)
    if process.exitcode is None:
        process.kill()
        process.join()
    process.close()


def _answer(sender: Connection, call: CommandCall, temporary: str) -> None:
    """Sends the report of a command, or the ToolError: the whole work of the process."""
    gc.set_threshold(_RARE_COLLECTIONS)
    try:
        sender.send(tuple(_run_confined(call, Path(temporary))))
    except ToolError as problem:
        sender.send(problem)


def _run_confined(call: CommandCall, temporary: Path) -> CommandReport:
    tempfile.tempdir = str(temporary)
    os.environ["TMPDIR"] = str(temporary)
    sys.dont_write_bytecode = True
    os.chdir(call.root)
    result_limits.require_few_files([*call.paths])
    text = (call.text or "").encode(errors="backslashreplace")
    if call.file:
        folder = temporary / "text"
        folder.mkdir()
        (folder / call.file).write_bytes(text)
        os.chdir(folder)
    confinement.confine(call.root, temporary)
    code, out, err = _capture_output(call.words, b"" if call.file else text)
    messages = err[:_LONGEST_MESSAGES] + ("\n..." if len(err) > _LONGEST_MESSAGES else "")
    if code == _USAGE and (problem := _ERROR.search(messages)):
        raise ToolError(problem[1].strip())
    if code and not out:
        raise ToolError(messages.strip() or f"the command ended with exit code {code} and printed no report")
    return CommandReport(code, _read(out), messages)


def _capture_output(words: tuple[str, ...], given: bytes) -> tuple[int, str, str]:
    """Runs a command. Returns its exit code, and what it wrote to stdout and stderr."""
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    sys.stdout, sys.stderr = io.TextIOWrapper(out, write_through=True), io.TextIOWrapper(err, write_through=True)
    try:
        cli.main(words)
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    return code, out.getvalue().decode(errors="replace"), err.getvalue().decode(errors="replace")


def _read(out: str) -> dict[str, Any] | str:
    """Returns a report in JSON, shortened, or any other output as text. Raises ToolError for a text that is too long."""
    if out.startswith("{"):
        content: dict[str, Any] = json.loads(out)
        return result_limits.shorten_report(content)
    if len(out) > result_limits.LONGEST_RESULT:
        raise ToolError(f"the result is longer than {result_limits.LONGEST_RESULT} characters; name fewer paths, or one graph")
    return out
