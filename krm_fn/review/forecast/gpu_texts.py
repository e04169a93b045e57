"""Texts of numbers of GPUs. A number without the GPUs of claims that nobody knows is a minimum, and each text says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krm_fn.base import report
from krm_fn.base.records import NamedTuple
from krm_fn.review.forecast import Gpus

_AT_LEAST, _UNKNOWN = "at least", "unknown"


class GpuTexts(NamedTuple):
    """The GPUs before, at the peak of and after a change, for the cells of a table."""

    before: str
    peak: str
    after: str


def number(count: float | str, unknown_claims: int) -> str:
    """Returns a number for a table. Without any known GPU, it is `unknown` and not at least 0.

    >>> number(4, 0), number(4, 1), number(0, 1)
    ('4', 'at least 4', 'unknown')
    """
    if not unknown_claims:
        return f"{count}"
    return f"{_AT_LEAST} {count}" if count else _UNKNOWN


def of(gpus: Gpus) -> GpuTexts:
    """Returns the three numbers of a change."""
    return GpuTexts(number(gpus.before, gpus.unknown_before), number(gpus.peak, gpus.unknown_peak), number(gpus.after, gpus.unknown_after))


def count_gpus(count: int, unknown_claims: int = 0) -> str:
    """Returns a number with its unit, for a sentence.

    >>> count_gpus(1), count_gpus(4, 1), count_gpus(0, 2)
    ('1 GPU', 'at least 4 GPUs', 'an unknown number of GPUs')
    """
    if not count and unknown_claims:
        return "an unknown number of GPUs"
    number_of_gpus = report.pluralize(count, "GPU")
    return f"{_AT_LEAST} {number_of_gpus}" if unknown_claims else number_of_gpus


def claims(count: int) -> str:
    """Returns the number of claims whose GPUs are not in a number, for a sentence; empty for none.

    >>> claims(1), claims(2)
    ('1 claim is not known', '2 claims are not known')
    """
    return report.pluralize(count, "claim is not known", "claims are not known") if count else ""


def total(parts: Iterable[Gpus]) -> Gpus:
    """Returns the GPUs of several parts together. Each part has its own claims."""
    return Gpus(*map(sum, zip(Gpus(), *parts, strict=True)))


def json_fields(gpus: Gpus) -> dict[str, Any]:
    """Returns the numbers of a change for programs, with the names of the states that have unknown claims."""
    unknown = [state for state, claims in (("before", gpus.unknown_before), ("after", gpus.unknown_after)) if claims]
    counts = {"before": gpus.before, "peak": gpus.peak, "after": gpus.after, "interrupted": gpus.interrupted}
    return {**counts, **({"unknown": unknown} if unknown else {})}
