"""Findings as workflow commands: GitHub Actions shows each finding beside its line in a pull request.

Follows GitHub's "Workflow commands for GitHub Actions": `::error file=…,line=…,col=…,title=…::message`, special characters escaped.
"""

from __future__ import annotations

import re

from krm_fn.base import report
from krm_fn.base.results import Result
from krm_fn.cli import finding_formats
from krm_fn.cli.finding_formats import Checked
from krm_fn.schemas import finding_pages

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}


def write(checked: Checked) -> str:
    """Returns one workflow command a line."""
    return "".join(f"{_command(result)}\n" for result in checked.results)


def _command(result: Result) -> str:
    file, line, column = finding_formats.location(result)
    properties = {"file": file, "line": line, "col": column, "title": f"{result.code} {finding_pages.page(result.code).title}"}
    written = ",".join(f"{name}={_escape(str(value), _IN_PROPERTIES)}" for name, value in properties.items() if value)
    return f"::{_LEVELS[result.severity]} {written}::{_escape(report.what(result), _IN_MESSAGES)}"


def _escape(text: str, forms: dict[str, str]) -> str:
    """The text with GitHub's escapes, and with those of all outputs for other characters, such as in the name of a file."""
    return "".join(forms.get(part) or report.visible(part) for part in re.split(f"([{''.join(forms)}])", text))
