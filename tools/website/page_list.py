"""Writes what programs read beside the HTML: the Markdown of each page, and `llms.txt`, a list of all pages (llmstxt.org)."""

from __future__ import annotations

import shutil
from pathlib import Path

from website import site_navigation, site_pages


def write(tree: site_pages.Tree, navigation: site_navigation.Navigation, staged: Path, built: Path) -> None:
    """Copies the Markdown of each page from `staged` beside its HTML, and writes `llms.txt`."""
    paths = tree.paths()
    for path in paths:
        shutil.copyfile(staged / tree.target(path), built / tree.target(path))
    lines = [_start(tree)]
    for entry in navigation.entries:
        lines += ["", f"## {entry.title}", "", *(_item(tree, path) for path in entry.paths())]
    others = sorted({*paths} - {*navigation.listed()})
    lines += ["", "## Optional", "", *(_item(tree, path) for path in others), ""]
    (built / "llms.txt").write_text("\n".join(lines), "utf-8")


def _start(tree: site_pages.Tree) -> str:
    """Returns the title of the start page, and its first paragraph as a quotation."""
    title, _, text = (tree.root / tree.start).read_text("utf-8").partition("\n")
    first = text.strip().partition("\n\n")[0].replace("\n", " ")
    return f"{title}\n\n> {first}"


def _item(tree: site_pages.Tree, path: str) -> str:
    heading = (tree.root / path).read_text("utf-8").partition("\n")[0].lstrip("# ")
    return f"- [{heading}]({tree.target(path)})"
