"""The format `text` with each finding in one line, as in a pipe."""

from __future__ import annotations

from krm_fn.cli.finding_formats import Checked, text_findings


def write(checked: Checked) -> str:
    """Returns each finding with its source line."""
    return text_findings.write(checked._replace(width=0))
