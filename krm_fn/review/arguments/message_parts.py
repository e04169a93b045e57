"""Names of flags, programs and values in messages about command lines."""

from __future__ import annotations

import re

from krm_fn.kubernetes import secret_values
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.command_line_parser import Problem
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.shell_words import Word

LONGEST = 60
"""The longest text that a message shows, in characters."""
_SECRET = re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|hf|nvapi|ghp|gho|glpat|xox[a-z]|AKIA)[-_]?\w{8,}|eyJ\w{8,}", re.ASCII)


def value(word: Word, option: str = "") -> str:
    """Returns a value for a message: hidden if it or its flag looks secret, and shortened."""
    if secret_values.is_secret_name(option) or is_secret(word.text):
        return secret_values.HIDDEN
    return shorten_line(word.text)


def is_secret(text: str) -> bool:
    """Returns true for a text that has the form of a known token."""
    return bool(_SECRET.search(text))


def shorten_line(text: str) -> str:
    """Returns a text in one line, and not longer than messages show."""
    text = text.replace("\n", " ")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def flag(problem: Problem) -> str:
    """Returns the flag as its author wrote it."""
    return f"`{problem.option if len(problem.option) <= LONGEST else problem.option[:LONGEST] + '…'}`"


def program(table: FlagTable) -> str:
    """Returns the program with its release."""
    of = "of " if flag_tables.is_nightly(table.release) else ""
    return f"{table.program} {of}{release(table.release)}{f' ({table.engine})' if table.engine else ''}"


def release(name: str) -> str:
    """Returns a release or a nightly build."""
    return f"the nightly build {name}" if flag_tables.is_nightly(name) else name
