"""Copies the tracked files of a clone into a folder, for the builds of a release: with the same modes, and absolute links in the README."""

from __future__ import annotations

import re
from pathlib import Path

from release import description
from release.description import Release

_LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|#)(?P<path>[^)\s]+)")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def export(release: Release, folder: Path) -> Path:
    """Copies the tracked files of the clone into a new folder, and returns the folder."""
    for line in description.git(release.root, "ls-files", "--stage", "-z").split("\0")[:-1]:
        facts, _, name = line.partition("\t")
        source, target = release.root / name, folder / name
        if not source.is_file():
            continue  # deleted, but not committed
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(0o755 if facts.startswith("100755") else 0o644)
    readme = folder / "README.md"
    readme.write_text(with_absolute_links(readme.read_text(), f"{release.repository}/blob/{release.tag}/"))
    return folder


def with_absolute_links(text: str, base: str) -> str:
    """Returns Markdown whose relative links start with `base`. PyPI and Artifact Hub show the text outside the repository.

    >>> with_absolute_links("[a](docs/a.md#b) [c](https://d.example) [e](#f)", "https://g.example/")
    '[a](https://g.example/docs/a.md#b) [c](https://d.example) [e](#f)'
    """
    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(lambda link: base + link["path"], part) for part in parts)
