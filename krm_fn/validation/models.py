"""Rules over a DynamoModel.

Follows the reference's `internal/webhook/validation/dynamomodel.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.results import Ref, Result

_SOURCES = ("s3://", "hf://")


def check_model(spec: dict[str, Any], ref: Ref) -> Iterator[Result]:
    """An adapter says from where it is loaded."""
    if spec.get("modelType") != "lora":
        return
    source = spec.get("source")
    if source is None:
        message = f"is required for a LoRA adapter; write its uri, which begins with {' or '.join(_SOURCES)}"
        yield results.error("DYN170", message, ref, ("spec", "source"))
    elif not (source.get("uri") or "").startswith(_SOURCES):
        uri = source.get("uri") or ""
        message = f"{uri!r} does not begin with {' or '.join(_SOURCES)}, from where adapters are loaded; write such a uri"
        yield results.error("DYN171", message, ref, ("spec", "source", "uri"), current=uri)
