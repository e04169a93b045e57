"""Repairs templates of the generator's theme: requests to another host, and names for screen readers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple


class RepairError(Exception):
    """A template of the theme has changed, so a repair does not fit."""


class _Repair(NamedTuple):
    template: str
    old: str
    new: str


_REPAIRS = (
    # The script of this component asks the host of the repository for its stars.
    _Repair("source.html", ' data-md-component="source"', ""),
    # The path to a page has the label of the navigation.
    _Repair("path.html", """aria-label="{{ lang.t('nav') }}\"""", 'aria-label="Path"'),
    # A section inside the navigation is a landmark too, with the same label as others.
    _Repair("nav-item.html", '<nav class="md-nav"', '<div role="group" class="md-nav"'),
    _Repair("nav-item.html", "</nav>", "</div>"),
)


def write(folder: Path) -> None:
    """Writes the repaired templates into the `partials` of a theme folder. Raises RepairError."""
    specification = importlib.util.find_spec("zensical")
    if specification is None or specification.origin is None:
        raise RepairError("Zensical is not installed: run `make site`")
    theme = Path(specification.origin).parent / "templates" / "partials"
    texts = {repair.template: (theme / repair.template).read_text("utf-8") for repair in _REPAIRS}
    for template, old, new in _REPAIRS:
        if texts[template].count(old) != 1:
            raise RepairError(f"{template} of the theme has changed: it has {old!r} {texts[template].count(old)} times")
        texts[template] = texts[template].replace(old, new)
    (folder / "partials").mkdir(parents=True, exist_ok=True)
    for template, text in texts.items():
        (folder / "partials" / template).write_text(text, "utf-8")
