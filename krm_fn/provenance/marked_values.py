"""Texts and numbers that carry marks: the fields, settings and rules that they were made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krm_fn.results import Path


class UserMark(NamedTuple):
    """A field of an input resource, which is given by its index in the input."""

    resource: int
    path: Path


class ConfigMark(NamedTuple):
    """A key of the configuration."""

    path: Path


class RuleMark(NamedTuple):
    """A function or a constant of krm-fn that makes values, and its line."""

    module: str
    function: str
    line: int


Mark = UserMark | ConfigMark | RuleMark
Marks = frozenset[Mark]
NONE: Marks = frozenset()


class Overridden(NamedTuple):
    """A value that a later one replaced, and the marks of the replaced value."""

    value: Any
    marks: Marks


class Text(str):
    """A text with marks. On a key of a mapping, `overridden` holds the values that the value under the key replaced.

    `spans` are the lengths of its parts and the marks of each part, so that a part of the text has the marks of that part only.
    """

    __slots__ = ("overridden", "spans")
    spans: tuple[tuple[int, Marks], ...]
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
        return self.spans[0][1] if len(self.spans) == 1 else NONE.union(*(marks for _, marks in self.spans))

    def __str__(self) -> str:
        return self

    def __deepcopy__(self, _memo: object) -> Text:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (plain(self),)

    def __add__(self, other: str) -> str:
        return joined([self, other])

    def __radd__(self, other: str) -> str:
        return joined([other, self])

    def join(self, parts: Iterable[str], /) -> str:
        """The parts joined, each with its own marks."""
        listed: list[str] = []
        for part in parts:
            listed += [self, part] if listed else [part]
        return joined(listed)

    def part(self, text: str, start: int) -> Text:
        """A part of the text that begins at `start`, with the marks of that part."""
        end, at, found = start + len(text), 0, []
        for length, marks in self.spans:
            inside = min(at + length, end) - max(at, start)
            if inside > 0:
                found.append((inside, marks))
            at += length
        made = Text(text)
        made.spans = tuple(found) or ((0, self.marks),)
        return made


def joined(parts: Iterable[str], more: Marks = NONE) -> Text:
    """Texts in one text, each with its own marks. `more` are the marks of texts without marks."""
    listed = list(parts)
    made = Text("".join(listed))
    made.spans = tuple(span for part in listed for span in (part.spans if type(part) is Text else ((len(part), more),))) or ((0, more),)
    return made


class Whole(int):
    """An integer with marks."""

    marks: Marks

    def __new__(cls, number: int, marks: Marks = NONE) -> Self:
        """Makes the value with its marks."""
        self = int.__new__(cls, number)
        self.marks = marks
        return self

    def __str__(self) -> str:
        return Text(int.__repr__(self), self.marks)


class Decimal(float):
    """A float with marks."""

    marks: Marks

    def __new__(cls, number: float, marks: Marks = NONE) -> Self:
        """Makes the value with its marks."""
        self = float.__new__(cls, number)
        self.marks = marks
        return self


_TYPES: dict[type, type] = {str: Text, int: Whole, float: Decimal, Text: Text, Whole: Whole, Decimal: Decimal}
_PLAIN: dict[type, type] = {Text: str, Whole: int, Decimal: float}


def plain_type(kind: type) -> type:
    """The type of a value without its marks."""
    return _PLAIN.get(kind, kind)


def of(*values: Any) -> Marks:
    """The marks of values, and of everything in their lists and mappings. Named tuples are not read, because plans hold the whole input."""
    found: set[Mark] = set()
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            found |= value.marks
        elif kind in (list, tuple, set, frozenset):
            found |= of(*value)
        elif kind is dict:
            found |= of(*value, *value.values())
    return frozenset(found)


def marked(value: Any, marks: Marks) -> Any:
    """A text or a number with marks instead of its own. Any other value comes back as it is."""
    kind = _TYPES.get(type(value))
    return value if kind is None else kind(value, marks)


def added(value: Any, marks: Marks) -> Any:
    """A text or a number with more marks. In a list, mapping or tuple, every text and number gets them."""
    if type(value) in _TYPES:
        return marked(value, marks | of(value))
    return _rebuilt(value, lambda each: added(each, marks))


def plain(value: Any) -> Any:
    """A value without marks, also in its lists, mappings and tuples."""
    kind = type(value)
    if kind is Text:
        return str.__str__(value)
    if kind is Whole:
        return int.__int__(value)
    if kind is Decimal:
        return float.__float__(value)
    return _rebuilt(value, plain)


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A list, mapping or tuple of the same type with changed entries. Any other value comes back as it is."""
    if type(value) is dict:
        return {change(key): change(each) for key, each in value.items()}
    if type(value) is list:
        return [change(each) for each in value]
    if isinstance(value, tuple):
        entries = [change(each) for each in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return value


def _mixing(name: str) -> Callable[..., Any]:
    """A method whose result has the marks of the text and of all arguments."""
    original = getattr(str, name)

    def method(self: Text, *args: Any, **more: Any) -> Any:
        made = original(self, *args, **more)
        return made if made is NotImplemented else added(made, of(self, *args, *more.values()))

    return method


def _cutting(name: str) -> Callable[..., Any]:
    """A method whose results are parts of the text, in their order."""
    original = getattr(str, name)

    def method(self: Text, *args: Any, **more: Any) -> Any:
        made = original(self, *args, **more)
        at, parts = 0, []
        for part in [made] if isinstance(made, str) else made:
            at = max(str.find(self, part, at), 0)
            parts.append(self.part(part, at))
            at += len(part)
        return parts[0] if isinstance(made, str) else type(made)(parts)

    return method


def _counting(name: str) -> Callable[..., Any]:
    """An operation of integers whose result has the marks of both operands."""
    original = getattr(int, name)

    def method(self: Whole, *others: Any) -> Any:
        made = original(self, *others)
        return marked(made, of(self, *others)) if type(made) is int else made

    return method


for _name in ("lower", "upper", "title", "replace", "format", "ljust", "zfill", "translate", "__mod__", "__mul__"):
    setattr(Text, _name, _mixing(_name))
for _name in ("split", "rsplit", "splitlines", "partition", "rpartition", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix"):
    setattr(Text, _name, _cutting(_name))
for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor"):
    setattr(Whole, f"__{_name}__", _counting(f"__{_name}__"))
    setattr(Whole, f"__r{_name}__", _counting(f"__r{_name}__"))
for _name in ("__neg__", "__abs__"):
    setattr(Whole, _name, _counting(_name))


def _sliced(self: Text, key: Any) -> Text:
    """A character or a slice. A slice with a step has all marks."""
    text = str.__getitem__(self, key)
    start = key.indices(len(self))[0] if isinstance(key, slice) else range(len(self))[key]
    return Text(text, self.marks) if isinstance(key, slice) and key.step not in (None, 1) else self.part(text, start)


setattr(Text, "__getitem__", _sliced)  # noqa: B010 - the signature of `str` has overloads
