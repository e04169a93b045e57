"""Findings about flags in a start script, if it is a key of a ConfigMap of the input that a container mounts and runs.

A script is read as a line for a shell. Only findings about single flags are reported: a script can add flags in a way that is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.plan import GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review.arguments import argument_findings, engine_commands, engine_documents, judged_commands
from krm_fn.review.arguments.judged_commands import AuthorContainer


def check(planned: Iterable[PlannedResource], resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings, at the ConfigMaps. A script that several components run is reported once."""
    default = cluster.default_namespace(config)
    maps = {identity.key(resource, default): resource for resource in resources if resource.get("kind") == name_fields.CONFIG_MAP[1]}
    reported: set[tuple[Any, str]] = set()
    for resource in planned if maps else ():
        for pods in resource.pods if isinstance(resource.plan, GraphPlan) else ():
            for container in judged_commands.containers(pods):
                for config_map, key in _scripts(container, maps) if container.is_main else ():
                    for result in _check_script(container, config_map, key):
                        if (entry := (result.ref, result.message)) not in reported:
                            reported.add(entry)
                            yield result


def _scripts(container: AuthorContainer, maps: Mapping[identity.ObjectKey, Resource]) -> Iterator[tuple[Resource, str]]:
    """Yields the ConfigMap and the key of the file that a shell of a container runs."""
    read = engine_commands.read(container.fields)
    for problem in read.problems:
        if problem.reason == engine_commands.SCRIPT_IN_FILE:
            yield from engine_documents.mounted_keys(container, problem.word.text, maps)


def _check_script(container: AuthorContainer, config_map: Resource, key: str) -> Iterator[Result]:
    script = mapping(config_map, "data")[key]
    fields = {**container.fields, "command": ["/bin/bash", "-c"], "args": [script]}
    for judged in judged_commands.of_container(container._replace(fields=fields, written=fields)).commands:
        for finding in argument_findings.of_flags(judged):
            within = len("".join(script[: finding.word.offset].split()))
            yield results.Result(finding.severity, finding.code, finding.message, results.ref(config_map), ("data", key), within=within)
