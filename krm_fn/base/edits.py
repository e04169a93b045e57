"""Edits that fix findings: another value, another key or another word at the field of a finding.

A rule makes the edit beside the message, from the same values. `krm-fn check --fix` writes it into the file.
"""

from __future__ import annotations

import re

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORD = re.compile(r"write ([^\s,;]+|\{\S+\})")
Path = tuple[str | int, ...]


class Key(NamedTuple):
    """Another key for the field, in place of the last step of its path. The value of the field stays."""

    name: str


class Word(NamedTuple):
    """A text in place of another one inside of the scalar. `within` characters stand before it, without blanks."""

    within: int
    old: str
    new: str


class Quotes(NamedTuple):
    """The scalar is in quotes, as it is written: the fix of a number or a word such as `yes` in place of a text."""


class Removal(NamedTuple):
    """The field is removed from its object."""


class Move(NamedTuple):
    """The field has another path, with its value and its comments. `to` begins where the path of the finding begins."""

    to: Path


class Items(NamedTuple):
    """Other entries of a list in place of one: usually several."""

    texts: tuple[str, ...]


class Addition(NamedTuple):
    """A field that is missing, with its value."""

    value: Any


class Edit(NamedTuple):
    """The edit of a finding. `new` is a value, or a record of this module.

    `is_safe` is true if the edit changes nothing that runs. None is the default: the edit of an error is safe, because the text cannot
    have worked, and that of a warning is not. `at` is the path in the document of the file; None until the finding has a location.
    `path` is that of the edited field in the resource if it is not that of the finding.
    """

    new: Any
    is_safe: bool | None = None
    at: Path | None = None
    path: Path | None = None


def word(fix: str) -> str:
    """Returns the word that a fix says to write; empty for a fix with more words, with a choice, or with a condition.

    >>> word("write replicas"), word("write one of them"), word("write env in the container main"), word("remove it")
    ('replicas', '', '', '')
    """
    match = _WORD.fullmatch(fix)
    return match[1] if match else ""


def of_unknown_field(fix: str) -> Edit | None:
    """Returns the edit of a field whose fix is to write another name, or to remove it; None for another fix.

    The author meant something by the field, so the removal is not safe.
    """
    name = word(fix)
    is_removal = fix.rpartition("; ")[2].partition(", because")[0] == "remove it"
    return Edit(Key(name)) if name else Edit(Removal(), is_safe=False) if is_removal else None
