"""The effects of one step on the graphs of one part of a fleet: restarts with their causes, GPUs, and the findings of the new state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.upgrade import resource_edits, restart_causes, runtime_changes, upgrade_steps
from krm_fn.migration.upgrade.restart_causes import GraphCauses, MovedPart, SteppedGraph
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, ServiceUpgrade
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep, Versions
from krm_fn.render import dynamo_resources
from krm_fn.render.kinds import floors
from krm_fn.render.resolve import cluster, release_choice
from krm_fn.render.rules import runtime_windows, updates
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review import forecast
from krm_fn.review.diff import comparison, diff_report
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.diff.diff_report import DiffReport
from krm_fn.review.diff.rendered_state import Render
from krm_fn.review.forecast import Forecast, Gpus, gpu_texts, object_rules
from krm_fn.review.forecast.object_rules import ClusterState, Effect
from krm_fn.review.forecast.rollouts import Rollout, Service

_NO_CAUSES = GraphCauses((), {}, {})
_SHOWN_NOTES = (codes.RUNTIME_BEHAVES_DIFFERENTLY, codes.SIDECAR_IMAGES_STAY)
"""The codes of notes about the step itself. Other notes are about the graph, and `krm-fn check` has them."""
_STRONGEST: tuple[Effect, ...] = ("refused", "restarts", "unknown", "deleted", "created", "updated", "same")


class StepPart(NamedTuple):
    """A part of a fleet in one step, and its renders before and after the step.

    `versions` are the versions of the moved graphs before and after the step, by their numbers.
    """

    moved: MovedPart
    old: Render
    new: Render
    versions: Mapping[int, tuple[Versions, Versions]]


class _Effects(NamedTuple):
    """The changes of the objects of one graph, with their forecast and their rollouts."""

    changes: tuple[ObjectChange, ...]
    forecast: Forecast
    rollouts: tuple[Rollout, ...]


def graphs(part: StepPart, step: UpgradeStep) -> tuple[list[GraphUpgrade], list[Result]]:
    """Returns the effects on all graphs, also on those that stay, and the findings about other resources."""
    changes = comparison.compare_objects(part.old, part.new)
    cluster_state = _cluster_state(part, changes)
    by_owner = _by_owner(changes)
    keys = {
        number: part.moved.old.key(resource) for number, resource in enumerate(part.old.inputs) if dynamo_resources.is_expanded(resource)
    }
    effects = {
        number: _effects(by_owner[key], cluster_state)
        for number, key in keys.items()
        if key in by_owner and key not in part.old.failed | part.new.failed
    }
    causes = _causes(part, effects)
    findings = _findings(part, step)
    upgrades = []
    for number, key in keys.items():
        graph_findings = findings.pop(key, [])
        upgrade = _graph(part, number, effects.get(number), causes.get(number, _NO_CAUSES))
        upgrades.append(upgrade._replace(findings=(*graph_findings, *upgrade.findings)))
    return upgrades, [finding for others in findings.values() for finding in others]


def _effects(changes: Sequence[ObjectChange], cluster_state: ClusterState) -> _Effects:
    of_graph = forecast.forecast(changes, cluster_state=cluster_state)
    return _Effects(tuple(changes), of_graph, of_graph.rollouts)


def _cluster_state(part: StepPart, changes: Sequence[ObjectChange]) -> ClusterState:
    """Returns the state of the cluster: as the changes say, with the replicas that adapters have in it."""
    state = object_rules.read_cluster_state(changes)
    live = part.moved.old.replicas
    old, new = ({**replicas, **{service: live[service] for service in replicas if service in live}} for replicas in state[:2])
    return state._replace(old_replicas=old, new_replicas=new)


def _by_owner(changes: Iterable[ObjectChange]) -> dict[ObjectKey, list[ObjectChange]]:
    by_owner: dict[ObjectKey, list[ObjectChange]] = {}
    for change in changes:
        for owner in dynamo_resources.owner_keys(change.new or change.old or {}, change.key.namespace):
            by_owner.setdefault(owner, []).append(change)
    return by_owner


def _causes(part: StepPart, effects: Mapping[int, _Effects]) -> dict[int, GraphCauses]:
    """Returns the causes of the graphs that a step moves or restarts."""
    states: dict[int, SteppedGraph] = {}
    for number, (changes, of_graph, _) in effects.items():
        if number in part.versions or of_graph.restarting:
            objects = {change.key: change.old for change in changes if change.old is not None}
            states[number] = SteppedGraph(objects, frozenset(of_graph.services), frozenset(of_graph.restarting))
    return restart_causes.find(part.moved, states)


def _graph(part: StepPart, number: int, effects: _Effects | None, causes: GraphCauses) -> GraphUpgrade:
    """Returns the effect on one graph. `effects` is None for a graph that fails in one of the states, or has no objects."""
    key = part.moved.old.key(part.old.inputs[number])
    old, new = part.versions.get(number, (None, None))
    upgrade = GraphUpgrade(part.moved.old.name, key, "planned", "same", old, new, edits=part.moved.edits.get(number))
    if key in part.old.failed or key in part.new.failed:
        return upgrade._replace(state="error before" if key in part.old.failed else "error after", effect="unknown")
    if effects is None:
        return upgrade
    rows = diff_report.rows(DiffReport(Diff(effects.changes, effects.forecast, {}), ""))
    shares = _shares(effects.forecast)
    restarting = effects.forecast.restarting
    services = [_service(row, shares.get(row.service, Gpus()), causes, row.service in restarting) for row in rows]
    outcomes = effects.forecast.outcomes
    about = [result for outcome in outcomes for result in outcome.findings] + [*effects.forecast.findings]
    return upgrade._replace(
        effect=min((outcome.effect for outcome in outcomes), key=_STRONGEST.index),
        causes=causes.present,
        services=tuple(services),
        gpus=effects.forecast.gpus._replace(interrupted=sum(gpus.interrupted for gpus in shares.values())),
        rollouts=effects.rollouts,
        findings=tuple(result for result in about if result.severity != "info"),
    )


def _service(row: diff_report.Row, gpus: Gpus, causes: GraphCauses, restarts: bool) -> ServiceUpgrade:
    """Returns the effect on one service with its causes."""
    service = row.service
    alone = {cause: causes.restarts((cause,), service) for cause in causes.present}
    optional = {cause: None if services is None else service in services for cause, services in causes.optional.items()}
    smallest = causes.smallest(service) if restarts else ()
    return ServiceUpgrade(service, row.effect, gpus, restarts, smallest, alone, optional)


def _shares(forecast_result: Forecast) -> dict[Service, Gpus]:
    """Returns the GPUs of each service, of all its objects together."""
    shares: dict[Service, Gpus] = {}
    for outcome in forecast_result.outcomes:
        for service, gpus in outcome.shares:
            shares[service] = gpu_texts.total((shares.get(service, Gpus()), gpus))
    return shares


def _findings(part: StepPart, step: UpgradeStep) -> dict[ObjectKey, list[Result]]:
    """Returns the errors and warnings that the old state does not have, by the resource that they are about.

    They have the resource and the paths of the old state, if the API version stays.
    """
    old = {identity for result in _of_state(part.moved.old.resources, part.old) for identity in _identities(result)}
    of_new = [result for result in _of_state(part.moved.new.resources, part.new) if old.isdisjoint(_identities(result))]
    namespace = cluster.default_namespace(part.new.config)
    about_change = updates.check(part.old.inputs, part.new.inputs, namespace, part.new.config)
    of_edits = (result for number in part.moved.edits for result in resource_edits.findings(part.old.inputs[number], step))
    renders = [number for number in part.versions if part.moved.old.key(part.old.inputs[number]) not in part.old.failed]
    of_step = (result for number in renders for result in _of_graph(part, number))
    refs = {part.moved.old.key(resource): results.ref(resource) for resource in part.old.inputs}
    findings: dict[ObjectKey, list[Result]] = {}
    for result in (*of_new, *about_change, *of_edits, *of_step):
        if result.severity != "info" or result.code in _SHOWN_NOTES:
            key = identity.key_of(result.ref or results.ref({}), namespace)
            findings.setdefault(key, []).append(result._replace(ref=refs.get(key, result.ref)))
    return {key: list(dict.fromkeys(about)) for key, about in findings.items()}


def _of_state(resources: Sequence[Resource], state: Render) -> Iterator[Result]:
    yield from state.findings
    yield from runtime_windows.check(resources, state.config)


def _identities(result: Result) -> tuple[tuple[object, ...], ...]:
    """Returns what identifies a finding in both states: its field or its message.

    The message can name the version of an image, and the field is another one in another API version.
    """
    ref = result.ref or results.ref({})
    about = (result.severity, result.code, ref.kind, ref.namespace, ref.name)
    return (*about, result.path, result.within), (*about, result.message)


def _of_graph(part: StepPart, number: int) -> Iterator[Result]:
    """Yields the findings about the step of one graph: pods that are too far apart, and a release that the graph does not follow."""
    old, new = part.versions[number]
    resource, moved = part.old.inputs[number], part.new.inputs[number]
    ref = results.ref(resource)
    if upgrade_steps.is_before(new, old):
        before, after = (f"images {upgrade_steps.version_text(state.runtime)} of release {state.release}" for state in (old, new))
        message = f"--downgrade moves the graph back, from {before} to {after}"
        fix = "read the findings about fields and flags that the older release does not know, and try it with one graph first"
        yield results.warning(codes.DOWNGRADE, f"{message}; {fix}", ref, ("spec",))
    yield from runtime_changes.notes(resource, old.runtime, new.runtime)
    apart = upgrade_steps.distance(old.runtime, new.runtime)
    if apart > floors.OLDER:
        message = (
            f"runtimes {upgrade_steps.version_text(old.runtime)} and {upgrade_steps.version_text(new.runtime)} are {apart} minor versions "
            f"apart, and a frontend and workers work together up to {floors.OLDER}, so requests can fail while old and new pods run side "
            "by side; apply the step when the graph may be interrupted, or move its traffic to a second graph first"
        )
        yield results.warning(codes.UPGRADE_PODS_TOO_FAR_APART, message, ref, ("spec",))
    followed = release_choice.release_name(moved, part.new.config)
    if followed != new.release:
        message = (
            f"after the step, the graph follows release {followed} and not {new.release}, because of its API version, its annotations or "
            f"its images; set behaviour: {new.release} in the configuration, or change them too"
        )
        yield results.error(codes.GRAPH_DOES_NOT_FOLLOW_STEP, message, ref, ("spec",))
