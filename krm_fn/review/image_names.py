"""Warns of images of Dynamo that are probably slips: a patch newer than all known ones, and a name, folder or tag next to a known one.

They are findings of `krm-fn check`. A render leaves them out, because they change nothing in its output.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths, version
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.version import Version
from krm_fn.render import dynamo_api
from krm_fn.render.kinds import dynamo_images, floors
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import release_choice, runtime_version
from krm_fn.review.arguments import flag_tables

_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
_RELEASED = re.compile(r"v?[0-9.]+(?:-cuda[0-9.]+|-efa(?:-amd64)?)?")
"""The tags of released images. Other tags, such as `1.6.3-rc1`, are builds of which krm-fn cannot know all."""
_FOLDERS = tuple(dynamo_images.REGISTRY.split("/"))
"""The registry and the folders of the released images."""
_OTHER_FOLDERS = ("dynamo", "aidynamo", "nvidiadynamo", "dynamoai")
"""Names, without their separators, that authors give the last folder."""
_WITH_V = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+(?:-cuda[0-9.]+|-efa(?:-amd64)?)?")
_LATEST = "latest"
_SHORT = re.compile(r"v?([0-9]+)\.([0-9]+)")
_COMPONENT = 3
"""The length of the path of a component."""
_MAIN_IMAGES: tuple[Path, ...] = (
    ("spec", "components", paths.EVERY, "podTemplate", "spec", "containers", paths.EVERY, "image"),
    ("spec", "services", paths.EVERY, "extraPodSpec", "mainContainer", "image"),
)
_LONGEST = 300
_NAME = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?{_NAME}(?:/{_NAME})*(?::\w[\w.-]{{0,127}})?(?:@[a-z0-9]+:[0-9a-f]{{32,}})?", re.ASCII
)
_LIST_ITEM = re.compile(r"\s-\s+[\"']?([^\s\"']+)")
"""An entry of a list behind an image."""
_PROGRAMS = ("python3", "python", "/bin/sh", "/bin/bash", "sh", "bash")
_SCHEME = re.compile(r"\A(?:https?|docker|oci)://")
_OTHER_NAMES = {
    "sgl-runtime": "sglang-runtime",
    **dict.fromkeys(("tensorrt-llm-runtime", "trt-llm-runtime"), "tensorrtllm-runtime"),
}
"""Names that authors give the images of engines."""
_ALIKE = str.maketrans("lio", "110")
"""Letters that look like digits."""
_OTHER_WORDS = re.compile(r"[A-Za-z]{2}")
"""A tag with words, such as `2024-05-main`, has digits of another meaning."""
_SHORTEST = 10
"""The shortest name for which another name counts as a slip: many own images have names like `dynamos`."""


@cache
def published_versions() -> tuple[Version, ...]:
    """Returns the versions of Dynamo that krm-fn knows, the older ones first: those of the tables of flags, and further images."""
    return tuple(sorted({*flag_tables.published_releases(), *floors.IMAGES_ONLY}))


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the findings about the images that should run Dynamo in each graph and component. Fields may have wrong types."""
    for resource in resources:
        if resource.get("kind") in _RENDERED and not ownership.is_generated(resource):
            ref = results.ref(resource)
            images = [*runtime_version.images(resource)]
            for entry in images:
                if not isinstance(entry.image, str):
                    continue
                _, _, tag = dynamo_images.parts(entry.image)
                if list_item := _LIST_ITEM.search(entry.image):
                    yield results.error(
                        codes.LIST_ENTRIES_IN_IMAGE, _with_list(entry.image, list_item), ref, entry.path, current=entry.image
                    )
                elif reference := _valid(entry.image):
                    message = f"{entry.image!r} is not the name of an image, so no node pulls it; write {reference}"
                    yield results.warning(codes.MISSPELT_IMAGE, message, ref, entry.path, current=entry.image, proposed=reference)
                elif doubt := _doubt(entry.image, [other.image for other in images]):
                    yield results.warning(codes.MISSPELT_IMAGE, doubt.message, ref, entry.path, current=entry.image, proposed=doubt.right)
                elif newest := _newest_patch(entry.image, tag):
                    message = f"krm-fn knows no patch {tag} of Dynamo, and the newest of this minor version is {newest}; correct the tag"
                    message += f", or ignore {codes.UNKNOWN_PATCH_VERSION} if the image exists"
                    right = f"{entry.image[: -len(tag)]}{newest}" if entry.image.endswith(f":{tag}") and "-" not in tag else None
                    yield results.warning(codes.UNKNOWN_PATCH_VERSION, message, ref, entry.path, current=entry.image, proposed=right)


