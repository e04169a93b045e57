"""Writes a new version into all files that name the current one, and its date into the changelog: `make bump VERSION=0.2.0`.

The earlier version gets a row in `releases.yaml`, with the commit of its tag.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

import yaml
from release import changelog, description, names

RELEASES = Path("tools", "release", "releases.yaml")
_VERSION = re.compile(r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)")
_HISTORY = re.compile(r"CHANGELOG\.md|docs/upgrade-[\d.]+\.md")


class BumpError(Exception):
    """The version cannot be written. The message has the reason and the fix."""


def rewritten(text: str, old: str, new: str, project: names.ProjectNames) -> str:
    """Replaces the version in tags of our images, in names of release files, and in commands that name a tag.

    >>> project = names.read()
    >>> text = f"{project.image}:1.2.3-sync {project.action}@v1.2.3 rev: v1.2.3 other:1.2.3 krm-fn-1.2.3.pyz {project.image}:1.2.34"
    >>> rewritten(text, "1.2.3", "1.3.0", project).replace(project.image, "IMAGE").replace(project.action, "ACTION")
    'IMAGE:1.3.0-sync ACTION@v1.3.0 rev: v1.3.0 other:1.2.3 krm-fn-1.3.0.pyz IMAGE:1.2.34'
    """
    tagged = "|".join(map(re.escape, (project.image, project.manifests, project.chart, "registry.example.com/krm-fn")))
    files = rf"krm-fn(?:-[a-z]+)?-|{re.escape(project.package)}-"
    named = rf"(?:{tagged}):|{re.escape(project.action)}@v|rev: v|VERSION=|git tag v|origin v|create v|{files}"
    return re.sub(rf"(?<![\w.])({named}){re.escape(old)}(?!\.?\d)", rf"\g<1>{new}", text)


def bump(root: Path, version: str, date: str) -> list[str]:
    """Writes a version into a clone, and returns the paths of the changed files.

    Raises BumpError if `version` is not newer, if the changelog has no unreleased section for it, or if the current version has no tag.
    """
    old = description.current_version(root)
    if not _VERSION.fullmatch(version) or _numbers(version) <= _numbers(old):
        raise BumpError(f"VERSION is {version!r}; write three numbers above {old}")
    changes = (root / changelog.FILE.name).read_text("utf-8")
    try:
        dated = changelog.released(changes, version, date)
    except LookupError as problem:
        raise BumpError(f"{problem}; write the notes first") from None
    if version not in changelog.links(changes):
        raise BumpError(f"CHANGELOG.md has no link [{version}] at its end")
    project = names.read((root / names.FILE).read_text("utf-8"))
    contents = {path: rewritten(text, old, version, project) for path, text in names.files(root) if not _HISTORY.fullmatch(path)}
    contents[str(description.PACKAGE)] = contents[str(description.PACKAGE)].replace(f'__version__ = "{old}"', f'__version__ = "{version}"')
    contents[str(RELEASES)] = _with_release(root, contents[str(RELEASES)], old, changes)
    contents[changelog.FILE.name] = dated
    changed = [path for path, text in contents.items() if text != (root / path).read_text("utf-8")]
    for path in changed:
        (root / path).write_text(contents[path], "utf-8")
    return changed


def _with_release(root: Path, releases: str, version: str, changes: str) -> str:
    if any(release["version"] == version for release in yaml.safe_load(releases)):
        return releases
    command = ["git", "rev-parse", "--verify", "--quiet", f"refs/tags/v{version}^{{commit}}"]
    tag = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True).stdout.strip()
    dates = [section.date for section in changelog.sections(changes) if section.version == version]
    if not tag or not dates:
        raise BumpError(f"{version} has no tag v{version} or no section in the changelog; fetch the tags, or tag its commit")
    return f"{releases}- {{version: {version}, date: {dates[0]}, commit: {tag}}}\n"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def main() -> int:
    """Prints the changed files. The exit code is 1 if the version cannot be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="three numbers, such as 0.2.0")
    parser.add_argument("--date", default=dt.datetime.now(dt.UTC).date().isoformat(), help="the date of the release; default today")
    options = parser.parse_args()
    try:
        print(*bump(names.ROOT, options.version, options.date), sep="\n")
    except (BumpError, description.ReleaseError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
