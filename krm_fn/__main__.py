"""`krm-fn`, also as `python -m krm_fn`: without arguments the KRM function, with arguments a kustomize exec plugin or a command.

The function imports only the modules that it needs, because orchestrators start it for every build.
"""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_COMPLETION = "_KRM_FN_COMPLETE"  # set by a shell that completes a command line; it starts the program without arguments
_PROGRAM = "krm-fn"
_RARE = 100_000
"""The new objects after which a command collects garbage. It makes little, and Python's default costs `explain` a fifth of its time."""


def start() -> NoReturn:
    """Runs `main` as a process of its own.

    The function ends without the interpreter's clean-up, which takes longer than to render a small list: it has flushed what it wrote, and
    leaves no thread and no file behind.
    """
    code = main()
    if "krm_fn.cli" not in sys.modules:
        os._exit(code)
    sys.exit(code)


def main() -> int:
    """Runs the function, the plugin or the command, and returns the exit code: 1 if a stream cannot be read or written."""
    if not sys.stdout:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: PTH123, SIM115 - every write fails, as in other programs
    try:
        return _run()
    except BrokenPipeError:
        return _fail("")  # the reader has left, as in `krm-fn | head`
    except OSError as problem:
        return _fail(f"{_PROGRAM}: cannot write to stdout: {problem.strerror}\n")


def _run() -> int:
    people = bool(sys.stdin and sys.stdin.isatty())
    if not people and _is_plugin():
        return _function(sys.argv[1])
    if len(sys.argv) > 1 or _COMPLETION in os.environ:
        return _command()
    return _command("--help") if people else _function()


def _is_plugin() -> bool:
    """True if kustomize started the program: its only argument is then the absolute path of a settings file. No command has such a name."""
    return len(sys.argv) == 2 and os.path.isabs(sys.argv[1]) and os.path.isfile(sys.argv[1])  # noqa: PTH113, PTH117 - pathlib costs


def _command(*arguments: str) -> int:
    import gc  # noqa: PLC0415

    gc.set_threshold(_RARE)
    from krm_fn import cli  # noqa: PLC0415 - click costs more than the function's whole start

    cli.main(arguments or None)
    return 0


def _function(settings: str = "") -> int:
    import gc  # noqa: PLC0415

    gc.disable()  # the process ends before garbage matters
    from krm_fn.base.yaml import libyaml  # noqa: PLC0415

    libyaml.use_alone()
    from krm_fn.render.krm import function  # noqa: PLC0415

    try:
        given = sys.stdin.buffer.read() if sys.stdin else b""
    except OSError as problem:
        return _fail(f"{_PROGRAM}: cannot read stdin: {problem.strerror}\n")
    streams = io.BytesIO(given), sys.stdout.buffer, sys.stderr or io.StringIO()
    try:
        if settings:
            from krm_fn.render.krm import exec_plugin  # noqa: PLC0415

            return exec_plugin.run(settings, *streams)
        return function.run(*streams)
    except KeyboardInterrupt:
        return 130


def _fail(message: str) -> int:
    """Prints a message on stderr and returns 1. Drops unwritten text of stdout, so that the interpreter prints no error on exit."""
    for stream, text in ((sys.stdout, ""), (sys.stderr, message)):
        if not stream:
            continue
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 1


if __name__ == "__main__":
    start()