def _with_list(image: str, item: re.Match[str]) -> str:
    """Returns the message about an image with the entries of a list behind it: YAML reads lines without a key as more text of a value."""
    field = "command" if item[1].partition("=")[0] in _PROGRAMS else "args"
    entries = "the entries of a list are a part of this image, because the line with their field is missing"
    return f"{entries}; write {image[: item.start()].strip()}, and {field}: above the list"


def _valid(image: str) -> str:
    """Returns the valid reference that an image means; empty for a valid one, and if none is certain.

    Follows the grammar of `github.com/distribution/reference`.

    >>> _valid("nvcr.io/nvidia/ai-dynamo/vllm-runtime: 1.6.1"), _valid("a/Engine:V2"), _valid("a/b@1.5.1"), _valid("a/b:${TAG}")
    ('nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1', 'a/engine:V2', 'a/b:1.5.1', '')
    """
    if len(image) > _LONGEST or _REFERENCE.fullmatch(image):
        return ""
    plain = _SCHEME.sub("", re.sub(r"\s", "", image))
    folder, slash, last = plain.rpartition("/")
    name, at, digest = last.partition("@")
    base, colon, tag = (name, ":", digest) if at and ":" not in last else last.partition(":")
    right = f"{folder.lower()}{slash}{base.lower()}{colon}{tag}"
    return right if _REFERENCE.fullmatch(right) else ""


class _Slip(NamedTuple):
    """The message about an image that is a slip for another one, and that one."""

    message: str
    right: str


def _doubt(image: str, others: Collection[object]) -> _Slip | None:
    """Returns the message about an image that is probably another one. `others` are the images of the resource."""
    _, name, tag = dynamo_images.parts(image)
    if slip := _slip(image, name):
        return slip._replace(message=f"{slip.message}, or ignore {codes.MISSPELT_IMAGE} if it is an image of your own")
    if slip := _tag_slip(image, others):
        return slip._replace(message=f"{slip.message}, or ignore {codes.MISSPELT_IMAGE} if the image exists")
    slip = _without_version(image, tag, others)
    return slip._replace(message=f"{slip.message}, or ignore {codes.MISSPELT_IMAGE} if it has this version") if slip else None


def _slip(image: str, name: str) -> _Slip | None:
    """Returns the message about an image that is a slip for one of Dynamo: in its name, or in the folders of NVIDIA's registry.

    Only names in these folders count, also on a mirror: other registries have images of other people, with names of their own.
    """
    folders = tuple(dynamo_images.parts(image).folder.split("/"))
    near = len(folders) == len(_FOLDERS) and all(map(_is_near, folders, _FOLDERS))
    near = (
        near
        or (folders[:-1] == _FOLDERS[:-1] and re.sub(r"[^a-z]", "", folders[-1]) in _OTHER_FOLDERS)
        or folders in (_FOLDERS[:-1], _FOLDERS[1:])
    )
    known = _known_name(image, name) if near or folders[:1] == _FOLDERS[:1] or _FOLDERS[-1] in folders else ""
    if near and folders != _FOLDERS and (known or dynamo_images.tag_of(image) == "dynamo"):
        whole = f"{'/'.join(_FOLDERS)}/{known or name}"
        where = f"docker.io/{'/'.join(folders)}, which an image without a registry means" if folders == _FOLDERS[1:] else "/".join(folders)
        return _Slip(f"no image of Dynamo is in {where}; write {whole}", f"{whole}{image.partition(f'/{name}')[2]}")
    if not known:
        return None
    before, _, behind = image.rpartition(f"/{name}")
    return _Slip(f"no image of Dynamo has the name {name}; write {known}", f"{before}/{known}{behind}" if before else f"{known}{behind}")


def _tag_slip(image: str, others: Collection[object]) -> _Slip | None:
    """Returns the message about a tag in NVIDIA's registry that is no tag there: `v1.3.0` and `1.3`.

    The tags are numbers of three parts (the page Release Artifacts of NVIDIA's documentation). Of several patches, that of another image of
    the resource is meant, or the newest. `others` are the images of the resource.
    """
    folder, _, tag = dynamo_images.parts(image)
    if folder != dynamo_images.REGISTRY or dynamo_images.tag_of(image) != "dynamo" or not image.endswith(f":{tag}"):
        return None
    if _WITH_V.fullmatch(tag):
        return _Slip(f"{folder} has no tags with v; write {tag[1:]}", f"{image[: -len(tag)]}{tag[1:]}")
    short = _SHORT.fullmatch(tag)
    patches = [entry for entry in published_versions() if short and entry[:2] == (int(short[1]), int(short[2]))]
    if not patches:
        return None
    used = {version.of_image(other) for other in others if isinstance(other, str)}
    right = ".".join(map(str, max(entry for entry in patches if entry in used or not used.intersection(patches))))
    listed = ", ".join(".".join(map(str, entry)) for entry in patches)
    return _Slip(f"{folder} has no tag {tag}, but {listed}; write {right}", f"{image[: -len(tag)]}{right}")


