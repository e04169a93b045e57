"""Finds the YAML files of engines that are keys of a ConfigMap of the input. The module of the engine judges the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.plan import GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review.arguments import judged_commands, sglang_files, trtllm_files
from krm_fn.review.arguments.judged_commands import AuthorContainer, JudgedCommand

_ENGINES = {engine.PROGRAM: engine for engine in (sglang_files, trtllm_files)}
"""By program, the module with the flag that names the file (`FLAG`), and the findings about the file (`check`)."""


def check(planned: Iterable[PlannedResource], resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings, at the ConfigMaps. A file that several workers read is reported once."""
    default = cluster.default_namespace(config)
    maps = {identity.key(resource, default): resource for resource in resources if resource.get("kind") == name_fields.CONFIG_MAP[1]}
    reported: set[tuple[Any, str]] = set()
    for resource in planned if maps else ():
        for pods in resource.pods if isinstance(resource.plan, GraphPlan) else ():
            for container in judged_commands.containers(pods):
                commands = judged_commands.of_container(container).commands if container.is_main else []
                for judged in commands:
                    for config_map, key in _file(judged, maps):
                        for result in _ENGINES[judged.command.program].check(judged, config_map, key):
                            if (entry := (result.ref, result.message)) not in reported:
                                reported.add(entry)
                                yield result


def _file(judged: JudgedCommand, maps: Mapping[identity.ObjectKey, Resource]) -> Iterator[tuple[Resource, str]]:
    """Yields the ConfigMap and the key of the file that a worker reads, if it is known."""
    engine = _ENGINES.get(judged.command.program)
    path = (judged.text(engine.FLAG) if engine else None) or ""
    yield from mounted_keys(judged.container, path, maps)


def mounted_keys(container: AuthorContainer, path: str, maps: Mapping[identity.ObjectKey, Resource]) -> Iterator[tuple[Resource, str]]:
    """Yields the ConfigMap and the key that a container mounts at a path, if it is known."""
    folder, _, key = path.rpartition("/")
    for mount in objects(container.fields.get("volumeMounts")) if folder else ():
        for volume in objects(container.plan.pod.spec.get("volumes")):
            source = mapping(volume, "configMap")
            if text(mount.get("mountPath")).rstrip("/") == folder and name_of(volume) == name_of(mount) and not source.get("items"):
                config_map = maps.get(
                    identity.ObjectKey(*name_fields.CONFIG_MAP, container.plan.identity.namespace, text(source.get("name")))
                )
                if config_map is not None and not mount.get("subPath") and isinstance(mapping(config_map, "data").get(key), str):
                    yield config_map, key
