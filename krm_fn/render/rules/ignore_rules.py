"""Ignore rules of users: removes warnings and notes with the codes that they list. Errors always stay."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.render import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from krm_fn.base.results import Ref, Result
    from krm_fn.kubernetes.types import Resource


def codes(text: str) -> frozenset[str]:
    """Returns the codes in a list, separated by commas or spaces.

    >>> sorted(codes("DYN114, dyn153"))
    ['DYN114', 'DYN153']
    """
    return frozenset(text.upper().replace(",", " ").split())


def apply(findings: Iterable[Result], resources: Sequence[Resource], everywhere: Collection[str] = ()) -> list[Result]:
    """Returns the findings without ignored ones. `everywhere`, or the annotation `dynamo.krm-fn.io/ignore` of a resource, ignores codes."""
    findings = list(findings)
    ignored = _ignored_by_annotation(resources) if any(finding.severity != "error" for finding in findings) else {}
    return [
        finding
        for finding in findings
        if finding.severity == "error" or not (finding.code in everywhere or (finding.ref and finding.code in ignored.get(finding.ref, ())))
    ]


def _ignored_by_annotation(resources: Iterable[Resource]) -> dict[Ref, frozenset[str]]:
    texts = ((resource, labels.annotations(resource).get(labels.IGNORE)) for resource in resources)
    return {results.ref(resource): codes(text) for resource, text in texts if isinstance(text, str)}
