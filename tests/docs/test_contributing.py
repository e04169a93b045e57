"""Each path, make target and module that the pages for contributors name exists."""

from __future__ import annotations

import re

import pytest

from tests.testbed import programs

PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
_PATH = re.compile(r"`((?:krm_fn|tests|docs|examples|platform|tools)/[A-Za-z0-9_./-]+|[A-Za-z_]+\.(?:cfg|md|toml))`")
_LINK = re.compile(r"\]\(([^)#:]+)\)")
_TARGET = re.compile(r"\bmake ([a-z][a-z -]*[a-z])")
_NEW = ("/TYPE", "/ENGINE", "/KIND", "/RELEASE", "/VERB")


def text(page):
    return (programs.ROOT / page).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_every_path_exists(page):
    named = [path for path in _PATH.findall(text(page)) if not any(new in path for new in _NEW)]
    assert len(named) > 3
    assert [path for path in named if not (programs.ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    folder = (programs.ROOT / page).parent
    assert [link for link in _LINK.findall(text(page)) if not (folder / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_target_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), flags=re.MULTILINE))
    code = re.findall(r"`(make [^`]*)`|^(make .*)$", text(page), flags=re.MULTILINE)
    named = {word for pair in code for names in _TARGET.findall("".join(pair)) for word in names.split()}
    assert named
    assert named <= targets
