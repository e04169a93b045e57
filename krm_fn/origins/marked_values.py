"""Texts and numbers with marks: the origins that they were made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from krm_fn.origins.origin import Origin

Marks = frozenset[Origin]
NONE: Marks = frozenset()


class Overridden(NamedTuple):
    """A value that a later one replaced, and the marks of the replaced value."""

    value: Any
    marks: Marks


class MarkedText(str):
    """A text with marks. On a key of a mapping, `overridden` holds the values that the value under the key replaced.

    `spans` are the lengths of its parts and the marks of each part, so that a part of the text has the marks of that part only.
    """

    __slots__ = ("_marks", "overridden", "spans")
    spans: tuple[tuple[int, Marks], ...]
    _marks: Marks
    overridden: tuple[Overridden, ...]

    def __new__(cls, text: str, marks: Marks = NONE, overridden: tuple[Overridden, ...] = ()) -> Self:
        """Makes the value with its marks."""
        self = str.__new__(cls, text)
        self.spans = ((len(text), marks),)
        self.overridden = overridden
        return self

    @property
    def marks(self) -> Marks:
        """The marks of all parts."""
        if len(self.spans) == 1:
            return self.spans[0][1]
        try:
            return self._marks
        except AttributeError:
            self._marks = NONE.union(*(marks for _, marks in self.spans))
            return self._marks

    def __str__(self) -> str:
        return self

    def __deepcopy__(self, _memo: object) -> MarkedText:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (plain(self),)

    def __add__(self, other: str) -> str:
        return join_texts([self, other])

    def __radd__(self, other: str) -> str:
        return join_texts([other, self])

    def join(self, parts: Iterable[str], /) -> str:
        """Joins parts, each with its own marks."""
        texts: list[str] = []
        for part in parts:
            texts += [self, part] if texts else [part]
        return join_texts(texts)

    def part(self, text: str, start: int) -> MarkedText:
        """Returns the part of the text that begins at `start`, with the marks of that part."""
        end, position, spans = start + len(text), 0, []
        for length, marks in self.spans:
            overlap = min(position + length, end) - max(position, start)
            if overlap > 0:
                spans.append((overlap, marks))
            position += length
        part = MarkedText(text)
        part.spans = tuple(spans) or ((0, self.marks),)
        return part


def join_texts(parts: Iterable[str], more: Marks = NONE) -> MarkedText:
    """Joins texts, each with its own marks. `more` are the marks of texts without marks."""
    texts = list(parts)
    text = MarkedText("".join(texts))
    spans = (part.spans if type(part) is MarkedText else ((len(part), more),) for part in texts)
    text.spans = tuple(itertools.chain.from_iterable(spans)) or ((0, more),)
    return text


class Whole(int):
    """An integer with marks."""

    marks: Marks

    def __new__(cls, number: int, marks: Marks = NONE) -> Self:
        """Makes the value with its marks."""
        self = int.__new__(cls, number)
        self.marks = marks
        return self

    def __str__(self) -> str:
        return MarkedText(int.__repr__(self), self.marks)


class Decimal(float):
    """A float with marks."""

    marks: Marks

    def __new__(cls, number: float, marks: Marks = NONE) -> Self:
        """Makes the value with its marks."""
        self = float.__new__(cls, number)
        self.marks = marks
        return self


_TYPES: dict[type, type] = {str: MarkedText, int: Whole, float: Decimal, MarkedText: MarkedText, Whole: Whole, Decimal: Decimal}
_PLAIN: dict[type, type] = {MarkedText: str, Whole: int, Decimal: float}
_LISTS = {list, tuple, set, frozenset}


def plain_type(kind: type) -> type:
    """Returns the type of a value without its marks."""
    return _PLAIN.get(kind, kind)


def of(*values: Any) -> Marks:
    """Returns the marks of values, and of all values in their lists and mappings. Ignores named tuples: plans hold the whole input."""
    if len(values) == 1:
        kind = type(values[0])
        if kind in _PLAIN:
            return values[0].marks  # type: ignore[no-any-return]
        if kind is not dict and kind not in _LISTS:
            return NONE
    marks: set[Origin] = set()
    _add_of(values, marks)
    return frozenset(marks) if marks else NONE


def _add_of(values: Iterable[Any], marks: set[Origin]) -> None:
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            marks |= value.marks
        elif kind in _LISTS:
            _add_of(value, marks)
        elif kind is dict:
            _add_of(value, marks)
            _add_of(value.values(), marks)


def with_marks(value: Any, marks: Marks) -> Any:
    """Replaces the marks of a text or a number. Any other value comes back unchanged."""
    kind = _TYPES.get(type(value))
    return value if kind is None else kind(value, marks)


def add_marks(value: Any, marks: Marks) -> Any:
    """Adds marks to a text or a number. In a list, mapping or tuple, every text and number gets them."""
    if type(value) in _TYPES:
        return with_marks(value, marks | of(value))
    return _rebuilt(value, lambda inner: add_marks(inner, marks))


def plain(value: Any) -> Any:
    """Removes the marks of a value, and of all values in its lists, mappings and tuples."""
    kind = type(value)
    if kind is MarkedText:
        return str.__str__(value)
    if kind is str or value is None:
        return value
    if kind is dict:
        return {plain(key): plain(inner) for key, inner in value.items()}
    if kind is list:
        return [plain(entry) for entry in value]
    if kind is Whole:
        return int.__int__(value)
    if kind is Decimal:
        return float.__float__(value)
    return _rebuilt(value, plain)


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A list, mapping or tuple of the same type with changed entries. Any other value comes back unchanged."""
    if type(value) is dict:
        return {change(key): change(inner) for key, inner in value.items()}
    if type(value) is list:
        return [change(entry) for entry in value]
    if isinstance(value, tuple):
        entries = [change(entry) for entry in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return value


def _mixing(name: str) -> Callable[..., Any]:
    """A method whose result has the marks of the text and of all arguments."""
    original = getattr(str, name)

    def method(self: MarkedText, *args: Any, **more: Any) -> Any:
        result = original(self, *args, **more)
        return result if result is NotImplemented else add_marks(result, of(self, *args, *more.values()))

    return method


def _cutting(name: str) -> Callable[..., Any]:
    """A method whose results are parts of the text, in their order."""
    original = getattr(str, name)

    def method(self: MarkedText, *args: Any, **more: Any) -> Any:
        result = original(self, *args, **more)
        position, parts = 0, []
        for part in [result] if isinstance(result, str) else result:
            position = max(str.find(self, part, position), 0)
            parts.append(self.part(part, position))
            position += len(part)
        return parts[0] if isinstance(result, str) else type(result)(parts)

    return method


def _counting(name: str) -> Callable[..., Any]:
    """An operation of integers whose result has the marks of both operands."""
    original = getattr(int, name)

    def method(self: Whole, *others: Any) -> Any:
        result = original(self, *others)
        return with_marks(result, of(self, *others)) if type(result) is int else result

    return method


for _name in ("lower", "upper", "title", "replace", "format", "ljust", "zfill", "translate", "__mod__", "__mul__"):
    setattr(MarkedText, _name, _mixing(_name))
for _name in ("split", "rsplit", "splitlines", "partition", "rpartition", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix"):
    setattr(MarkedText, _name, _cutting(_name))
for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor"):
    setattr(Whole, f"__{_name}__", _counting(f"__{_name}__"))
    setattr(Whole, f"__r{_name}__", _counting(f"__r{_name}__"))
for _name in ("__neg__", "__abs__"):
    setattr(Whole, _name, _counting(_name))


def _slice_text(self: MarkedText, key: Any) -> MarkedText:
    """A character or a slice. A slice with a step has all marks."""
    text = str.__getitem__(self, key)
    start = key.indices(len(self))[0] if isinstance(key, slice) else range(len(self))[key]
    return MarkedText(text, self.marks) if isinstance(key, slice) and key.step not in (None, 1) else self.part(text, start)


setattr(MarkedText, "__getitem__", _slice_text)  # noqa: B010 - the signature of `str` has overloads
