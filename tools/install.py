"""Finds the real programs that tests need, in pinned versions, on the machine or in the cache; otherwise builds them into the cache.

Programs of Debian's packages, such as graphviz's dot, are installed by apt if the user is root.

Usage:

    python tools/install.py [--target tools-gitops]   # find or build the programs of a make target; the default is `tools`
    python tools/install.py --where [--json]          # print the paths, and the missing programs; build nothing
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import debian
import golang
import programs
import progress


def main() -> int:
    """Exit code 0, or 1 if a build failed. A missing program that cannot be built is only reported."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", action="store_true", help="print the paths, and the missing programs; build nothing")
    parser.add_argument("--json", action="store_true", help="with --where: print a JSON object by name")
    parser.add_argument("--target", choices=sorted({program.target for program in programs.ALL}), default="tools", help="a make target")
    options = parser.parse_args()
    if options.where:
        return where(as_json=options.json)
    try:
        install(options.target)
    except progress.BuildError as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; finished programs stay in the cache", file=sys.stderr)
        return 130
    return 0


def install(target: str) -> None:
    """Find or build every program of a make target. Prints one line for each."""
    for program in [each for each in programs.ALL if each.target == target]:
        started = time.monotonic()
        found = programs.find(program)
        if isinstance(found, programs.Missing) and program.debian and debian.can_install() and debian.install([program.debian]):
            found = programs.find(program)
        if isinstance(found, programs.Found):
            say(program, found)
        elif program.folder:
            path = golang.build(program)
            print(f"{program.name} {programs.version(program)}: built in {time.monotonic() - started:.0f} s, {path}", flush=True)
        else:
            say(program, found)


def where(*, as_json: bool) -> int:
    """Print `name=path` lines on stdout and missing programs on stderr; with `as_json`, print all as JSON on stdout."""
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
    """A program's entry for `--json`. `provided` is true if its make target can build or install it here."""
    provided = bool(program.folder) or (bool(program.debian) and debian.can_install())
    facts = {"version": programs.version(program), "provided": provided}
    if isinstance(found, programs.Found):
        return facts | {"path": str(found.path), "version": found.version, "source": found.source}
    return facts | {"missing": reason(program, found)}


def reason(program: programs.Program, missing: programs.Missing) -> str:
    """The reason why a program is missing, and the remedy."""
    remedy = program.remedy
    if program.folder:
        remedy = f"`make {program.target}` builds it"
    elif program.debian:
        remedy = f"install Debian's {program.debian}, or as root `make {program.target}` does"
    return "; ".join([missing.reason, *missing.passed_over, remedy])


def say(program: programs.Program, found: programs.Found | programs.Missing) -> None:
    """Print one line about a program: its path on stdout, or on stderr that it is missing."""
    if isinstance(found, programs.Found):
        sources = {"assets": "in KUBEBUILDER_ASSETS", "path": "on PATH", "cache": "in the cache"}
        print(f"{program.name} {found.version}: {sources[found.source]}, {found.path}", flush=True)
    else:
        print(f"{program.name}: missing: {reason(program, found)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
