"""The pages of changes, 400 to 499."""

from __future__ import annotations

from krm_fn.pages import Page

PAGES: dict[str, Page] = {}
