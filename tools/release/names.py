"""Reads the names of the project, `names.yaml`, and writes them into all files of a clone.

Usage:

    PYTHONPATH=tools python -m release.names [--from HEAD]    # replaces the names of an earlier `names.yaml`: `make names`
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
FILE = Path("tools", "release", "names.yaml")

_HOSTS = r"(?:github\.com|(?:raw|objects)\.githubusercontent\.com|ghcr\.io|quay\.io|docker\.io|pypi\.org/project|[\w-]+\.github\.io)"
_SCHEME = re.compile(r"(?:git\+)?(?:https|oci|ssh)://")


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


class Misspelling(NamedTuple):
    """A reference to the project that does not begin with one of its names."""

    file: str
    line: int
    text: str


def read(text: str | None = None) -> ProjectNames:
    """Parses the names in `text`, by default in `names.yaml`. Raises TypeError for a missing or unknown name."""
    return ProjectNames(**yaml.safe_load((ROOT / FILE).read_text() if text is None else text))


def rewritten(text: str, old: ProjectNames, new: ProjectNames) -> str:
    """Replaces each name of `old` in a text by that of `new`. Replaced text is not read again.

    >>> old = read()
    >>> new = old._replace(repository="github.com/acme/render", image="registry.example.com/render")
    >>> rewritten(f"uses: {old.action}@v1, {old.image}:1, {old.package}, my-{old.package}", old, new).replace(old.package, "PACKAGE")
    'uses: acme/render@v1, registry.example.com/render:1, PACKAGE, my-PACKAGE'
    """
    replacements = dict(zip(_spellings(old), _spellings(new), strict=True))
    longest = "|".join(re.escape(spelling) for spelling in sorted(replacements, key=len, reverse=True))
    return re.sub(rf"(?<![\w.-])(?:{longest})(?:(?<=@)|(?![\w-]))", lambda match: replacements[match[0]], text)


def misspellings(files: Iterable[tuple[str, str]], names: ProjectNames) -> Iterator[Misspelling]:
    """Yields the references to the project in files (path and text) that begin with none of its names.

    A reference is a host of packages, images or repositories with a path that contains a word of our names, or `uses:` with such a path.
    """
    words = {"krm-fn", "krm_fn", "dynamo-krm", *names.action.split("/"), names.image.rpartition("/")[2]}
    ours = "|".join(map(re.escape, sorted(words)))
    reference = re.compile(rf"(?<![\w.-])(?:{_HOSTS}/|uses: (?=[\w.-]+/))[\w./-]*?(?:{ours})[\w./-]*@?")
    known = (*names[:1], f"pypi.org/project/{names.package}", *names[2:], f"uses: {names.action}@")
    spelled = re.compile(rf"(?:{'|'.join(map(re.escape, known))})(?![\w-])")
    for path, text in files:
        for match in reference.finditer(text):
            if not spelled.match(match[0] if match[0].startswith("uses: ") else match[0].rstrip("@.")):
                yield Misspelling(path, text.count("\n", 0, match.start()) + 1, match[0])


def files(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yields path and text of the files that git knows or would add, without `names.yaml` itself and without files that are no text."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for path in subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0"):
        file = root / path
        if path and path != str(FILE) and file.is_file() and not file.is_symlink():
            try:
                yield path, file.read_text("utf-8")
            except UnicodeDecodeError:
                continue


def rename(old: ProjectNames, new: ProjectNames, root: Path = ROOT) -> list[str]:
    """Writes the names of `new` in place of those of `old` into all files. Returns the paths of the changed files."""
    changed = []
    for path, text in files(root):
        renamed = rewritten(text, old, new)
        if renamed != text:
            (root / path).write_text(renamed, "utf-8")
            changed.append(path)
    return changed


def problems(names: ProjectNames) -> list[str]:
    """Returns what is wrong with names: a scheme, a blank, capitals in an image, or two names that are equal."""
    messages = [f"{key}: write {value!r} without a scheme" for key, value in names._asdict().items() if _SCHEME.match(value)]
    messages += [f"{key}: {value!r} contains a blank" for key, value in names._asdict().items() if re.search(r"\s", value)]
    oci = {key: getattr(names, key) for key in ("image", "manifests", "chart")}
    messages += [f"{key}: registries accept no capitals: {value!r}" for key, value in oci.items() if value != value.lower()]
    messages += [] if len(set(names)) == len(names) else ["two names are equal, so that they could not be told apart later"]
    if not re.fullmatch(r"github\.com/[\w.-]+/[\w.-]+", names.repository):
        messages.append(f"repository: {names.repository!r} is not github.com/OWNER/NAME")
    return messages


def _spellings(names: ProjectNames) -> list[str]:
    return [*names, f"{names.action}@", f"--repo {names.action}", f"&& cd {names.repository.rpartition('/')[2]}"]


def main() -> int:
    """Writes all names. The exit code is 1 for names that are wrong, and 2 for wrong usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="revision", default="HEAD", help="the revision whose names the files still have; default HEAD")
    options = parser.parse_args()
    new = read()
    if messages := problems(new):
        print(*(f"{FILE}: {message}" for message in messages), sep="\n", file=sys.stderr)
        return 1
    shown = subprocess.run(["git", "show", f"{options.revision}:{FILE}"], cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode:
        print(f"{options.revision} has no names: {shown.stderr.strip()}", file=sys.stderr)
        return 2
    changed = rename(read(shown.stdout), new)
    print(*changed, f"wrote the names into {len(changed)} files; now run make generate", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
