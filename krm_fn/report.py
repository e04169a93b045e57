"""Findings as lines for people.

Not its business: how findings travel in a ResourceList (see `krm_fn.results.wire`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from krm_fn import results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.results import Result, Severity

PROGRAM = "krm-fn"
_NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def summary(found: Sequence[Result], lines: int = 0) -> str:
    """How many findings there are, then one line for each, what matters most first; no more than `lines` lines where that is not 0.

    Empty where there are none; no line end after the last, since kpt would count a line more.
    """
    if not found:
        return ""
    entries = [entry(result) for result in sorted(found, key=results.order)]
    if lines and len(entries) > lines - 1:
        shown = max(lines - 2, 0)
        entries = [*entries[:shown], f"and {len(entries) - shown} more"]
    return "\n".join([f"{PROGRAM}: {count(found)}", *entries])


def count(found: Sequence[Result]) -> str:
    """How many findings of each severity, in words: `2 errors, 1 note`."""
    numbers = Counter(result.severity for result in found)
    return ", ".join(f"{numbers[each]} {noun}{'s' * (numbers[each] > 1)}" for each, noun in _NOUNS.items() if numbers[each])


def entry(result: Result) -> str:
    """One finding in one line: where, how bad, what, and in which resource."""
    return _line(f"{_place(result)}{_NOUNS[result.severity]} {_said(result)}")


def what(result: Result) -> str:
    """One finding in one line, for those who show elsewhere where it is and how bad."""
    return _line(_said(result))


def _said(result: Result) -> str:
    return f"{results.line(result)}{_resource(result)}"


def _line(words: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in " ".join(words.split()))


def _place(result: Result) -> str:
    if result.line:
        column = f":{result.column}" if result.column else ""
        return f"{result.file or '<stdin>'}:{result.line}{column}: "
    return f"{result.file}: " if result.file else ""


def _resource(result: Result) -> str:
    address = result.ref
    if not address or not address.kind:
        return ""
    return f" ({address.kind} {address.namespace}{'/' if address.namespace else ''}{address.name})"
