"""The rules that `krm-fn explain` names, from `krm_fn/review/rules.yaml`."""

from __future__ import annotations

from pathlib import Path

from krm_fn import review
from krm_fn.review.explain import Rule
from krm_fn.yamlio import reader


def read() -> dict[str, Rule]:
    """The rules by `module:function`, for each function and constant that makes values by a rule."""
    text = (Path(review.__path__[0]) / "rules.yaml").read_text("utf-8")
    found: dict[str, Rule] = {}
    for document in reader.read(text)[0]:
        for name, entry in document.value.items():
            found.update(dict.fromkeys(entry["made_by"], Rule(name, entry["says"], entry.get("follows", ""))))
    return found
