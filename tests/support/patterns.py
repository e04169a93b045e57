"""The regular expressions of the package, as its source writes them, and texts on which each of them is slowest.

A text is a prefix, a part that repeats, and an end that does not match. The parts come from the expression itself: one text for each
of its repetitions, and one for each of its characters.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import krm_fn

PACKAGE = Path(krm_fn.__file__).parent
METHODS = ("fullmatch", "match", "search", "sub", "subn", "split", "findall", "finditer")
_OF_RE = re.compile(rf"\bre\.(?:compile|{'|'.join(METHODS)})\b")
_OF_A_MODULE = re.compile(rf"\.\w+\.(?:{'|'.join(METHODS)})\b")
_ANCHORED = {"fullmatch", "match"}
_ENDS = ("", "\0", "!", "\n.")
_MOST = 16
"""The most prefixes and parts of one expression."""
_SAMPLES = 6
"""The most texts for one part of an expression: one for each of its first branches."""
LOCAL = {
    "framework": "vllm",
    "pointer": "/spec/a",
    "name": "nvcr.io/a",
    "old": "a",
    "extra": "sync",
    "other": "a-1",
    "schema": {"pattern": "a"},
    "pattern": "a",
    "forms": {"%": "", "\n": ""},
}
"""Values of the local names that expressions are made of. The texts of users among them are escaped (`re.escape`)."""


class Pattern(NamedTuple):
    """An expression, where it is written, and whether a match may begin anywhere in a text."""

    where: str
    compiled: re.Pattern[Any]
    anywhere: bool


@cache
def all_patterns() -> tuple[Pattern, ...]:
    """Returns each expression of the package, and each `pattern` in the tables that it reads."""
    unique: dict[tuple[Any, int, bool], Pattern] = {}
    for pattern in (*_in_code(), *_in_tables()):
        unique.setdefault((pattern.compiled.pattern, pattern.compiled.flags, pattern.anywhere), pattern)
    return tuple(unique.values())


def slow_texts(pattern: Pattern) -> Iterator[tuple[Any, Any, Any]]:
    """Yields prefix, repeated part and end of texts, in the type that the expression reads."""
    tree = parser.parse(pattern.compiled.pattern, pattern.compiled.flags & ~re.UNICODE)
    parts = dict.fromkeys(text for text in (*_parts(list(tree)), *_prefixes(list(tree))) if text)
    characters = dict.fromkeys(character for text in parts for character in text)
    prefixes = dict.fromkeys(("", *_prefixes(list(tree))))
    binary = isinstance(pattern.compiled.pattern, bytes)
    for texts in product([*prefixes][:_MOST], [*parts][:_MOST] + [*characters][:_MOST], _ENDS):
        prefix, part, end = texts
        yield (prefix.encode("latin-1"), part.encode("latin-1"), end.encode("latin-1")) if binary else texts


def _in_code() -> Iterator[Pattern]:
    for path in _sources(_OF_RE):
        nodes = _nodes(path)
        name = ".".join(("krm_fn", *path.relative_to(PACKAGE).with_suffix("").parts))
        module = importlib.import_module(name.removesuffix(".__init__"))
        for call in nodes.calls:
            if _is_of_re(call):
                compiled = _compiled(call, module)
                yield Pattern(f"{name}:{call.lineno}", compiled, _anywhere(call, nodes, module, compiled))


class _Nodes(NamedTuple):
    """The calls of a module, and the attributes with the name of a method of an expression."""

    calls: tuple[ast.Call, ...]
    methods: tuple[ast.Attribute, ...]


def _sources(text: re.Pattern[str]) -> list[Path]:
    """Returns the modules in whose source a text occurs. Only these are parsed, which saves most of the time."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if text.search(path.read_text("utf-8"))]


@cache
def _nodes(path: Path) -> _Nodes:
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = tuple(node for node in nodes if isinstance(node, ast.Call))
    return _Nodes(calls, tuple(node for node in nodes if isinstance(node, ast.Attribute) and node.attr in METHODS))


def _is_of_re(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in (*METHODS, "compile")
    )


def _compiled(call: ast.Call, module: ModuleType) -> re.Pattern[Any]:
    """Returns the expression of a call, with its flags."""
    expression = ast.Expression(ast.Call(ast.Name("dict", ast.Load()), [], [ast.keyword("pattern", call.args[0]), *_flags(call)]))
    known = {**LOCAL, **vars(module)}
    arguments = eval(compile(ast.fix_missing_locations(expression), "pattern", "eval"), known)  # noqa: S307 - our own source
    pattern = arguments["pattern"]
    return pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, arguments.get("flags", 0))


def _flags(call: ast.Call) -> list[ast.keyword]:
    """Returns the flags of a call: the second argument of `compile`, the third of most other functions."""
    given = [keyword for keyword in call.keywords if keyword.arg == "flags"]
    position = 1 if isinstance(call.func, ast.Attribute) and call.func.attr == "compile" else 2
    is_sub = isinstance(call.func, ast.Attribute) and call.func.attr in ("sub", "subn")
    return given or ([ast.keyword("flags", call.args[position])] if len(call.args) > position and not is_sub else [])


