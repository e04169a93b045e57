"""The site as `make site` builds it, served on this machine, and a headless Chromium that reads it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from website import build_site, serve_site

from tests.testbed import programs

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LEFT = "net::ERR_ABORTED"  # the failure of a request whose page the test has left


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. A mistake in a page fails here, with its file and line."""
    programs.path("npm")
    folder = tmp_path_factory.mktemp("site") / "built"
    build_site.build(programs.ROOT, folder, [], releases=False)
    return folder


@pytest.fixture(scope="session")
def address(site) -> Iterator[str]:
    """The address of the edition of the working tree, with a slash at its end."""
    server = serve_site.server(site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/main/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium. Root needs `--no-sandbox`; it opens no page but ours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=programs.path("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def reader(chromium, address) -> Iterator[BrowserContext]:
    """A browser window of a desktop. The test fails if a page writes an error to the console, or asks another host."""
    yield from watched(chromium, address, viewport=DESKTOP)


@pytest.fixture
def phone(chromium, address) -> Iterator[BrowserContext]:
    """The same with the width of a phone."""
    yield from watched(chromium, address, viewport=PHONE)


def watched(browser: Browser, address: str, **options: object) -> Iterator[BrowserContext]:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    host, problems = address.removesuffix("main/"), []
    context.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on(
        "request", lambda request: None if request.url.startswith((host, "data:", "blob:", "file:")) else problems.append(request.url)
    )
    context.on("requestfailed", lambda request: problems.append(f"{request.url}: {request.failure}") if request.failure != LEFT else None)
    context.on("response", lambda response: problems.append(f"{response.url}: {response.status}") if response.status >= 400 else None)
    yield context
    context.close()
    assert problems == []
