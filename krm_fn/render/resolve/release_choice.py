"""Chooses the operator release that the render of a resource follows, and the API version in which the render writes Dynamo resources.

The API version is the one that the cluster serves.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.render import dynamo_api, labels
from krm_fn.render.kinds import releases, types
from krm_fn.render.resolve import runtime_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.kinds.releases import Release, ReleaseNumber
    from krm_fn.render.resolve.runtime_version import RuntimeImage, RuntimeVersion

_MARKS = (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2, labels.WORKLOAD_PROVIDER, labels.PRESERVED_GRAPH)
WITHOUT_VERSION = (codes.UNKNOWN_IMAGE_VERSION, codes.NO_IMAGE_WITH_VERSION)
"""The codes about images whose tags are no version of Dynamo."""
CORRECT = "correct the tag"
"""The fix of a tag, in the messages of these codes."""
_KEEP = "keep"
_OR_NEWER = "+"
_GROUP = f"{dynamo_api.GROUP}/"


class ReleaseRow(NamedTuple):
    """A release of the operator.

    `file` is the name of its file in `krm_fn.render.kinds.releases`, and `since` the lowest runtime version of the images that follow it.
    `cases` is the number of graphs whose objects krm-fn was compared with those of the operator; 0 if it was not compared. `recorded` is
    the version of the operator that made these objects; empty if its newest patch is among them.
    """

    file: str
    since: tuple[int, int]
    cases: int
    recorded: str = ""


RELEASES = {
    "v0.9": ReleaseRow("v0_9", (0, 0), 382),
    "v1.2": ReleaseRow("v1_2", (1, 0), 282, "1.2.0"),
    "v1.3": ReleaseRow("v1_3", (1, 3), 282, "1.3.0"),
    "v1.4": ReleaseRow("v1_4", (1, 4), 282, "1.4.0"),
    "v1.5": ReleaseRow("v1_5", (1, 5), 298),
    "v1.6": ReleaseRow("v1_6", (1, 6), 155),
    "v1.7": ReleaseRow("v1_7", (1, 7), 0),
}
"""The releases by their names in the configuration, the older ones first."""
_OLDEST, _NEWEST = "v0.9", [*RELEASES][-1]
_OF_NEWER = "v1.5"
"""The release of resources of v1beta1, and of those with an annotation of an operator of 1.0 or later, whose images are older than 1.0."""
_WITHOUT_VERSION = [name for name, row in RELEASES.items() if row.cases][-1]
"""The release of resources whose images say no version: the newest one that was compared with its operator."""


def release(resource: Resource, config: Config) -> Release:
    """Returns the release of the operator that the render of a resource follows. No other function chooses it."""
    return releases.get(RELEASES[release_name(resource, config)].file)


def number(name: str) -> ReleaseNumber:
    """Returns the major and minor version of a release by its name in the configuration. Raises KeyError for an unknown release."""
    return releases.get(RELEASES[name].file).number


def every_release() -> list[Release]:
    """Returns all releases, the older ones first."""
    return [releases.get(row.file) for row in RELEASES.values()]


def release_name(resource: Resource, config: Config) -> str:
    """Returns the name, as in the configuration, of the release that the render of a resource follows.

    The configuration decides; otherwise the highest runtime version among the images of the resource; without one, it is the newest
    release that was compared with its operator. If the images are older than 1.0, a resource that an operator of that time cannot have
    follows v1.5.
    """
    return config.behaviour if is_pinned(config) else _of_images(resource, runtime_version.of_resource(resource), config)


def is_pinned(config: Config) -> bool:
    """True if the configuration names one release for all resources."""
    return bool(config.behaviour) and not config.behaviour.endswith(_OR_NEWER)


def _of_images(resource: Resource, highest: RuntimeVersion | None, config: Config) -> str:
    without_version = _WITHOUT_VERSION if runtime_version.names_images(resource) else _OLDEST
    of_images = of_version(highest.version) if highest else without_version
    lowest = config.behaviour.removesuffix(_OR_NEWER) or (_OF_NEWER if of_images == _OLDEST and _is_of_newer(resource) else _OLDEST)
    return max(lowest, of_images, key=[*RELEASES].index)


def of_version(version: tuple[int, ...]) -> str:
    """Returns the name of the release that images of a runtime version follow, and to which an operator of this version belongs.

    A version that is newer than all releases belongs to the newest one.
    """
    return [name for name, row in RELEASES.items() if row.since <= version[:2]][-1]


def _is_of_newer(resource: Resource) -> bool:
    """True for a resource that an operator before 1.0 cannot have: one of v1beta1, or with an annotation of a newer operator."""
    return resource.get("apiVersion") != dynamo_api.V1ALPHA1 or is_from_newer(resource)


def is_assumed(resource: Resource, config: Config) -> bool:
    """True for a resource of v1alpha1 whose release nothing says: no configuration, no image, and no annotation of an operator."""
    if config.behaviour or _is_of_newer(resource) or not runtime_version.names_images(resource):
        return False
    return runtime_version.of_resource(resource) is None


def check(resource: Resource, config: Config) -> Iterator[Result]:
    """Warns if a newer krm-fn may choose another release, or if the images do not say which one to follow."""
    if is_pinned(config):
        return
    highest = runtime_version.of_resource(resource)
    chosen = _of_images(resource, highest, config)
    if highest and chosen == _NEWEST and highest.version[:2] > release(resource, config).number:
        written = ".".join(map(str, highest.version))
        message = (
            f"the version {written} is newer than {chosen}, the newest release that this krm-fn knows; a newer krm-fn may make other pods "
            f"for it, so set behaviour: {chosen} in the configuration"
        )
        yield results.warning(codes.IMAGE_NEWER_THAN_RELEASES, message, results.ref(resource), highest.path)
    if highest is None and not _is_reported_otherwise(resource):
        older = f", or behaviour: {_OLDEST} for Dynamo before 1.0" if is_assumed(resource, config) else ""
        first = _first_image(resource)
        corrected = f"{CORRECT}, or " if first and first.without_tag else ""
        message = (
            f"no tag of an image is a version of Dynamo, so the render follows {chosen}; {corrected}set behaviour in the "
            f"configuration{older}, or runtimeVersionOverride to the version of Dynamo in the images"
        )
        yield results.warning(codes.NO_IMAGE_WITH_VERSION, message, results.ref(resource), first.version_path if first else ("spec",))


def _first_image(resource: Resource) -> RuntimeImage | None:
    """Returns the first image without a version, or else the first image; None without one."""
    images = [image for image in runtime_version.images(resource) if image.image or image.override]
    return next(iter(sorted(images, key=lambda image: not image.without_tag)), None)


def _is_reported_otherwise(resource: Resource) -> bool:
    """True if another finding says that an image has no version, or if there is no image.

    An image of a graph or of an endpoint picker without any version in its tag is an error (DYN451).
    """
    images = [image for image in runtime_version.images(resource) if image.image or image.override]
    spec = resource.get("spec")
    picks = isinstance(spec, dict) and types.get(f"{spec.get('type')}").picks_workers
    is_error = (resource.get("kind") == dynamo_api.GRAPH or picks) and _is_of_newer(resource)
    return not images or (is_error and any(image.without_tag for image in images))


def without_invalid_overrides(findings: Iterable[Result], invalid: Iterable[Path]) -> Iterator[Result]:
    """Yields the findings without those about images of a component whose `runtimeVersionOverride` is among the invalid fields."""
    owners = [path[:-1] for path in invalid if path[-1:] == ("runtimeVersionOverride",)]
    for finding in findings:
        if finding.code not in WITHOUT_VERSION or not any(finding.path[: len(owner)] == owner for owner in owners):
            yield finding


def is_from_newer(resource: Resource) -> bool:
    """True if a resource has an annotation that only an operator of 1.0 or later writes."""
    annotations = labels.annotations(resource)
    return any(mark in annotations for mark in _MARKS) or _is_newer(annotations.get(labels.ORIGIN_VERSION))


def _is_newer(origin: str | None) -> bool:
    if not origin:
        return False
    from krm_fn.kubernetes import version  # noqa: PLC0415 - only graphs of newer operators have the annotation

    return version.at_least(origin, (1, 0, 0))


def source(resource: Resource, config: Config) -> Resource:
    """Returns a resource of the user in the API version of the setting `sourceVersion`; by default in its own version."""
    return resource if config.source_version == _KEEP else _in_version(resource, f"{_GROUP}{config.source_version}")


def beside(source: Resource, generated: Iterable[Resource]) -> list[Resource]:
    """Returns the objects that are generated from a resource. The Dynamo resources among them get its API version."""
    version = source["apiVersion"]
    return [_in_version(entry, version) if entry["apiVersion"].startswith(_GROUP) else entry for entry in generated]


def check_source(resource: Resource, config: Config) -> Iterator[Result]:
    """Warns if a render of the kept resource would follow another release than the render of the resource itself."""
    if config.source_version == _KEEP or resource.get("kind") not in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
        return
    now, then = (release_name(version, config) for version in (resource, source(resource, config)))
    if now != then:
        message = f"this render follows {now}, but a render of the returned resource, which is {config.source_version}, would follow {then}"
        fix = f"set behaviour: {now} in the configuration"
        yield results.warning(codes.SOURCE_VERSION_SELECTS_RELEASE, f"{message}; {fix}", results.ref(resource), ("apiVersion",))


def check_conversion(resource: Resource, config: Config) -> Iterator[Result]:
    """Warns of a v1alpha1 graph whose images say no version: a render refuses the same graph in v1beta1 (DYN451)."""
    if resource.get("kind") == dynamo_api.GRAPH and is_assumed(resource, config):
        message = (
            "no tag of an image is a version of Dynamo, so a render refuses the converted graph; set runtimeVersionOverride of each "
            "component to the version of Dynamo in its image, or write an image with a version in the tag"
        )
        first = _first_image(resource)
        yield results.warning(codes.NO_IMAGE_WITH_VERSION, message, results.ref(resource), first.version_path if first else ("spec",))


def _in_version(resource: Resource, api_version: str) -> Resource:
    if resource["apiVersion"] == api_version:
        return resource
    from krm_fn.render.convert import versions  # noqa: PLC0415 - most resources are in that version

    return versions.to(api_version.removeprefix(_GROUP), resource)
