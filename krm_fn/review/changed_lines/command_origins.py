"""Finds the lines that make changes of the output of a user's own build: parts of the files are reverted, and the command runs again."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from krm_fn.origins.reversion import Objects
from krm_fn.origins.text_hunks import RevisionText, TextPair
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.repository.files.checkouts import Checkouts
from krm_fn.review.changed_lines import change_origins
from krm_fn.review.changed_lines.change_origins import Attribution, HunkPart, Origins, SourceTexts
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import Render

_MOST = 20
"""The largest number of runs of the command."""
Rebuild = Callable[[Path, Mapping[str, str | None]], Render | None]
"""Builds in a folder. The texts are those that differ from the working tree, by their paths from this folder; None is a missing file."""


def find_origins(copies: Checkouts, folder: Path, shown: str, new: Render, rebuild: Rebuild) -> Callable[[Sequence[ObjectChange]], Origins]:
    """Returns a function that finds the origins of changes. `folder` is that of the build in a copy, and `shown` its name in texts.

    `new` is the new state.
    """

    def find(changes: Sequence[ObjectChange]) -> Origins:
        differing = change_origins.differing(changes)
        if not differing:
            return {}
        names, texts = _texts(copies, folder, shown)

        def render(reverted: Sequence[HunkPart]) -> Objects | None:
            written = texts.revert_parts(names, reverted)
            with copies.with_texts(written):
                state = rebuild(copies.top / folder, {posixpath.relpath(name, folder.as_posix()): text for name, text in written.items()})
            return state and rendered_state.comparable_objects(state, new)

        return Attribution(texts, texts.parts, render, _MOST, is_complete=False, is_costly=True).find(differing)

    return find


def _texts(copies: Checkouts, folder: Path, shown: str) -> tuple[list[str], SourceTexts]:
    """Returns the names of the files that differ, and both states of their texts."""
    old, new, old_name = copies.texts("old"), copies.texts("new"), copies.old_names()
    names = [name for name in sorted({*new, *old}) if old.get(name) != new.get(name)]
    pairs = []
    for name in names:
        below = posixpath.relpath(name, folder.as_posix())
        pairs.append(
            TextPair(
                RevisionText(old_name(below), 1, old[name]) if name in old else None,
                RevisionText(os.path.normpath(f"{shown}/{below}"), 1, new[name]) if name in new else None,
            )
        )
    return names, SourceTexts(pairs)
