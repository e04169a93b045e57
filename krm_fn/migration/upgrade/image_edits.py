"""The edits of images and of runtime versions in one step of an upgrade, and the findings about images that no edit can name.

`krm_fn.render.resolve.runtime_version` knows which images hold Dynamo. Images of others, such as an engine in sidecar mode, are never
edited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import paths, version
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, text
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render import dynamo_api
from krm_fn.render.kinds import gates, runtime_tags
from krm_fn.render.resolve import runtime_version
from krm_fn.render.resolve.runtime_version import RuntimeImage

_OF_REQUESTS = {
    dynamo_api.V1ALPHA1: (("spec", "profilingConfig", "profilerImage"), ("spec", "deploymentOverrides", "workersImage")),
    dynamo_api.V1BETA1: (("spec", "image"),),
}
"""The images with Dynamo of a request, by its API version: that of the profiler comes first, and the override replaces its version."""
_OVERRIDE: results.Path = ("spec", "runtimeVersionOverride")
_GRAPH_OF_REQUEST: results.Path = ("spec", "overrides", "dgd")
_POD_SPECS: tuple[results.Path, ...] = (
    ("spec", "extraPodSpec"),
    ("spec", "services", paths.EVERY, "extraPodSpec"),
    ("spec", "podTemplate", "spec"),
    ("spec", "roles", paths.EVERY, "podTemplate", "spec"),
    ("spec", "components", paths.EVERY, "podTemplate", "spec"),
    ("spec", "components", paths.EVERY, "roles", paths.EVERY, "podTemplate", "spec"),
)
"""The pod specs of graphs and standalone components of both API versions."""
_OTHER_IMAGES = tuple(
    (*path, *below)
    for path in _POD_SPECS
    for below in (("mainContainer", "image"), ("containers", paths.EVERY, "image"), ("initContainers", paths.EVERY, "image"))
)


def of_resource(resource: Resource, step: UpgradeStep) -> Iterator[FieldEdit]:
    """Yields the edits of a graph, a standalone component or a request. Fields may have wrong types."""
    overrides: dict[results.Path, FieldEdit] = {}
    for image in _images(resource):
        if _is_changed(image, step) and not _keeps_profiler(resource, image, step):
            if image.is_dynamo and isinstance(image.image, str) and (new := _edit_image(image.image, step)):
                yield FieldEdit(image.path, image.image, new, "image")
            if image.override:
                new = _prefix(image.override) + step.runtime_text
                overrides[image.override_path] = FieldEdit(image.override_path, image.override, new, "image")
    yield from overrides.values()


def findings(resource: Resource, step: UpgradeStep) -> Iterator[Result]:
    """Yields the findings about images that a step does not edit, or whose new reference a person should look at."""
    ref = results.ref(resource)
    for image in _images(resource):
        written = image.image
        if not isinstance(written, str) or not written or (image.override and not _is_changed(image, step)):
            continue
        if _keeps_profiler(resource, image, step):
            message = (
                f"a Job of krm-fn runs only the profiler of Dynamo before 1.0, so the step leaves {written}; remove the request if its "
                "graph is committed, or profile again with an operator"
            )
            yield results.warning(codes.PROFILER_NOT_UPGRADED, message, ref, image.path, current=written)
        elif version.of_image(written) is None or (image.override and not image.is_dynamo):
            yield results.warning(codes.IMAGE_NOT_EDITED, _explain_unversioned(image, step), ref, image.path, current=written)
        elif _is_changed(image, step):
            yield from _about_reference(written, image, ref, step)


def staying(resource: Resource, step: UpgradeStep) -> Iterator[Result]:
    """Yields the findings about images of sidecars and init containers beside those that a step moves: the step edits none of them.

    An image of NVIDIA's with Dynamo in another version than that of the step is a warning.
    """
    images = [*_images(resource)]
    if results.ref(resource).kind == dynamo_api.REQUEST or not any(_is_changed(image, step) for image in images):
        return
    moved = {image.path for image in images}
    others = {path: f"{image}" for path, image in paths.find(resource, _OTHER_IMAGES) if image and path not in moved}
    dynamo = {path: image for path, image in others.items() if _is_left_behind(image, step)}
    ref, runtime = results.ref(resource), step.runtime_text
    for severity, problem, fix, about in (
        (results.warning, f"have Dynamo in another version than {runtime}", f"write the images of {runtime} in the same commit", dynamo),
        (results.info, "stay", f"check that they fit {runtime}", {path: image for path, image in others.items() if path not in dynamo}),
    ):
        if about:
            shown = ", ".join(dict.fromkeys(about.values()))
            message = f"the step edits the images of components only, and these of sidecars and init containers {problem}: {shown}; {fix}"
            yield severity(codes.SIDECAR_IMAGES_STAY, message, ref, next(iter(about)))


def _is_left_behind(image: str, step: UpgradeStep) -> bool:
    """True for an image with Dynamo that NVIDIA publishes, in a version that the step replaces."""
    name, tag = _parts(image)
    of_image = version.core(tag)
    return name.rpartition("/")[2] in runtime_tags.PUBLISHED and of_image is not None and step.changes_version(of_image)


def _images(resource: Resource) -> Iterator[RuntimeImage]:
    """Yields the images with Dynamo of a resource, also those of a graph in a request."""
    ref = results.ref(resource)
    if ref.kind in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
        yield from runtime_version.images(resource)
    elif ref.kind == dynamo_api.REQUEST:
        override = paths.at(resource, _OVERRIDE)
        for number, path in enumerate(_OF_REQUESTS.get(ref.api_version, ())):
            has_override = bool(override) and number == 0
            yield RuntimeImage(paths.at(resource, path), path, *((override, _OVERRIDE) if has_override else ()))
        for image in runtime_version.images(mapping(paths.at(resource, _GRAPH_OF_REQUEST))):
            of_graph = (*_GRAPH_OF_REQUEST, *image.override_path) if image.override else ()
            yield image._replace(path=(*_GRAPH_OF_REQUEST, *image.path), override_path=of_graph)


def _keeps_profiler(resource: Resource, image: RuntimeImage, step: UpgradeStep) -> bool:
    """True for the profiler of a request whose image of the step has another profiler, which krm-fn does not run."""
    is_profiler = image.path in {of_version[0] for of_version in _OF_REQUESTS.values()} and results.ref(resource).kind == dynamo_api.REQUEST
    return is_profiler and image.version is not None and image.version < gates.NEW_PROFILER.minimum <= step.runtime


def _is_changed(image: RuntimeImage, step: UpgradeStep) -> bool:
    """True if the step replaces the version of an image."""
    return image.version is not None and step.changes_version(image.version)


def _edit_image(image: str, step: UpgradeStep) -> str | None:
    """Returns an image with the tag of the step, without a digest, which would be that of the old image. None if it has no such tag."""
    name, tag = _parts(image)
    of_image = version.core(tag)
    if of_image is None or not step.changes_version(of_image):
        return None
    new = runtime_tags.in_release(name, tag, step.runtime).tag
    return f"{name}:{new}" if new else None


def _parts(image: str) -> tuple[str, str]:
    """Returns the name of an image and its tag. The port of a registry is a part of the name."""
    reference = image.partition("@")[0]
    folder, slash, last = reference.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{folder}{slash}{name}", tag


def _prefix(override: Any) -> str:
    return "v" if text(override).startswith("v") else ""


def _explain_unversioned(image: RuntimeImage, step: UpgradeStep) -> str:
    runtime = step.runtime_text
    if image.override:
        has_none = "has no version" if image.is_dynamo else "is no version of Dynamo"
        return (
            f"the tag of {image.image} {has_none}, so the step changes only runtimeVersionOverride, to {runtime}; write the image of "
            f"{runtime} here in the same commit"
        )
    return (
        f"the tag of {image.image} has no version, so the step does not edit the image; write the image of {runtime} with a tag such as "
        f"{runtime}, or set runtimeVersionOverride: {runtime} beside it"
    )


def _about_reference(written: str, image: RuntimeImage, ref: results.Ref, step: UpgradeStep) -> Iterator[Result]:
    """Yields the findings about the tag and the digest of an image whose tag has a version."""
    name, tag = _parts(written)
    new = runtime_tags.in_release(name, tag, step.runtime)
    if new.tag is None:
        message = (
            f"{tag} is a build for one model or from a branch, so its tag of {step.runtime_text} is not known, and the step does not edit "
            f"it; write the image of {step.runtime_text} that serves the model"
        )
        yield results.warning(codes.UNCERTAIN_NEW_TAG, message, ref, image.path, current=written)
        return
    proposed = f"{name}:{new.tag}"
    if not new.is_certain:
        message = f"{new.tag} keeps the suffix of {tag}, which is not one of NVIDIA's variants; check that the registry has {proposed}"
        yield results.warning(codes.UNCERTAIN_NEW_TAG, message, ref, image.path, current=written, proposed=proposed)
    if "@" in written:
        message = f"the digest is that of the old image, so the step removes it; pin {proposed} again, for example by krm-fn images"
        yield results.warning(codes.OLD_DIGEST_REMOVED, message, ref, image.path, current=written, proposed=proposed)
