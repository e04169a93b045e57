"""The codes of findings. Each code has a page: a title, the meaning, and the fix.

The pages are those of docs/errors, of `krm-fn explain` and of SARIF rules. The files in `texts/` contain them; a render never reads them.
The meaning of a code never changes, and no code is used again: DYN055 (requests are expanded), DYN165 and DYN430 (the rank of a follower
can be computed everywhere) are retired.

The ranges: 001-019 reading ResourceLists and files, 020-029, 080 and 085 the schema, 030-039 deprecated kinds and fields, 040-049 the
configuration, 050-059 and 081-089 items, 060-069 later build layers and committed renders, 070-079 files of the commands, 100-199 graphs,
models and requests, 200-249 pods, 250-269 native objects, 270-299 pods, 300-399 notes, 400-408 changes, 409-414 conversion, 415-424 worker
revisions and the configuration of an operator, 425-449 pods, nodes and Grove since Dynamo 1.2, 450-499 rules of Dynamo 1.5 and 1.6, 500-509
explain and finished builds, 510-529 comparisons of two states, 530-540 forecasts, 550-554 diagrams, 555-564 images, 565-572 exports of a
cluster and adoption, 573-574 further findings about forecasts, 575-579 the choice of a release, 585-589 about adoption, Grove and worker
revisions, 590-599 repositories, 541-549, 600-639, 643-649, 714-719, 724-729 and 733-734 command lines of engines, 640-642 budgets, 650-669
and 745-747 upgrades, 670-689 references and layers of builds, 690-699 further findings about graphs, 700-709 and 711-713 graphs that find
each other, workers, images and slips, 710-710 remote bases, 720-723 pipelines, 730-732 values that no node can run, 735-739 clusters,
740-744 roots of a command, 748-749 pods on several GPU products and passes of an operator.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple

import krm_fn
from krm_fn.base.yaml import reader
from krm_fn.render import dynamo_api

_FOLDER = f"{krm_fn.PAGES}/errors"


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


def names() -> list[str]:
    """Returns all codes in their order."""
    return list(_sections())


@cache
def page(code: str) -> Page:
    """Returns the page of a code. Only its section is parsed. Raises KeyError if the code does not exist."""
    return Page(**reader.read(_sections()[code])[0][0].value[code])


def pages() -> dict[str, Page]:
    """Returns all pages by code, in the order of the codes."""
    return {code: page(code) for code in names()}


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
    sections = [f"# {code}: {title}", example, means, "## Fix", fix, older, "\n\nbecomes\n\n".join(examples)]
    return "\n\n".join(filter(None, sections)) + "\n"


def _code_span(text: str) -> str:
    """Returns text between more backticks than it has in a row (CommonMark, section 6.1)."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"
