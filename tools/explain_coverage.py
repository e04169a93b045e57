"""Measures `krm-fn explain` with the examples: leaves with an origin, equal renders, and origins that an independent oracle confirms.

The oracle changes, removes and renames each field of the input in turn, renders with the ordinary core, and compares the objects. A field
that is the origin of a leaf must move the leaf. A text that moves a leaf in place must be an origin of the leaf, unless it is a switch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.origins import trace
from krm_fn.origins.origin import Origin
from krm_fn.render import dynamo_api, expand
from krm_fn.repository.files import sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kubernetes.types import Resource
    from krm_fn.origins.trace import Leaf
    from krm_fn.render.config import Config

EXAMPLES = Path(__file__).parent.parent / "examples"
WITH_ORIGIN, CONFIRMED = 0.999, 0.985
"""Minimum shares of leaves: those with an origin, and those that the oracle confirms."""

Place = tuple[Any, ...]
_CHANGED, _REMOVED, _RENAMED = "changed", "removed", "renamed"


class Figures(NamedTuple):
    """Of one input: if both renders are equal, the leaves, those without origin, those that the oracle judged, and those it refutes."""

    equal: bool
    leaves: int
    unknown: list[str]
    judged: int = 0
    refuted: list[str] = []


class _Variant(NamedTuple):
    """One change of the input: the resource and the path of the field, what was done, and the leaves that it moved.

    `shifts`: leaves came or went. `switches`: the field is gone, or its value is no text.
    """

    resource: results.Ref
    path: results.Path
    done: str
    moved: frozenset[Place]
    shifts: bool
    switches: bool


def measure(resources: Sequence[Resource], config: Config, *, oracle: bool) -> Figures | None:
    """The figures of one input; None if it does not render."""
    ordinary = expand.expand(resources, config)
    if results.has_errors(ordinary.results):
        return None
    traced = trace.render(resources, config)
    given = {identity.key(each) for each in resources}
    leaves = {_place(key, leaf, traced): leaf for key, found in traced.leaves.items() if key not in given for leaf in found}
    unknown = [_shown(place) for place, leaf in leaves.items() if not leaf.marks]
    figures = Figures(json.dumps(ordinary.resources) == json.dumps(traced.resources), len(leaves), unknown)
    return _judged(figures, leaves, _variants(resources, config, _values(ordinary.resources, given))) if oracle else figures


def _judged(figures: Figures, leaves: dict[Place, Leaf], variants: Sequence[_Variant]) -> Figures:
    """The figures with those of the oracle."""
    judged, refuted = 0, []
    for place, leaf in leaves.items():
        user = {mark for mark in leaf.marks if mark.kind == "user"}
        tried = [each for each in variants if Origin("user", each.path, each.resource) in user]
        moved = any(_moves(place, each) for each in tried)
        judged += moved or not user or any(each.done == _CHANGED for each in tried)
        if not moved and any(each.done == _CHANGED for each in tried):
            refuted.append(f"{_shown(place)} does not follow {results.field(tried[0].path)}")
        elif strange := next((each for each in variants if _unexplained(place, each, user)), None):
            refuted.append(f"{_shown(place)} follows {results.field(strange.path)}")
    return figures._replace(judged=judged, refuted=refuted)


def _moves(place: Place, variant: _Variant) -> bool:
    """True if the change moves the leaf. The name of an entry stays if another field gives the same name; then the entry itself moves."""
    is_name = place[-1] == "name" and isinstance(place[-2], tuple)
    return place in variant.moved or (is_name and any(each[: len(place) - 1] == place[:-1] for each in variant.moved))


def _unexplained(place: Place, variant: _Variant, user: set[Origin]) -> bool:
    """True if a changed text moves a leaf and is not its origin. Ignores removed fields and numbers, which switch other fields."""
    if variant.shifts or variant.switches or place not in variant.moved:
        return False
    return Origin("user", variant.path, variant.resource) not in user


def _variants(resources: Sequence[Resource], config: Config, before: dict[Place, Any]) -> list[_Variant]:
    found = []
    given = {identity.key(each) for each in resources}
    for index, path, done, changed in _changes(resources):
        after = expand.expand(changed, config)
        if results.has_errors(after.results):
            continue
        values = _values(after.resources, given | {identity.key(each) for each in changed})
        moved = frozenset(place for place, value in before.items() if place not in values or values[place] != value)
        switches = done == _REMOVED or not _is_text(resources[index], path)
        found.append(_Variant(results.ref(resources[index]), path, done, moved, values.keys() != before.keys(), switches))
    return found


def _changes(resources: Sequence[Resource]) -> Iterator[tuple[int, results.Path, str, list[Resource]]]:
    """Each change of one field: index and path of the field, what was done, and the changed input."""
    for index, resource in enumerate(resources):
        for path, value in _fields(resource):
            for done, new in _alternatives(path[-1], value):
                changed = json.loads(json.dumps(resource))  # a copy of a YAML alias is a value of its own
                holder: Any = changed
                for step in path[:-1]:
                    holder = holder[step]
                if done == _RENAMED:
                    items = [(new if key == path[-1] else key, inner) for key, inner in holder.items()]
                    holder.clear()
                    holder.update(items)
                elif done == _REMOVED:
                    del holder[path[-1]]
                else:
                    holder[path[-1]] = new
                yield index, path, done, [*resources[:index], changed, *resources[index + 1 :]]


def _is_text(value: Any, path: results.Path) -> bool:
    """True if a field has a text other than a number."""
    for step in path:
        value = value[step]
    return isinstance(value, str) and not value[:1].isdigit()


def _fields(value: Any, path: results.Path = ()) -> Iterator[tuple[results.Path, Any]]:
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step), inner
        yield from _fields(inner, (*path, step))


def _alternatives(step: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Changes to test with a field."""
    yield _REMOVED, None
    if isinstance(step, str):
        yield _RENAMED, f"{step}x"
    if isinstance(value, bool):
        yield _CHANGED, not value
    elif isinstance(value, int | float):
        yield _CHANGED, value + 1
    elif isinstance(value, str):
        yield from ((_CHANGED, each) for each in (f"{value}x", f"x{value}", f"1{value}", "x"))


