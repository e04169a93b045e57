"""The lines that a commit changes, as git shows them, and those that a comparison names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli import console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.repository.clones import Clone

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Line(NamedTuple):
    """A line of a file, in the old or the new state."""

    state: str
    file: str
    number: int


def changed(clone: Clone) -> set[Line]:
    """The lines of both states that the last commit changes."""
    lines, files = set(), {"old": "", "new": ""}
    for text in clone.git("diff", "-U0", "--no-renames", "HEAD~1", "HEAD").splitlines():
        if text.startswith(("--- ", "+++ ")):
            files["old" if text.startswith("-") else "new"] = text[6:]
        elif match := HUNK.match(text):
            for state, start, count in (("old", *match.groups()[:2]), ("new", *match.groups()[2:])):
                first = int(start)
                lines |= {Line(state, files[state], number) for number in range(first, first + int(count or 1))}
    return lines


def named(document: Any) -> set[Line]:
    """The lines that a comparison in JSON names."""
    return {
        Line(origin["state"], origin["file"].partition(":")[2] or origin["file"], origin["line"])
        for origin in _origins([root["objects"] for root in document.get("roots", [document])])
    }


def _origins(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and "isConfiguration" in value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _origins(inner)


def differs(document: Any) -> bool:
    """True if an object changes."""
    return any(root["objects"] for root in document.get("roots", [document]))


def problems(clone: Clone, *options: str) -> list[str]:
    """What is wrong with the lines that a comparison of the last commit names."""
    done = console.run("diff", "--old", "HEAD~1", "--format", "json", *options)
    document = json.loads(done.out)
    assert differs(document), done.err
    lines, in_commit = named(document), changed(clone)
    return [*([] if lines else ["no line"]), *(f"{line.state} {line.file}:{line.number}" for line in sorted(lines - in_commit))]
