"""The findings of a forecast: what a reviewer should know before the change is applied, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.review.forecast import capacity, kinds, rollout, simulation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.kinds import Part, World
    from krm_fn.review.forecast.outcome import Service
    from krm_fn.review.forecast.rollout import Rollout

_REPLICAS = ("spec", "replicas")


def of_change(change: Change, part: Part, world: World) -> Iterator[Result]:
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


def _falls_to_one(change: Change, part: Part, world: World) -> Iterator[Result]:
    """Warns of replicas that leave the file: with both ways of applying, the API server writes the default, which is 1."""
    if not part.rollouts or change.old is None or change.new is None or change.key in world.managed:
        return
    before, after = (kinds.spec(each).get("replicas") for each in (change.old, change.new))
    if isinstance(before, int) and before > 1 and after is None:
        message = f"replicas leaves the file, so that {before} replicas become 1 until something scales them"
        mend = "keep the number until the new owner of replicas has written it"
        yield results.warning("DYN535", f"{message}; {mend}", results.ref(change.new), _REPLICAS)


def together(changes: Sequence[Change], parts: Sequence[Part]) -> Iterator[Result]:
    """The findings about several objects."""
    both = tuple(zip(changes, parts, strict=True))
    yield from _at_once(both)
    yield from _side_by_side(both)


def _at_once(both: Sequence[tuple[Change, Part]]) -> Iterator[Result]:
    """Warns of services whose replicas are workloads of their own: they do not wait for each other."""
    workloads: dict[Service, list[Change]] = {}
    for change, part in both:
        for service in part.restarting:
            workloads.setdefault(service, []).append(change)
    for service, found in workloads.items():
        if len(found) > 1:
            kind = found[0].key.kind
            message = f"all {len(found)} replicas of {service.name} restart at the same time, because each is a {kind} of its own"
            yield results.warning("DYN533", f"{message}; apply the change when the service may stop", results.ref(found[0].new or {}))


def _side_by_side(both: Sequence[tuple[Change, Part]]) -> Iterator[Result]:
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


def stuck(change: Change, rollouts: Sequence[Rollout], free: int) -> Result:
    """The finding about a rollout that waits for GPUs for ever, with what would let it end."""
    new = sum(rollout.gpus(each.new) for each in rollouts if each.replaces)
    deadline = kinds.spec(change.new).get("progressDeadlineSeconds")
    until = f"; it waits until progressDeadlineSeconds ({deadline} s) calls it failed" if isinstance(deadline, int) else ""
    message = f"the rollout is stuck: a new pod needs {_gpus(new)}, and {_gpus(free)} of the nodes are free while the old pods run{until}"
    return results.warning("DYN532", f"{message}; {_advice(change, rollouts)}", results.ref(change.new or {}))


def _advice(change: Change, rollouts: Sequence[Rollout]) -> str:
    """What lets the rollout end with fewer GPUs, and what it costs."""
    least = simulation.needed(rollouts)
    for steps, words, cost in kinds.choices(change.key, rollouts[0].after):
        fewer = simulation.needed([each._replace(steps=steps) for each in rollouts])
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
