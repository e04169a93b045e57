"""Reads the names of the project, `names.yaml`.

Usage: PYTHONPATH=tools python -m release.names image    # prints one name
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import yaml

FILE = Path(__file__).with_name("names.yaml")


class ProjectNames(NamedTuple):
    """The names of `names.yaml`, which has a comment for each. None of them has a scheme such as `https://`."""

    repository: str
    package: str
    image: str
    manifests: str
    chart: str
    plugin: str
    tap: str
    site: str
    security: str

    @property
    def action(self) -> str:
        """The repository as `uses:` of a workflow names it: OWNER/NAME."""
        return self.repository.partition("/")[2]


def read(text: str | None = None) -> ProjectNames:
    """Parses the names in `text`, by default in `names.yaml`. Raises TypeError for a missing or unknown name."""
    return ProjectNames(**yaml.safe_load(FILE.read_text() if text is None else text))


def main() -> int:
    """Prints one name. The exit code is 2 if it does not exist."""
    wanted, names = sys.argv[1:], read()._asdict()
    if len(wanted) != 1 or wanted[0] not in names:
        print(f"usage: python -m release.names {'|'.join(names)}", file=sys.stderr)
        return 2
    print(names[wanted[0]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
