# ruff: noqa: INP001 - see __main__.py
"""Compares the objects that Git makes with those in the cluster; nothing is changed."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import cluster
from cluster import Move, Resource, key, labels, name


def compare(move: Move) -> None:
    """Ask the API server for all that taking over needs, as a dry run. Raises StopError with everything that it would change or refuse."""
    found = [*foreign(move), *missing(move), *counts(move), *templates(move)]
    try:
        move.kubectl(*applying(move), "--dry-run=server", given=cluster.listed(rehearsed(move)))
    except cluster.StopError as refusal:
        found.append(f"the API server refuses objects:\n{refusal}")
    if found:
        raise cluster.StopError(
            "\n".join([*found, "nothing was changed; correct the graph or the configuration, then render and compare again"])
        )
    sys.stdout.write(f"{len(move.running())} workloads keep their pods; the API server accepts all {len(move.objects)} objects\n")


def foreign(move: Move) -> Iterator[str]:
    """Rendered objects of another graph or namespace."""
    for each in move.objects:
        if each["metadata"].get("namespace") != move.namespace:
            yield f"{key(each)} is not in the namespace {move.namespace}; render the graph for that namespace"
        if cluster.annotated(each).get(cluster.OWNER, "/").partition("/")[2] not in {"", move.graph}:
            yield f"{key(each)} belongs to another graph; render {move.graph} alone"


def missing(move: Move) -> Iterator[str]:
    """Workloads that run and are not rendered, or the reverse. Each replica of a service on several nodes is a workload of its own."""
    running, rendered = (
        move.running(),
        {key(each): each for each in move.objects if each["kind"] in {"Deployment", cluster.GROUP, cluster.SET}},
    )
    groups = [
        Counter(labels(each)[cluster.SERVICE] for each in some.values() if each["kind"] == cluster.GROUP) for some in (running, rendered)
    ]
    both = groups[0].keys() & groups[1].keys()
    for service in sorted(both):
        if groups[0][service] != groups[1][service]:
            yield scaled(service, groups[0][service], groups[1][service])
    for one in sorted(running.keys() ^ rendered.keys()):
        if labels(running.get(one) or rendered[one]).get(cluster.SERVICE) not in both:
            said = "runs but is not rendered" if one in running else "is rendered but does not run"
            yield f"{one} {said}; make graph and configuration those of the cluster"


def counts(move: Move) -> Iterator[str]:
    """Numbers of replicas that Git would change. A Deployment without a number keeps the one it has."""
    running = move.running()
    for each in (each for each in move.objects if key(each) in running):
        live = running[key(each)]
        if each["kind"] == "Deployment" and each["spec"].get("replicas", live["spec"]["replicas"]) != live["spec"]["replicas"]:
            yield scaled(labels(each)[cluster.SERVICE], live["spec"]["replicas"], each["spec"]["replicas"])
        if each["kind"] == cluster.SET:
            found, wanted = numbers(live) | grown(move, live), numbers(each)
            for child in sorted(found.keys() & wanted.keys()):
                if found[child] != wanted[child]:
                    yield scaled(child, found[child], wanted[child])


def scaled(service: str, live: int, rendered: int) -> str:
    """What to do about a number that an autoscaler or somebody else has changed."""
    return f"{service} runs {live} replicas, and {rendered} are rendered; write replicas: {live} for it into the graph in Git"


def numbers(workload: Resource) -> dict[str, int]:
    """The replicas of the PodCliques and scaling groups that a PodCliqueSet makes, by the ends of their names."""
    template = workload["spec"]["template"]
    groups = template.get("podCliqueScalingGroups", ())
    members = {each for group in groups for each in group["cliqueNames"]}
    single = {each["name"]: each["spec"].get("replicas", 1) for each in template["cliques"] if each["name"] not in members}
    return single | {group["name"]: group.get("replicas", 1) for group in groups}


def grown(move: Move, workload: Resource) -> dict[str, int]:
    """The replicas of the PodCliques and scaling groups that Grove has made, by the ends of their names. Autoscalers change these."""
    children = move.live(*cluster.GROVE)
    named = [
        (re.fullmatch(rf"{re.escape(name(workload))}-\d+-(.+)", name(each)), each) for each in children if cluster.owned_by(each, workload)
    ]
    return {found[1]: each["spec"]["replicas"] for found, each in named if found}


def templates(move: Move) -> Iterator[str]:
    """Differences between the pods that run and those that would run if the rendered objects took the place of the live ones."""
    running = move.running()
    ours = [each for each in move.objects if key(each) in running]
    try:
        replaced = cluster.items(move.kubectl("replace", "--dry-run=server", "-o=json", "-f=-", given=cluster.listed(ours))) if ours else []
    except cluster.StopError as refusal:
        yield f"the API server refuses workloads:\n{refusal}"
        return
    for each in replaced:
        before, after = dict(flat(shape(running[key(each)]))), dict(flat(shape(each)))
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                yield f"{key(each)} {path}: {before.get(path, 'nothing')} runs, {after.get(path, 'nothing')} is rendered"


def shape(workload: Resource) -> Any:
    """What decides about the pods of a workload but for their number. The operator writes cliques in random order, so they go by name."""
    spec = workload["spec"]
    if workload["kind"] != cluster.SET:
        return spec.get("leaderWorkerTemplate") or spec["template"]
    template, single = spec["template"], numbers(workload)
    cliques = {
        each["name"]: each | {"spec": without_replicas(each["spec"]) if each["name"] in single else each["spec"]}
        for each in template["cliques"]
    }
    groups = {each["name"]: without_replicas(each) for each in template.get("podCliqueScalingGroups", ())}
    return template | {"cliques": cliques, "podCliqueScalingGroups": groups}


def without_replicas(spec: Resource) -> Resource:
    """The same without its number of replicas."""
    return {field: value for field, value in spec.items() if field != "replicas"}


def flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value by their paths. Lists of named objects go by name, and their order is a leaf of its own.

    Empty `resources` are no leaf: the operator, as every Go program, writes them into each container, and they mean nothing.
    """
    if isinstance(value, list) and value and all(isinstance(each, dict) and "name" in each for each in value):
        names = [each["name"] for each in value]
        if len({*names}) == len(names):
            yield f"{path}(order)", json.dumps(names)
            value = dict(zip(names, value, strict=True))
    if isinstance(value, dict) and value:
        for field, inner in value.items():
            yield from flat(inner, f"{path}.{field}".lstrip("."))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from flat(inner, f"{path}[{index}]")
    elif value != {} or not path.endswith(".resources"):
        yield path, json.dumps(value)


