"""Each question of users has pages that answer it: they exist, are in the navigation, and have the words of the question."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import pytest
import yaml

from tests.testbed import programs

ROOT = programs.ROOT
QUESTIONS = yaml.safe_load((ROOT / "tests" / "site" / "questions.yaml").read_text())
NAVIGATION = (ROOT / "tools" / "website" / "navigation.yaml").read_text()
_COMMON = {
    "a",
    "an",
    "after",
    "and",
    "before",
    "did",
    "do",
    "does",
    "failed",
    "i",
    "in",
    "it",
    "my",
    "of",
    "the",
    "to",
    "what",
    "why",
    "without",
}


def words(text):
    """The words of a text in small letters, without the endings of plurals and verbs."""
    return {re.sub(r"(ing|ed|s|e)$", "", word) for word in re.findall(r"[a-z0-9]+", text.lower())}


def test_each_question_is_asked_once():
    assert len(QUESTIONS) >= 40
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question["question"].lower() for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_a_page_answers_the_question(question):
    """The pages exist and the site has them. At least one has all words of the question, so that a search can find it."""
    assert set(question) == {"id", "question", "pages", "source"}
    asked = words(" ".join(word for word in question["question"].split() if word.lower() not in _COMMON))
    patterns = re.findall(r"[\w/*-]+\.md", NAVIGATION)
    assert [page for page in question["pages"] if not any(fnmatch(page, pattern) for pattern in patterns)] == []
    lacking = {page: sorted(asked - words((ROOT / page).read_text())) for page in question["pages"]}
    assert [] in lacking.values(), lacking
