"""The search for the parts of an input that make changes: which parts, and with how many renders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.origins.reversion import Search
from krm_fn.render.schema import object_changes
from tests.support.cases import cases

KEY = ObjectKey("", "ConfigMap", "team", "data")


def config_map(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "data"}, "data": data}


def search(
    count: int, objects: Callable[[set[int]], dict[str, Any] | None], limit: int = 100, *, is_complete: bool = True
) -> tuple[dict[str, Any], int]:
    """The groups of parts that make each key of a ConfigMap, and the number of renders. `objects` gets the parts that are not reverted."""
    renders = []

    def render(reverted: tuple[int, ...]) -> Any:
        renders.append(reverted)
        data = objects({*range(count)} - {*reverted})
        return None if data is None else {KEY: config_map(**data)}

    changes = object_changes.between_states(
        {KEY: config_map(**(objects(set()) or {}))}, {KEY: config_map(**(objects({*range(count)}) or {}))}
    )
    groups = Search([(part,) for part in range(count)], [*enumerate(changes)], render, limit).run(is_complete=is_complete)
    named = {str(changes[number].fields[index].path[-1]): groups[number, index] for number, index in groups if index is not None}
    return named, len(renders)


def value(*needed: int) -> Callable[[set[int]], str]:
    return lambda parts: "new" if {*needed} <= parts else "old"


ROWS = [
    # reason, the number of parts, the objects with some parts, the groups of each key
    ("a single part needs no render", 1, lambda parts: {"a": value(0)(parts)}, {"a": ((0,),)}, 0),
    ("two parts", 2, lambda parts: {"a": value(0)(parts), "b": value(1)(parts)}, {"a": ((0,),), "b": ((1,),)}, 2),
    ("both parts are needed", 2, lambda parts: {"a": value(0, 1)(parts)}, {"a": ((0,), (1,))}, 2),
    ("each part is a part of the value", 2, lambda parts: {"a": f"{sorted(parts)}"}, {"a": ((0,), (1,))}, 2),
    ("each part is enough", 4, lambda parts: {"a": "new" if parts & {1, 2} else "old"}, {"a": ((2,), (1,))}, 4),
    ("a part without an effect", 2, lambda parts: {"a": value(1)(parts)}, {"a": ((1,),)}, 2),
    ("a part that fails alone", 2, lambda parts: None if parts == {1} else {"a": value(0)(parts)}, {"a": ((0,),)}, 2),
    ("parts that need each other", 3, lambda parts: None if len(parts & {0, 1}) == 1 else {"a": value(0)(parts), "b": value(2)(parts)},
     {"a": ((0, 1),), "b": ((2,),)}, 6),
    ("nothing can be put back", 3, lambda parts: {"a": value(0)(parts)} if len(parts) in (0, 3) else None, {"a": ((0, 1, 2),)}, 5),
]  # fmt: skip


@cases(("count", "objects", "expected", "most"), ROWS)
def test_the_parts_that_make_a_change(count, objects, expected, most):
    groups, renders = search(count, objects)
    assert groups == expected
    assert renders <= most


def test_a_change_that_no_part_makes_is_not_known():
    """The value differs in each render, as in a build that reads a clock."""
    numbers = iter(range(100))
    groups, _ = search(2, lambda parts: {"a": value(0)(parts), "b": f"{next(numbers)}"}, is_complete=False)
    assert groups["a"] == ((0,),)


def test_few_parts_among_many_take_few_renders():
    groups, renders = search(256, lambda parts: {"a": value(100)(parts)})
    assert groups == {"a": ((100,),)}
    assert renders <= 16


def test_the_number_of_renders_is_limited():
    """Parts that were not told apart are one group."""
    groups, renders = search(256, lambda parts: {f"k{part}": value(part)(parts) for part in range(256)}, limit=10)
    assert renders <= 10
    assert all(len(group) > 1 for listed in groups.values() for group in listed)
    assert len(groups) == 256
