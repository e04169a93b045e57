"""Writes the tables of flags, `krm_fn/review/arguments/tables/PROGRAM.json`, from the argument parsers in NVIDIA's and the engines' wheels.

Usage:

    python tools/engine_flags.py                      # install what is missing into the user's cache, and write all tables
    python tools/engine_flags.py --install            # install all releases only: 5 GB are downloaded, 4 GB stay
    python tools/engine_flags.py --install 1.5.1      # install some releases only
    python tools/engine_flags.py --judge 1.5.1 dynamo.vllm   # judge command lines: one JSON list a line on stdin
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import progress
from engines import installation, table_writer

if TYPE_CHECKING:
    from collections.abc import Iterable

PROGRAMS = ("dynamo.frontend", "dynamo.mocker", "dynamo.planner", "dynamo.router", "dynamo.sglang", "dynamo.trtllm", "dynamo.vllm")


def main() -> int:
    """Exit code 0, or 1 if an installation or a measurement failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", nargs="*", metavar="RELEASE", help="install these releases only, by default all, and write no table")
    parser.add_argument("--judge", nargs=2, metavar=("RELEASE", "PROGRAM"), help="judge the command lines on stdin with the real parsers")
    options = parser.parse_args()
    try:
        if options.install is not None:
            _install(options.install or [*installation.releases()])
        elif options.judge:
            release, program = options.judge
            for verdict in judge(release, program, [json.loads(line) for line in sys.stdin]):
                print(json.dumps(verdict))
        else:
            _write_all()
    except progress.BuildError as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; finished packages stay in the cache", file=sys.stderr)
        return 130
    return 0


def judge(release: str, program: str, command_lines: Iterable[list[str]]) -> list[dict[str, Any]]:
    """What the real parsers of a program say about command lines, the words after `python3 -m PROGRAM`. One process judges all of them.

    `tools/engines/judge.py` describes a verdict. Raises BuildError if the parsers cannot be imported, or if the cache lacks their release.
    """
    lines = [json.dumps(line) for line in command_lines]
    verdicts = [json.loads(line) for line in _output(release, "judge", program, "".join(f"{line}\n" for line in lines))]
    if len(verdicts) != len(lines):
        raise progress.BuildError(f"{program} {release}: {len(verdicts)} verdicts for {len(lines)} command lines")
    return verdicts


def measure(release: str, program: str) -> dict[str, Any]:
    """The parser and the flags of a program of a release. Raises BuildError if it cannot be imported."""
    return json.loads(_output(release, "measured_flags", program)[-1])  # type: ignore[no-any-return]


def _output(release: str, module: str, program: str, words: str = "") -> list[str]:
    if not installation.find(release):
        raise progress.BuildError(f"ai-dynamo {release} is not in the cache; {installation.REMEDY}")
    process = installation.command(release, module, program)
    output, errors = process.communicate(words)
    if process.returncode:
        raise progress.BuildError(f"{program} {release}: exit code {process.returncode}\n" + "\n".join(errors.splitlines()[-20:]))
    return [line for line in output.splitlines() if line.startswith("{")]


def _install(releases: list[str]) -> None:
    for release in releases:
        started = time.monotonic()
        new = not installation.find(release)
        installation.install(release)
        print(f"ai-dynamo {release}: {f'installed in {time.monotonic() - started:.0f} s' if new else 'in the cache'}", flush=True)


def _write_all() -> None:
    releases = list(installation.releases())
    _install(releases)
    with ThreadPoolExecutor(2) as threads:
        for program in PROGRAMS:
            measured = threads.map(measure, releases, itertools.repeat(program))
            print(f"{program}: {table_writer.write(program, dict(zip(releases, measured, strict=True)))}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
