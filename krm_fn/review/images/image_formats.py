"""Writes the list of images in the formats of `krm-fn images`: for people, for programs, for kustomize and for tools that fill mirrors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

from krm_fn.base import report_model, report_text, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.report_model import ReportLines
from krm_fn.base.results import Ref, Result
from krm_fn.base.yaml import emitter
from krm_fn.kubernetes import paths
from krm_fn.origins.origin import FieldLocation
from krm_fn.review.images import image_references
from krm_fn.review.images.image_uses import ImageUse


class ImageList(NamedTuple):
    """All uses of images, each with the location of the field that names it, the digests of images, and the findings."""

    uses: Sequence[tuple[ImageUse, FieldLocation]]
    digests: dict[str, str]
    results: Sequence[Result] = ()

    @property
    def images(self) -> dict[str, list[tuple[ImageUse, FieldLocation]]]:
        """The uses by image, in alphabetical order of the images."""
        uses: dict[str, list[tuple[ImageUse, FieldLocation]]] = {}
        for use, location in sorted(self.uses, key=lambda entry: entry[0].image):
            uses.setdefault(use.image, []).append((use, location))
        return uses

    @property
    def pinned(self) -> list[str]:
        """The images with their digests where the lock has them, each once. Invalid references are left out: nothing can pull them."""
        return sorted({image_references.pin_image(image, self.digests) for image in self.images if image_references.read(image)})


class ImageFormat(NamedTuple):
    """An output format.

    `needs_all` is true if another program reads the output as the whole list, so that it must not be printed after an error.
    `fills_mirror` is true if that program copies the images into a mirror.
    """

    write: Callable[[ImageList], str]
    needs_all: bool = False
    fills_mirror: bool = False


def _hauler(images: ImageList) -> str:
    """For `hauler store sync`: a manifest of kind Images."""
    spec = {"images": [{"name": image} for image in images.pinned]}
    return emitter.text({"apiVersion": "content.hauler.cattle.io/v1", "kind": "Images", "metadata": {"name": "dynamo"}, "spec": spec})


def _zarf(images: ImageList) -> str:
    """For `zarf package create`: a package with one component that holds the images."""
    component = {"name": "images", "required": True, "images": images.pinned}
    package = {"apiVersion": "zarf.dev/v1alpha1", "kind": "ZarfPackageConfig", "metadata": {"name": "dynamo-images"}}
    return emitter.text({**package, "components": [component]})


def _json(images: ImageList) -> str:
    """For programs: everything, as one JSON object. Its schema is `krm_fn/review/schemas/images.json`."""
    entries = [_json_image(image, uses, images.digests) for image, uses in images.images.items()]
    return report_model.document({"images": entries}, images.results)


def _json_image(image: str, uses: list[tuple[ImageUse, FieldLocation]], digests: dict[str, str]) -> dict[str, Any]:
    parts = image_references.read(image)
    digest = digests.get(image) or (parts.digest if parts else "")
    return {"image": image, **({"digest": digest} if digest else {}), "uses": [_json_use(use, location) for use, location in uses]}


def _json_use(use: ImageUse, location: FieldLocation) -> dict[str, Any]:
    known = {key: value for key, value in location._asdict().items() if value}
    author = {**known, **({"resource": _json_resource(use.author.ref)} if use.author and use.author.ref else {})}
    return {
        "resource": _json_resource(use.ref),
        "field": results.field(use.path),
        "role": use.role,
        "name": use.name,
        **({"author": author} if known else {}),
    }


def _json_resource(ref: Ref) -> dict[str, str]:
    fields = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {key: value for key, value in fields.items() if value}


def _kustomize(images: ImageList) -> str:
    """For `transformers:` of kustomize, behind the function: a transformer for each image with a digest, which replaces its tag in pods."""
    locked = [image for image in images.images if image in images.digests]
    return "---\n".join(emitter.text(_transformer(number, image, images)) for number, image in enumerate(locked, 1))


def _transformer(number: int, image: str, images: ImageList) -> dict[str, Any]:
    is_mounted = any(use.role == "volume" for use, _ in images.images[image])
    return {
        "apiVersion": "builtin",
        "kind": "ImageTagTransformer",
        "metadata": {"name": f"image-{number}"},
        "imageTag": {"name": image, "digest": images.digests[image]},
        **({"fieldSpecs": [{"path": path} for path in _volume_paths()]} if is_mounted else {}),
    }


def _volume_paths() -> list[str]:
    """The paths of image volumes. kustomize finds containers itself in every kind of object."""
    specs = [template.spec for template in paths.POD_TEMPLATES]
    patterns = ["/".join(str(step) for step in spec).replace(f"/{paths.EVERY}", "[]") for spec in (*specs, ("spec",))]
    return [f"{pattern}/volumes[]/image/reference" for pattern in patterns]


def _text(images: ImageList) -> str:
    """For people: each image with its digest, and below it every use with the line that names the image."""
    lines = ((image_references.pin_image(image, images.digests), *starmap(_line, uses)) for image, uses in images.images.items())
    return report_text.block(ReportLines([line for listed in lines for line in listed]))


def _line(use: ImageUse, location: FieldLocation) -> str:
    name = f"{use.ref.namespace}/{use.ref.name}" if use.ref.namespace else use.ref.name
    return f"  {use.ref.kind} {name}, {use.role} {use.name}: {location.text() or 'unknown'}"


FORMATS = {
    "hauler": ImageFormat(_hauler, needs_all=True, fills_mirror=True),
    "json": ImageFormat(_json),
    "kustomize": ImageFormat(_kustomize, needs_all=True),
    "text": ImageFormat(_text),
    "zarf": ImageFormat(_zarf, needs_all=True, fills_mirror=True),
}
"""The output formats by name. A new format is a function and a line here."""
