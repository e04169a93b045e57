"""The real programs that tests need, at pinned versions: taken from the machine or from the cache, else built into the cache.

Not its business: what the programs are (see `programs`) and how they are built (see `golang`).

    python tools/install.py [--target tools-gitops]   # find or build all that a make target provides; else what `make tools` does
    python tools/install.py --where [--json]          # say where all are and what is missing; builds nothing
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import golang
import programs


def main() -> int:
    """Exit code 0, or 1 if a program could not be built. One that is missing and cannot be built is only named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", action="store_true", help="say where they are and what is missing; build nothing")
    parser.add_argument("--json", action="store_true", help="with --where: as a JSON object by name")
    parser.add_argument("--target", choices=sorted({program.target for program in programs.ALL}), default="tools", help="the make target")
    options = parser.parse_args()
    if options.where:
        return where(as_json=options.json)
    try:
        install(options.target)
    except golang.BuildError as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what is finished stays in the cache", file=sys.stderr)
        return 130
    return 0


def install(target: str) -> None:
    """Have every program of a make target that can be had; one line each."""
    for program in [each for each in programs.ALL if each.target == target]:
        started = time.monotonic()
        found = programs.find(program)
        if isinstance(found, programs.Found):
            say(program, found)
        elif program.folder:
            path = golang.build(program)
            print(f"{program.name} {programs.version(program)}: built in {time.monotonic() - started:.0f} s, {path}", flush=True)
        else:
            say(program, found)


def where(*, as_json: bool) -> int:
    """Print `name=path` lines on stdout and what is missing on stderr, or all of it as JSON on stdout."""
    everything = {program: programs.find(program) for program in programs.ALL}
    if as_json:
        print(json.dumps({program.name: described(program, found) for program, found in everything.items()}, indent=2))
        return 0
    for program, found in everything.items():
        if isinstance(found, programs.Found):
            print(f"{program.name}={found.path}")
        else:
            say(program, found)
    return 0


def described(program: programs.Program, found: programs.Found | programs.Missing) -> dict[str, object]:
    """A finding for `--json`; `buildable` says whether its make target could mend a missing program."""
    facts = {"version": programs.version(program), "buildable": bool(program.folder)}
    if isinstance(found, programs.Found):
        return facts | {"path": str(found.path), "version": found.version, "source": found.source}
    return facts | {"missing": reason(program, found)}


def reason(program: programs.Program, missing: programs.Missing) -> str:
    """Why a program is missing and what to do about it."""
    remedy = f"`make {program.target}` builds it" if program.folder else program.remedy
    return "; ".join([missing.reason, *missing.passed_over, remedy])


def say(program: programs.Program, found: programs.Found | programs.Missing) -> None:
    """One line about one program: on stdout where it is, on stderr that it is missing."""
    if isinstance(found, programs.Found):
        sources = {"assets": "in KUBEBUILDER_ASSETS", "path": "on PATH", "cache": "in the cache"}
        print(f"{program.name} {found.version}: {sources[found.source]}, {found.path}", flush=True)
    else:
        print(f"{program.name}: missing: {reason(program, found)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
