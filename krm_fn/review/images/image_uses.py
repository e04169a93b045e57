"""Finds every image of the pods in a render and in other objects, and the field in which its author wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import encryption, identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins.origin import Origin
from krm_fn.origins.text_origins import TextOrigins
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import pods

ImageRole = Literal["container", "init container", "volume"]

_ROLES: dict[str, ImageRole] = {"initContainers": "init container", "containers": "container"}


class ImageUse(NamedTuple):
    """One use of an image: by a container, an init container or an image volume called `name`.

    `ref` is the object with the pod, and `path` the field of the object. `author` is None if the field that names the image is unknown.
    """

    image: str
    ref: Ref
    path: Path
    role: ImageRole
    name: str
    author: Origin | None

    @property
    def where(self) -> tuple[Ref, Path]:
        """The resource and the field of findings about the image: those of its author, or only the object if they are unknown."""
        return (self.author.ref, self.author.path) if self.author and self.author.ref else (self.ref, ())


def uses(resources: Sequence[Resource], config: Config) -> list[ImageUse]:
    """Finds every use of an image in the objects that a render of the resources writes, in the order of the output.

    Objects that users wrote are included. Resources with errors, resources that are only for kustomize or kpt, and images that SOPS has
    encrypted are left out. If a
    rendered object is also among the resources, as in a finished build, its images there count: a later layer may have changed them.
    """
    default_namespace = cluster.default_namespace(config)
    planned = expand.plans(resources, config)
    rendered = [(identity.key(resource, default_namespace), resource) for entry in planned for resource in entry.objects]
    keys = {key for key, _ in rendered}
    owners = {f"{results.ref(entry.source).kind}/{results.ref(entry.source).name}" for entry in planned}
    built: dict[ObjectKey, Resource] = {}
    written: list[Resource] = []
    for resource in resources:
        key = identity.key(resource, default_namespace)
        if key in keys:
            built[key] = resource
        elif owners.isdisjoint(ownership.owners(resource)) and not dynamo_api.is_dynamo(resource) and not _is_local(resource):
            written.append(resource)
    origins = TextOrigins(resources, [resource for _, resource in rendered], config)
    all_uses: list[ImageUse] = []
    for key, resource in rendered:
        of_render = list(_of_rendered(resource, origins))
        all_uses.extend(_of_built(built[key], of_render) if key in built else of_render)
    for resource in written:
        all_uses.extend(_of_written(resource))
    return all_uses


def _is_local(resource: Resource) -> bool:
    """True for a resource that kustomize or kpt reads and does not write."""
    return labels.annotations(resource).get(labels.LOCAL_CONFIG) == "true"


def _of_written(resource: Resource) -> Iterator[ImageUse]:
    """The images of an object that a user wrote: its own fields name them."""
    address = results.ref(resource)
    for path, role, name, image in _images(resource):
        yield ImageUse(image, address, path, role, name, Origin("user", path, address))


def _of_built(resource: Resource, rendered: Sequence[ImageUse]) -> Iterator[ImageUse]:
    """The images of a rendered object in a finished build. An image that a later layer changed has its field in the build."""
    known = {(use.path, use.image): use for use in rendered}
    for use in _of_written(resource):
        yield known.get((use.path, use.image), use)


def _of_rendered(resource: Resource, origins: TextOrigins) -> Iterator[ImageUse]:
    """The images of a rendered object, with the field of which each image is a copy."""
    address = results.ref(resource)
    for path, role, name, image in _images(resource):
        yield ImageUse(image, address, path, role, name, origins.of(resource, path))


def _images(resource: Resource) -> Iterator[tuple[Path, ImageRole, str, str]]:
    """The path, the role, the name and the image of each container and each image volume of an object's pods."""
    for template in pods.of(resource):
        for field, role in _ROLES.items():
            for index, container in _entries(template.spec, field):
                if isinstance(image := container.get("image"), str) and image and not encryption.is_encrypted_text(image):
                    yield (*template.path, field, index, "image"), role, str(container.get("name") or ""), image
        for index, volume in _entries(template.spec, "volumes"):
            source = volume.get("image")
            if isinstance(source, dict) and isinstance(image := source.get("reference"), str) and image:
                yield (*template.path, "volumes", index, "image", "reference"), "volume", str(volume.get("name") or ""), image


def _entries(spec: dict[str, Any], field: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = spec.get(field)
    yield from ((index, entry) for index, entry in enumerate(listed if isinstance(listed, list) else ()) if isinstance(entry, dict))
