"""Reads command lines from stdin, one JSON list a line, and writes for each what the real parsers say, one JSON object a line.

    verdict   "accepted" or "refused"
    by        "parser", "check" for code of the program after or between its parsers, or "reader" for its reader of a JSON document or of a
              number; only with "refused"
    message   the lines of argparse from the one that names the flag, or else the last line that the program prints
    options   the options that the parsers read, by their names in the code; only with "accepted"

Runs in the environment that `installation.py` makes; `engine_flags.judge` starts it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from engines import json_readers, measured_ranges, real_parsers, stand_ins


def main() -> None:
    """Judge all lines of stdin for the program that the first argument names."""
    stand_ins.install()
    program = real_parsers.RealProgram(sys.argv[1])
    readers = {flag: reader for flag, reader in json_readers.readers(program).items() if reader.is_after}
    ranges = measured_ranges.ranges(program)
    for line in sys.stdin:
        outcome = program.run(json.loads(line))
        with program.quiet():
            refusal = _refusal(outcome, readers) or _refused_number(outcome, ranges)
        print(json.dumps(_verdict(outcome, refusal), default=str), flush=True)


def _refusal(outcome: Any, readers: dict[str, json_readers.Reader]) -> str:
    """What a reader refuses that the program calls after its parsers; empty without a refusal."""
    for flag, reader in readers.items() if outcome.accepted and not outcome.message else ():
        for call in outcome.calls:
            action = call.parser._option_string_actions.get(flag)
            value = getattr(call.options, action.dest, None) if action else None
            if value is None or value == action.default:
                continue
            for refusal in reader.refusals(value if isinstance(value, str) else json.dumps(value)):
                if refusal.path or reader.is_whole:
                    return f"argument {flag}: {'.'.join(map(str, refusal.path or ()))}: {refusal.message} [type={refusal.kind}]"
    return ""


def _refused_number(outcome: Any, ranges: dict[str, measured_ranges.Range]) -> str:
    """The number that a program refuses after its parsers; empty without one."""
    for call in outcome.calls if outcome.accepted and not outcome.message else ():
        for action in call.parser._actions:
            value = getattr(call.options, action.dest, None)
            is_number = action.dest in ranges and value != action.default and isinstance(value, int | float)
            if is_number and (message := ranges[action.dest].refusal(value)):
                return f"argument {action.option_strings[-1]}: {message}"
    return ""


def _verdict(outcome: Any, refusal: str) -> dict[str, Any]:
    if refusal:
        return {"verdict": "refused", "by": "reader", "message": refusal}
    if not outcome.accepted:
        return {"verdict": "refused", "by": outcome.by, "message": outcome.message}
    options = {name: value for call in outcome.calls for name, value in vars(call.options).items()}
    return {"verdict": "accepted", "message": outcome.message, "options": options}


if __name__ == "__main__":
    main()
