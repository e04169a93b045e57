"""`krm-fn`, also as `python -m krm_fn`: without arguments the KRM function, with arguments the commands people type.

Not its business: what either of them does. What the function does not need is not imported for it, since it is started for every build.
"""

from __future__ import annotations

import io
import os
import sys

_COMPLETION = "_KRM_FN_COMPLETE"  # a shell that completes a command line asks without arguments


def main() -> int:
    """Runs what the command line asks for and returns the exit code."""
    if len(sys.argv) > 1 or _COMPLETION in os.environ:
        return _command()
    if sys.stdin and sys.stdin.isatty():
        return _command("--help")
    return _function()


def _command(*arguments: str) -> int:
    from krm_fn import cli  # noqa: PLC0415 - click costs more than the function's whole start

    cli.main(arguments or None)
    return 0


def _function() -> int:
    import gc  # noqa: PLC0415

    gc.disable()  # the process is over before garbage matters
    from krm_fn import function  # noqa: PLC0415

    if not sys.stdout:
        return 1  # nobody could get the answer, and nobody may take that for success
    stdin = sys.stdin.buffer if sys.stdin else io.BytesIO()
    try:
        return function.run(stdin, sys.stdout.buffer, sys.stderr or io.StringIO())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it flushes
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
