"""Checks the pages of a built edition: links, anchors and pictures lead somewhere, and no page loads a file from another host."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}


class _Page(HTMLParser):
    """Collects the anchors of a page, its links, and the files that it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _LOADS and _LOADS[tag] in values:
            self.loads.append(values[_LOADS[tag]])


def problems(site: Path) -> list[str]:
    """Returns a line for each link that leads nowhere, and for each file that a page loads from another host."""
    pages = {}
    for file in sorted(site.rglob("*.html")):
        page = pages[file.relative_to(site).as_posix()] = _Page()
        page.feed(file.read_text("utf-8"))
    return [problem for name in pages for problem in _of_page(site, name, pages)]


def _of_page(site: Path, name: str, pages: dict[str, _Page]) -> Iterator[str]:
    for link in [*pages[name].links, *pages[name].loads]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in pages[name].loads and parts.scheme != "data":
                yield f"{name}: {link} is loaded from another host"
            continue
        # Links of the page for unknown addresses start at the root of the host.
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path).lstrip("/"))) if parts.path else name
        if (site / target).is_dir():
            target = posixpath.normpath(f"{target}/index.html")
        if not (site / target).exists():
            yield f"{name}: {link} leads to no file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"{name}: {link} leads to no anchor"
