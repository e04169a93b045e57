"""Findings as one JSON object. Unknown values are null."""

from __future__ import annotations

import json

from krm_fn import report
from krm_fn.cli.finding_formats import Checked


def write(checked: Checked) -> str:
    """Returns `{"findings": [...]}`."""
    return json.dumps({"findings": [report.json_fields(result) for result in checked.results]}, indent=2, ensure_ascii=False) + "\n"
