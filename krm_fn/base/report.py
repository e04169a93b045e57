"""Formats findings and values as lines for people. `krm_fn.base.results.wire` formats them for a ResourceList."""

from __future__ import annotations

from collections import Counter

from krm_fn.base import escaping, results
from krm_fn.base.escaping import printable, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.base.results import Ref, Result, Severity

__all__ = ["printable", "visible"]

PROGRAM = "krm-fn"
LONGEST = 100
"""The longest value that is shown, in characters."""

_NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def summary(findings: Sequence[Result], lines: int = 0) -> str:
    """The number of findings, then one line for each finding, errors first; at most `lines` lines unless `lines` is 0.

    The text is empty without findings. The last line has no line end, because kpt would count it as another line.
    """
    if not findings:
        return ""
    entries = [entry(result) for result in sorted(findings, key=results.order)]
    if lines and len(entries) > lines - 1:
        shown = max(lines - 2, 0)
        entries = [*entries[:shown], f"and {len(entries) - shown} more"]
    return "\n".join([f"{PROGRAM}: {count(findings)}", *entries])


def count(findings: Sequence[Result]) -> str:
    """The number of findings of each severity: `2 errors, 1 note`."""
    numbers = Counter(result.severity for result in findings)
    return ", ".join(pluralize(numbers[severity], noun) for severity, noun in _NOUNS.items() if numbers[severity])


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Returns a number with a noun. The default plural is the noun with an `s`; both can have a verb.

    >>> pluralize(1, "pod"), pluralize(2, "pod"), pluralize(0, "GPU is", "GPUs are")
    ('1 pod', '2 pods', '0 GPUs are')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def list_first(names: Sequence[str], most: int) -> str:
    """Returns the first names, and the number of the others.

    >>> list_first(("a", "b", "c"), 2), list_first(("a", "b"), 2)
    ('a, b and 1 more', 'a, b')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def entry(result: Result) -> str:
    """One finding in one line: location, severity, code, field, message and resource."""
    return " ".join(filter(None, (location(result), noun(result), what(result))))


def location(result: Result) -> str:
    """The location of a finding, with a colon at its end; empty if it is unknown."""
    if result.line:
        column = f":{result.column}" if result.column else ""
        return printable(f"{result.file or '<stdin>'}:{result.line}{column}:")
    return printable(f"{result.file}:") if result.file else ""


def noun(result: Result) -> str:
    """The severity of a finding as a word: `info` is `note`."""
    return _NOUNS[result.severity]


def what(result: Result, others: Sequence[Ref] = ()) -> str:
    """Code, field, message and resource of a finding in one line. `others` are further resources that have the finding."""
    return printable(f"{results.line(result)}{_resources(result, others)}")


def where(result: Result, others: Sequence[Ref] = ()) -> str:
    """Code, field and resource of a finding in one line. `others` are further resources that have the finding."""
    field = results.field(result.path)
    return printable(f"{result.code}{' ' if field else ''}{field}{_resources(result, others)}")


def json_fields(result: Result) -> dict[str, Any]:
    """A finding as JSON, the same in all outputs for programs. A field that is not known is null."""
    address = result.ref
    resource = address and {"apiVersion": address.api_version, "kind": address.kind, "namespace": address.namespace, "name": address.name}
    return {
        "severity": result.severity,
        "code": result.code,
        "message": result.message,
        "field": results.field(result.path) or None,
        "file": result.file or None,
        "line": result.line or None,
        "column": result.column or None,
        "resource": resource,
    }


def value(shown: Any, longest: int = LONGEST) -> str:
    r"""A value on one line, as JSON. Control characters are escaped, and a long value is cut to `longest` characters.

    >>> print(value("a\x1b[0m\n"), value(True), value("x" * 10, 5))
    "a\u001b[0m\n" true "xxxx…
    """
    text = escaping.json_text(shown)
    return text if len(text) <= longest else f"{text[:longest]}…"


def _resources(result: Result, others: Sequence[Ref]) -> str:
    """Returns the resources of a finding in parentheses: ` (DynamoGraphDeployment prod/chat, staging/chat)`."""
    shown = [address for address in (result.ref, *others) if address and address.kind]
    names, kind = [], ""
    for address in shown:
        name = f"{address.namespace}{'/' if address.namespace else ''}{address.name}"
        names.append(name if address.kind == kind else f"{address.kind} {name}")
        kind = address.kind
    return f" ({', '.join(names)})" if names else ""
