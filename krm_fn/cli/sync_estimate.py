"""`krm-fn sync --estimate`: prints the memory, CPU time and API traffic of a syncer. `krm_fn.syncer.fleet_counts` counts its objects."""

from __future__ import annotations

from typing import NamedTuple

from krm_fn.base import report, report_model, report_text, results
from krm_fn.base.report_model import ReportLines, ReportTable
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.repository.files import reading
from krm_fn.review.inputs import Inputs
from krm_fn.syncer import fleet_counts, fleet_estimate
from krm_fn.syncer.fleet_estimate import Fleet
from krm_fn.syncer.status import SyncFeatures, cached_object


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
    kinds = controllers.watched_kinds(options.features)
    loaded = command_options.with_project(Inputs(options.paths, options.config, None)).load(tolerant=True)
    resources, findings = fleet_counts.with_rendered(loaded.values, loaded.config)
    errors = reading.locate(results.errors_of([*loaded.results, *findings]), loaded.resources)
    finding_formats.print_text(loaded.resources, errors, loaded.stdin)
    fleet = fleet_counts.count(resources, kinds, loaded.default_namespace, options.namespaces)
    text = _json(fleet, options, len(kinds)) if options.style == "json" else _text(fleet, options, len(kinds))
    command_output.write(text, options.style)
    if errors:
        command_output.print_line(f"the estimate is not complete: {report.count(errors)}", err=True)
    return int(bool(errors))


def _text(fleet: Fleet, options: EstimateOptions, watches: int) -> str:
    kinds, need = fleet.kinds, fleet_estimate.memory(fleet.kinds)
    traffic, shards = fleet_estimate.traffic(fleet, options.changes, watches), fleet_estimate.shards(fleet)
    rows = [(kind, f"{number:,}") for kind, number in [*kinds.items(), ("all", sum(kinds.values()))]]
    enough = {None: "one namespace alone needs more, so raise the limit", 1: "one process is enough"}.get(
        shards, f"{shards} replicas with --shards are enough"
    )
    received = f"{_megabytes(traffic.hour_bytes)} from the API server"
    lines = (
        f"graphs: {kinds.get(cached_object.GRAPH, 0):,}",
        f"pods: {kinds.get(fleet_counts.POD, 0):,}{'' if options.features.pods else ' (not read without --pods)'}",
        f"memory: {need.steady} MiB, and {need.peak} MiB at the peak",
        f"memory limit to set: {need.limit} MiB",
        f"with the limit of platform/syncer, {fleet_estimate.SHIPPED_LIMIT} MiB: {enough}",
        f"a start: {traffic.start_cpu:.1f} s of CPU time, and {_megabytes(traffic.start_bytes)} from the API server",
        f"an hour with {options.changes:,} changes: {traffic.hour_cpu:.0f} s of CPU time, {traffic.hour_requests:,} requests, {received}",
    )
    return report_text.blocks([ReportTable(("Kind", "Objects"), rows), ReportLines(lines)])


def _json(fleet: Fleet, options: EstimateOptions, watches: int) -> str:
    traffic = fleet_estimate.traffic(fleet, options.changes, watches)
    fields = {
        "graphs": fleet.kinds.get(cached_object.GRAPH, 0),
        "pods": fleet.kinds.get(fleet_counts.POD, 0),
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
    return report_model.document(fields)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
