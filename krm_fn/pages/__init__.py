"""What every code means and how to mend it: the pages under docs/errors, and the rules of SARIF.

Not its business: the messages themselves, which say it of one field. The files of this folder hold the texts, each for a range of codes;
only what people read imports them.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import NamedTuple

from krm_fn import codes, registry

ADDRESS = "https://dynamo.krm-fn.io/errors/"


class Page(NamedTuple):
    """What a code means, how to mend it, and where it is short an example: a piece of YAML that has it, and the same mended."""

    means: str
    mend: str
    wrong: str = ""
    right: str = ""


@cache
def every() -> dict[str, Page]:
    """All pages by code."""
    here = sys.modules[__name__]
    return {code: page for name in registry.names(here) for code, page in registry.get(here, name).PAGES.items()}


def address(code: str) -> str:
    """Where people read the page of a code."""
    return f"{ADDRESS}{code}"


def plain(code: str) -> str:
    """The page in two sentences."""
    page = every()[code]
    return f"{page.means} {page.mend}"


def markdown(code: str) -> str:
    """The whole page."""
    page = every()[code]
    parts = [f"# {code}: {codes.TITLES[code]}", page.means, "## How to mend it", page.mend]
    if page.wrong:
        parts.append(_fenced(page.wrong))
    if page.right:
        parts.extend([*(["becomes"] if page.wrong else []), _fenced(page.right)])
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    return f"```yaml\n{text}```"
