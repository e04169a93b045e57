"""The playground is a page of the site, and the graphs of other pages open in it."""

from __future__ import annotations

import pytest
from website import build_site

from tests.playground import conftest
from tests.testbed import programs


@pytest.fixture(scope="module")
def site(playground, tmp_path_factory):
    """The address of the edition of the working tree."""
    folder = tmp_path_factory.mktemp("edition") / "site"
    build_site.build(programs.ROOT, folder, [build_site.Extra("playground", playground)], releases=False)
    with conftest.served(folder) as address:
        yield f"{address}/main/"


@pytest.mark.parametrize(
    ("page", "text"), [("getting-started.html", "kind: DynamoGraphDeployment"), ("examples/sglang/index.html", "sglang")]
)
def test_a_graph_of_a_page_opens(page, text, site, browser):
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(site + page)
    opened.locator("a.playground-link").first.click(timeout=60_000)
    opened.wait_for_selector("#objects .cm-line", timeout=60_000)
    opened.wait_for_selector("body[data-run]", timeout=60_000)
    assert text in opened.inner_text("#graph-panel .cm-content")
    assert "objects in" in opened.inner_text("#status")
    context.close()
