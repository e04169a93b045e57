"""Finds new releases of Dynamo, and compares the wheels of two of them. Needs the network.

Usage, in the folder of the repository:

    PYTHONPATH=tools python -m upstream                # ask PyPI, the chart index and the documentation index for new releases
    PYTHONPATH=tools python -m upstream diff A B       # compare the wheels of two versions: flags, variables, rights, models, templates
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys

import progress

from krm_fn.render.resolve import release_choice
from upstream import sensors, wheel_facts


def main() -> int:
    """Exit code 0; 1 if a release is missing, if the sensors are silent, or if a wheel cannot be installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    diff = commands.add_parser("diff", help="compare the wheels ai-dynamo and ai-dynamo-runtime of two versions")
    diff.add_argument("versions", nargs=2, metavar="VERSION")
    options = parser.parse_args()
    if options.command == "diff":
        return _diff(*options.versions)
    return _ask()


def _ask() -> int:
    readings = [sensors.reading(sensor) for sensor in sensors.SENSORS]
    judgement = sensors.judged(readings, list(release_choice.RELEASES), dt.datetime.now(dt.UTC).date())
    print("\n".join([*map(sensors.line, readings), *judgement.lines]))
    return 1 if judgement.failed else 0


def _diff(before: str, after: str) -> int:
    try:
        facts = [wheel_facts.installed(version) for version in (before, after)]
    except progress.BuildError as failure:
        print(failure, file=sys.stderr)
        return 1
    print("\n".join(wheel_facts.differences(*facts)) or f"{before} and {after} do not differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
