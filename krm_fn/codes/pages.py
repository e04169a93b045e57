"""What each code means and how to fix it: the pages of docs/errors, of `krm-fn explain` and of SARIF rules.

The files in `texts/` hold the texts, each for a range of codes. A render never reads them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from krm_fn import codes
from krm_fn.yamlio import reader

_FOLDER = "https://github.com/dynamo-krm-fn/dynamo-krm-fn/blob/main/docs/errors"


class Page(NamedTuple):
    """What a code means and how to fix it, and often YAML with the mistake and the same YAML without it.

    An example begins with the fields of a resource, or with those of a graph's `spec`.
    """

    means: str
    fix: str
    wrong: str = ""
    right: str = ""


@cache
def every() -> dict[str, Page]:
    """All pages by code."""
    texts = [path.read_text("utf-8") for path in sorted((Path(__file__).parent / "texts").glob("*.yaml"))]
    found = [document.value for text in texts for document in reader.read(text)[0]]
    return {code: Page(**page) for pages in found for code, page in pages.items()}


def address(code: str) -> str:
    """The URL of the page of a code, for every version of krm-fn, since codes do not change their meaning."""
    return f"{_FOLDER}/{code}.md"


def plain(code: str) -> str:
    """The page in a few sentences."""
    page = every()[code]
    return f"{page.means} {page.fix}"


def markdown(code: str) -> str:
    """The whole page."""
    page = every()[code]
    examples = [f"```yaml\n{text}```" for text in (page.wrong, page.right) if text]
    return (
        "\n\n".join([f"# {code}: {codes.TITLES[code]}", page.means, "## Fix", page.fix, "\n\nbecomes\n\n".join(examples)]).rstrip() + "\n"
    )
