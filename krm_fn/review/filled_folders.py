"""Warns of init containers that fill another folder of an empty volume than the container that reads it.

The volume has nothing but what they write. A path in their command line is below the folder at which they mount the volume, and the reader
has it below its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import name_of, objects, text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership
from krm_fn.review import written_pods
from krm_fn.review.written_pods import is_in_folder

_CODE = codes.INIT_CONTAINER_FILLS_OTHER_FOLDER
_WORDS: tuple[Path, ...] = (("command", EVERY), ("args", EVERY))
_PATH = re.compile(r"(?<![\w./:$}-])/[\w./-]*\w", re.ASCII)
"""An absolute path in a line; that of a URL is none."""
_MODEL = re.compile(r"--model(?:-path)?")
_INIT = "initContainers"


class _Container(NamedTuple):
    """A container: its path, its name, its words with their paths, and the folders of its volumes with the indexes of their mounts."""

    path: Path
    name: str
    words: Sequence[tuple[Path, str]]
    folders: Mapping[str, tuple[str, int]]

    @property
    def line(self) -> str:
        """All words as one line."""
        return " ".join(word for _, word in self.words)


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """Yields the warnings about the pods of Dynamo's resources that no render has made. Fields may have wrong types."""
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            for path, pod in written_pods.of(resource):
                empty = {name_of(volume) for volume in objects(pod.get("volumes")) if isinstance(volume.get("emptyDir"), dict)}
                read = [_container((*path, *inner), fields) for inner, fields in written_pods.containers(pod)] if empty else []
                fillers = [container for container in read if _INIT in container.path]
                readers = [container for container in read if _INIT not in container.path]
                for filler in fillers:
                    yield from _other_folder(resource, filler, readers, empty)
                for reader in readers if len(fillers) == 1 else ():
                    yield from _other_model(resource, fillers[0], reader, empty)


def _container(path: Path, fields: dict[str, Any]) -> _Container:
    words = [((*path, *inner), word) for inner, word in paths.find(fields, _WORDS) if isinstance(word, str)]
    folders = {
        name_of(mount): (normpath(text(mount.get("mountPath"))), index)
        for index, mount in enumerate(objects(fields.get("volumeMounts")))
        if text(mount.get("mountPath")).startswith("/") and not mount.get("subPath")
    }
    return _Container(path, name_of(fields), words, folders)


def _other_folder(resource: Resource, filler: _Container, readers: Sequence[_Container], empty: set[str]) -> Iterator[Result]:
    """Finds a line that names the folder of the reader, where the init container has no volume."""
    named = {normpath(found) for found in _PATH.findall(filler.line)}
    own = [folder for folder, _ in filler.folders.values()]
    for volume, (folder, index) in filler.folders.items():
        others = {reader.folders[volume][0] for reader in readers if volume in reader.folders} if volume in empty else set()
        meant = [
            other
            for other in others
            if any(is_in_folder(found, other) for found in named) and not any(is_in_folder(other, mine) for mine in own)
        ]
        if len(meant) == 1 and not any(is_in_folder(found, folder) for found in named):
            problem = f"{filler.name} names {meant[0]}, and mounts the volume {volume} at {folder}, so nothing is in the volume"
            path = (*filler.path, "volumeMounts", index, "mountPath")
            yield results.warning(_CODE, f"{problem}; write {meant[0]}", results.ref(resource), path, current=folder, proposed=meant[0])


def _other_model(resource: Resource, filler: _Container, reader: _Container, empty: set[str]) -> Iterator[Result]:
    """Finds a model in a folder of the volume that the only init container does not fill."""
    for path, model in _models(reader):
        for volume, (folder, _) in reader.folders.items():
            if volume not in empty or volume not in filler.folders or not model.startswith(f"{folder}/"):
                continue
            below = model[len(folder) :]
            source = filler.folders[volume][0]
            named = {normpath(found) for found in _PATH.findall(filler.line)} if "$" not in filler.line else set()
            filled = [found for found in named if is_in_folder(found, source)]
            wanted = f"{source}{below}"
            if len(filled) == 1 and filled[0] != source and not (is_in_folder(wanted, filled[0]) or is_in_folder(filled[0], wanted)):
                right = f"{folder}{filled[0][len(source) :]}"
                message = f"nothing fills {model}, because {filler.name} writes to {filled[0]}; write {right}"
                yield results.warning(_CODE, message, results.ref(resource), path)


def _models(reader: _Container) -> Iterator[tuple[Path, str]]:
    """Yields the folder of the model in a command line, with the path of its word."""
    before = ""
    for path, word in reader.words:
        flag, _, value = word.partition("=")
        name = value if _MODEL.fullmatch(flag) else word if _MODEL.fullmatch(before) else ""
        if name.startswith("/") and "$" not in name:
            yield path, normpath(name)
        before = word
