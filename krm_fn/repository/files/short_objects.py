"""Objects of which kustomize gets the apiVersion, the kind and the metadata only, because it changes nothing in the rest of them.

To read, sort and print a rendered pod template costs kustomize more than the render. After the last function of a build, kustomize sets
names of objects to which others refer, adds hashes to names, and orders the objects (`api/internal/target`, `api/krusty`). So the rest of
an object stays as it is if it has no text that kustomize could take for the name of a renamed object. Objects of which this is not certain
are whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cmp_to_key, lru_cache
from typing import Any

from krm_fn.base import results
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels

REST = "dynamo.krm-fn.io/rest-of-object"
"""The annotation with the number of the rest of an object. Only kustomize sees it."""

_HEAD = ("apiVersion", "kind", "metadata")
_INTERNAL = "internal.config.kubernetes.io/"
_PREVIOUS = f"{_INTERNAL}previousNames"
_HASHED = ("needs-hash", "needsHash")
_WITH_NAMESPACES = "subjects"
"""A list in whose entries kustomize also sets the namespace of the object that they name."""
_KEY = re.compile(r"[A-Za-z0-9_./-]+")
_NUMBER = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoOeE_:+.TZtz -]*")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)*")
_LARGEST = 2**53
"""Go prints larger numbers in another form if it takes them for floating-point numbers."""


def shorten(items: Iterable[Any], rendered: Iterable[Any], rest: dict[str, Resource]) -> list[Any]:
    """Returns the output of the function, in which new objects are short. Their other fields are added to `rest`.

    `items` are the input of the function, as kustomize prints it.
    """
    given, output = [item for item in items if isinstance(item, dict)], [*rendered]
    if any(REST in labels.annotations(item) for item in given):
        return output
    known = {id(item) for item in given} | {_identity(item) for item in given}
    changed = _changed_names(given, output)
    shown: list[Any] = []
    for value in output:
        is_new = isinstance(value, dict) and id(value) not in known and _identity(value) not in known
        short = _shorten(value, rest) if is_new and _is_stable(value, changed) else None
        shown.append(value if short is None else short)
    return shown


def _identity(value: Any) -> tuple[str, str, str]:
    ref = results.ref(value)
    return ref.api_version.rpartition("/")[0], ref.kind, ref.name


def _shorten(value: Resource, rest: dict[str, Resource]) -> Resource:
    number = f"{len(rest)}"
    rest[number] = {key: value[key] for key in value if key not in _HEAD}
    metadata = {**value["metadata"], "annotations": {**labels.annotations(value), REST: number}}
    return {"apiVersion": value["apiVersion"], "kind": value["kind"], "metadata": metadata}


def _changed_names(items: list[Resource], output: list[Any]) -> frozenset[str]:
    """Returns the names that kustomize may replace at the end of a build: earlier names of renamed objects, and names that get a hash.

    A name that objects of several namespaces have is one of them, because kustomize then compares more than names. No list of kustomize
    has the kinds of Dynamo, so no field refers to them.
    """
    changed: set[str] = set()
    for item in items:
        annotations, name = labels.annotations(item), results.ref(item).name
        previous = {text for text in str(annotations.get(_PREVIOUS, "")).split(",") if text}
        is_hashed = any(part in key for key in annotations for part in _HASHED)
        if not dynamo_api.is_dynamo(item) and (is_hashed or previous - {name}):
            changed |= {*previous, name}
    counts = Counter((ref.kind, ref.name) for ref in (results.ref(value) for value in output if isinstance(value, dict)))
    return frozenset(changed) | {name for (_, name), count in counts.items() if count > 1}


def _is_stable(value: Resource, changed: frozenset[str]) -> bool:
    """Returns true for an object whose fields beside the metadata kustomize prints as they are."""
    if _WITH_NAMESPACES in value or not isinstance(value.get("metadata"), dict):
        return False
    return all(_is_stable_value(value[key], changed) and _KEY.fullmatch(key) for key in value if key not in _HEAD)


def _is_stable_value(value: Any, changed: frozenset[str]) -> bool:
    if isinstance(value, str):
        return value not in changed and is_plain(value)
    if isinstance(value, dict):
        return all(_is_stable_value(entry, changed) and isinstance(key, str) and _is_plain_key(key) for key, entry in value.items())
    if isinstance(value, list):
        return all(_is_stable_value(entry, changed) for entry in value)
    return isinstance(value, bool) or (isinstance(value, int) and abs(value) < _LARGEST)


@lru_cache(4096)
def _is_plain_key(key: str) -> bool:
    return bool(_KEY.fullmatch(key)) and is_plain(key)


@lru_cache(4096)
def is_plain(text: str) -> bool:
    """Returns true for a text that kustomize surely prints as the same text.

    Texts in the form of dates and unusual numbers, white space at the end of a line, and characters that are not printed are left out.
    """
    if text in ("=", "<<") or (_NUMBER.fullmatch(text) and not _PLAIN_NUMBER.fullmatch(text)):
        return False
    return all(line.isprintable() and line == line.rstrip() for line in text.split("\n")) and text == text.lstrip()


def restore(value: Resource, rest: Mapping[str, Resource]) -> Resource:
    """Returns an object of a build with the fields that kustomize did not get, in the order in which kustomize prints fields."""
    number = labels.annotations(value).get(REST)
    if not rest or not isinstance(number, str) or number not in rest:
        return value
    annotations = {key: text for key, text in labels.annotations(value).items() if key != REST}
    metadata = {
        key: annotations if key == "annotations" else entry
        for key, entry in value["metadata"].items()
        if key != "annotations" or annotations
    }
    whole: Resource = _in_order({**value, "metadata": None, **rest[number]})
    return {**whole, "metadata": metadata}


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in _sort_keys(tuple(value))}
    return [_in_order(entry) for entry in value] if isinstance(value, list) else value


@lru_cache(4096)
def _sort_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(keys, key=cmp_to_key(_compare)))


def _compare(key: str, other: str) -> int:
    """Compares two keys as the YAML library of kustomize does: letters after other characters, numbers by their value (`keyList.Less`)."""
    return -1 if _is_less(key, other) else int(key != other)


def _is_less(key: str, other: str) -> bool:
    is_after_digit = False
    for index, (letter, letter_of_other) in enumerate(zip(key, other, strict=False)):
        if letter == letter_of_other:
            is_after_digit = letter.isdecimal()
            continue
        if letter.isalpha() and letter_of_other.isalpha():
            return letter < letter_of_other
        if letter.isalpha() or letter_of_other.isalpha():
            return letter.isalpha() if is_after_digit else letter_of_other.isalpha()
        return _is_less_number(key, other, index)
    return len(key) < len(other)


def _is_less_number(key: str, other: str, index: int) -> bool:
    """Compares the digits from the first character that differs on, with a digit before them if zeros differ."""
    head = ""
    if "0" in (key[index], other[index]):
        before = next(_digits_before(key, index), "")
        head = "1" if before else ""
    digits, digits_of_other = _digits(key[index:]), _digits(other[index:])
    number, number_of_other = int(f"0{head}{digits}"), int(f"0{head}{digits_of_other}")
    if number != number_of_other:
        return number < number_of_other
    if len(digits) != len(digits_of_other):
        return len(digits) < len(digits_of_other)
    return key[index] < other[index]


def _digits_before(key: str, index: int) -> Iterator[str]:
    """Yields the digits directly before an index that are not zero, the last one first."""
    for letter in reversed(key[:index]):
        if not letter.isdecimal():
            return
        if letter != "0":
            yield letter


def _digits(text: str) -> str:
    match = re.match("[0-9]*", text)
    return match[0] if match else ""
