"""The search answers questions as users type them, on a server and in a copy that is opened from a disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page
from website import site_pages

from krm_fn.schemas import finding_pages
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
    assert _ask(page, finding_pages.page(code).title)[0] == f"errors/{code}.html"


MESSAGES = {
    'the field takes an integer, not the string "4"; write 4 without quotes': "DYN021",
    'graph.yaml:10:7: error DYN021 spec.services.Frontend.replicas: the field takes an integer, not the string "2"; write 2': "DYN021",
    "unknown field in Kubernetes 1.36; write imagePullPolicy, or set unknownFields: warn if your Kubernetes knows it": "DYN029",
    "the graph has no components; add one": "DYN100",
    "the graph has no component Prefill; write one of Frontend, Decode": "DYN108",
    "Decode cannot scale this component, because it has no scaling adapter; set scalingAdapter.enabled: true": "DYN118",
    "the LeaderWorkerSet would be named search-prefill-0, which is 3 over the limit of 50 characters": "DYN143",
    "the host would be 'search_prod.example', which is not a valid host name": "DYN157",
    "Grove refuses pods with topologySpreadConstraints, because it places them itself; remove the field": "DYN168",
    "the request 64Gi is more than the limit 32Gi": "DYN211",
    "spec.services.Decode.replicas cannot change from 2 to 4, because a scaling adapter owns them": "DYN403",
    "this component runs trtllm, and Router runs vllm; use one engine in each graph": "DYN478",
    "no image has version 1.0 or later; images of a newer version move the resource to their release": "DYN482",
    "the build of the working tree ended with exit code 2; repair `make build`": "DYN516",
    "all 8 replicas of Decode restart at the same time": "DYN533",
    "`--max-num-batched-token` is not a flag of dynamo.vllm 1.6.1 (vllm 0.31.0); write --max-num-batched-tokens": "DYN600",
    "the engine needs 16 GPUs, and the pod has 8 GPUs": "DYN612",
    "the budget llm is exceeded: 64 GPUs at the peak, and the limit is 48": "DYN640",
}


def test_message_finds_the_page_of_its_code_first(reader, address):
    """The message of a finding, as a log has it, finds the page of its code. The names and values in it are not those of the page."""
    page = _search(reader.new_page(), f"{address}index.html")
    found = {message: _ask(page, message)[0] for message in MESSAGES}
    assert found == {message: f"errors/{code}.html" for message, code in MESSAGES.items()}


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
    tree = site_pages.Tree(programs.ROOT, "", "", "docs/start.md")
    return tree.target(path).removesuffix(".md") + ".html"
