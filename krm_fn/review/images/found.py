"""Finds every image of the pods in a render and in other objects, and the field in which its author wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import expand, ownership, results
from krm_fn.convert import deprecated_fields
from krm_fn.kube import identity, labels, paths
from krm_fn.kube.admission import Rejection
from krm_fn.plan import RequestPlan
from krm_fn.resolve import cluster
from krm_fn.review import pods
from krm_fn.review.images import Author, Use
from krm_fn.rules import field_origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.config import Config
    from krm_fn.expand import PlannedResource
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.images import Role
    from krm_fn.review.pods import Template

_LISTS: dict[str, Role] = {"initContainers": "init container", "containers": "container"}


def uses(resources: Sequence[Resource], config: Config) -> list[Use]:
    """Every use of an image in the objects that a render of the resources writes, in the order of the output.

    Objects that users wrote are included. Resources with errors, and resources that are only for kustomize or kpt, are left out. If a
    rendered object is also among the resources, as in a finished build, its images there count: a later layer may have changed them.
    """
    home = config.namespace or cluster.NAMESPACE
    planned = expand.plans(resources, config)
    rendered = [(each, resource) for each in planned for resource in each.objects]
    keys = {identity.key(resource, home) for _, resource in rendered}
    built = {key: resource for resource in resources if (key := identity.key(resource, home)) in keys}
    owners = {f"{results.ref(each.source).kind}/{results.ref(each.source).name}" for each in planned}
    older = _older(resources, config)
    found: list[Use] = []
    for each, resource in rendered:
        made = list(_of_rendered(each, resource, config, older))
        now = built.get(identity.key(resource, home))
        found.extend(made if now is None else _of_built(now, made))
    for resource in resources:
        again = identity.key(resource, home) in keys or not owners.isdisjoint(ownership.owners(resource))
        if not again and not identity.is_dynamo(resource) and labels.annotations(resource).get(labels.LOCAL_CONFIG) != "true":
            found.extend(_of_written(resource))
    return found


def _of_written(resource: Resource) -> Iterator[Use]:
    """The images of an object that a user wrote: its own fields name them."""
    address = results.ref(resource)
    for template in pods.of(resource):
        for path, role, name, image in _images(template.spec):
            at = (*template.path, *path)
            yield Use(image, address, at, role, name, Author(address, at))


def _of_built(resource: Resource, rendered: Sequence[Use]) -> Iterator[Use]:
    """The images of a rendered object in a finished build. An image that a later layer changed has its field in the build."""
    known = {(use.path, use.image): use for use in rendered}
    for use in _of_written(resource):
        yield known.get((use.path, use.image), use)


def _older(resources: Sequence[Resource], config: Config) -> dict[tuple[str, str], Author]:
    """The fields of DynamoComponents, which name the images of graphs in an older form, by namespace and image."""
    found: dict[tuple[str, str], Author] = {}
    for resource in resources:
        address, image = results.ref(resource), paths.at(resource, ("spec", "image"))
        if address.kind == deprecated_fields.COMPONENT and identity.is_dynamo(resource) and isinstance(image, str):
            found.setdefault((address.namespace or config.namespace or cluster.NAMESPACE, image), Author(address, ("spec", "image")))
    return found


def _of_rendered(planned: PlannedResource, resource: Resource, config: Config, older: dict[tuple[str, str], Author]) -> Iterator[Use]:
    address = results.ref(resource)
    for template in pods.of(resource):
        for path, role, name, image in _images(template.spec):
            author = _author(planned, template, path, image) or older.get((address.namespace, image)) or _configured(image, config)
            yield Use(image, address, (*template.path, *path), role, name, author)


def _images(spec: dict[str, Any]) -> Iterator[tuple[Path, Role, str, str]]:
    """The path, the role, the name and the image of each container and each image volume of a pod."""
    for field, role in _LISTS.items():
        for index, entry in _entries(spec, field):
            if isinstance(image := entry.get("image"), str) and image:
                yield (field, index, "image"), role, str(entry.get("name") or ""), image
    for index, entry in _entries(spec, "volumes"):
        source = entry.get("image")
        if isinstance(source, dict) and isinstance(image := source.get("reference"), str) and image:
            yield ("volumes", index, "image", "reference"), "volume", str(entry.get("name") or ""), image


def _entries(spec: dict[str, Any], field: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = spec.get(field)
    yield from ((index, entry) for index, entry in enumerate(listed if isinstance(listed, list) else ()) if isinstance(entry, dict))


def _author(planned: PlannedResource, template: Template, path: Path, image: str) -> Author | None:
    """The user's field for an image of a rendered pod. A field counts only if it holds exactly this image."""
    address = results.ref(planned.source)
    for field in _candidates(planned, template, path):
        if field is not None and paths.at(planned.source, field) == image:
            return Author(address, field)
    return None


def _candidates(planned: PlannedResource, template: Template, path: Path) -> Iterator[Path | None]:
    """The fields that can name the image. Containers that an engine adds have the image of the main container."""
    if isinstance(planned.plan, RequestPlan):
        yield planned.plan.at("profilingConfig", "profilerImage")
        return
    found = pods.made(template, planned.pods)
    if not found:
        return
    component, pod = found
    own: dict[str, Any] = {**pod.spec}
    if paths.at(own, path) is not None:  # the template can have more containers, such as a debugger
        yield field_origin.path(component, pod.spec, Rejection("", path, ""))
    yield component.plan.at("main", "image")


def _configured(image: str, config: Config) -> Author | None:
    """The field of the configuration that holds the image of a container that a render adds."""
    fields: dict[Path, str] = {
        ("spec", "debuggerImage"): config.debugger_image,
        ("spec", "profiling", "copierImage"): config.profiling.copier_image,
    }
    return next((Author(None, path) for path, configured in fields.items() if configured == image), None)
