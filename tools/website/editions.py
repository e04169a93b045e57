"""The editions of the site: the working tree, and the newest patch of each minor release."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_START = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>dynamo-krm-fn</title>
<link rel="icon" href="{name}/assets/images/favicon.png">
<meta http-equiv="refresh" content="0; url={name}/index.html">
<p><a href="{name}/index.html">dynamo-krm-fn</a></p>
</html>
"""


class Edition(NamedTuple):
    """A folder of the site. `revision` is the branch or tag of its pages."""

    name: str
    revision: str


MAIN = Edition("main", "main")


def releases(root: Path) -> list[Edition]:
    """Returns an edition for each minor release of a clone, newest first. A clone without tags has none."""
    done = subprocess.run(["git", "tag", "--list", "v*"], cwd=root, capture_output=True, text=True, check=False)
    return of_tags(done.stdout.split())


def of_tags(tags: Sequence[str]) -> list[Edition]:
    """Returns an edition for each minor release, newest first: that of its newest patch, such as 1.2 for v1.2.3."""
    numbers = [tuple(map(int, match.groups())) for tag in tags if (match := _RELEASE.fullmatch(tag))]
    newest = {number[:2]: number for number in sorted(numbers)}
    return [Edition(f"{major}.{minor}", f"v{major}.{minor}.{newest[major, minor][2]}") for major, minor in sorted(newest, reverse=True)]


@contextlib.contextmanager
def checkout(root: Path, edition: Edition) -> Iterator[Path]:
    """Yields a folder with the files of an edition: the working tree itself, or a copy of a tag."""
    if edition == MAIN:
        yield root
        return
    archive = subprocess.run(["git", "archive", edition.revision], cwd=root, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def write_switch(site: Path, known: Sequence[Edition]) -> None:
    """Writes the list that the switch in the header reads, and the start page, which leads to the newest release."""
    start = known[1] if len(known) > 1 else known[0]
    listed = [{"version": edition.name, "title": edition.name, "aliases": ["latest"] if edition is start else []} for edition in known]
    (site / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
    (site / "index.html").write_text(_START.format(name=start.name), "utf-8")
