"""The pages of findings. Each code of `krm_fn.base.codes` has a page: a title, the meaning, and the fix.

The pages are those of docs/errors, of `krm-fn explain` and of SARIF rules. The files in `texts/` contain them; a render never reads them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple

import krm_fn
from krm_fn.base import codes
from krm_fn.base.yaml import reader
from krm_fn.render import dynamo_api

_FOLDER = f"{krm_fn.PAGES}/errors"
CONSTANTS = {code: constant for constant, code in vars(codes).items() if constant.isupper()}
"""The constant of each code, such as `UNKNOWN_FIELD`, in the order of the codes."""


class Page(NamedTuple):
    """A title, an example of the message, the meaning of a code and the fix, and often YAML with the mistake and the same without it.

    YAML begins with the fields of a resource, or with those of a graph's `spec`. The message is that of the YAML with the mistake.
    `version` is the API version of its graphs: the older one only where the newer one has no such field or mistake.
    """

    title: str
    message: str
    means: str
    fix: str
    wrong: str = ""
    right: str = ""
    version: str = dynamo_api.BETA1


def name(code: str) -> str:
    """Returns the name of a code as a person writes it, such as `unknown-field`. Raises KeyError if the code does not exist."""
    return CONSTANTS[code].lower().replace("_", "-")


def find(text: str) -> str:
    """Returns the code that a person means by a code or a name, in upper or lower case. Raises KeyError if there is none.

    >>> find("dyn023"), find("unknown-field"), find("UNKNOWN_FIELD")
    ('DYN023', 'DYN023', 'DYN023')
    """
    text = text.upper()
    code = next((code for code, constant in CONSTANTS.items() if constant == text.replace("-", "_")), text)
    if code not in CONSTANTS:
        raise KeyError(text)
    return code


@cache
def page(code: str) -> Page:
    """Returns the page of a code. Only its section is parsed. Raises KeyError if the code does not exist."""
    return Page(**reader.read(_sections()[code])[0][0].value[code])


def pages() -> dict[str, Page]:
    """Returns all pages by code, in the order of the codes."""
    return {code: page(code) for code in CONSTANTS}


@cache
def _sections() -> dict[str, str]:
    """The YAML of each page by code. A section begins with its code in the first column of a line."""
    folder = resources.files(__name__) / "texts"
    texts = [file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".yaml")]
    sections = [f"DYN{section}" for text in texts for section in f"\n{text}".split("\nDYN")[1:]]
    return {section.partition(":")[0]: section for section in sorted(sections)}


def url(code: str) -> str:
    """Returns the URL of the page of a code. It is the same for every version of krm-fn."""
    return f"{_FOLDER}/{code}.md"


def plain(code: str) -> str:
    """Returns the meaning and the fix of a code in a few sentences."""
    return f"{page(code).means} {page(code).fix}"


def markdown(code: str) -> str:
    """Returns the whole page of a code as Markdown."""
    title, message, means, fix, *yaml, version = page(code)
    examples = [f"```yaml\n{text}```" for text in yaml if text]
    older = f"These are fields of `{dynamo_api.GROUP}/{version}`:" if examples and version != dynamo_api.BETA1 else ""
    example = f"The finding says, for example: {_code_span(message)}"
    sections = [f"# {code} {name(code)}: {title}", example, means, "## Fix", fix, older, "\n\nbecomes\n\n".join(examples)]
    return "\n\n".join(filter(None, sections)) + "\n"


def _code_span(text: str) -> str:
    """Returns text between more backticks than it has in a row (CommonMark, section 6.1)."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"
