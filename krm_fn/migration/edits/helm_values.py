"""Finds the images with Dynamo in values of Helm: in a HelmRelease of Flux, and in an Application of Argo CD.

krm-fn does not render charts, so it cannot prove that a value becomes the image of a graph. Only the images that NVIDIA publishes are
known by their names; `runtime_tags` has them. A mirror keeps these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base.results import Path
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths, version
from krm_fn.migration.edits.edit_locations import DocumentEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render.kinds import runtime_tags
from krm_fn.repository.files.reading import Source

_FLUX, _ARGO = "helm.toolkit.fluxcd.io/", "argoproj.io/"
_VALUES: dict[str, tuple[Path, ...]] = {
    "HelmRelease": (("spec", "values"),),
    "Application": (
        ("spec", "source", "helm", "valuesObject"),
        ("spec", "sources", paths.EVERY, "helm", "valuesObject"),
        ("spec", "source", "kustomize", "images"),
        ("spec", "sources", paths.EVERY, "kustomize", "images"),
    ),
}
_TEXTS: tuple[Path, ...] = (("spec", "source", "helm", "values"), ("spec", "sources", paths.EVERY, "helm", "values"))


def edits(source: Source, steps: Sequence[UpgradeStep]) -> Iterator[DocumentEdit]:
    """Yields the edits that some steps together make in the values of a resource, as it is in its file."""
    for path, values in paths.find(source.value, _VALUES.get(source.address.kind, ()) if is_known(source) else ()):
        for below, new in _edit_images(values, steps):
            yield DocumentEdit(source, (*source.at, *path, *below), new)


def texts(source: Source, steps: Sequence[UpgradeStep]) -> Iterator[tuple[Path, str]]:
    """Yields the fields with values as a text that some steps would change, each with the new image or tag."""
    for path, written in paths.find(source.value, _TEXTS if is_known(source) else ()):
        documents, _ = reader.read(written) if isinstance(written, str) else ([], [])
        for document in documents:
            yield from ((path, new) for _, new in _edit_images(document.value, steps))


def is_known(source: Source) -> bool:
    """True for a resource of Flux or Argo CD, which can have values of Helm."""
    return source.address.api_version.startswith((_FLUX, _ARGO))


def _edit_images(value: Any, steps: Sequence[UpgradeStep]) -> Iterator[tuple[Path, str]]:
    """Yields the paths of images and tags below a value, with their new values."""
    if isinstance(value, str):
        if (new := _image(value, steps)) != value:
            yield (), new
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from (((number, *path), new) for path, new in _edit_images(inner, steps))
    elif isinstance(value, dict):
        name, tag = value.get("repository"), value.get("tag")
        if isinstance(name, str) and isinstance(tag, str) and (new := _tag(name, tag, steps)) != tag:
            yield ("tag",), new
        for key, inner in value.items():
            yield from (((key, *path), new) for path, new in _edit_images(inner, steps))


def _image(image: str, steps: Sequence[UpgradeStep]) -> str:
    """Returns an image after some steps. An image of Argo CD can have the name that it replaces in front: `name=new:tag`."""
    replaced, equals, reference = image.rpartition("=")
    name, colon, tag = reference.rpartition(":")
    return f"{replaced}{equals}{name}{colon}{_tag(name, tag, steps)}"


def _tag(name: str, tag: str, steps: Sequence[UpgradeStep]) -> str:
    """Returns the tag of an image after some steps. A step moves the minor versions from that of its oldest graph on."""
    if name.rpartition("/")[2] not in runtime_tags.PUBLISHED:
        return tag
    for step in steps:
        old = version.core(tag)
        first = step.old_runtime[:2]
        if old and (old[:2] <= first if step.is_downgrade else old[:2] >= first) and step.changes_version(old):
            tag = runtime_tags.in_release(name, tag, step.runtime).tag or tag
    return tag
