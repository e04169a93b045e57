"""What `--fail-on` can name: each word is true or false of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krm_fn.review.diff import Diff

_WORDS: dict[str, Callable[[Diff], bool]] = {
    "changes": lambda diff: bool(diff.differing),
    "deleted": lambda diff: any(outcome.effect == "deleted" for outcome in diff.forecast.outcomes),
    "restarts": lambda diff: bool(diff.forecast.restarting),
    "interrupted": lambda diff: diff.forecast.gpus.interrupted > 0,
    "refused": lambda diff: any(outcome.effect == "refused" for outcome in diff.forecast.outcomes),
    "unknown": lambda diff: bool(diff.failed),
    "stuck": lambda diff: any(outcome.stuck for outcome in diff.forecast.outcomes),
}
WORDS = tuple(_WORDS)


def words(diff: Diff, named: Iterable[str]) -> list[str]:
    """The named words that are true of a comparison. Raises KeyError for an unknown word."""
    return [word for word in named if _WORDS[word](diff)]
