"""Which digest kustomize writes in place of an image.

kustomize compares the `name` of an image transformer as a regular expression, `^<name>(:tag)?(@sha256:digest)?$`. So a name with a tag
changes only images with that tag, but a name without a tag changes the images with every tag.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.review.images import reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.results import Result
    from krm_fn.review.images import Use


def matches(name: str, image: str) -> bool:
    """True if kustomize changes an image by an entry with this name."""
    return re.fullmatch(rf"{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?", image) is not None


def conflicts(found: Iterable[Use], digests: dict[str, str]) -> Iterator[Result]:
    """An error for each image whose entry would give another image a wrong digest."""
    listed = {use.image: use for use in found}
    for image, digest in digests.items():
        others = [each for each in listed if each != image and matches(image, each) and _digest(each, digests) != digest]
        if image in listed and others:
            use = listed[image]
            message = f"kustomize cannot pin {image}, because it would change {others[0]} too; write a tag that only this image has"
            yield results.error("DYN560", message, *use.where)


def _digest(image: str, digests: dict[str, str]) -> str:
    parts = reference.read(image)
    return digests.get(image) or (parts.digest if parts else "")
