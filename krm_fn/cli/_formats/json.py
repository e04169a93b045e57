"""Findings for programs: one object with all of them; what is not known is null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.cli._formats import Checked
    from krm_fn.results import Result


def write(checked: Checked) -> str:
    """`{"findings": [...]}`."""
    return json.dumps({"findings": [_entry(result) for result in checked.results]}, indent=2, ensure_ascii=False) + "\n"


def _entry(result: Result) -> dict[str, Any]:
    address = result.ref
    resource = address and {"apiVersion": address.api_version, "kind": address.kind, "namespace": address.namespace, "name": address.name}
    return {
        "severity": result.severity,
        "code": result.code,
        "message": result.message,
        "field": results.field(result.path) or None,
        "file": result.file or None,
        "line": result.line or None,
        "column": result.column or None,
        "resource": resource,
    }
