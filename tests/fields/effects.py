"""Finds the fields of a resource that have no effect: no render differs when they change, and no finding names them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from unittest import mock

from krm_fn.base import results
from krm_fn.kubernetes.api_server import pod_rules
from krm_fn.render import dynamo_api, expand, function_config, labels
from krm_fn.render.config import Config
from tests.fields import leaves
from tests.fields.leaves import ENTRY, KEY, Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource

_MARK = "leaf"  # a part of each text that `leaves` writes


class Context(NamedTuple):
    """Items and settings. A search sets one field of the first item after the other. The first item may be the settings."""

    name: str
    items: list[Resource]
    config: Config


class Outcome(NamedTuple):
    """The generated objects, None with an error, all findings, and the objects as text."""

    objects: list[Any] | None
    findings: list[Result]
    text: str | None


def render(context: Context, resource: Resource) -> Outcome:
    """The outcome for a context whose first item is replaced.

    The rules of an API server about pods are off: they reject many of the small values of a search, and a rejection says nothing about
    whether the render reads a field.
    """
    others, settings, findings = context.items[1:], context.config, cast("list[Result]", [])
    if _configures(resource):
        settings, findings = function_config.read(resource)
    else:
        others = [resource, *others]
    with mock.patch.object(pod_rules, "validate", _accept):  # a Mock would take a fifth of the time
        expansion = expand.expand(others, settings)
    assert not [result for result in expansion.results if result.code == "DYN019"], (context.name, resource)
    findings = [*findings, *expansion.results]
    if results.has_errors(findings):
        return Outcome(None, findings, None)
    objects = [_generated(item) for item in expansion.resources]
    return Outcome(objects, findings, json.dumps(objects, sort_keys=True))


def _accept(*_arguments: Any, **_options: Any) -> tuple[()]:
    return ()


def _configures(resource: Resource) -> bool:
    return function_config.is_config(results.ref(resource))


def _generated(item: Resource) -> Any:
    """A generated object. Of a Dynamo resource that is kept, only what the render writes on it, without the hash of its spec."""
    if not dynamo_api.is_dynamo(item) or labels.OWNER in labels.annotations(item):
        return item
    written = labels.annotations(item)
    return [
        item["apiVersion"],
        item["kind"],
        {key: written[key] for key in written if key.startswith(labels.PREFIX) and key != labels.SPEC_HASH},
    ]


class Search:
    """A search through the fields of one kind. A field has an effect if it has one in any context."""

    def __init__(self, contexts: Sequence[Context]) -> None:
        self._contexts = list(contexts)
        self._usual = {context.name: render(context, context.items[0]) for context in contexts}
        assert all(outcome.objects is not None for outcome in self._usual.values()), self._usual

    def silent(self, node: Node) -> list[str]:
        """The paths of the leaves of a field that have no effect."""
        below = leaves.children(node)
        if not below:
            return [] if self._has_effect(node) else [".".join(node.path)]
        if len(node.path) > 1 and (self._is_copied(node) or self._is_refused(node)):
            return []
        return [path for child in below for path in self.silent(child)]

    def _has_effect(self, leaf: Node) -> bool:
        """True if a render differs, if a warning names the leaf, or if it is refused in each context."""
        refused = True
        for context in list(self._contexts):
            answer = self._in_context(leaf, context)
            if answer == "effect":
                self._contexts.sort(key=lambda other: other.name != context.name)  # the next leaf is likely to have its effect there too
                return True
            refused = refused and answer == "refused"
        return refused

    def _in_context(self, leaf: Node, context: Context) -> str:
        refused = True
        for resource, path in _places(context.items[0], leaf):
            usual = self._usual[context.name].text if _at(context.items[0], path) is not None else None
            without = render(context, _without(resource, path))
            texts, outcomes = {usual, without.text}, []
            for value in leaves.values(leaf):
                outcomes.append(render(context, _with(resource, path, value)))
                texts.add(outcomes[-1].text)
                if len(texts - {None}) > 1:
                    return "effect"
            if (
                any(outcome.objects is None for outcome in outcomes)
                and texts != {None}
                and leaves.is_choice(leaf)
                and _configures(resource)
            ):
                return "effect"
            if any(self._is_named(outcome, context, path, "warning", "info") for outcome in outcomes):
                return "effect"
            named = [self._is_named(outcome, context, path, "error") for outcome in (*outcomes, without)]
            if not all(named[:-1]) and any(named) and (leaves.is_choice(leaf) or (named[-1] and not leaf.required)):
                return "effect"  # some values are refused by name, and others are not
            refused = refused and all(named[:-1])
        return "refused" if refused else "silent"

    def _is_named(self, outcome: Outcome, context: Context, path: Path, *severities: str) -> bool:
        """True if a finding that the context alone does not have names the field, or an object that contains it."""
        known = {(result.code, result.path) for result in self._usual[context.name].findings}
        new = (result for result in outcome.findings if (result.code, result.path) not in known and result.severity in severities)
        return any(_names(result, path) for result in new)

    def _is_copied(self, node: Node) -> bool:
        """True if an object of the output has the whole value of a native field as it was written."""
        value = leaves.full(node) if node.is_native else None
        if value is None or _MARK not in json.dumps(value):
            return False
        context = self._contexts[0]
        outcomes = (render(context, _with(resource, path, value)) for resource, path in _places(context.items[0], node))
        return any(_contains(outcome.objects, value) for outcome in outcomes)

    def _is_refused(self, node: Node) -> bool:
        """True if a finding names the whole field in each context, with every leaf in it, whatever they are."""
        if KEY in node.path[-1:] or ENTRY in node.path[-1:]:
            return False
        return all(self._is_refused_in(context, node) for context in self._contexts)

    def _is_refused_in(self, context: Context, node: Node) -> bool:
        if _present(context.items[0], node.path):
            return False
        for resource, path in _places(context.items[0], node):
            outcome = render(context, _with(resource, path, leaves.full(node)))
            known = self._usual[context.name].findings
            if any(result.path == path and result not in known for result in outcome.findings if result.code not in _OF_VALUES):
                return True
        return False


_OF_VALUES = ("DYN208", "DYN213", "DYN218", "DYN223", "DYN224", "DYN225", "DYN227", "DYN229", "DYN230")
"""Codes of findings about values that a pod cannot have. They do not refuse a field."""


def _present(resource: Resource, path: tuple[str, ...]) -> bool:
    holders: list[Any] = [resource]
    for step in path:
        inner = [list(holder.values() if isinstance(holder, dict) else holder) for holder in holders] if step in (KEY, ENTRY) else []
        holders = [entry for entries in inner for entry in entries] or [
            holder[step] for holder in holders if isinstance(holder, dict) and step in holder
        ]
    return bool(holders)


def _contains(holder: Any, value: Any) -> bool:
    if holder == value:
        return True
    inner = holder.values() if isinstance(holder, dict) else holder if isinstance(holder, list) else ()
    return any(_contains(entry, value) for entry in inner)


def _names(result: Result, path: Path) -> bool:
    below = result.path[: len(path)] == path
    above = len(result.path) > 1 and path[: len(result.path)] == result.path and isinstance(result.path[-1], str)
    name = next(step for step in reversed(path) if isinstance(step, str))
    return below or above or name in result.message


def _places(resource: Resource, node: Node) -> Iterator[tuple[Resource, Path]]:
    """Every path of a resource where a field can stand, with the resource extended by the objects that contain the field."""
    part, *rest = node.path
    yield from _walk(resource, (part,), tuple(rest), leaves.root(resource["kind"], resource["apiVersion"], part))


def _walk(resource: Resource, path: Path, rest: tuple[str, ...], node: Node) -> Iterator[tuple[Resource, Path]]:
    if not rest:
        yield resource, path
        return
    holder = _at(resource, path)
    if holder is None:
        holder = leaves.minimal(node, besides=rest[0])
        resource = _with(resource, path, holder)
    child = next(child for child in leaves.children(node) if child.path[-1] == rest[0])
    for step in _steps(holder, rest[0], path):
        yield from _walk(resource, (*path, step), rest[1:], child)


def _steps(holder: Any, step: str, path: Path) -> list[Any]:
    """The steps into an object: for a map or a list a new entry first, then those that exist. Graphs get no new component."""
    if step not in (KEY, ENTRY):
        return [step]
    entries = list(holder) if step == KEY else list(range(len(holder)))
    if path[-1] in ("services", "components"):
        return entries
    return [leaves.key(str(path[-1])) if step == KEY else len(holder), *entries]


def _at(holder: Any, path: Path) -> Any:
    step: Any
    for step in path:
        if isinstance(holder, list):
            holder = dict(enumerate(holder))
        holder = (holder or {}).get(step)
    return holder


def _with(holder: Any, path: Path, value: Any) -> Any:
    """A copy of a resource with a value in a field."""
    if not path:
        return value
    step: Any
    step, *rest = path
    if isinstance(holder, list):
        return [*holder[:step], _with(holder[step] if step < len(holder) else None, tuple(rest), value), *holder[step + 1 :]]
    return {**(holder or {}), step: _with((holder or {}).get(step), tuple(rest), value)}


def _without(holder: Any, path: Path) -> Any:
    """A copy of a resource without a field."""
    step: Any
    step, *rest = path
    if rest:
        return _with(holder, (step,), _without(holder[step], tuple(rest))) if _at(holder, (step,)) is not None else holder
    if isinstance(holder, list):
        return [*holder[:step], *holder[step + 1 :]]
    return {key: value for key, value in holder.items() if key != step}