def _anywhere(call: ast.Call, nodes: _Nodes, module: ModuleType, compiled: re.Pattern[Any]) -> bool:
    """Returns True unless the source uses the expression with `match` and `fullmatch` only."""
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr != "compile":
        return call.func.attr not in _ANCHORED
    # Equal, not the same: the cache of `re` holds 512 expressions, and a run of all tests compiles more.
    names = {name for name, value in vars(module).items() if isinstance(value, re.Pattern) and value == compiled}
    if any(_is_skip(node, names) for node in nodes.calls):
        return False
    methods = nodes.methods
    if any(not name.startswith("_") for name in names):
        methods = (*methods, *_all_methods())
    uses = {method.attr for method in methods if _is_in_table(method, names) or _is_named(method, names)}
    return not uses or not uses <= _ANCHORED


def _is_in_table(method: ast.Attribute, names: set[str]) -> bool:
    """Returns True for a method of an expression without a name, such as a value of a table. Texts have a method `split`, too."""
    return not names and method.attr != "split"


@cache
def _all_methods() -> tuple[ast.Attribute, ...]:
    """Returns the methods of expressions that other modules of the package call: `module.NAME.fullmatch`."""
    return tuple(node for path in _sources(_OF_A_MODULE) for node in _nodes(path).methods if isinstance(node.value, ast.Attribute))


def _is_named(method: ast.Attribute, names: set[str]) -> bool:
    """Returns True for a method of one of these names, in this module or behind the name of a module."""
    name = method.value.id if isinstance(method.value, ast.Name) else method.value.attr if isinstance(method.value, ast.Attribute) else ""
    return name in names


def _is_skip(call: ast.Call, names: set[str]) -> bool:
    """Returns True for a call of `_skip`, which matches an expression at one position."""
    is_skip = isinstance(call.func, ast.Attribute) and call.func.attr == "_skip"
    return is_skip and any(isinstance(value, ast.Name) and value.id in names for value in call.args)


def _in_tables() -> Iterator[Pattern]:
    """Yields the patterns of the schemas, which the check of fields searches."""
    for path in sorted(PACKAGE.rglob("*.json")):
        for text in sorted(_pattern_values(json.loads(path.read_text("utf-8")))):
            yield Pattern(path.name, re.compile(text), True)


def _pattern_values(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_pattern_values, value))
    if not isinstance(value, dict):
        return set()
    own = {value["pattern"]} if isinstance(value.get("pattern"), str) else set()
    return own.union(*map(_pattern_values, value.values()))


def _parts(nodes: list[Any]) -> Iterator[str]:
    """Yields texts that the elements of a sequence match, the innermost first, and then those of the whole sequence."""
    for operator, value in nodes:
        for inner in _inside(str(operator), value):
            yield from _parts(list(inner))
        yield from _of_element(str(operator), value)[:2]
    yield from _samples(nodes)


def _prefixes(nodes: list[Any]) -> Iterator[str]:
    """Yields texts that lead to each element of a sequence."""
    for index, (operator, value) in enumerate(nodes):
        before = _samples(nodes[:index])
        yield from before[:2]
        yield from (before[0] + inner for part in _inside(str(operator), value) for inner in _prefixes(list(part)))


def _inside(operator: str, value: Any) -> list[Any]:
    """Returns the sequences in an element of a parsed expression."""
    if operator.endswith("REPEAT"):
        return [value[2]]
    if operator == "SUBPATTERN":
        return [value[3]]
    if operator == "BRANCH":
        return list(value[1])
    if operator == "ATOMIC_GROUP":
        return [value]
    return []


def _samples(nodes: list[Any]) -> list[str]:
    """Returns some texts that a sequence matches."""
    texts = [""]
    for operator, value in nodes:
        texts = [text + more for text in texts for more in _of_element(str(operator), value)][:_SAMPLES]
    return texts


def _of_element(operator: str, value: Any) -> list[str]:
    if operator == "LITERAL":
        return [chr(value)]
    if operator == "NOT_LITERAL":
        return ["a" if value != ord("a") else "b"]
    if operator == "ANY":
        return ["a"]
    if operator == "IN":
        return _of_class(value)
    if operator.endswith("REPEAT"):
        least, _, inner = value
        return [text * max(least, 1) for text in _samples(list(inner))]
    if operator == "BRANCH":
        return [text for branch in value[1] for text in _samples(list(branch))[:2]]
    inside = _inside(operator, value)
    return _samples(list(inside[0])) if inside else [""]


_OF_CATEGORY = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_SPACE": "a", "CATEGORY_NOT_WORD": " "}


def _of_class(items: list[Any]) -> list[str]:
    if str(items[0][0]) == "NEGATE":
        refused = re.compile(f"[{''.join(_written(item) for item in items[1:])}]")
        return [character for character in "a0 \"'-{" if not refused.match(character)][:2]
    written = re.compile(f"[{''.join(_written(item) for item in items)}]")
    return [character for character in "a0 A-._/:\"'\n" if written.match(character)][:3] or [chr(_first(items[0]))]


def _written(item: Any) -> str:
    operator, value = str(item[0]), item[1]
    if operator == "CATEGORY":
        return {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}.get(str(value), r"\W")
    if operator == "RANGE":
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return re.escape(chr(value))


def _first(item: Any) -> int:
    operator, value = str(item[0]), item[1]
    if operator == "RANGE":
        return int(value[0])
    return ord(_OF_CATEGORY.get(str(value), "a")) if operator == "CATEGORY" else int(value)
