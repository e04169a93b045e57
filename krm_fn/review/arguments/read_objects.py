"""Findings about command lines that need other objects of the input: variables of ConfigMaps and Secrets, and GPUs of ResourceClaims.

A container gets the keys of an object in `envFrom` as variables. If the input has all of these objects, it has all variables of the
container, apart from those that `word_rules` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, report
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.plan import GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review.arguments import argument_findings, judged_commands, size_rules, word_rules
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import AuthorContainer, ReadContainer

_SOURCES = (("configMapRef", name_fields.CONFIG_MAP), ("secretRef", name_fields.SECRET))
_DATA = ("data", "stringData", "binaryData")
_KINDS = (name_fields.CONFIG_MAP, name_fields.SECRET, name_fields.RESOURCE_CLAIM_TEMPLATE)
_GPU = "gpu.nvidia.com"
"""The class of whole GPUs of NVIDIA's driver (https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu)."""


class _Input(NamedTuple):
    """The objects of the input by their keys, and the namespace of a component."""

    objects: Mapping[ObjectKey, Resource]
    namespace: str

    def get(self, target: tuple[str, str], name: str) -> Resource | None:
        return self.objects.get(ObjectKey(*target, self.namespace, name))


def check(planned: Iterable[PlannedResource], resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings about the graphs and components of an input."""
    default = cluster.default_namespace(config)
    known = {key: resource for resource in resources if (key := identity.key(resource, default))[:2] in _KINDS}
    for resource in planned if known else ():
        for pods in resource.pods if isinstance(resource.plan, GraphPlan) else ():
            given = _Input(known, pods.plan.identity.namespace)
            for container in judged_commands.containers(pods):
                read = judged_commands.of_container(container)
                findings = [*_references(container, read, given), *_claims(container, read, given)]
                yield from (argument_findings.result(container, resource.plan.ref, finding) for finding in findings)


def _references(container: AuthorContainer, read: ReadContainer, given: _Input) -> Iterator[ArgumentFinding]:
    """Finds references to variables that a container with `envFrom` does not have."""
    names: set[str] = set()
    has_sources = False
    for fields in container.in_all_forms() if read.references else ():
        names |= {name_of(entry) for entry in objects(fields.get("env"))}
        for source in objects(fields.get("envFrom")):
            keys = _keys(source, given)
            if keys is None:
                return
            names |= {f"{text(source.get('prefix'))}{key}" for key in keys}
            has_sources = True
    if has_sources:
        yield from word_rules.check_references(container, read.references, names)


def _keys(source: Mapping[str, Any], given: _Input) -> set[str] | None:
    """Returns the keys of the object of a source; None if the input has no such object, or one without keys, which a controller fills."""
    for field, target in _SOURCES:
        if reference := mapping(source, field):
            resource = given.get(target, name_of(reference)) or {}
            keys = {str(key) for name in _DATA for key in mapping(resource, name)}
            return keys or None
    return set()


def _claims(container: AuthorContainer, read: ReadContainer, given: _Input) -> Iterator[ArgumentFinding]:
    """Finds an engine that needs more GPUs than the ResourceClaimTemplates of its container have, on one node."""
    wanted = {name_of(claim) for claim in objects(mapping(container.fields, "resources").get("claims"))}
    if not wanted or not container.is_main or len(read.commands) != 1 or container.plan.placement.nodes > 1:
        return
    claims = [claim for claim in objects(container.plan.pod.spec.get("resourceClaims")) if name_of(claim) in wanted]
    counts = [_gpus(given.get(name_fields.RESOURCE_CLAIM_TEMPLATE, text(claim.get("resourceClaimTemplateName")))) for claim in claims]
    need = size_rules.gpu_need(read.commands[0])
    gpus = sum(count or 0 for count in counts)
    if need and None not in counts and len(counts) == len(wanted) and 0 < gpus < need.gpus:
        engine, pod = report.pluralize(need.gpus, "GPU"), report.pluralize(gpus, "GPU")
        message = f"the engine needs {engine}, and the ResourceClaims of its container have {pod}"
        yield ArgumentFinding(
            codes.CLAIMS_WITH_TOO_FEW_GPUS,
            "warning",
            need.word,
            f"{message}; write count: {need.gpus} in the template, or lower the parallel sizes",
        )


def _gpus(template: Resource | None) -> int | None:
    """Returns the number of GPUs in a ResourceClaimTemplate; None if it is not known or has other devices.

    A request has its fields below `exactly`, and in v1beta1 beside its name. Without a count, it is for one device.
    """
    requests = objects(mapping(template, "spec", "spec", "devices").get("requests"))
    counts = []
    for request in requests:
        exactly = mapping(request, "exactly") or request
        count = exactly.get("count", 1)
        if (
            exactly.get("deviceClassName") != _GPU
            or exactly.get("allocationMode", "ExactCount") != "ExactCount"
            or not isinstance(count, int)
        ):
            return None
        counts.append(count)
    return sum(counts) if counts else None
