"""What a reviewer asks beside the effects of a change: what must exist first, in which order pods change, and what a revert does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import report
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review import forecast, pods, required_objects
from krm_fn.review.diff import headline, shared_restarts
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.forecast import object_rules
from krm_fn.review.forecast.rollouts import Rollout

_MOST_NAMES = 8
_PERIOD, _FAILURES = 10, 3
"""The defaults of a probe in Kubernetes: seconds between two tries, and tries."""


class RolloutSteps(NamedTuple):
    """The rollout of a workload: its steps one after the other, and the seconds after which a step fails; None without a limit."""

    name: str
    namespace: str
    steps: int
    stops_first: bool
    seconds: int | None


def requirements(diff: Diff) -> list[ObjectKey]:
    """Returns the objects that the new state needs and the old state did not: they must exist before the change is applied."""
    new = _required_keys((change.key, change.new) for change in diff.changes if change.new is not None)
    old = _required_keys((change.key, change.old) for change in diff.changes if change.old is not None)
    return [key for key in new if key not in old]


def _required_keys(objects: Iterable[tuple[ObjectKey, Any]]) -> dict[ObjectKey, None]:
    return dict.fromkeys(requirement.key for requirement in required_objects.of_objects(objects))


def rollout_steps(diff: Diff) -> Iterator[RolloutSteps]:
    """Yields the rollouts that replace pods, in the order of the objects. All of them begin at the same time."""
    cluster_state = object_rules.read_cluster_state(diff.changes)
    for _, change in diff.differing:
        part = forecast.kind_forecast(change, cluster_state)
        for rollout in part.rollouts:
            if rollout.replaces and rollout.new_units:
                service = rollout.service or next(iter(part.services), None)
                name = headline.title(service) if service else f"{change.key.kind} {change.key.name}"
                yield RolloutSteps(name, change.key.namespace, _steps(rollout), rollout.steps.at_once, _startup_seconds(change))


def _steps(rollout: Rollout) -> int:
    """Returns the number of steps: each begins as many new pods as the strategy allows, and ends when they are ready."""
    steps = rollout.steps
    return 1 if steps.at_once else -(-rollout.new_units // max(1, min(steps.surge + steps.unavailable, rollout.new_units)))


def _startup_seconds(change: ObjectChange) -> int | None:
    """Returns the seconds that a startup probe of the new pods allows."""
    probes = (
        values.mapping(container.get("startupProbe"))
        for template in pods.of(change.new or {})
        for _, container in paths.find(template.spec, (("containers", paths.EVERY),))
        if isinstance(container, dict)
    )
    limits = [_limit(probe) for probe in probes if probe]
    return max(limits) if limits else None


def _limit(probe: dict[str, Any]) -> int:
    """Returns the seconds after which a probe has failed."""
    tries = object_rules.replica_count(probe.get("failureThreshold"), _FAILURES)
    delay = object_rules.replica_count(probe.get("initialDelaySeconds"), 0)
    return delay + tries * object_rules.replica_count(probe.get("periodSeconds"), _PERIOD)


def revert_diff(diff: Diff) -> Diff:
    """Returns the forecast of the opposite change, which a revert of the commit makes."""
    changes = tuple(_revert_change(change) for change in diff.changes)
    return Diff(changes, forecast.forecast(changes), {}, failed=diff.failed)


def _revert_change(change: ObjectChange) -> ObjectChange:
    if change.old is None or change.new is None or not change.fields:
        return change._replace(old=change.new, new=change.old)
    return ObjectChange(change.key, change.new, change.old, object_changes.between(change.new, change.old))


class Advice(NamedTuple):
    """An answer with its title, and the address of the page that explains it; empty without one."""

    title: str
    text: str
    page: str = ""


def of(diffs: Sequence[Diff], distinct: Sequence[Diff]) -> list[Advice]:
    """Returns the answers about changes that are applied together; empty if nothing differs.

    `distinct` are those of the changes that have different effects. The order of pods is that of these.
    """
    differing = [diff for diff in diffs if diff.differing]
    if not differing:
        return []
    revert = " ".join(sentence for sentence, _ in headline.verdict([*map(revert_diff, differing)]).sentences)
    reason = shared_restarts.reason(differing)
    return [
        *([Advice("Shared hash", reason, shared_restarts.PAGE)] if reason else []),
        Advice("Must exist first", _requirements_text(differing)),
        Advice("Order", _order_text(distinct)),
        Advice("Way back", f"a revert: {revert}"),
    ]


def _requirements_text(diffs: Sequence[Diff]) -> str:
    keys = dict.fromkeys(key for diff in diffs for key in requirements(diff))
    names = [f"{key.kind} {key.namespace}{'/' if key.namespace else ''}{key.name}" for key in keys]
    return f"{report.list_first(names, _MOST_NAMES)}." if names else "nothing that the old state does not need too."


def _order_text(diffs: Sequence[Diff]) -> str:
    steps = dict.fromkeys(entry for diff in diffs for entry in rollout_steps(diff))
    sentences = ["new and changed objects are applied at the same time"]
    if steps:
        texts = report.list_first(_step_texts([*steps]), _MOST_NAMES)
        limit = ", or until the limit of their startup probes" if any(entry.seconds for entry in steps) else ""
        sentences.append(f"pods are replaced in steps, and each step waits until its new pods are ready{limit}: {texts}")
    if any(outcome.effect == "deleted" for diff in diffs for outcome in diff.forecast.outcomes):
        sentences.append("objects that left the files are pruned last")
    return "; ".join(sentences) + "."


def _step_texts(entries: Sequence[RolloutSteps]) -> list[str]:
    """Returns the steps of rollouts. A name that several namespaces have is named with its namespace."""
    counts = Counter(name for name, _ in {(entry.name, entry.namespace) for entry in entries})
    return [_step_text(entry, f"{entry.namespace}/{entry.name}" if counts[entry.name] > 1 else entry.name) for entry in entries]


def _step_text(entry: RolloutSteps, name: str) -> str:
    steps = "all at once" if entry.stops_first else report.pluralize(entry.steps, "step")
    limit = f", at most {_duration(entry.seconds * entry.steps)}" if entry.seconds else ""
    return f"{name} ({steps}{limit})"


def _duration(seconds: int) -> str:
    """Returns a number of seconds as hours and minutes.

    >>> _duration(90), _duration(7800)
    ('2 min', '2 h 10 min')
    """
    hours, minutes = divmod(-(-seconds // 60), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes))
