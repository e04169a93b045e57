"""Findings as one JSON object. Unknown values are null."""

from __future__ import annotations

from krm_fn.base import escaping, report
from krm_fn.cli.finding_formats import Checked


def write(checked: Checked) -> str:
    """Returns `{"findings": [...]}`."""
    return escaping.json_text({"findings": [report.json_fields(result) for result in checked.results]}, 2) + "\n"
