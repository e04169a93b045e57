"""The component type `main`, which is the former name of `frontend`.

The operator renamed the type in August 2025 (ai-dynamo/dynamo, pull request 2398). To the operators since Dynamo 0.5, `main` is a type
without defaults, whose Service has the port of a worker, and v1beta1 does not have it. Recipes of NVIDIA also have workers of this type.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.render import dynamo_api, engines
from krm_fn.render.resolve import release_choice, runtime_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config

FORMER = "main"
_FRONTEND, _WORKER = "frontend", "worker"
_RENAMED_IN = (0, 5)


class FormerType(NamedTuple):
    """A field with the former name of a type, and the type to write: that of a frontend, or of a worker if the component runs an engine."""

    path: Path
    current: str


def former_types_of(resource: Resource) -> Iterator[FormerType]:
    """Yields the fields of a graph or a component of v1alpha1 with the type `main`. Fields may have wrong types."""
    if resource.get("apiVersion") != dynamo_api.V1ALPHA1 or resource.get("kind") not in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
        return
    services = paths.at(resource, ("spec", "services"))
    listed: list[Path] = [("spec", "services", name) for name in services] if isinstance(services, dict) else [("spec",)]
    for path in listed:
        service = paths.at(resource, path)
        if paths.at(service, ("componentType",)) == FORMER:
            yield FormerType((*path, "componentType"), _WORKER if _runs_engine(service) else _FRONTEND)


def _runs_engine(service: dict[str, Any]) -> bool:
    container = paths.at(service, ("extraPodSpec", "mainContainer"))
    words = [paths.at(container, (field,)) for field in ("command", "args")]
    return bool(engines.detect(f"{word}" for listed in words if isinstance(listed, list) for word in listed))


def rename_former_types(resource: Resource) -> Resource:
    """Returns a graph or a component with the types of today; the resource itself if none of its types is `main`."""
    for former in former_types_of(resource):
        resource = paths.replace_at(resource, former.path, former.current)
    return resource


def convert(resource: Resource, config: Config) -> tuple[Resource, list[Result]]:
    """Returns a resource as the operator of its images reads it, and a warning for each component of type `main`.

    Images older than 0.5 belong to an operator to which `main` is the type of a frontend (`internal/dynamo/component_common.go`,
    ComponentDefaultsFactory). If the configuration names an operator, that one decides. The type of a worker stays.
    """
    former = [*former_types_of(resource)]
    if not former:
        return resource, []
    highest = runtime_version.of_resource(resource)
    is_read = highest is not None and highest.version[:2] < _RENAMED_IN and not release_choice.is_pinned(config)
    read = [entry for entry in former if is_read and entry.current == _FRONTEND]
    findings = [_finding(resource, entry, is_read=entry in read) for entry in former]
    for entry in read:
        resource = paths.replace_at(resource, entry.path, entry.current)
    return resource, findings


def _finding(resource: Resource, former: FormerType, *, is_read: bool) -> Result:
    message = f"until Dynamo 0.4, {FORMER} was the name of the type {_FRONTEND}"
    if not is_read:
        message = f"{message}, and since then it is no type: the component gets no port, no probe and no Service of a {former.current}"
    fix = f"write {former.current}"
    return results.warning(
        codes.FORMER_TYPE_MAIN, f"{message}; {fix}", results.ref(resource), former.path, current=FORMER, proposed=former.current
    )
