"""Reads command lines from stdin, one JSON list a line, and writes for each what the real parsers say, one JSON object a line.

    verdict   "accepted" or "refused"
    by        "parser", or "check" for code of the program after or between its parsers; only with "refused"
    message   the line of argparse that names the flag, or else the last line that the program prints
    options   the options that the parsers read, by their names in the code; only with "accepted"

Runs in the environment that `installation.py` makes; `engine_flags.judge` starts it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from engines import real_parsers, stand_ins


def main() -> None:
    """Judge all lines of stdin for the program that the first argument names."""
    stand_ins.install()
    program = real_parsers.RealProgram(sys.argv[1])
    for line in sys.stdin:
        outcome = program.run(json.loads(line))
        print(json.dumps(_verdict(outcome), default=str), flush=True)


def _verdict(outcome: Any) -> dict[str, Any]:
    if not outcome.accepted:
        return {"verdict": "refused", "by": outcome.by, "message": outcome.message}
    options = {name: value for call in outcome.calls for name, value in vars(call.options).items()}
    return {"verdict": "accepted", "message": outcome.message, "options": options}


if __name__ == "__main__":
    main()
