"""Findings as JSON, the same in all outputs for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.results import Result


def value(result: Result) -> dict[str, Any]:
    """One finding. What is not known is null."""
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
