"""Text for people: values of any content on one line."""

from __future__ import annotations

import json
from typing import Any

LONGEST = 100
"""The longest value that is shown, in characters."""


def value(shown: Any, longest: int = LONGEST) -> str:
    r"""A value on one line, as JSON. Control characters are escaped, and a long value is cut.

    >>> print(value("a\x1b[0m\n"), value(True), value("x" * 10, 5))
    "a\u001b[0m\n" true "xxxx…
    """
    text = visible(json.dumps(shown, ensure_ascii=False))
    return text if len(text) <= longest else f"{text[:longest]}…"


def visible(text: str) -> str:
    r"""A text with its control characters escaped.

    >>> print(visible("a\x1bb"))
    a\x1bb
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
