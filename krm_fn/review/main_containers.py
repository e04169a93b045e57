"""The container `main` of a v1alpha1 component that stands in the list of containers, for the fix of the image that is then missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from krm_fn.base import codes
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects

_OF_MAIN = {
    codes.CONTAINER_WITHOUT_IMAGE: ("image",),
    codes.DUPLICATE_NAME_IN_POD: ("name",),
    codes.MULTINODE_WITHOUT_COMMAND: ("command", "args"),
}
"""By code: the fields of `mainContainer` at which its findings stand."""
_FIELD = ("extraPodSpec", "mainContainer")
_MAIN = "main"


def find(findings: Iterable[Result], resources: Mapping[Ref, Resource]) -> Iterator[Result]:
    """Yields the findings. Where the author wrote `main` as in v1beta1, the missing image has this cause.

    Its other effects, a second name and a command that is missing, are left out.

    `resources` are those of the input.
    """
    for finding in findings:
        field = finding.path[-1] if finding.path[-3:-1] == _FIELD else ""
        resource = resources.get(finding.ref) if finding.ref and field in _OF_MAIN.get(finding.code, ()) else None
        listed = _path_in_list(resource, finding.path[:-2]) if resource else ()
        if not listed:
            yield finding
        elif field == "image":
            problem = "the container main stands in containers, as in v1beta1, and mainContainer has no image"
            message = f"{problem}; write the fields of this container in mainContainer, without name: main, and remove it from containers"
            yield finding._replace(message=message, path=listed)


def _path_in_list(resource: Resource, pod: Path) -> Path:
    """Returns the path of the image of a container `main` in the list, if `mainContainer` has no image; else an empty one."""
    fields = mapping(paths.at(resource, pod))
    images = [
        at for at, container in enumerate(objects(fields.get("containers"))) if name_of(container) == _MAIN and container.get("image")
    ]
    return (*pod, "containers", images[0], "image") if images and not mapping(fields, "mainContainer").get("image") else ()
