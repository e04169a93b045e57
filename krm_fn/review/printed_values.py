"""Text for people: values of any content on one line."""

from __future__ import annotations

import json
from typing import Any

from krm_fn import report

LONGEST = 100
"""The longest value that is shown, in characters."""


def value(shown: Any, longest: int = LONGEST) -> str:
    r"""A value on one line, as JSON. Control characters are escaped, and a long value is cut.

    >>> print(value("a\x1b[0m\n"), value(True), value("x" * 10, 5))
    "a\u001b[0m\n" true "xxxx…
    """
    text = report.visible(json.dumps(shown, ensure_ascii=False))
    return text if len(text) <= longest else f"{text[:longest]}…"
