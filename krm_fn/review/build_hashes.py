"""Worker hashes of a finished build that are not those of its pods, because a later layer changed the workers.

Workers with one hash share a Dynamo namespace, so that frontends send requests to old and new workers during a rolling update.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import TemplatePath
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import labels
from krm_fn.review.second_render import SecondRender


def check(built: Resource, render: SecondRender) -> Iterator[Result]:
    """Yields a warning for a workload whose worker hash differs from that of the second render, or whose images differ.

    A layer with `images` changes the containers of workloads. In a graph, it changes those of v1beta1 only, so either can differ. Names of
    Secrets and other objects differ in each build in which kustomize renames them, and the pods have these names.
    """
    rendered = render.counterpart(built)
    for path, pod in _pods_with_hash(built):
        worker_hash, expected = paths.at(built, path), paths.at(rendered, path)
        other = _other_image(paths.at(built, pod), paths.at(rendered, pod))
        if isinstance(expected, str) and (other or (worker_hash != expected and not render.is_renamed_only)):
            cause = f"a later layer set the image {other}" if other else "a later layer changed the graph, for example its image"
            message = f"{worker_hash} is not the hash of these workers, because {cause}, so old and new workers share a Dynamo namespace"
            fix = "make the change in the graph, in the layer with the function or in one before it"
            yield results.warning(codes.WORKER_HASH_BEFORE_LAYER, f"{message}; {fix}", results.ref(built), path, current=str(worker_hash))
            return


def _pods_with_hash(built: Resource) -> Iterator[tuple[Path, Path]]:
    """Yields the paths of the worker hash and of the pod spec of each pod template that has a hash."""
    for template in paths.POD_TEMPLATES:
        shared = _count_shared_steps(template)
        for path, _ in paths.find(built, [(*template.metadata, "labels", labels.WORKER_HASH)]):
            yield path, (*path[:shared], *template.spec[shared:])


def _count_shared_steps(template: TemplatePath) -> int:
    """Returns the number of steps that both paths of a template share."""
    return next(index for index, step in enumerate((*template.metadata, "")) if step != template.spec[index])


def _other_image(built: Any, rendered: Any) -> str:
    """Returns the image of a container in the build that differs from the rendered one; empty if none does.

    A mirror has the same image: only the registry and the folders of its name differ.
    """
    images = _images(rendered)
    others = (image for name, image in _images(built).items() if _last(image) != _last(images.get(name, image)))
    return next(others, "")


def _last(image: str) -> str:
    return image.rpartition("/")[2]


def _images(pod: Any) -> dict[str, str]:
    containers = [container for field in ("initContainers", "containers") for container in objects(mapping(pod).get(field))]
    return {str(container.get("name")): str(container.get("image")) for container in containers}
