"""The site for readers with a keyboard, a screen reader, a dark screen, a phone, or a printer."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = ("index", "commands", "architecture", "errors/index", "errors/DYN437", "reference/dynamographdeployment", "examples/agg-vllm/index")
FEW = ("index", "commands", "reference/dynamographdeployment")


@pytest.mark.parametrize(("scheme", "paths"), [("light", PAGES), ("dark", FEW)])
def test_pages_have_no_violation(reader, address, scheme, paths):
    """axe finds no violation of the rules for accessible pages, in both colours."""
    page = reader.new_page()
    page.emulate_media(color_scheme=scheme)
    assert {path: violations for path in paths if (violations := _violations(page, f"{address}{path}.html"))} == {}


def test_pages_on_phone_have_no_violation(phone, address):
    """The same with the width of a phone, where tables scroll."""
    page = phone.new_page()
    assert {path: violations for path in FEW if (violations := _violations(page, f"{address}{path}.html"))} == {}


def test_colours_follow_the_system_and_the_switch(reader, address):
    """The page is dark if the system is, and the switch chooses another mode, which the next page keeps."""
    page = reader.new_page()
    page.emulate_media(color_scheme="dark")
    page.goto(f"{address}index.html")
    body = page.locator("body")
    assert body.get_attribute("data-md-color-scheme") == "slate"
    page.get_by_title("Switch to light mode").click()
    assert body.get_attribute("data-md-color-scheme") == "default"
    page.goto(f"{address}commands.html")
    assert body.get_attribute("data-md-color-scheme") == "default"


def test_copy_button_copies_commands(reader, address):
    """Each block has a copy button. Of a console session it copies the commands without prompts and output."""
    page = reader.new_page()
    page.goto(f"{address}readme.html")
    blocks = page.locator(".md-typeset pre > code")
    blocks.first.locator("xpath=..").locator("button.md-code__button").wait_for(state="attached")
    session = blocks.filter(has_text="krm-fn render graph.yaml > rendered.yaml").first
    session.scroll_into_view_if_needed()
    session.locator("xpath=..").locator("button.md-code__button").first.click()
    page.get_by_text("Copied to clipboard").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()").strip().splitlines() == [
        "krm-fn render graph.yaml > rendered.yaml",
        "krm-fn check graph.yaml",
        "krm-fn explain --object Deployment/chat-worker --field spec.replicas graph.yaml",
    ]


def test_first_key_skips_to_the_content(reader, address):
    """The first tab stop leads over the header to the content, and the focus is visible."""
    page = reader.new_page()
    page.goto(f"{address}commands.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('a.md-skip')")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('.md-content').contains(document.querySelector(':target'))")


def test_print_has_the_content_only(reader, address):
    """A print has the text of the page, without header, navigation and buttons."""
    page = reader.new_page()
    page.goto(f"{address}commands.html")
    page.emulate_media(media="print")
    for selector in (".md-header", ".md-tabs", ".md-sidebar--primary", ".md-sidebar--secondary", ".md-footer"):
        assert not page.locator(selector).first.is_visible(), selector
    assert page.locator("h1").is_visible()


def _violations(page, address) -> list[str]:
    page.goto(address)
    page.wait_for_function("document.querySelectorAll('.md-typeset pre > code:not([tabindex])').length === 0")
    violations = Axe().run(page).response["violations"]
    return [f"{violation['id']}: {node['html'][:200]}" for violation in violations for node in violation["nodes"][:3]]
