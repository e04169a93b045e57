"""Functions that rewritten modules call in place of Python's own syntax, so that values keep their marks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from krm_fn.origins import marked_values
from krm_fn.origins.marked_values import MarkedText, Marks, Overridden
from krm_fn.origins.origin import Origin

SPREAD = object()
"""Stands for the key of `**mapping` in a dict display."""


def marked_constants(module: str, constants: Iterable[tuple[str | int, str]]) -> list[Any]:
    """Marks the constants of a module, each with the qualified name of the function or constant that contains it."""
    return [marked_values.with_marks(value, _location(module, scope)) for value, scope in constants]


def locations_of(module: str, scopes: Iterable[str]) -> list[Marks]:
    """Returns the marks of functions and constants of a module, by their qualified names."""
    return [_location(module, scope) for scope in scopes]


@functools.cache
def _location(module: str, scope: str) -> Marks:
    return frozenset((Origin("rule", (module, scope)),))


@functools.lru_cache(10_000)
def _key(text: str, marks: Marks) -> MarkedText:
    """The key that a dict display makes of a constant. Thousands of mappings share it."""
    return MarkedText(text, marks)


def mapping(location: Marks, *entries: tuple[Any, Any]) -> dict[Any, Any]:
    """Makes a dict display: each key has the location of the display as its mark, and keeps the marks of a key that the user wrote."""
    listed: list[tuple[Any, Any]] = []
    for key, value in entries:
        if key is SPREAD:
            items = value.items() if hasattr(value, "items") else ((inner, value[inner]) for inner in value)
            listed += [(_key(inner, location) if type(inner) is str else inner, inner_value) for inner, inner_value in items]
        elif type(key) is str:
            listed.append((_key(key, location), value))
        elif isinstance(key, str):
            listed.append((MarkedText(key, location | {mark for mark in marked_values.of(key) if mark.kind != "rule"}), value))
        else:
            listed.append((key, value))
    return comprehension(listed)


def mark_keywords(location: Marks, arguments: dict[Any, Any]) -> dict[Any, Any]:
    """Makes a mapping of keyword arguments: its keys have the location of the call."""
    return {_key(key, location) if type(key) is str else key: value for key, value in arguments.items()}


def comprehension(entries: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Makes a mapping of entries. A later entry of a key replaces the earlier one at its position, and its key has the replaced value."""
    listed = list(entries)
    distinct = dict(listed)
    if len(distinct) == len(listed):
        return distinct
    by_key: dict[Any, tuple[Any, Any]] = {}
    for entry in listed:
        key = entry[0]
        old = by_key.get(key)
        by_key[key] = entry if old is None else _replace_entry(*old, *entry)
    return dict(by_key.values())


def assign(target: Any, key: Any, value: Any) -> None:
    """Runs `target[key] = value`. The key keeps its position, and gets the marks of the new key."""
    if type(target) is not dict or key not in target or target[key] is value:
        target[key] = value
        return
    entries = comprehension([*target.items(), (key, value)])
    target.clear()
    target.update(entries)


def _replace_entry(old_key: Any, old: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """The new entry, with the value that it replaces at its key. A mapping that replaces a mapping has the values at its own keys."""
    if old is value and not isinstance(old, bool):
        return old_key, value
    if type(old) is dict and type(value) is dict:
        old_keys = {inner: inner for inner in old}
        return key, {_overriding_inner(inner, inner_value, old, old_keys): inner_value for inner, inner_value in value.items()}
    return _overriding(old_key, old, key, value), value


def _overriding_inner(key: Any, value: Any, replaced: dict[Any, Any], old_keys: dict[Any, Any]) -> Any:
    """The key of an entry of a mapping that replaces another mapping. `old_keys` are the keys of that one, with their marks."""
    if key not in replaced or replaced[key] is value or isinstance(value, dict):
        return key
    return _overriding(old_keys[key], replaced[key], key, value)


def _overriding(old_key: Any, old: Any, key: Any, value: Any) -> Any:
    """The key with the old value, unless the new value is equal or made of it, or the old value had no marks."""
    if not isinstance(key, str) or old == value:
        return key
    marks = marked_values.of(old) or marked_values.of(old_key)
    if not marks or not marks.isdisjoint(marked_values.of(value)):
        return key
    overridden = (*(old_key.overridden if type(old_key) is MarkedText else ()), Overridden(marked_values.plain(old), marks))
    return MarkedText(key, marked_values.of(key), overridden)


def join_fstring(location: Marks, *parts: str) -> MarkedText:
    """Makes the text of an f-string: its values have their own marks, and the text between them has the location of the f-string."""
    return marked_values.join_texts(parts, location)


def format_value(value: Any) -> Any:
    """Formats a value in an f-string. `join_fstring` reads its marks, so a text stays as it is."""
    return value if isinstance(value, str) else MarkedText(format(value), marked_values.of(value))


def convert_value(value: Any, conversion: int, spec: str) -> MarkedText:
    """Formats a value in an f-string with a conversion or a format."""
    result = repr(value) if conversion == ord("r") else str(value) if conversion == ord("s") else value
    return MarkedText(format(result, spec), marked_values.of(value))


def whole(*arguments: Any) -> Any:
    """Runs `int(…)`. The result has the marks of the arguments."""
    return marked_values.with_marks(int(*arguments), marked_values.of(*arguments)) if marked_values.of(*arguments) else int(*arguments)


def kind(value: Any) -> type:
    """Runs `type(value)` of a value without its marks, because the core compares types of values from YAML."""
    return marked_values.plain_type(type(value))


def mark_result(location: Marks, value: Any, *arguments: Any) -> Any:
    """Marks the result of a function that returns texts or numbers: one without marks gets those of the arguments, and the location."""
    if type(value) in (str, int):
        return marked_values.with_marks(value, marked_values.of(*arguments) | location)
    return value


def without_cache(*arguments: Any, **_options: Any) -> Any:
    """Replaces `cache` and `lru_cache`: only a function without parameters keeps its cache. Others would return marks of another call."""
    if not (len(arguments) == 1 and callable(arguments[0])):
        return without_cache
    function = arguments[0]
    return function if inspect.signature(function).parameters else functools.cache(function)


def on_plain_values(function: Callable[..., Any], location: Origin | None) -> Callable[..., Any]:
    """Wraps a function so that it works on plain values. All texts and numbers of its result get the marks of its arguments.

    A result that is not one of the arguments gets the location of the function too.
    """

    @functools.wraps(function)
    def call_plain(*arguments: Any, **more: Any) -> Any:
        plain = [marked_values.plain(argument) for argument in arguments]
        result = function(*plain, **marked_values.plain(more))
        marks = _within((arguments, more))
        if not marks:
            return result
        is_changed = location is not None and result not in plain and getattr(result, "text", None) not in plain
        return marked_values.add_marks(result, marks | {location} if location is not None and is_changed else marks)

    return call_plain


def _within(value: Any) -> Marks:
    """The marks of a value, those in named tuples included."""
    marks: set[Origin] = set()
    _add_within(value, marks)
    return frozenset(marks)


def _add_within(value: Any, marks: set[Origin]) -> None:
    if type(value) is dict:
        for key, inner in value.items():
            _add_within(key, marks)
            _add_within(inner, marks)
    elif isinstance(value, list | tuple):
        for entry in value:
            _add_within(entry, marks)
    else:
        marks |= marked_values.of(value)
