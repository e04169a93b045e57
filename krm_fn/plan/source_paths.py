"""Source paths: the paths of fields in a resource as its author wrote it, whatever API version a release reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.results import Path, Ref

Fix = Literal["no scaling adapter", "scaling adapter", "no shared memory"]


class SourcePaths(NamedTuple):
    """The source paths of a resource, or of one component of it.

    `ref` names the resource in its author's API version. `path` is the path of the component, or of the spec. `mapping` maps the steps of a
    field below it (`krm_fn.convert.path_mapping`). `fixes` holds the ends of messages that say how to turn a feature on or off.
    `written` is the component as its author wrote it; `converted` is the component in the version that the release reads, or None if that
    is the author's version. `inherited` holds the paths of the annotations that a component inherits from its graph. `components` holds the
    source paths of the components of a graph, by name.
    """

    ref: Ref
    path: Path
    mapping: Callable[[SourcePaths, Path], Path]
    fixes: Mapping[Fix, str] = {}
    written: dict[str, Any] = {}
    converted: dict[str, Any] | None = None
    inherited: Mapping[str, Path] = {}
    components: Mapping[str, SourcePaths] = {}

    def at(self, *steps: str | int) -> Path:
        """The path of a field in the resource. The steps name the field as either API version does."""
        return self.mapping(self, steps)

    def component(self, name: str) -> SourcePaths:
        """The source paths of a component. Those of a standalone component are those of its resource."""
        return self.components.get(name, self)
