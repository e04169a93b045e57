"""Pod templates in observations. Most objects share one value, because few carry a restart."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, values
from krm_fn.status import fields
from krm_fn.status.observe import Template

if TYPE_CHECKING:
    from krm_fn.results import Path


def read(metadata: dict[str, Any], path: Path) -> Template:
    """The template whose metadata is at a path of an object."""
    annotations, marks = values.mapping(metadata, "annotations"), values.mapping(metadata, "labels")
    parts = (values.text(marks.get(key)) for key in (labels.NAMESPACE, labels.WORKER_HASH))
    return _template(path, fields.shared(annotations.get(labels.RESTART_AT)), bool(annotations), "-".join(filter(None, parts)))


@lru_cache(maxsize=4096)
def _template(path: Path, restarted: str, annotated: bool, runtime: str) -> Template:
    return Template(path, restarted, annotated=annotated, runtime=runtime)
