"""The container images that pods need: where each is used, the field that names it, and its digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.results import Path, Ref

FORMAT_VERSION = 1
"""The version of the JSON output and of the lock. A change that older programs cannot read raises it."""

Role = Literal["container", "init container", "volume"]


class Author(NamedTuple):
    """The field that names an image: a field that a user wrote, or a setting of the configuration, which can have its default.

    `ref` is the address of the resource, or None for a setting.
    """

    ref: Ref | None
    path: Path


class Use(NamedTuple):
    """One use of an image: by a container, an init container or an image volume called `name`.

    `ref` is the object with the pod, and `path` the field of the object. `author` is None if the field that names the image is unknown.
    """

    image: str
    ref: Ref
    path: Path
    role: Role
    name: str
    author: Author | None

    @property
    def where(self) -> tuple[Ref, Path]:
        """The resource and the field of findings about the image: those of its author, or only the object if they are unknown."""
        return (self.author.ref, self.author.path) if self.author and self.author.ref else (self.ref, ())
