"""The platform that a step of an upgrade needs, part by part, and whether the cluster has it.

The lowest versions and their sources are the tables of `krm_fn.render.kinds.floors`. The present versions come from the setting `platform`
and from an export of the cluster. krm-fn rejects graphs with checkpoints, so no graph needs a controller of snapshots.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import krm_fn
from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import config as settings
from krm_fn.render import dynamo_api
from krm_fn.render.config import PlatformSettings
from krm_fn.render.kinds import floors
from krm_fn.render.kinds.releases import ReleaseNumber
from krm_fn.render.manifests import workloads
from krm_fn.render.manifests.workloads.grove import grove_schedulers
from krm_fn.review import pods, requirement_states
from krm_fn.review.images import image_references

State = Literal["met", "not met", "not known", "not stated"]
"""`not stated`: the release states no lowest version of this part."""
DEFINITIONS, SYNCER = "definitions", "syncer"
_SCHEDULERS = {grove_schedulers.KAI: "kai_scheduler"}
_VARIABLES = {"NATS_SERVER": "nats", "ETCD_ENDPOINTS": "etcd"}
_IMAGES = {
    "grove": re.compile(r"(?:.*/)?grove-operator"),
    "kai_scheduler": re.compile(r"(?:.*/)?kai-scheduler/(?:operator|scheduler)"),
    "leader_worker_set": re.compile(r"(?:.*/)?lws/lws"),
    "nats": re.compile(r"(?:.*/)?nats"),
    "etcd": re.compile(r"(?:.*/)?etcd"),
    SYNCER: re.compile(r"(?:.*/)?dynamo-krm-fn"),
}
"""The images of controllers and servers in the charts of each part, without registries that mirror them."""
_NAMES = {
    **floors.NAMES,
    **{part: row.name for part, row in floors.UNSTATED.items()},
    DEFINITIONS: "Dynamo's definitions",
    SYNCER: "the syncer",
}


class RequiredVersion(NamedTuple):
    """A part of the platform that a step needs. `name` is for messages.

    `minimum` is the lowest version; for the definitions, it is the API version of the resources. `current` is the version in the cluster,
    empty if it is not known, and `source` says where it is written. `actions` say what to do before the step.
    """

    part: str
    name: str
    state: State
    minimum: str = ""
    current: str = ""
    source: str = ""
    actions: tuple[str, ...] = ()


class _Version(NamedTuple):
    """The version of a part as it is written, and where that is."""

    text: str
    source: str


def required_versions(
    before: ReleaseNumber,
    after: ReleaseNumber,
    platform: PlatformSettings,
    objects: Sequence[Resource],
    exported: Sequence[Resource] = (),
) -> tuple[RequiredVersion, ...]:
    """Returns the parts of the platform that the objects after a step need. `objects` is the render of all graphs after the step.

    `exported` are objects of the cluster: nodes, workloads of the platform, definitions. A part that no object uses is left out.
    """
    rows = [_row(part, before, after, objects, [*_versions(part, platform, exported)]) for part in _used_parts(objects)]
    syncer = [*_images(SYNCER, exported)]
    if syncer:
        rows.append(_compare_versions(SYNCER, krm_fn.__version__, syncer, ()))
    return (*rows, *_definitions(objects, exported))


def findings(rows: Iterable[RequiredVersion], resource: Resource) -> Iterator[results.Result]:
    """Warns of each part that a step needs in a newer version. `resource` is one that the step changes."""
    for row in rows:
        if row.state == "not met":
            message = f"the step needs {row.name} {row.minimum}, and {row.source} says {row.current}"
            yield results.warning(codes.STEP_NEEDS_NEWER_PLATFORM, f"{message}; {row.actions[0]}", results.ref(resource))


def _used_parts(objects: Iterable[Resource]) -> list[str]:
    """Returns the parts that objects use, in the order of the tables."""
    used = {"kubernetes"}
    for resource in objects:
        if kind := workloads.of_object(resource):
            used.add(kind.platform)
        for template in pods.of(resource):
            used.add(_SCHEDULERS.get(f"{template.spec.get('schedulerName')}", ""))
            containers = (*values.objects(template.spec.get("containers")), *values.objects(template.spec.get("initContainers")))
            variables = (variable for container in containers for variable in values.objects(container.get("env")))
            used.update(_VARIABLES.get(f"{variable.get('name')}", "") for variable in variables)
    return [part for part in (*floors.NAMES, *floors.UNSTATED) if part in used]


def _versions(part: str, platform: PlatformSettings, exported: Sequence[Resource]) -> Iterator[_Version]:
    declared = getattr(platform, part, "")
    if declared:
        yield _Version(declared, f"platform.{settings.key(part)} of the configuration")
    yield from _kubelets(exported) if part == "kubernetes" else _images(part, exported)


def _kubelets(exported: Iterable[Resource]) -> Iterator[_Version]:
    """Yields the versions of kubelets. No kubelet is newer than its API server (Kubernetes' version skew policy)."""
    for resource in exported:
        version = values.mapping(resource.get("status"), "nodeInfo").get("kubeletVersion")
        if resource.get("kind") == "Node" and isinstance(version, str):
            yield _Version(version, f"Node {results.ref(resource).name}")


def _images(part: str, exported: Iterable[Resource]) -> Iterator[_Version]:
    for resource in exported:
        if dynamo_api.is_dynamo(resource):
            continue
        for template in pods.of(resource):
            for container in values.objects(template.spec.get("containers")):
                image = image_references.read(f"{container.get('image')}")
                if image and _IMAGES[part].fullmatch(image.name) and (part != SYNCER or image.tag.endswith("-sync")):
                    ref = results.ref(resource)
                    yield _Version(image.tag or f"{container.get('image')}", f"{ref.kind} {ref.name}")


def _row(
    part: str, before: ReleaseNumber, after: ReleaseNumber, objects: Iterable[Resource], versions: Sequence[_Version]
) -> RequiredVersion:
    actions = tuple(floors.platform_changes(before, after, part))
    kinds = ((workloads.of_object(resource), resource) for resource in objects)
    of_objects = (kind.lowest_version(resource) for kind, resource in kinds if kind and kind.platform == part)
    minimums = (getattr(floors.FLOORS[after], part, ""), *of_objects)
    minimum = max(minimums, key=lambda version: floors.parse_version(version) or ())
    if minimum:
        return _compare_versions(part, minimum, versions, actions)
    current = versions[0] if versions else _Version("", "")
    return RequiredVersion(part, _NAMES[part], "not stated", "", current.text, current.source, actions)


def _compare_versions(part: str, minimum: str, versions: Sequence[_Version], actions: tuple[str, ...]) -> RequiredVersion:
    """Compares the lowest of several versions with the lowest that a release needs. One that cannot be read makes the part not known."""
    lowest = min(versions, key=lambda version: floors.parse_version(version.text) or (), default=_Version("", ""))
    parsed = floors.parse_version(lowest.text)
    if parsed is None:
        return RequiredVersion(part, _NAMES[part], "not known", minimum, lowest.text, lowest.source, actions)
    if parsed >= (floors.parse_version(minimum) or ()):
        return RequiredVersion(part, _NAMES[part], "met", minimum, lowest.text, lowest.source, actions)
    upgrade = f"upgrade {_NAMES[part]} to {minimum} or newer before the step"
    return RequiredVersion(part, _NAMES[part], "not met", minimum, lowest.text, lowest.source, (upgrade, *actions))


def _definitions(objects: Iterable[Resource], exported: Sequence[Resource]) -> Iterator[RequiredVersion]:
    """Compares the API versions of Dynamo's resources with those that the definitions of the cluster serve."""
    needed: dict[str, set[str]] = {}
    for resource in objects:
        if dynamo_api.is_dynamo(resource):
            needed.setdefault(results.ref(resource).kind, set()).add(f"{resource['apiVersion']}".rpartition("/")[2])
    specs = {values.mapping(spec, "names").get("kind"): (entry, spec) for entry, spec in _dynamo_definitions(exported)}
    for kind, versions in needed.items():
        minimum, name = ", ".join(sorted(versions)), f"the definition of {kind}"
        if kind not in specs:
            action = "check with `kubectl get crd` that the definition serves this version"
            yield RequiredVersion(DEFINITIONS, name, "not known", minimum, actions=(action,))
            continue
        entry, spec = specs[kind]
        served = sorted(f"{version.get('name')}" for version in values.objects(spec.get("versions")) if version.get("served") is True)
        stored = ", ".join(values.texts(values.mapping(entry.get("status")).get("storedVersions")))
        current = ", ".join(served) + (f" (stored: {stored})" if stored else "")
        row = RequiredVersion(DEFINITIONS, name, "met", minimum, current, f"CustomResourceDefinition {results.ref(entry).name}")
        if versions.difference(served):
            exchange = "exchange the served version before the step, see docs/upgrades.md#exchange-the-served-version"
            row = row._replace(state="not met", actions=(exchange,))
        yield row
    entry, spec = specs.get(dynamo_api.REQUEST, ({}, {}))
    if dynamo_api.BETA2 in [version.get("name") for version in values.objects(spec.get("versions")) if version.get("served") is True]:
        source, name = f"CustomResourceDefinition {results.ref(entry).name}", f"the definition of {dynamo_api.REQUEST} with searches"
        yield RequiredVersion(DEFINITIONS, name, "met", dynamo_api.BETA2, dynamo_api.BETA2, source, (requirement_states.KEEP_SEARCHES,))


def _dynamo_definitions(exported: Iterable[Resource]) -> Iterator[tuple[Resource, dict[str, Any]]]:
    for resource in exported:
        spec = values.mapping(resource.get("spec"))
        if resource.get("kind") == "CustomResourceDefinition" and spec.get("group") == dynamo_api.GROUP:
            yield resource, spec
