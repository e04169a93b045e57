"""`krm-fn sync --estimate`: counts the objects that the syncer would cache, and prints the memory, CPU time and API traffic they need."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from krm_fn.base import report, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.repository.files import reading
from krm_fn.review.inputs import Inputs
from krm_fn.syncer import fleet_estimate
from krm_fn.syncer.fleet_estimate import Fleet
from krm_fn.syncer.status import SyncFeatures, cached_object

FORMAT_VERSION = 1
_RENDERED = ("DynamoGraphDeployment", "DynamoComponentDeployment")
_POD = "Pod"
_PODS = re.compile(r"(?<!\d)(\d{1,9}) pods?\b")


class EstimateOptions(NamedTuple):
    """The input and the output of an estimate. `namespaces` are those that the syncer serves; empty for all."""

    paths: tuple[str, ...]
    config: str | None
    namespaces: tuple[str, ...]
    features: SyncFeatures
    changes: int
    """Changes of objects in an hour."""
    style: str


def run(options: EstimateOptions) -> int:
    """Prints an estimate. Returns the exit code: 1 if an input has an error."""
    with command_options.sync_extra("sync"):
        from krm_fn.syncer import controllers  # noqa: PLC0415 - the extra may be missing
    watched = [
        watch.kind
        for controller in controllers.enabled_controllers(options.features).values()
        for watch in controller.watches(options.features)
    ]
    kinds = list(dict.fromkeys(watched))
    loaded = command_options.with_project(Inputs(options.paths, options.config, None)).load(tolerant=True)
    resources, findings = loaded.values, loaded.results
    if any(_unrendered(resource) for resource in resources):
        expansion = expand.expand(resources, loaded.config)
        resources, findings = [*resources, *expansion.resources], [*findings, *expansion.results]
    errors = reading.locate(results.errors_of(findings), loaded.resources)
    finding_formats.print_text(loaded.resources, errors, loaded.stdin)
    fleet = count(resources, kinds, loaded.default_namespace, options.namespaces)
    text = _json(fleet, options, len(kinds)) if options.style == "json" else _text(fleet, options, len(kinds))
    command_output.write(text, options.style)
    if errors:
        command_output.print_line(f"the estimate is not complete: {report.count(errors)}", err=True)
    return int(bool(errors))


def count(resources: Iterable[Resource], kinds: Iterable[ApiResource], default_namespace: str, namespaces: Collection[str] = ()) -> Fleet:
    """Counts the objects of watched kinds. An object that several resources describe counts once, and so does one that a graph lists.

    Without pods among the resources, the graphs tell their number. `default_namespace` is that of resources without one.
    """
    by_kind: dict[tuple[str, str], list[ApiResource]] = defaultdict(list)
    for kind in kinds:
        by_kind[kind.group, kind.kind].append(kind)
    documents: dict[ObjectKey, int] = {}
    pods: dict[ObjectKey, int] = {}
    for resource in resources:
        key = identity.key(resource, default_namespace)
        if any(kind.selects(resource) for kind in by_kind[key[:2]]):
            documents[key] = _document_bytes(resource)
        if key.group == dynamo_api.GROUP and key.kind in _RENDERED and (cached := cached_object.read(resource, default_namespace)).entries:
            documents |= {workload: 0 for workload in cached.workloads if workload[:2] in by_kind and workload not in documents}
            pods[key] = _pods(resource)
    objects: dict[str, Counter[str]] = defaultdict(Counter)
    for key in documents:
        objects[key.namespace][key.kind] += 1
    if ("", _POD) in by_kind and not any(counts[_POD] for counts in objects.values()):
        for key, number in pods.items():
            objects[key.namespace][_POD] += number
    served = {namespace: +counts for namespace, counts in objects.items() if not namespaces or namespace in namespaces or not namespace}
    return Fleet(served, _mean_bytes(documents))


def _unrendered(resource: Resource) -> bool:
    """True for a graph or a component of a graph that a render has not expanded yet."""
    is_source = dynamo_api.is_dynamo(resource) and resource.get("kind") in _RENDERED
    return is_source and labels.WORKLOADS not in labels.annotations(resource)


def _document_bytes(resource: Resource) -> int:
    """Returns the size of a resource in the API. `kubectl get` prints no managedFields, and a repository has none."""
    size = len(json.dumps(resource, separators=(",", ":")))
    return size if "managedFields" in values.mapping(resource, "metadata") else round(size * fleet_estimate.WITH_MANAGED_FIELDS)


def _pods(resource: Resource) -> int:
    """Reads the number of pods in the summary that a render wrote."""
    match = _PODS.search(str(labels.annotations(resource).get(labels.SUMMARY)))
    return int(match[1]) if match else 0


def _mean_bytes(documents: dict[ObjectKey, int]) -> dict[str, int]:
    """Returns the mean size of the documents by kind. Objects of which only the name is known do not count."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for key, size in documents.items():
        if size:
            sizes[key.kind].append(size)
    return {kind: sum(lengths) // len(lengths) for kind, lengths in sizes.items()}


def _text(fleet: Fleet, options: EstimateOptions, watches: int) -> str:
    kinds, need = fleet.kinds, fleet_estimate.memory(fleet.kinds)
    traffic, shards = fleet_estimate.traffic(fleet, options.changes, watches), fleet_estimate.shards(fleet)
    table = report.columns(("KIND", "OBJECTS"), [(kind, f"{number:,}") for kind, number in [*kinds.items(), ("all", sum(kinds.values()))]])
    enough = {None: "one namespace alone needs more, so raise the limit", 1: "one process is enough"}.get(
        shards, f"{shards} replicas with --shards are enough"
    )
    received = f"{_megabytes(traffic.hour_bytes)} from the API server"
    lines = (
        f"graphs: {kinds.get(cached_object.GRAPH, 0):,}",
        f"pods: {kinds.get(_POD, 0):,}{'' if options.features.pods else ' (not read without --pods)'}",
        f"memory: {need.steady} MiB, and {need.peak} MiB at the peak",
        f"memory limit to set: {need.limit} MiB",
        f"with the limit of platform/syncer, {fleet_estimate.SHIPPED_LIMIT} MiB: {enough}",
        f"a start: {traffic.start_cpu:.1f} s of CPU time, and {_megabytes(traffic.start_bytes)} from the API server",
        f"an hour with {options.changes:,} changes: {traffic.hour_cpu:.0f} s of CPU time, {traffic.hour_requests:,} requests, {received}",
    )
    return table + "\n" + "".join(f"{line}\n" for line in lines)


def _json(fleet: Fleet, options: EstimateOptions, watches: int) -> str:
    traffic = fleet_estimate.traffic(fleet, options.changes, watches)
    content: dict[str, Any] = {
        "formatVersion": FORMAT_VERSION,
        "graphs": fleet.kinds.get(cached_object.GRAPH, 0),
        "pods": fleet.kinds.get(_POD, 0),
        "objects": fleet.kinds,
        "memoryMiB": fleet_estimate.memory(fleet.kinds)._asdict(),
        "shipped": {"limitMiB": fleet_estimate.SHIPPED_LIMIT, "shards": fleet_estimate.shards(fleet)},
        "start": {"cpuSeconds": round(traffic.start_cpu, 1), "receivedBytes": traffic.start_bytes},
        "hour": {
            "changes": options.changes,
            "cpuSeconds": round(traffic.hour_cpu, 1),
            "requests": traffic.hour_requests,
            "receivedBytes": traffic.hour_bytes,
        },
    }
    return command_output.value(content, "json")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
