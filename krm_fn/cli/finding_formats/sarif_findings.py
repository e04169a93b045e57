"""Findings as SARIF 2.1.0, the format of code scanners. GitHub shows them on pull requests and in the security tab.

Follows the OASIS standard sarif-v2.1.0-os. Columns count characters.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib import parse

import krm_fn
from krm_fn.base import escaping, report, results
from krm_fn.base.results import Result
from krm_fn.cli import finding_formats
from krm_fn.cli.finding_formats import Checked
from krm_fn.schemas import finding_pages

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def write(checked: Checked) -> str:
    """Returns a log with one run. Its rules are the codes of the findings."""
    used = sorted({result.code for result in checked.results})
    driver = {"name": report.PROGRAM, "version": krm_fn.__version__, "rules": [_rule(code) for code in used]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(result, used.index(result.code)) for result in checked.results],
    }
    return escaping.json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, 2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    return {
        "id": code,
        "name": finding_pages.name(code),
        "shortDescription": {"text": finding_pages.page(code).title},
        "helpUri": finding_pages.url(code),
        "help": {"text": finding_pages.plain(code), "markdown": finding_pages.markdown(code)},
    }


def _result(result: Result, rule: int) -> dict[str, Any]:
    entry = {"ruleId": result.code, "ruleIndex": rule, "level": _LEVELS[result.severity], "message": {"text": report.what(result)}}
    location = _physical(result) | _logical(result)
    return entry | ({"locations": [location]} if location else {})


def _physical(result: Result) -> dict[str, Any]:
    file, line, column = finding_formats.location(result)
    if not file:
        return {}
    region = {"startLine": line} | ({"startColumn": column} if column else {})
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}} | ({"region": region} if line else {})}


def _logical(result: Result) -> dict[str, Any]:
    if not result.ref:
        return {}
    steps = [result.ref.namespace, result.ref.kind, result.ref.name, results.field(result.path)]
    return {"logicalLocations": [{"fullyQualifiedName": report.visible("/".join(step for step in steps if step)), "kind": "object"}]}


def _uri(file: str) -> str:
    """Returns the name of a file as a URI. On Linux, a name is bytes, and need not be UTF-8."""
    return Path(file).as_uri() if Path(file).is_absolute() else parse.quote(os.fsencode(file), safe="/:?=" if "://" in file else "/")
