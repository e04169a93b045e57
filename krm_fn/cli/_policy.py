"""Selects the findings that a command shows, and the findings that make it fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krm_fn.validation import suppressed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result


class Policy(NamedTuple):
    """The options --ignore, --strict and --quiet."""

    ignored: frozenset[str] = frozenset()
    strict: bool = False
    quiet: bool = False

    def kept(self, found: Iterable[Result], resources: Sequence[Resource]) -> list[Result]:
        """The findings that count: warnings and notes can be ignored, errors cannot."""
        return suppressed.without(found, resources, self.ignored)

    def failing(self, found: Iterable[Result]) -> list[Result]:
        """The findings that make the command fail: errors, and warnings if they are strict."""
        severities = ("error", "warning") if self.strict else ("error",)
        return [result for result in found if result.severity in severities]

    def shown(self, found: list[Result]) -> list[Result]:
        """The findings that are printed: if quiet, only those that make the command fail."""
        return self.failing(found) if self.quiet else found
