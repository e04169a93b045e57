"""Reads the sections of `CHANGELOG.md`, which follows Keep a Changelog 1.1.0.

Usage: PYTHONPATH=tools python -m release.changelog 0.2.0    # prints the notes of a version, for its release on GitHub
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).resolve().parents[2] / "CHANGELOG.md"

_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?:(?P<date>\d{4}-\d{2}-\d{2})|unreleased))?$", re.MULTILINE)
_LINK = re.compile(r"^\[[^\]]+\]: \S+$", re.MULTILINE)


class ChangelogSection(NamedTuple):
    """The notes of one version. `date` is empty if the version is not released."""

    version: str
    date: str
    notes: str


def sections(text: str) -> list[ChangelogSection]:
    """Returns the sections, newest first, without the links at the end of the file."""
    headings = [*_HEADING.finditer(text)]
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return [
        ChangelogSection(heading["version"], heading["date"] or "", _LINK.sub("", text[heading.end() : end]).strip())
        for heading, end in zip(headings, ends, strict=True)
    ]


def links(text: str) -> dict[str, str]:
    """Returns the URL of each link at the end of the file by its version."""
    return dict(match[0][1:].split("]: ", 1) for match in _LINK.finditer(text))


def released(text: str, version: str, date: str) -> str:
    """Writes a date into the heading of a version. Raises LookupError if it has no unreleased section."""
    heading = f"## [{version}] - unreleased"
    if not re.search(rf"^{re.escape(heading)}$", text, re.MULTILINE):
        raise LookupError(f"CHANGELOG.md has no heading `{heading}`")
    return text.replace(heading, f"## [{version}] - {date}", 1)


def main() -> int:
    """Prints the notes of a version. The exit code is 1 if it has none."""
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    for section in sections(FILE.read_text("utf-8")):
        if section.version == wanted:
            print(section.notes)
            return 0
    print(f"CHANGELOG.md has no section {wanted!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
