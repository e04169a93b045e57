"""For resources with any mistakes, the function returns findings and loses no item.

`make test` runs 100 cases, `make test-all` 400, and `make fuzz` 18,000. A failure names the number of the case, which reproduces it.
"""

from __future__ import annotations

import io
import json
from random import Random
from typing import Any, NamedTuple

import pytest
import yaml

from krm_fn.base.yaml import reader
from krm_fn.render.krm import function
from tests.fuzz import mutations
from tests.testbed import tier

COUNT = tier.number(400, 100, "KRM_FN_MUTATIONS")
CHUNK = 100
SOUND = mutations.seeds()


class Answer(NamedTuple):
    """The answer of the function: exit code, stdout as text, its items and results, and stderr."""

    code: int
    text: str
    items: list[Any]
    results: list[Any]
    said: str


def answer(text: str) -> Answer:
    """The answer to a ResourceList."""
    out, err = io.BytesIO(), io.StringIO()
    code = function.run(io.BytesIO(text.encode()), out, err)
    documents, _ = reader.read(out.getvalue().decode())
    listed = documents[0].value if documents else {}
    return Answer(code, out.getvalue().decode(), listed.get("items") or [], listed.get("results") or [], err.getvalue())


def lines(values: list[Any]) -> list[str]:
    """Values as sorted JSON, to compare them in any order."""
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def name(item: Any) -> tuple[str, str]:
    """Kind and name of an item."""
    metadata = item.get("metadata") if isinstance(item, dict) else None
    return (str(item.get("kind")), str(metadata.get("name"))) if isinstance(metadata, dict) else ("", "")


def judge(number: int) -> None:
    """Check all properties of the answer to one case."""
    case = mutations.case(number, SOUND)
    text = case.text()
    first = answer(text)
    errors = [result for result in first.results if result["severity"] == "error"]
    assert "DYN019" not in first.said, "an exception"
    assert "Traceback" not in first.said
    assert first.code == (1 if errors or not first.text else 0), "exit 1 exactly with an error"
    assert first.text or first.said, "an empty answer says why"
    assert answer(text) == first, "the same bytes for the same input"
    if not first.text:
        return
    # libyaml and Kubernetes disagree on U+2028 as a line end, so the function rewrites a text with it (`krm_fn.render.krm.layout`).
    assert mutations.KEPT in first.text or "\u2028" in text, "untouched text stays as it is"
    if errors:
        assert lines(first.items) == lines(yaml_items(text)), "with an error the items leave as they came"
        return
    names = {name(item) for item in first.items}
    told = {(ref.get("kind"), ref.get("name")) for result in first.results if (ref := result.get("resourceRef"))}
    lost = {name(item) for item in case.items} - names - told
    assert not lost, "no item is lost without a finding"
    order = list(range(len(case.items)))
    Random(number).shuffle(order)  # noqa: S311 - no secrets here
    if not case.doubled:
        shuffled = answer(case.text(order))
        assert (shuffled.code, lines(shuffled.items)) == (first.code, lines(first.items)), "the order of items does not count"
    again = answer(first.text)
    assert lines(again.items) == lines(first.items), "a second run changes nothing"


def yaml_items(text: str) -> list[Any]:
    """The items of a list, read without the parser of ResourceLists."""
    documents, _ = reader.read(text)
    items: list[Any] = documents[0].value["items"]
    return items


@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_mutations(start):
    for number in range(start, min(start + CHUNK, COUNT)):
        try:
            judge(number)
        except AssertionError as problem:
            raise AssertionError(f"case {number}: {problem}") from problem


def test_the_cases_are_of_every_kind():
    """Some cases have errors and some do not; otherwise the mutations would test too little."""
    codes = [answer(mutations.case(number, SOUND).text()).code for number in range(200)]
    assert 20 < sum(codes) < 180


def test_the_kept_item_is_yaml():
    assert yaml.safe_load(mutations.KEPT)[0]["metadata"]["name"] == "kept"
