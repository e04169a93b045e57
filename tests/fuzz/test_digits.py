"""A number of 5,000 digits anywhere in a resource gets a finding with a code of its own, and is never an internal error.

Python refuses to read more than 4,300 digits, and it would need quadratic time for them.
"""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from krm_fn.base.results import Path
from krm_fn.render import labels
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.render.krm import function
from krm_fn.review.arguments import argument_findings, value_types
from tests.fuzz import mutations
from tests.support import given

DIGITS = "9" * 5000
NUMBER = re.compile("[0-9]+")
KEYS = sorted(value for name, value in vars(labels).items() if name.isupper() and isinstance(value, str) and "/" in value)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields each number and text with digits, and its path."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from leaves(child, (*path, key))
    if type(value) in (int, float) or (isinstance(value, str) and NUMBER.search(value)):
        yield path, value


def with_value(items: list[Any], path: Path, value: Any) -> list[Any]:
    """Returns a copy of the items with another value at a path."""
    changed = copy.deepcopy(items)
    parent: Any = changed
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return changed


def cases() -> Iterator[tuple[str, list[Any]]]:
    """Yields inputs with one such number each: each field of the examples once, each flag once, and each annotation."""
    seen: set[tuple[object, ...]] = set()
    for items in mutations.seeds():
        for path, value in leaves(items):
            field = tuple(step for step in path if not isinstance(step, int))
            kind = (items[int(path[0])]["kind"], *field, NUMBER.sub("", value) if field[-1] in ("args", "command") else "")
            if kind not in seen:
                seen.add(kind)
                name = ".".join(map(str, path))
                yield name, with_value(items, path, DIGITS if not isinstance(value, str) else NUMBER.sub(DIGITS, value, count=1))
                if not isinstance(value, str):
                    yield f"{name} as a number", with_value(items, path, "NUMBER")
    first = mutations.seeds()[0]
    for key in KEYS:
        for path in (("metadata",), ("spec", "services", "Frontend", "extraPodMetadata")):
            graph = copy.deepcopy(first)
            target = graph[0]
            for step in path:
                target = target.setdefault(step, {})
            target["annotations"] = {**(target.get("annotations") or {}), key: DIGITS}
            yield f"annotation {key} at {'.'.join(path)}", graph


def test_a_number_is_too_long():
    internal = {}
    for name, items in cases():
        text = json.dumps({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}).replace('"NUMBER"', DIGITS)
        out, err = io.BytesIO(), io.StringIO()
        function.run(io.BytesIO(text.encode()), out, err)
        if "DYN019" in err.getvalue() or "Traceback" in err.getvalue():
            internal[name] = err.getvalue()[:300]
    assert internal == {}


@pytest.mark.parametrize("name", sorted(value_types.names()))
def test_a_value_of_a_flag_is_too_long(name):
    accepts = value_types.get(name)
    assert accepts is not None
    for text in (DIGITS, f"-{DIGITS}", f"{DIGITS}k", f"{DIGITS}K", f"1.{DIGITS}", f"[{DIGITS}]", f"{DIGITS}x"):
        assert accepts.accepts(text) in (True, False)
    if name in ("int", "natural_int", "positive_int", "size"):
        assert not accepts.accepts(DIGITS), "the program cannot read it either"
        assert accepts.accepts("9" * 4300)


@pytest.mark.parametrize("text", [DIGITS, f"-{DIGITS}", f"{DIGITS}k", f"{DIGITS}K"], ids=["plain", "negative", "a thousand", "1024"])
def test_check_names_the_values_of_flags(text):
    flags = ("--tensor-parallel-size", "--max-model-len", "--port", "--max-num-seqs", "--gpu-memory-utilization")
    main = {"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1", "command": ["python3", "-m", "dynamo.vllm"]}
    main["args"] = ["--model", "m", *(word for flag in flags for word in (flag, text))]
    graph = given.graph({"Worker": given.service("worker", main=main, resources={"limits": {"gpu": "1"}})})
    planned: list[PlannedResource] = []
    expand([graph], given.settings_of(graph), planned.append)
    codes = [finding.code for finding in argument_findings.check(planned)]
    assert codes.count("DYN605") >= 3
