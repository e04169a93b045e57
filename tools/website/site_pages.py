"""Turns the Markdown files of the repository into the input of the generator: paths, links, titles of blocks, and tabs.

On GitHub a link is a path in the repository. On the site, a link to a page becomes a path of the site, and a link to another file becomes
a link to the repository.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

PATTERNS = ("*.md", "docs/**/*.md", "examples/README.md", "examples/*/README.md")
_PICTURES = (".svg", ".png", ".jpg", ".webp", ".gif")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
_TITLED = re.compile(r"^(\w+) +([\w./-]+)$")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=[)\s])|(?<=\]: )(\S+)|(?<=(?:src|set)=\")([^\"\s]+)(?=\")|(?<=href=\")([^\"\s]+)(?=\")")
_TABS, _END_OF_TABS = "<!-- tabs -->", "<!-- /tabs -->"
_TAB = re.compile(r"\*\*([^*`\"]+)\*\*")
"""The label of a tab: a line that is bold as a whole. In the repository, tabs are parts below each other."""
_CODE = re.compile(r"\bDYN\d{3}\b")
_MADE = re.compile(r"<!-- Made from ([\w./-]+) ")
_OF_CODES, _CODES = "docs/errors/", "krm_fn/schemas/finding_pages/texts"
"""The pages of codes, and the folder with their texts."""
_HISTORY = re.compile(r"CHANGELOG\.md|docs/upgrade-[\d.]+\.md")  # pages that name retired codes


class Problem(NamedTuple):
    """A mistake in a page. `line` counts from 1."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """The line that the build prints."""
        return f"{self.path}:{self.line}: {self.message}"


class Tree(NamedTuple):
    """The files of one edition: a folder with the repository at one revision, and the address of that revision."""

    root: Path
    repository: str  # the address of the repository, such as https://github.com/owner/name
    revision: str  # a branch or tag
    start: str  # the path of the start page

    def paths(self) -> list[str]:
        """Returns the paths of all pages in the repository, sorted."""
        files = {file for pattern in PATTERNS for file in self.root.glob(pattern)}
        return sorted(file.relative_to(self.root).as_posix() for file in files)

    def target(self, path: str) -> str:
        """Returns the path of a page in the input of the generator. A README is the index of its folder.

        >>> tree = Tree(Path("."), "", "", "README.md")
        >>> [tree.target(path) for path in ("README.md", "docs/errors/README.md", "docs/review.md", "CHANGELOG.md", "docs/a.svg")]
        ['index.md', 'errors/index.md', 'review.md', 'changelog.md', 'a.svg']
        """
        if path == self.start:
            return "index.md"
        folder, name = posixpath.split(path.removeprefix("docs/"))
        if name == "README.md" and folder:
            return f"{folder}/index.md"
        return posixpath.join(folder, name if path.startswith("docs/") else name.lower())


def codes(tree: Tree) -> set[str]:
    """Returns the codes of findings: each has a page."""
    return {file.stem for file in (tree.root / "docs" / "errors").glob("DYN*.md")}


def staged(tree: Tree, path: str, pictures: set[str]) -> tuple[str, list[Problem]]:
    """Returns the Markdown of a page for the generator, and its mistakes. Adds the paths of its pictures to `pictures`."""
    known, problems, lines = codes(tree), [], []
    pages = {*tree.paths()}

    def link(number: int) -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            try:
                return _link(tree, path, match[0], pages, pictures)
            except LookupError as error:
                problems.append(Problem(path, number, str(error)))
                return match[0]

        return replaced

    tabs = _Tabs()
    for number, line, is_text in _lines((tree.root / path).read_text("utf-8")):
        if is_text and not _HISTORY.fullmatch(path):
            unknown = [code for code in _CODE.findall(line) if code not in known]
            problems += [Problem(path, number, f"{code} is not a code of a finding") for code in unknown]
        lines += tabs.staged(_outside_code(line, link(number)) if is_text else line, is_text=is_text)
        problems += [Problem(path, number, message) for message in tabs.mistakes(is_text=is_text)]
    problems += [Problem(path, 1, f"{_TABS} has no {_END_OF_TABS}")] if tabs.is_open else []
    return "\n".join(lines) + "\n", problems


class _Tabs:
    """The tabs of a page: parts that a reader chooses from, such as those of kustomize and of kpt."""

    def __init__(self) -> None:
        self.is_open, self._has_tab, self._line = False, False, ""

    def staged(self, line: str, *, is_text: bool) -> list[str]:
        """Returns a line as the generator needs it: what is in a tab is indented below its label."""
        self._line = line
        if is_text and line in (_TABS, _END_OF_TABS):
            self.is_open, self._has_tab = line == _TABS, False
            return []
        label = _TAB.fullmatch(line) if self.is_open and is_text else None
        self._has_tab = self._has_tab or bool(label)
        if label:
            return [f'=== "{label[1]}"']
        return [f"    {line}" if self.is_open and line else line]

    def mistakes(self, *, is_text: bool) -> list[str]:
        """Returns what is wrong with the last line: text before the first label, and a heading in a tab, which has no section there."""
        if not self.is_open or not self._line or (is_text and self._line == _TABS):
            return []
        if not self._has_tab:
            return ["text before the first tab: begin with its label, a bold line"]
        return ["a heading in a tab: end the tabs before it"] if is_text and self._line.startswith("#") else []


def edit_line(tree: Tree, path: str, text: str) -> str:
    """Returns the last line of a page: a link that edits it in the repository, or that leads to what the page is made from.

    >>> edit_line(Tree(Path("."), "https://git.example/o/n", "main", ""), "docs/review.md", "# Review").strip()
    '[Edit this page](https://git.example/o/n/edit/main/docs/review.md){ .edit-page }'
    """
    made = _MADE.match(text)
    source = made[1] if made else _CODES if path.startswith(_OF_CODES) else ""
    if source:
        return f"\n[Made from {source}]({tree.repository}/tree/{tree.revision}/{source}){{ .edit-page }}\n"
    return f"\n[Edit this page]({tree.repository}/edit/{tree.revision}/{path}){{ .edit-page }}\n"


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yields number, line, and if the line is text rather than a code block. The first line of a block with a file name gets a title."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = _FENCE.match(line)
        if fence:
            yield number, line, False
            if match and match[2].startswith(fence) and not match[3].strip():
                fence = ""
        elif match:
            fence = match[2]
            titled = _TITLED.match(match[3].strip())
            yield number, f'{match[1]}{match[2]}{titled[1]} title="{titled[2]}"' if titled else line, False
        else:
            yield number, line, True


def _outside_code(line: str, replaced: Callable[[re.Match[str]], str]) -> str:
    """Replaces the links of a line outside of code spans. The text of a link can contain code."""
    spans = [match.span() for match in _CODE_SPAN.finditer(line)]

    def replaced_outside(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < end for start, end in spans)
        return match[0] if inside else replaced(match)

    return _LINK.sub(replaced_outside, line)


def _link(tree: Tree, path: str, link: str, pages: set[str], pictures: set[str]) -> str:
    """Returns a link of a page as the site needs it. Raises LookupError if it leads nowhere."""
    address, _, anchor = link.partition("#")
    if not address or re.match(r"[a-z]+:", address):
        return link
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
    if wanted + "/README.md" in pages:
        wanted += "/README.md"
    suffix = f"#{anchor}" if anchor else ""
    if wanted in pages:
        return posixpath.relpath(tree.target(wanted), posixpath.dirname(tree.target(path)) or ".") + suffix
    file = tree.root / wanted
    if wanted.startswith("..") or not file.exists():
        raise LookupError(f"the link {link} leads to no file of the repository")
    if file.suffix in _PICTURES:
        pictures.add(wanted)
        return posixpath.relpath(tree.target(wanted), posixpath.dirname(tree.target(path)) or ".")
    return f"{tree.repository}/{'tree' if file.is_dir() else 'blob'}/{tree.revision}/{wanted}{suffix}"
