"""The findings of a forecast: what a reviewer should know before the change is applied, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.review.forecast import capacity, kind_rules, rollout, simulation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Result
    from krm_fn.review.forecast.forecast_types import Service
    from krm_fn.review.forecast.kind_rules import ClusterState, KindForecast
    from krm_fn.review.forecast.rollout import Rollout

_REPLICAS = ("spec", "replicas")


def of_change(change: ObjectChange, part: KindForecast, world: ClusterState) -> Iterator[Result]:
    """The findings about one object that do not depend on GPUs."""
    yield from part.findings
    ref = results.ref(change.new or change.old or {})
    if part.effect == "refused" and not results.failed([*part.findings]):
        field = results.field(part.causes[0])
        message = f"an API server refuses a change of {field}; set it back, or delete the {ref.kind} {ref.name} and apply it again"
        yield results.error("DYN530", message, ref, part.causes[0])
    elif part.causes and part.effect == "updated":
        message = "the changed pods wait: no old pod is replaced while the object is paused or replaces pods only after their deletion"
        yield results.warning("DYN539", f"{message}; resume it, or delete the old pods", ref, part.causes[0])
    yield from _falls_to_one(change, part, world)


def _falls_to_one(change: ObjectChange, part: KindForecast, world: ClusterState) -> Iterator[Result]:
    """Warns of replicas that leave the file: with both ways of applying, the API server writes the default, which is 1."""
    if not part.rollouts or change.old is None or change.new is None or change.key in world.managed:
        return
    before, after = (kind_rules.spec(resource).get("replicas") for resource in (change.old, change.new))
    if isinstance(before, int) and before > 1 and after is None:
        message = f"replicas leaves the file, so that {before} replicas become 1 until something scales them"
        fix = "keep the number until the new owner of replicas has written it"
        yield results.warning("DYN535", f"{message}; {fix}", results.ref(change.new), _REPLICAS)


def together(changes: Sequence[ObjectChange], parts: Sequence[KindForecast]) -> Iterator[Result]:
    """The findings about several objects."""
    both = tuple(zip(changes, parts, strict=True))
    yield from _at_once(both)
    yield from _side_by_side(both)


def _at_once(both: Sequence[tuple[ObjectChange, KindForecast]]) -> Iterator[Result]:
    """Warns of services whose replicas are workloads of their own: they do not wait for each other."""
    workloads: dict[Service, list[ObjectChange]] = {}
    for change, part in both:
        for service in part.restarting:
            workloads.setdefault(service, []).append(change)
    for service, changed in workloads.items():
        if len(changed) > 1:
            kind = changed[0].key.kind
            message = f"all {len(changed)} replicas of {service.name} restart at the same time, because each is a {kind} of its own"
            yield results.warning("DYN533", f"{message}; apply the change when the service may stop", results.ref(changed[0].new or {}))


def _side_by_side(both: Sequence[tuple[ObjectChange, KindForecast]]) -> Iterator[Result]:
    """Notes new workloads that run beside removed ones of the same graph."""
    gone: dict[tuple[str, str], list[str]] = {}
    for change, part in both:
        for service in part.services if part.rollouts and change.new is None else ():
            gone.setdefault(service[:2], []).append(change.key.name)
    for change, part in both:
        for service in part.services if part.rollouts and change.old is None else ():
            if names := gone.get(service[:2]):
                message = f"it runs beside {', '.join(names)} until that is pruned, and both hold GPUs until then"
                yield results.info("DYN537", f"{message}; prune soon, or make room for both", results.ref(change.new or {}))


def stuck(change: ObjectChange, rollouts: Sequence[Rollout], free: int) -> Result:
    """The finding about a rollout that waits for GPUs for ever, with what would let it end."""
    new = sum(rollout.gpus(entry.new) for entry in rollouts if entry.replaces)
    deadline = kind_rules.spec(change.new).get("progressDeadlineSeconds")
    until = f"; it waits until progressDeadlineSeconds ({deadline} s) calls it failed" if isinstance(deadline, int) else ""
    message = f"the rollout is stuck: a new pod needs {_gpus(new)}, and {_gpus(free)} of the nodes are free while the old pods run{until}"
    return results.warning("DYN532", f"{message}; {_advice(change, rollouts)}", results.ref(change.new or {}))


def _advice(change: ObjectChange, rollouts: Sequence[Rollout]) -> str:
    """Advice: a way to end the rollout with fewer GPUs, and its cost."""
    least = simulation.needed(rollouts)
    for steps, words, cost in kind_rules.choices(change.key, rollouts[0].after):
        fewer = simulation.needed([entry._replace(steps=steps) for entry in rollouts])
        if fewer < least:
            return f"{words} ({cost}, enough with {_gpus(fewer)} free), or make {_gpus(least)} free"
    return f"make {_gpus(least)} free"


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"


def about_nodes(nodes: Sequence[Resource] | None, peak: int) -> Iterator[Result]:
    """Warns of nodes of which none offers GPUs, for objects that need some."""
    if nodes is not None and peak and not any(capacity.offered(node) for node in nodes):
        shown = ", ".join(results.ref(node).name for node in nodes[:3]) or "no node at all"
        message = f"the list of nodes has no GPUs ({shown}), so every rollout with GPUs would wait"
        yield results.warning("DYN538", f"{message}; export the nodes while their device plugin runs: kubectl get nodes -o json")
