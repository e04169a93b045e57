"""Warns of Jobs that download a model for a graph into another folder than that of the claim which the graph reads.

The files are then in the container of the Job, and are lost with it. The Hub downloads to `HF_HUB_CACHE`, or below `HF_HOME`
(`huggingface_hub/constants.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster
from krm_fn.review import pods
from krm_fn.review.written_pods import is_in_folder

_CODE = codes.DOWNLOAD_BESIDE_CLAIM
_JOBS = ("CronJob", "Job")
_CACHES = ("HF_HUB_CACHE", "HF_HOME")
_DOWNLOAD = re.compile(r"download", re.IGNORECASE)
_OWN_FOLDER = re.compile(r"--(?:local-dir|cache-dir)|local_dir|cache_dir")
"""Words of a download that name its folder themselves."""
_WORDS: tuple[Path, ...] = (("command", EVERY), ("args", EVERY))


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the warnings. Fields may have wrong types."""
    jobs = [resource for resource in resources if resource.get("kind") in _JOBS]
    default = cluster.default_namespace(config)
    read = {
        (identity.key(graph, default).namespace, reference.name)
        for graph in resources
        if jobs and dynamo_api.is_dynamo(graph)
        for reference in dynamo_references.of(graph)
        if (reference.group, reference.kind) == name_fields.CLAIM
    }
    for job in jobs:
        namespace = identity.key(job, default).namespace
        for template in pods.of(job):
            claims = {
                name_of(volume)
                for volume in objects(template.spec.get("volumes"))
                if (namespace, text(mapping(volume, "persistentVolumeClaim").get("claimName"))) in read
            }
            for index, container in enumerate(objects(template.spec.get("containers")) if claims else ()):
                yield from _of_container(job, (*template.path, "containers", index), container, claims)


def _of_container(job: Resource, path: Path, container: dict[str, Any], claims: set[str]) -> Iterator[Result]:
    line = " ".join(word for _, word in paths.find(container, _WORDS) if isinstance(word, str))
    mounts = [(name_of(mount), normpath(text(mount.get("mountPath")))) for mount in objects(container.get("volumeMounts"))]
    folders = [folder for name, folder in mounts if name in claims]
    values = {text(entry.get("name")): (index, text(entry.get("value"))) for index, entry in enumerate(objects(container.get("env")))}
    name = next((name for name in _CACHES if name in values), "")
    index, cache = values.get(name, (0, ""))
    is_lost = cache.startswith("/") and "$" not in cache and not any(is_in_folder(normpath(cache), folder) for _, folder in mounts)
    if is_lost and len(folders) == 1 and _DOWNLOAD.search(line) and not _OWN_FOLDER.search(line) and folders[0] not in line:
        problem = f"no volume is mounted at {cache}, so the download is lost with the pod, and the claim of the graph is at {folders[0]}"
        at = (*path, "env", index, "value")
        yield results.warning(_CODE, f"{problem}; write {folders[0]}", results.ref(job), at, current=cache, proposed=folders[0])