def adopted(move: Move) -> list[Resource]:
    """The objects to apply: adapters get the labels by which Flux knows what it may prune."""
    namespace, _, kustomization = move.flux.partition("/")
    prefix = "kustomize.toolkit.fluxcd.io"
    more = {f"{prefix}/name": kustomization, f"{prefix}/namespace": namespace} if kustomization else {}
    live = move.adapters()
    found = []
    for each in move.objects:
        if key(each) in live:
            found.append(each | {"metadata": each["metadata"] | {"labels": labels(each) | more}})
        else:
            found.append(each)
    return found


def rebound(move: Move) -> set[str]:
    """The RoleBindings that have to be made again, since the role of a binding cannot change, by `key`."""
    live = {key(each): each["roleRef"] for each in move.live(cluster.BINDINGS)}
    return {key(each) for each in move.objects if each["kind"] == "RoleBinding" and live.get(key(each), each["roleRef"]) != each["roleRef"]}


def rehearsed(move: Move) -> list[Resource]:
    """The objects for a dry run. Those that are deleted and made again have another name of the same length there."""
    again = rebound(move)
    return [
        each | {"metadata": each["metadata"] | {"name": "x" * len(name(each))}}
        if key(each) in again or each["kind"] in {"DynamoGraphDeployment", "DynamoComponentDeployment"}
        else each
        for each in adopted(move)
    ]


def applying(move: Move) -> tuple[str, ...]:
    """The arguments by which kubectl applies in the name of the tool that is to apply from then on."""
    return "apply", "--server-side", "--force-conflicts", f"--field-manager={move.manager}", "-f=-"
