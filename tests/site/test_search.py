"""The search answers questions as users type them, on a server and in a copy that is opened from a disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page
from website import site_pages

from krm_fn import codes
from tests.testbed import programs

QUESTIONS = [
    question for file in sorted(Path(__file__).parent.glob("questions*.yaml")) for question in yaml.safe_load(file.read_text("utf-8"))
]


def test_questions_are_answered_on_the_first_screen(reader, address):
    """Each question of the files `questions*.yaml` shows a page that answers it, without scrolling."""
    page = _search(reader.new_page(), f"{address}index.html")
    unanswered = {}
    for question in QUESTIONS:
        results = _ask(page, question["question"])
        if not {_target(path) for path in question["pages"]} & {*results}:
            unanswered[question["question"]] = results
    assert unanswered == {}


@pytest.mark.parametrize("code", ["DYN023", "DYN205", "DYN437", "DYN616"])
def test_code_and_title_find_its_page_first(reader, address, code):
    """The code of a finding and its title find the page of the code before all other pages."""
    page = _search(reader.new_page(), f"{address}index.html")
    assert _ask(page, code)[0] == f"errors/{code}.html"
    assert _ask(page, codes.page(code).title)[0] == f"errors/{code}.html"


def test_search_works_in_copy_on_disk(chromium, site):
    """The search also works without a server: in a file that the browser opens from a disk. It asks no host."""
    context = chromium.new_context()
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page = _search(context.new_page(), (site / "main" / "index.html").as_uri())
    assert _ask(page, "DYN437")[0] == "errors/DYN437.html"
    context.close()
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_search_needs_no_mouse(reader, address):
    """The key / opens the search, arrows choose a result, Enter opens it, and Escape closes the search."""
    page = reader.new_page()
    page.goto(f"{address}index.html")
    page.keyboard.press("/")
    field = page.locator("dialog input[role=combobox]")
    field.wait_for()
    page.keyboard.press("Escape")
    field.wait_for(state="hidden")
    _ask(_search(page, f"{address}index.html"), "DYN437")
    page.keyboard.press("Enter")
    page.wait_for_url("**/errors/DYN437.html*")


def _search(page: Page, address: str) -> Page:
    """Opens a page and its search."""
    page.goto(address)
    page.locator(".md-search__button").click()
    page.locator("dialog input[role=combobox]").wait_for()
    return page


def _ask(page: Page, question: str) -> list[str]:
    """Types a question and returns the pages of the results that the screen shows, without their anchors.

    Between two questions the field has a text without results, so that no results of the last question remain.
    """
    field, options = page.locator("dialog input[role=combobox]"), page.locator("dialog a[role=option]")
    field.fill("qqxxqq")
    options.first.wait_for(state="detached")
    field.fill(question)
    options.first.wait_for()
    height = page.viewport_size["height"]
    shown = [option.get_attribute("href") for option in options.all() if (option.bounding_box() or {}).get("y", height) < height]
    return [link.split("/main/")[1].split("?")[0].split("#")[0] for link in shown]


def _target(path: str) -> str:
    """The path of a page on the site."""
    tree = site_pages.Tree(programs.ROOT, "", "", "README.md")
    return tree.target(path).removesuffix(".md") + ".html"
