"""Patterns of field paths: finds the fields of a resource that a pattern matches.

The patterns of pod templates are those of the workload objects of Kubernetes, LeaderWorkerSet and Grove.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Path

EVERY = "*"
"""Matches every key of an object and every index of a list."""


class TemplatePath(NamedTuple):
    """The paths of the metadata and of the pod spec of one pod template, or of all templates in a list."""

    metadata: Path
    spec: Path


def _template(*path: str) -> TemplatePath:
    """Returns a template in the form of Kubernetes' PodTemplateSpec."""
    return TemplatePath((*path, "metadata"), (*path, "spec"))


_CLIQUES: Path = ("spec", "template", "cliques", EVERY)

NATIVE_TEMPLATES = (_template("spec", "template"),)
GROUP_TEMPLATES = tuple(_template("spec", "leaderWorkerTemplate", role) for role in ("leaderTemplate", "workerTemplate"))
CLIQUE_TEMPLATES = (TemplatePath(_CLIQUES, (*_CLIQUES, "spec", "podSpec")),)

ROLE_TEMPLATES = tuple(
    _template("spec", "roles", EVERY, "spec", "leaderWorkerTemplate", role) for role in ("leaderTemplate", "workerTemplate")
)

POD_TEMPLATES = (*NATIVE_TEMPLATES, *GROUP_TEMPLATES, *CLIQUE_TEMPLATES, *ROLE_TEMPLATES)
"""Templates of all kinds. Resources of other kinds have no field at these paths, so readers need not check the kind."""


def find(value: Any, patterns: Sequence[Path]) -> Iterator[tuple[Path, Any]]:
    """Yields the path and the value of each field that one of the patterns matches. `value` may have any type.

    >>> list(find({"a": [{"b": 1}, {"b": 2}, 3]}, [("a", EVERY, "b")]))
    [(('a', 0, 'b'), 1), (('a', 1, 'b'), 2)]
    """
    for pattern in patterns:
        yield from _find(value, pattern, ())


class PatternTree(NamedTuple):
    """Several patterns as a tree: the numbers of those that end at a node, and the nodes of the next steps."""

    ends: list[int]
    inner: dict[str | int, PatternTree]


def tree(patterns: Sequence[Path]) -> PatternTree:
    """Returns the tree of some patterns."""
    root = PatternTree([], {})
    for number, pattern in enumerate(patterns):
        node = root
        for step in pattern:
            node = node.inner.setdefault(step, PatternTree([], {}))
        node.ends.append(number)
    return root


def find_all(value: Any, patterns: PatternTree) -> list[tuple[int, Path, Any]]:
    """Returns the fields that patterns match, in one walk: the number of the pattern, the path and the value, in the order of `find`.

    >>> find_all({"a": 1, "b": [2, 3]}, tree([("b", EVERY), ("a",), ("c",)]))
    [(0, ('b', 0), 2), (0, ('b', 1), 3), (1, ('a',), 1)]
    """
    matches: list[tuple[int, Path, Any]] = []
    _add_matches(value, patterns, (), matches)
    return sorted(matches, key=_number)


def _number(match: tuple[int, Path, Any]) -> int:
    return match[0]


def _add_matches(value: Any, node: PatternTree, path: Path, matches: list[tuple[int, Path, Any]]) -> None:
    matches += [(number, path, value) for number in node.ends]
    if not isinstance(value, dict | list):
        return
    for step, inner in node.inner.items():
        if step != EVERY:
            if isinstance(value, dict) and step in value:
                _add_matches(value[step], inner, (*path, step), matches)
            continue
        steps: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in steps:
            _add_matches(entry, inner, (*path, key), matches)


def _find(value: Any, pattern: Path, path: Path) -> Iterator[tuple[Path, Any]]:
    if not pattern:
        yield path, value
    elif pattern[0] != EVERY:
        if isinstance(value, dict) and pattern[0] in value:
            yield from _find(value[pattern[0]], pattern[1:], (*path, pattern[0]))
    elif isinstance(value, dict | list):
        steps: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            yield from _find(inner, pattern[1:], (*path, step))


def leaves(value: Any) -> list[tuple[Path, Any]]:
    """Returns the paths and values of all fields without fields inside. `value` may have any type.

    >>> leaves({"a": [1, {}], "b": "c"})
    [(('a', 0), 1), (('a', 1), {}), (('b',), 'c')]
    """
    fields: list[tuple[Path, Any]] = []
    _add_leaves(value, (), fields)
    return fields


def _add_leaves(value: Any, path: Path, fields: list[tuple[Path, Any]]) -> None:
    if isinstance(value, dict | list) and value:
        steps: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            _add_leaves(inner, (*path, step), fields)
    else:
        fields.append((path, value))


def with_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Returns a copy of a value in which `change` has replaced each leaf. `value` may have any type.

    >>> with_leaves({"a": [1, 2], "b": {}}, str)
    {'a': ['1', '2'], 'b': {}}
    """
    if isinstance(value, dict):
        return {key: with_leaves(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_leaves(inner, change) for inner in value]
    return change(value)


def walk_values(value: Any) -> Iterator[Any]:
    """Yields a value and all values inside it, each before those inside it.

    >>> list(walk_values({"a": [1]}))
    [{'a': [1]}, [1], 1]
    """
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk_values(inner)


def matches(path: Path, pattern: Path) -> bool:
    """Returns true if the pattern matches the path.

    >>> matches(("a", 0, "b"), ("a", EVERY, "b")), matches(("a", 0), ("a", EVERY, "b"))
    (True, False)
    """
    return len(path) == len(pattern) and all(expected in (EVERY, step) for step, expected in zip(path, pattern, strict=True))


def at(value: Any, path: Path) -> Any:
    """Returns the value at a path without patterns; None if there is none. `value` may have any type.

    >>> at({"a": [{"b": 1}]}, ("a", 0, "b")), at({"a": 1}, ("a", "b"))
    (1, None)
    """
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def replace_at(value: Any, path: Path, new: Any) -> Any:
    """Returns a copy of a value with another value at a path. Missing objects on the way are added. None removes the field.

    >>> replace_at({"a": [{"b": 1}]}, ("a", 0, "b"), 2), replace_at({"a": 1, "b": 2}, ("b",), None), replace_at({}, ("a", "b"), 1)
    ({'a': [{'b': 2}]}, {'a': 1}, {'a': {'b': 1}})
    """
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [*value[:step], replace_at(value[step], rest, new), *value[step + 1 :]]
    fields = value if isinstance(value, dict) else {}
    if new is None and step not in fields:
        return fields
    inner = replace_at(fields.get(step), rest, new)
    return {**fields, step: inner} if rest or new is not None else {key: entry for key, entry in fields.items() if key != step}


def by_names(path: Path, value: Any, other: Any) -> Path:
    """Returns the path that a field of `value` has in `other`, which can have its lists in another order: entries match by their `name`.

    kustomize moves patched entries of a list to the front. An entry without a name, or with a name that `other` lacks, keeps its index.

    >>> by_names(("a", 0, "b"), {"a": [{"name": "y", "b": 1}]}, {"a": [{"name": "x"}, {"name": "y", "b": 1}]})
    ('a', 1, 'b')
    """
    steps: list[str | int] = []
    for number, step in enumerate(path):
        entries = at(other, tuple(steps))
        name = at(value, (*path[: number + 1], "name")) if isinstance(step, int) and isinstance(entries, list) else None
        names = [at(entry, ("name",)) for entry in entries] if isinstance(name, str) else []
        steps.append(names.index(name) if name in names else step)
    return tuple(steps)
