"""Every page and anchor that the start page leads to, read in a real browser."""

from __future__ import annotations

import re
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Page

from tests.testbed import programs

_CONTENT = """() => ({
    title: document.title,
    anchors: [...document.querySelectorAll('[id]')].map((element) => element.id),
    links: [...document.querySelectorAll('a[href]')].map((link) => link.href),
    pictures: [...document.images].filter((picture) => !picture.complete || !picture.naturalWidth).map((picture) => picture.src),
    width: document.documentElement.scrollWidth,
})"""
_SLOWEST_PAINT = 1500  # milliseconds
_LARGEST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({type: 'largest-contentful-paint', buffered: true}))"""


def test_start_page_leads_to_every_page_and_anchor(reader, site, address):
    """The start page leads to every page of the edition, and each link with an anchor to an element with this id.

    No page writes an error to the console or asks another host: the fixture `reader` checks it for all pages.
    """
    page = reader.new_page()
    contents = _read_all(page, address)
    broken = {
        f"{name}: {link}"
        for name, content in contents.items()
        for link in content["links"]
        if link.startswith(address) and (target := urldefrag(link)).fragment and target.url in contents
        if unquote(target.fragment) not in contents[target.url]["anchors"]
    }
    assert broken == set()
    assert {name: content["pictures"] for name, content in contents.items() if content["pictures"]} == {}
    built = {f"{address}{file.relative_to(site / 'main').as_posix()}" for file in (site / "main").rglob("*.html")}
    assert built - contents.keys() == {f"{address}404.html"}
    assert len(built) > len([*programs.ROOT.glob("docs/errors/*.md")])


def test_page_is_not_wider_than_phone(phone, address):
    """No page scrolls sideways on a phone: wide tables and blocks scroll on their own."""
    page = phone.new_page()
    wide = {}
    for path in ("index", "commands", "configuration", "review", "reference/dynamographdeployment", "errors/index", "architecture"):
        page.goto(f"{address}{path}.html")
        width = page.evaluate(_CONTENT)["width"]
        if width > page.viewport_size["width"]:
            wide[path] = width
    assert wide == {}


def test_largest_paint_is_early(reader, address):
    """The main content of a page appears in less than 1.5 seconds, also on the largest page and on one with a diagram.

    Other work on the machine only adds time, so the earliest of several visits counts.
    """
    late = {}
    for path in ("index", "commands", "architecture", "errors/DYN205"):
        paints = [_largest_paint(reader, f"{address}{path}.html") for _ in range(5)]
        if min(paints) >= _SLOWEST_PAINT:
            late[path] = paints
    assert late == {}


def _largest_paint(reader, page_address):
    """The milliseconds until the largest part of a page is painted."""
    page = reader.new_page()
    page.goto(page_address)
    paint = page.evaluate(_LARGEST_PAINT)
    page.close()
    return paint


def test_diagram_is_drawn(reader, address):
    """A block with the language mermaid becomes a picture, with the script of the site itself."""
    page = reader.new_page()
    page.goto(f"{address}architecture.html")
    page.locator("div.mermaid").first.wait_for()
    assert page.locator("div.mermaid").first.bounding_box()["height"] > 100
    assert page.locator("pre.mermaid").count() == 0


def test_root_leads_to_an_edition(reader, site, address):
    """The address of the site without an edition leads to the newest edition, whose switch lists all."""
    page = reader.new_page()
    page.goto(address.removesuffix("main/"))
    page.wait_for_url(re.compile(r".*/main/index\.html"))
    page.locator(".md-version").wait_for()
    assert page.locator(".md-version__link").all_text_contents() == ["main"]


def _read_all(page: Page, address: str) -> dict[str, dict[str, list[str]]]:
    """The content of each page by its address, from the start page on."""
    contents: dict[str, dict[str, list[str]]] = {}
    waiting = [f"{address}index.html"]
    while waiting:
        name = waiting.pop()
        page.goto(name)
        content = contents[name] = page.evaluate(_CONTENT)
        targets = {urldefrag(link).url for link in content["links"]}
        waiting += sorted(target for target in targets if target.startswith(address) and target not in contents and target not in waiting)
    return contents
