"""Findings about resources in one state: those of a render, of finished builds, of command lines and of native objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.edits import Key, Move
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, expand, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.manifests import ownership
from krm_fn.render.plan import GraphPlan
from krm_fn.render.rules import deprecations, frontends, placeholders, runtime_windows
from krm_fn.review import (
    altered_values,
    build_references,
    build_selectors,
    copied_metadata,
    download_jobs,
    dynamo_annotations,
    filled_folders,
    finished_builds,
    hub_tokens,
    image_names,
    keda_triggers,
    main_containers,
    missing_contents,
    misspelt_names,
    monitor_ports,
    native_objects,
    node_counts,
    objects_beside,
    placement_keys,
    refused_beside,
    refused_by_nodes,
    service_urls,
    variable_values,
)
from krm_fn.review.arguments import argument_findings, engine_documents, lora_rules, read_objects, start_scripts
from krm_fn.review.known_checks import KnownChecks

_ORPHAN = codes.MISSING_OWNER
_PRUNED = codes.GENERATED_OBJECT_REMOVED
_WRONG_TYPE, _READ_BY_COMMANDS = codes.WRONG_TYPE, ("command", "args", "resources")
_NO_RESOURCE = codes.UNKNOWN_RESOURCE
_OF_VARIABLES, _VARIABLES = codes.WORKER_CANNOT_LOAD_LORA, ("env", "envs")
"""The code of variables and flags that are missing, and the fields with variables."""
_OF_COMMANDS = (
    codes.WORKER_CANNOT_LOAD_LORA,
    codes.ROUTER_WITHOUT_EVENTS,
    codes.MISSING_FLAG,
    codes.TOO_FEW_GPUS,
    codes.TOO_MANY_GPUS,
    codes.UNREAD_PARALLEL_SIZES,
    codes.WORDS_NOT_PASSED_BY_SHELL,
    codes.PYTHON_WITHOUT_MODULE,
    codes.SEVERAL_WORDS_IN_ONE,
    codes.PREFILL_SERVES_WHOLE_REQUESTS,
    codes.PREFILL_WITHOUT_DECODE,
    codes.WORKER_LOADS_DEFAULT_MODEL,
)
"""The codes of commands whose words do not reach a program, of flags that are missing, and of GPUs that differ from the flags."""
_UNKNOWN = (codes.UNKNOWN_FIELD, codes.UNKNOWN_KUBERNETES_FIELD)
"""The codes of unknown fields."""
_OF_SIZES = (codes.TOO_FEW_GPUS, codes.TOO_MANY_GPUS, codes.UNREAD_PARALLEL_SIZES)
_SIZES = frozenset(("gpu", "limits", "multinode", "nodeCount", "nvidia.com/gpu", "requests", "resources"))
"""The codes of GPUs and nodes that differ from the flags, and the fields that say how many there are."""
_OTHER_MODULE, _UNKNOWN_FLAG = codes.ENGINE_NOT_IN_IMAGE, codes.UNKNOWN_FLAG
_OF_ENGINE = re.compile(r" is a flag of \S+, not of ")
_OF_OTHER_ENGINE = (*_OF_SIZES, codes.ENGINE_ON_EACH_NODE)
_COMPONENT = 3
"""The length of the path of a component."""
_OTHER_FIELDS = {
    "components": "services",
    "envFrom": "envFromSecret",
    "envFromSecret": "envFrom",
    "extraPodSpec": "podTemplate",
    "mainContainer": "containers",
    "matchExpressions": "nodeSelectorTerms",
    "podAffinityTerm": "topologyKey",
    "podTemplate": "extraPodSpec",
    "serviceName": "service",
    "services": "components",
    "subComponentType": "type",
}
"""By unknown field: the field of the other API version, or of the other form of an object, that holds its value."""
_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
_BY_SETTINGS = (
    codes.MISSING_DYNAMO_NAMESPACE,
    codes.LEADER_WORKER_SET_NAME_TOO_LONG,
    codes.MULTINODE_WITHOUT_ORCHESTRATOR,
    codes.COMPILATION_CACHE_WITHOUT_PATH,
    codes.MISSING_SERVICE_ACCOUNT,
    codes.COMPONENT_WITHOUT_SERVICE_ACCOUNT,
    codes.CONTAINER_NOT_NAMED_MAIN,
    codes.MULTINODE_WITHOUT_COMMAND,
    codes.MULTINODE_WITHOUT_GPUS,
    codes.COMPONENTS_NEED_SAME_NAME,
    codes.FIELD_NEEDS_GROVE,
)
"""Codes of rules that depend on the configuration of a render. Without a configuration, they are warnings."""

_NEVER_WORKS = (codes.SERVICE_SELECTS_OTHER_PODS, codes.UNKNOWN_PORT_NAME_IN_CONTAINER, codes.PORT_DIFFERS_FROM_SERVER)
"""Codes of objects that cannot work. A render warns of them, because it makes the objects of the operator; here they are errors."""


def check(
    resources: Sequence[Resource], config: Config, *, is_configured: bool, notes: bool = False, known: KnownChecks | None = None
) -> Iterator[Result]:
    """Yields the findings about resources. `is_configured` is false if `config` has default values because no file has a configuration.

    Missing owners are not reported for objects that a later layer changed. Without a configuration, a finished build is checked with the
    settings that made it, and generated objects that a render would remove are not reported, because a later layer may have made them.
    With `notes`, findings also say which command lines of engines are not checked. `known` has what the last check knows about the same
    resources, and gets that of this one.
    """
    by_ref = {results.ref(resource): resource for resource in resources}
    findings = [*_findings(resources, config, is_configured=is_configured, notes=notes, known=known)]
    for finding in main_containers.find(_without_effects_of_fields([*_without_consequences(findings)]), by_ref):
        result = node_counts.with_nodes(image_names.with_tag(finding, by_ref), by_ref)
        if result.code in _NEVER_WORKS:
            yield result._replace(severity="error")
        else:
            yield result if is_configured or result.code not in _BY_SETTINGS else result._replace(severity="warning")


def _findings(
    resources: Sequence[Resource], config: Config, *, is_configured: bool, notes: bool, known: KnownChecks | None
) -> Iterator[Result]:
    mismatches = list(finished_builds.check(resources, config))
    explained = {mismatch.ref for mismatch in mismatches}
    used = config if is_configured else _of_build(resources) or config
    planned: list[PlannedResource] = []
    expansion = expand.expand(resources, used, planned.append, known.items if known else None)
    for result in expansion.results:
        orphan = result.code == _ORPHAN and result.ref in explained
        if not orphan and (is_configured or result.code != _PRUNED):
            yield result
    yield from deprecations.check(resources, config)
    yield from runtime_windows.check(resources, config)
    yield from image_names.check(resources)
    yield from misspelt_names.check(resources, config)
    yield from missing_contents.check_keys(resources, config)
    yield from altered_values.check(resources)
    yield from refused_by_nodes.check(resources)
    yield from refused_beside.check(resources)
    yield from placement_keys.check(resources)
    yield from variable_values.check(resources)
    yield from hub_tokens.check(resources, config)
    yield from filled_folders.check(resources)
    yield from download_jobs.check(resources, config)
    yield from copied_metadata.check(resources)
    yield from dynamo_annotations.check(resources)
    unreplaced = {result.ref for result in expansion.results if result.code == placeholders.CODE}
    yield from placeholders.check((resource for resource in resources if _is_written(resource)), expansion.results)
    judged = [entry for entry in planned if results.ref(entry.source) not in unreplaced]
    arguments = (
        [result for entry in judged for result in known.arguments(entry)] if known else [*argument_findings.check(judged, notes=notes)]
    )
    yield from arguments
    yield from lora_rules.check(judged, resources, used)
    yield from read_objects.check(judged, resources, used)
    yield from engine_documents.check(judged, resources, used)
    yield from start_scripts.check(judged, resources, used)
    invalid = {result.ref for result in results.errors_of([*expansion.results, *arguments]) if result.ref}
    yield from frontends.missing([entry.pods for entry in planned if isinstance(entry.plan, GraphPlan)], invalid)
    yield from placeholders.absorb(native_objects.check(resources, used), resources)
    yield from mismatches
    yield from build_references.check_names(resources, config)
    if not results.has_errors(expansion.results):
        yield from build_references.check_autoscalers(expansion.resources, config)
        yield from build_selectors.check(expansion.resources, config)
        yield from missing_contents.check_ports(resources, expansion.resources, config)
        yield from missing_contents.check_backends(resources, expansion.resources, config)
        yield from monitor_ports.check(resources, expansion.resources, config)
        yield from keda_triggers.check(resources)
        yield from objects_beside.check(resources, expansion.resources, config)
        yield from service_urls.check(resources, expansion.resources, config)


def _without_consequences(findings: Sequence[Result]) -> Iterator[Result]:
    """Yields the findings without those that another one explains.

    These are errors about a field that is only missing because its name is misspelt, and findings about a command line if a part of it, or
    of the resources of its container, was not read.
    """
    misspelt: set[tuple[Any, Path]] = set()
    broken: set[tuple[Any, Path]] = set()
    variables: set[tuple[Any, Path]] = set()
    for finding in findings:
        if finding.code in _UNKNOWN and (path := _meant(finding)):
            misspelt.add((finding.ref, path))
        if finding.code in (_WRONG_TYPE, _NO_RESOURCE, *_UNKNOWN):
            broken |= {(finding.ref, finding.path[:at]) for at, step in enumerate(finding.path) if step in _READ_BY_COMMANDS}
        if finding.code == _WRONG_TYPE:
            variables |= {(finding.ref, finding.path[:at]) for at, step in enumerate(finding.path) if step in _VARIABLES}
    broken |= {(ref, path[:-1]) for ref, path in misspelt if path[-1] in _READ_BY_COMMANDS}
    for finding in findings:
        is_error = finding.severity == "error" and finding.code not in _UNKNOWN
        fields = broken if finding.code in _OF_COMMANDS else misspelt if is_error else set()
        fields = fields | variables if finding.code == _OF_VARIABLES else fields
        if not fields or not any((finding.ref, finding.path[:length]) in fields for length in range(1, len(finding.path) + 1)):
            yield finding


def _meant(finding: Result) -> Path:
    """Returns the path of the field that the author of an unknown field meant; empty without one."""
    *parents, key = finding.path
    new = finding.edit.new if finding.edit else None
    if isinstance(new, Move):
        return new.to
    if isinstance(new, Key):
        return (*parents, new.name)
    if finding.path[-3:-2] and finding.path[-3] in _VARIABLES:  # the name of a variable in place of `name`
        return (*parents, "name")
    return (*parents, _OTHER_FIELDS[key]) if key in _OTHER_FIELDS else ()


def _without_effects_of_fields(findings: Sequence[Result]) -> Iterator[Result]:
    """Yields the findings without those about sizes that follow from an unknown field, and without flags that follow from a module.

    If a command starts another engine than that of its image and its flags, the module is the mistake, and not each flag.
    """
    unknown = [finding for finding in findings if finding.code in _UNKNOWN]
    sizes = {(finding.ref, finding.path[:_COMPONENT]) for finding in unknown if not _SIZES.isdisjoint(_names(finding))}
    modules = {(finding.ref, finding.path[:_COMPONENT]) for finding in findings if finding.code == _OTHER_MODULE}
    modules &= {(finding.ref, finding.path[:_COMPONENT]) for finding in findings if _is_of_other_engine(finding)}
    for finding in findings:
        component = finding.ref, finding.path[:_COMPONENT]
        of_size = component in sizes and finding.code in _OF_SIZES
        of_module = component in modules and (_is_of_other_engine(finding) or finding.code in _OF_OTHER_ENGINE)
        if not (of_size or of_module):
            yield finding


def _names(finding: Result) -> Iterator[Any]:
    """Yields the name of an unknown field, and the name that its fix writes."""
    yield finding.path[-1]
    if finding.edit and isinstance(finding.edit.new, Key):
        yield finding.edit.new.name


def _is_of_other_engine(finding: Result) -> bool:
    """True for an error about a flag of another engine."""
    return finding.code == _UNKNOWN_FLAG and bool(_OF_ENGINE.search(finding.message))


def _of_build(resources: Iterable[Resource]) -> Config | None:
    """The settings that made a finished build; None if its resources name none, or several."""
    graphs = (resource for resource in resources if resource.get("kind") in _RENDERED and not ownership.is_generated(resource))
    marks = {labels.annotations(graph).get(labels.RENDERED_BY, "") for graph in graphs}
    return render_mark.read(marks.pop()) if len(marks) == 1 else None


def _is_written(resource: Resource) -> bool:
    """True for a Dynamo resource that no render has made."""
    return dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource)
