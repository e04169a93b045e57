"""Builds all files of a release: `make release VERSION=…`.

Usage:

    PYTHONPATH=tools python -m release [--version VERSION] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release import artifacts, description, names

OUT = names.ROOT / "build" / "release"


def main() -> int:
    """Exit code 0; 1 if the release cannot be built, with the reason on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="", help="the version, which must be that of the clone")
    parser.add_argument("--out", type=Path, default=OUT, help="an empty or missing folder; the default is build/release")
    options = parser.parse_args()
    try:
        release = description.describe(version=options.version)
        description.require_commit(release.root)
        files = artifacts.build(release, options.out)
    except description.ReleaseError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    for file in files:
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
