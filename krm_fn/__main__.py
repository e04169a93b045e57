"""`krm-fn`, also as `python -m krm_fn`: without arguments the KRM function, with arguments a plugin of kustomize or a command for people.

Not its business: what either of them does. What the function does not need is not imported for it, since it is started for every build.
"""

from __future__ import annotations

import io
import os
import sys

_COMPLETION = "_KRM_FN_COMPLETE"  # a shell that completes a command line asks without arguments


def main() -> int:
    """Runs what the command line asks for and returns the exit code."""
    people = bool(sys.stdin and sys.stdin.isatty())
    if not people and _is_plugin():
        return _function(sys.argv[1])
    if len(sys.argv) > 1 or _COMPLETION in os.environ:
        return _command()
    return _command("--help") if people else _function()


def _is_plugin() -> bool:
    """Whether kustomize starts an exec plugin: with the full path of a file of settings. No verb has such a name."""
    return len(sys.argv) == 2 and os.path.isabs(sys.argv[1]) and os.path.isfile(sys.argv[1])  # noqa: PTH113, PTH117 - pathlib costs


def _command(*arguments: str) -> int:
    from krm_fn import cli  # noqa: PLC0415 - click costs more than the function's whole start

    cli.main(arguments or None)
    return 0


def _function(settings: str = "") -> int:
    import gc  # noqa: PLC0415

    gc.disable()  # the process is over before garbage matters
    from krm_fn.krm import function  # noqa: PLC0415

    if not sys.stdout:
        return 1  # nobody could get the answer, and nobody may take that for success
    streams = sys.stdin.buffer if sys.stdin else io.BytesIO(), sys.stdout.buffer, sys.stderr or io.StringIO()
    try:
        if settings:
            from krm_fn.krm import exec_plugin  # noqa: PLC0415

            return exec_plugin.run(settings, *streams)
        return function.run(*streams)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it flushes
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