def _values(resources: Sequence[Resource], given: set[identity.ObjectKey]) -> dict[Place, Any]:
    """Leaves of the objects that a render added, by their paths."""
    found: dict[Place, Any] = {}
    for resource in resources:
        if identity.key(resource) not in given:
            found.update({(identity.key(resource), *place): value for place, value in _named(resource, ())})
    return found


def _named(value: Any, path: Place) -> Iterator[tuple[Place, Any]]:
    """The leaves of a value. The path of a list entry has the name of the entry, if it has one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _named(inner, (*path, key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _named(inner, (*path, _step(inner, index)))
    else:
        yield path, value


def _step(entry: Any, index: int) -> Any:
    return ("name", entry["name"]) if isinstance(entry, dict) and isinstance(entry.get("name"), str) else index


def _place(key: identity.ObjectKey, leaf: Leaf, traced: trace.Trace) -> Place:
    """The path of a leaf, in the form of `_named`."""
    holder: Any = next(each for each in traced.resources if identity.key(each) == key)
    place: list[Any] = [key]
    for step in leaf.path:
        holder = holder[step]
        place.append(_step(holder, step) if isinstance(step, int) else step)
    return tuple(place)


def _shown(place: Place) -> str:
    key, *steps = place
    return f"{key.kind}/{key.name} {results.field(tuple(step[1] if isinstance(step, tuple) else step for step in steps))}"


def report(found: Sequence[tuple[str, Figures]]) -> tuple[str, bool]:
    """The figures of all inputs as text, and if they are good enough."""
    leaves = sum(each.leaves for _, each in found)
    unknown = sum(len(each.unknown) for _, each in found)
    judged, refuted = sum(each.judged for _, each in found), sum(len(each.refuted) for _, each in found)
    different = [name for name, each in found if not each.equal]
    lines = [f"{name}: {said}" for name, each in found for said in (*(f"{one} has no origin" for one in each.unknown), *each.refuted)]
    lines += [f"{name}: the traced render differs" for name in different]
    lines.append(f"{len(found)} inputs, {leaves} leaves, {1 - unknown / leaves:.3%} with an origin")
    lines.append(
        f"{len(found) - len(different)} of {len(found)} traced renders equal; {judged} judged, {1 - refuted / max(judged, 1):.2%} confirmed"
    )
    good = not different and unknown <= leaves * (1 - WITH_ORIGIN) and refuted <= judged * (1 - CONFIRMED)
    return "\n".join(lines), good


def examples() -> Iterator[tuple[str, sources.Sources]]:
    """The examples without a kustomization. A kustomization would change graphs before the render."""
    for folder in sorted(EXAMPLES.iterdir()):
        files = [str(path) for path in sorted(folder.glob("*.yaml")) if not path.name.startswith(("expected", "kustomization"))]
        loaded = sources.load(files) if files else None
        if loaded and any(dynamo_api.is_dynamo(each) for each in loaded.values):
            yield folder.name, loaded


def main() -> int:
    """Prints the figures of all examples; 1 if they are not good enough."""
    found = [(name, measure(loaded.values, loaded.config, oracle=True)) for name, loaded in examples()]
    text, good = report([(name, each) for name, each in found if each])
    print(text)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