def _without_version(image: str, tag: str, others: Collection[object]) -> _Slip | None:
    """Returns the message about an image of NVIDIA without a version, if all other images of the resource have one and the same.

    A node pulls the newest image for it, and programs of a graph work together only up to two minor versions apart.
    """
    folder, name, _ = dynamo_images.parts(image)
    if folder != dynamo_images.REGISTRY or dynamo_images.tag_of(image) != "dynamo" or "@" in image or tag not in ("", _LATEST):
        return None
    used = {used_version for other in others if isinstance(other, str) and other != image and (used_version := version.of_image(other))}
    if len(used) != 1:
        return None
    release = ".".join(map(str, used.pop()))
    right = f"{folder}/{name}:{release}"
    return _Slip(f"this image has no version, and the other images of {release} may not work with a newer one; write {right}", right)


def _is_near(folder: str, known: str) -> bool:
    return folder == known or spelling.is_slip(folder, known, ".-_")


def _known_name(image: str, name: str) -> str:
    """Returns the name of an image of Dynamo that a name is a slip for; empty for another name."""
    if dynamo_images.tag_of(image) != "unknown":
        return ""
    slip = next((known for known in dynamo_images.DYNAMO if len(known) >= _SHORTEST and spelling.is_slip(name, known, "-_")), "")
    if name in _OTHER_NAMES and dynamo_images.parts(image).folder == dynamo_images.REGISTRY:
        return _OTHER_NAMES[name]
    longer = [known for known in dynamo_images.DYNAMO if name in known.split("-")]
    return slip or (longer[0] if len(longer) == 1 and dynamo_images.parts(image).folder == "/".join(_FOLDERS) else "")


def with_tag(finding: Result, resources: Mapping[Ref, Resource]) -> Result:
    """Returns the finding about an image without a version of Dynamo, with the tag to write if exactly one release is meant.

    If another component of the graph has the same image and its version, the message has this version. If all other images have one
    version, an image of NVIDIA without one gets it.

    `resources` are those of the input. Other findings stay as they are.
    """
    resource = resources.get(finding.ref) if finding.ref and finding.code in release_choice.WITHOUT_VERSION else None
    image = paths.at(resource, finding.path) if resource else None
    override = "" if resource is None else _override_of_same(resource, image)
    tag = _meant_tag(dynamo_images.parts(image).tag) if isinstance(image, str) else ""
    if not tag and resource is not None and isinstance(image, str):
        others = [entry.image for entry in runtime_version.images(resource)]
        slip = _tag_slip(image, others) or (None if override else _without_version(image, dynamo_images.parts(image).tag, others))
        is_used = slip is not None and version.of_image(slip.right) in map(version.of_image, filter(None, others))
        tag = dynamo_images.parts(slip.right).tag if slip and is_used else ""
    problem, correction, _ = finding.message.partition(f"{release_choice.CORRECT}, or set")
    if override and correction and not tag:
        fix = f"set runtimeVersionOverride: {override}, as a component with the same image does, or {release_choice.CORRECT}"
        return finding._replace(message=f"{problem}{fix}")
    return finding._replace(message=finding.message.replace(release_choice.CORRECT, f"write the tag {tag}")) if tag else finding


def _override_of_same(resource: Resource, image: Any) -> str:
    """Returns the version that the components with an image write beside it; empty without one, or if there are several."""
    same = (path[:_COMPONENT] for path, value in paths.find(resource, _MAIN_IMAGES) if value == image)
    versions = {paths.at(resource, (*component, "runtimeVersionOverride")) for component in same} - {None}
    return f"{versions.pop()}" if len(versions) == 1 else ""


def _meant_tag(tag: str) -> str:
    """Returns the only release with the digits of a tag; empty without one, or if there are several.

    >>> _meant_tag("15.1"), _meant_tag("1.5.l"), _meant_tag("1.5")
    ('1.5.1', '1.5.1', '')
    """
    digits = re.sub(r"[^0-9]", "", tag.lower().translate(_ALIKE))
    texts = [".".join(map(str, entry)) for entry in published_versions()]
    meant = [text for text in texts if text.replace(".", "") == digits]
    return meant[0] if len(meant) == 1 and not re.search(_OTHER_WORDS, tag) else ""


def _newest_patch(image: str, tag: str) -> str:
    """Returns the newest patch of the minor version in a tag if that of the tag is newer; empty if it is not, or is not known."""
    tagged = version.of_image(image)
    if tagged is None or dynamo_images.tag_of(image) != "dynamo" or not _RELEASED.fullmatch(tag):
        return ""
    newest = max((entry for entry in published_versions() if entry[:2] == tagged[:2]), default=tagged)
    return ".".join(map(str, newest)) if tagged > newest else ""
