# ruff: noqa: INP001 - see __main__.py
"""Gives the objects of a graph back to the operator: checks all, writes, and reads back what was written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import NamedTuple

import cluster
import definitions
import graph_fields
from cluster import Move, Resource, annotated, key, labels, name
from graph_fields import Fields

NO_SPEC = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # the operator's hash of an object without spec
MARKS = {cluster.HASH: NO_SPEC, cluster.GENERATION: "1"}
WITHOUT_SPEC = {"ServiceAccount", "Role", "RoleBinding", "ConfigMap"}
SHARED = {f"{account}{end}" for account in ("planner-serviceaccount", "epp-serviceaccount") for end in ("", "-binding")}
WORKER_HASH = "nvidia.com/dynamo-worker-hash"
HASH_V1, HASH_V2 = "nvidia.com/current-worker-hash", "nvidia.com/current-worker-hash-v2"
UNNAMED = "legacy"  # the older hash of workers whose names have none


class Plan(NamedTuple):
    """What has to be in the cluster before the operator starts.

    `fields` are those of the graph by service, and `annotations` those of the graph; a null removes one. `marked` are the objects that
    need the operator's mark. `notes` say what cannot be kept.
    """

    graph: Resource
    fields: Fields
    annotations: dict[str, str | None]
    marked: list[Resource]
    notes: list[str]


def give_back(move: Move) -> None:
    """Make the operator recognize the objects, and the graph say what runs. Raises StopError before a write if this cannot be."""
    cluster.stopped(move)
    definitions.read_stored(move)
    plan = prepared(move)
    patch = graph_fields.patch(plan.graph, plan.fields, plan.annotations)
    arguments = ("patch", definitions.stored_name(move, plan.graph), "--type=merge", "-o=json", f"--patch={json.dumps(patch)}")
    mark = ("annotate", "--overwrite", "-f=-", "-o=json", *(f"{field}={value}" for field, value in MARKS.items()))
    marked = cluster.listed(plan.marked)
    (tried,) = cluster.items(move.kubectl(*arguments, "--dry-run=server"))
    refuse([*graph_fields.missing(tried, plan.fields, plan.annotations)], "the API server would not store it; nothing was changed")
    if plan.marked:
        move.kubectl(*mark, "--dry-run=server", given=marked)
        move.kubectl(*mark, given=marked)
    move.kubectl(*arguments)
    for adapter in move.adapters().values():
        number = cluster.desired(adapter)
        if number is None or number != adapter["spec"].get("replicas"):  # the operator's definition requires this field
            number = 1 if number is None else number
            move.kubectl("patch", key(adapter), "--type=merge", f"--patch={json.dumps({'spec': {'replicas': number}})}")
    refuse([*missing(move, plan)], "the API server did not store it; run the command again")
    sys.stdout.write("".join(f"note: {note}\n" for note in plan.notes))
    sys.stdout.write(f"the graph and {len(plan.marked)} objects are ready; check the start of the operator with can-start\n")


def can_start(move: Move) -> None:
    """Check that the operator can start and that it keeps the pods; nothing is changed. Raises StopError with all that is missing."""
    operators = move.operators()
    if not operators:
        raise cluster.StopError(f"no operator watches the namespace {move.namespace}; install its Helm release with 0 replicas")
    definitions.read_stored(move)
    problems = [text for operator in operators for text in definitions.problems(operator)]
    unprepared = [f"{text}; run give-back" for text in missing(move, prepared(move))]
    refuse([*problems, *unprepared], "the operator would not start, or would change pods")
    sys.stdout.write(f"the operator can start: it finds its definitions, and the graph {move.graph} is ready\n")


def refuse(problems: list[str], reason: str) -> None:
    """Raise StopError if there are problems."""
    if problems:
        raise cluster.StopError("\n".join([*problems, reason]))


def prepared(move: Move) -> Plan:
    """What the operator has to find. Raises StopError if it would not keep the pods whatever it finds."""
    if not (graphs := move.graphs()):
        raise cluster.StopError(f"the graph {move.graph} is not in the cluster; apply it")
    (graph,) = graphs
    # The operator gives up at an object without spec that lacks the mark.
    marked = [live for live in move.ours() if live["kind"] in WITHOUT_SPEC and name(live) not in SHARED]
    running = list(move.running().values())
    refuse([*new_names(graph, running)], "nothing was changed")
    scaled, secrets = replicas(move), pull_secrets(running)
    services = graph_fields.services(graph)
    unknown = sorted({*scaled, *secrets} - {*services})
    refuse([f"{key(graph)} has no {service}, which runs; apply the graph that runs" for service in unknown], "nothing was changed")
    kept, annotations, notes = with_hashes(graph, secrets, running)
    fields: Fields = {service: {} for service in sorted({*scaled, *kept})}
    for service, number in scaled.items():
        fields[service]["replicas"] = number
    for service, names in kept.items():
        fields[service]["imagePullSecrets"] = names
    return Plan(graph, fields, annotations, marked, notes)


def new_names(graph: Resource, running: list[Resource]) -> Iterator[str]:
    """Workers of Git whose names lack the hash of their pods: the operator looks for the name with the hash, and makes a new worker."""
    for workload in running if annotated(graph).get(HASH_V1) != UNNAMED else ():
        digits = labels(workload).get(WORKER_HASH, "")
        if workload["kind"] != cluster.SET and digits and f"-{digits}" not in name(workload):
            yield (
                f"the name of {key(workload)} lacks the worker hash {digits} of its pods, so the operator would run new workers beside it; "
                "keep the graph in Git, or delete it and let the operator create it again"
            )


def replicas(move: Move) -> dict[str, int]:
    """The replicas of the graph's adapters by service."""
    references = [(adapter["spec"]["dgdRef"], cluster.desired(adapter)) for adapter in move.adapters().values()]
    numbered = [(reference, number) for reference, number in references if number is not None]
    return {reference.get("componentName") or reference["serviceName"]: number for reference, number in numbered}


