"""Rules about a DynamoModel.

Follows the reference's `internal/webhook/validation/dynamomodel.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.schema import sentences

if TYPE_CHECKING:
    from krm_fn.results import Ref, Result

_SOURCES = ("s3://", "hf://")


def check_model(spec: dict[str, Any], ref: Ref) -> Iterator[Result]:
    """A LoRA adapter must have a source with a valid uri."""
    if spec.get("modelType") != "lora":
        return
    source = spec.get("source")
    if source is None:
        yield sentences.error("DYN170", ref, ("spec", "source"))
    elif not (source.get("uri") or "").startswith(_SOURCES):
        uri = source.get("uri") or ""
        yield sentences.error("DYN171", ref, ("spec", "source", "uri"), uri=f"{uri!r}")._replace(current=uri)
