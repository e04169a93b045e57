"""The field reference: a page of Markdown for each kind.

Not its business: what the fields are.
"""

from __future__ import annotations


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    return {}