def pull_secrets(running: list[Resource]) -> dict[str, list[Resource]]:
    """The pull secrets of the pods by service.

    The operator finds pull secrets by itself, but not in its first seconds, and would write pod templates without them.
    """
    pods = (pair for workload in running for pair in cluster.pods(workload))
    return {service: pod["imagePullSecrets"] for service, pod in pods if pod.get("imagePullSecrets")}


def with_hashes(
    graph: Resource, secrets: dict[str, list[Resource]], running: list[Resource]
) -> tuple[dict[str, list[Resource]], dict[str, str | None], list[str]]:
    """The pull secrets that the graph can get, the annotations that keep the names of its workers, and notes about the others.

    The pods of workers are a part of the worker hash, and pull secrets of the graph a part of the pods. An operator of 1.5 or later keeps
    the hash of the older annotation whatever the pods are. Earlier ones, and all for PodCliqueSets, compute it again.
    """
    written = {service for service, names in secrets.items() if graph_fields.pull_secrets(graph, service) != names}
    hashed = {service: digits for workload in running for service, digits in hashes(workload) if service in written}
    if not hashed:
        return secrets, {}, []
    if graph["apiVersion"].endswith("/v1alpha1") or any(workload["kind"] == cluster.SET for workload in running):
        notes = [
            f"the pull secrets of {service} are not written into the graph, because they would change the worker hash, and with it the pods"
            for service in sorted(hashed)
        ]
        return {service: names for service, names in secrets.items() if service not in hashed}, {}, notes
    digits = next(iter(hashed.values()))
    return secrets, {HASH_V1: annotated(graph).get(HASH_V1) or digits, HASH_V2: None}, []


def hashes(workload: Resource) -> Iterator[tuple[str, str]]:
    """The services of a workload whose pods have a worker hash, with the hash."""
    spec = workload["spec"]
    groups, template = spec.get("leaderWorkerTemplate", {}), spec.get("template", {})
    templates = (template, groups.get("leaderTemplate", {}), groups.get("workerTemplate", {}))
    cliques = [clique.get("labels", {}) for clique in template.get("cliques", ())]
    for marks in (*(pod.get("metadata", {}).get("labels", {}) for pod in templates), *cliques):
        if WORKER_HASH in marks:
            yield marks[cluster.SERVICE], marks[WORKER_HASH]


def missing(move: Move, plan: Plan) -> Iterator[str]:
    """What the plan has and the cluster lacks."""
    for graph in move.graphs():
        yield from graph_fields.missing(graph, plan.fields, plan.annotations)
    marked = {key(live) for live in plan.marked}
    for live in move.ours() if marked else ():
        if key(live) in marked and MARKS.items() - annotated(live).items():
            yield f"{key(live)} lacks the mark of the operator"
