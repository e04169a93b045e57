"""Warns of paths in command lines and variables that a mounted ConfigMap or Secret of the input does not have.

A file has the name of its key. Mounts of one file, and volumes that choose their keys, are not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import written_pods

_CODE = codes.MISSING_KEY_OR_PORT
_WORDS: tuple[Path, ...] = (("command", EVERY), ("args", EVERY), ("env", EVERY, "value"))
_V1ALPHA1_MAIN, _OF_SERVICE = "mainContainer", ("envs", EVERY, "value")
_VOLUMES = (("configMap", "name", name_fields.CONFIG_MAP), ("secret", "secretName", name_fields.SECRET))
_FILE = re.compile(r"(?<![\w./$}-])(/[\w./-]+)/([\w-][\w.-]*)(?![\w./$*{-])")
"""The folder and the name of a file in a word of a command line."""
_LEAST_STEM = 2
_LISTED = 5
_SEPARATOR = re.compile(r"[-_.]")


def check(resources: Sequence[Resource], files: Mapping[ObjectKey, set[str]], config: Config) -> Iterator[Result]:
    """Yields the warnings about Dynamo resources that no render has made. `files` are the keys of the ConfigMaps and Secrets."""
    default = cluster.default_namespace(config)
    for resource in resources if files else ():
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            namespace = identity.key(resource, default).namespace
            for path, pod in written_pods.of(resource):
                volumes = dict(_volumes(pod, namespace, files))
                for inner, container in written_pods.containers(pod) if volumes else ():
                    yield from _of_container(resource, (*path, *inner), container, volumes)


def _volumes(pod: Any, namespace: str, files: Mapping[ObjectKey, set[str]]) -> Iterator[tuple[str, set[str]]]:
    """Yields the name of each volume of a pod with all files of one object, and the names of the files."""
    for volume in objects(pod.get("volumes") if isinstance(pod, dict) else ()):
        for kind, field, target in _VOLUMES:
            source = mapping(volume, kind)
            names = files.get(ObjectKey(*target, namespace, text(source.get(field))))
            if names and not source.get("items"):
                yield name_of(volume), names


def _of_container(resource: Resource, path: Path, container: dict[str, Any], volumes: Mapping[str, set[str]]) -> Iterator[Result]:
    mounts = objects(container.get("volumeMounts"))
    mounted = {text(mount.get("mountPath")) for mount in mounts}
    folders = {text(mount.get("mountPath")).rstrip("/"): name_of(mount) for mount in mounts if not mount.get("subPath")}
    for at, word in _texts(resource, path, container) if folders else ():
        for folder, file in _FILE.findall(word) if isinstance(word, str) else ():
            names = volumes.get(folders.get(folder, ""), set())
            is_whole = _is_whole(word, f"{folder}/{file}")
            near = _near(file, names) or (_only(names) if is_whole else "")
            if names and (near or is_whole) and file not in names and f"{folder}/{file}" not in mounted:
                fix = f"write {folder}/{near}" if near else f"write one of {', '.join(sorted(names)[:_LISTED])}, or add the key"
                message = f"{folder} has no file {file}, because its volume has no such key; {fix}"
                right = word.replace(f"{folder}/{file}", f"{folder}/{near}") if near else None
                yield results.warning(_CODE, message, results.ref(resource), at, current=word, proposed=right)
            elif not _is_mounted(folder, folders):
                others = [other for other, name in folders.items() if file in volumes.get(name, ())]
                if len(others) == 1:
                    message = f"no volume of the container is at {folder}, but {file} is in {others[0]}; write {others[0]}/{file}"
                    right = word.replace(f"{folder}/{file}", f"{others[0]}/{file}")
                    yield results.warning(_CODE, message, results.ref(resource), at, current=word, proposed=right)


def _texts(resource: Resource, path: Path, container: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yields the words of a command line and the values of variables, with their paths: of `mainContainer`, also those of its service."""
    yield from (((*path, *inner), word) for inner, word in paths.find(container, _WORDS))
    if path[-1] == _V1ALPHA1_MAIN:
        yield from (((*path[:-2], *inner), value) for inner, value in paths.find(paths.at(resource, path[:-2]), (_OF_SERVICE,)))


def _is_mounted(folder: str, folders: Iterable[str]) -> bool:
    """True for a folder of a volume, or one below it."""
    return any(written_pods.is_in_folder(folder, other) for other in folders)


def _is_whole(word: str, file: str) -> bool:
    """True for a word that is a path and nothing else, or the value of a flag. A line for a shell can also name a file in a comment."""
    return word == file or (word.startswith("--") and word.partition("=")[2] == file)


def _only(names: set[str]) -> str:
    return next(iter(names)) if len(names) == 1 else ""


def _near(file: str, names: set[str]) -> str:
    """Returns the only name with the same stem, a slip for it, or one with some of its words or all of them; empty without one.

    >>> _near("agg.yml", {"agg.yaml"}), _near("decode.yaml", {"prefill.yaml"}), _near("confg.json", {"config.json"})
    ('agg.yaml', '', 'config.json')
    >>> _near("decode_config.yaml", {"decode.yaml", "prefill.yaml"})
    'decode.yaml'
    """
    stem = file.rpartition(".")[0]
    same = [name for name in names if name.rpartition(".")[0] == stem and len(stem) >= _LEAST_STEM]
    near = same[0] if len(same) == 1 else spelling.nearest_name(file, sorted(names))
    words = {*_SEPARATOR.split(stem)}
    longer = [name for name in names if words > (own := {*_SEPARATOR.split(name.rpartition(".")[0])}) or words < own]
    return near or (longer[0] if len(longer) == 1 else "")
