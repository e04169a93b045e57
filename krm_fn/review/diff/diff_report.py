"""What a report of a comparison says, for all its formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple
from krm_fn.review.forecast import podcliquesets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.results import Result
    from krm_fn.review.diff import ChangeOrigin, Diff
    from krm_fn.review.forecast import ObjectForecast
    from krm_fn.review.forecast.object_rules import Effect, Service
    from krm_fn.schema.object_changes import ObjectChange

_NAMED = 10
_ORDER: tuple[Effect, ...] = ("refused", "restarts", "deleted", "created", "updated", "same")


class Spot(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class Report(NamedTuple):
    """A comparison with the places of its origins. `old` is the name of the old state.

    `findings` are all findings with their places. `paint` colours a text with the colour of a word, such as `restarts` or `error`.
    """

    diff: Diff
    old: str
    spots: Mapping[ChangeOrigin, Spot]
    findings: Sequence[Result] = ()
    paint: Callable[[str, str], str] = lambda text, _: text

    @property
    def objects(self) -> list[tuple[int, ObjectChange, Effect]]:
        """The objects that differ, with their numbers and effects: first what a reviewer must see."""
        found = [(number, change, self.diff.forecast.outcomes[number].effect) for number, change in self.diff.differing]
        return sorted(found, key=lambda each: _ORDER.index(each[2]))

    def origins(self, number: int, field: int | None) -> list[tuple[ChangeOrigin, Spot | None]]:
        """The origins of a field of a change, or of a change as a whole, with their lines."""
        return [(origin, self.spots.get(origin)) for origin in self.diff.origins.get((number, field), ())]


class Row(NamedTuple):
    """What happens to one service. `gpus` are the GPUs of its pods before and after."""

    service: Service
    effect: Effect
    stuck: bool
    gpus: tuple[int, int]
    spots: tuple[Spot, ...]


def rows(report: Report) -> list[Row]:
    """The services of both states, first those that a reviewer must see."""
    found: dict[Service, Row] = {}
    for number, outcome in enumerate(report.diff.forecast.outcomes):
        for service, gpus in outcome.shares:
            mine = _fields(report.diff.changes[number], service, alone=len(outcome.shares) == 1)
            made = Row(
                service, _effect(outcome, service, mine), bool(outcome.stuck), (gpus.before, gpus.after), _spots(report, number, mine)
            )
            found[service] = _both(found[service], made) if service in found else made
    return sorted(found.values(), key=lambda row: (_ORDER.index(row.effect), row.service))


def _effect(outcome: ObjectForecast, service: Service, fields: Sequence[int]) -> Effect:
    """What happens to the pods of one service of an object."""
    if service not in outcome.services:
        return "deleted"
    if outcome.effect != "restarts" or service in outcome.restarting:
        return outcome.effect if fields or outcome.effect != "updated" else "same"
    return "updated" if fields else "same"


def _fields(change: ObjectChange, service: Service, *, alone: bool) -> list[int]:
    """The numbers of the fields of a change that are about one service. A field that is about no single service is about all."""
    found = []
    for number, field in enumerate(change.fields):
        resource, path = (change.old, field.before) if field.new is None else (change.new, field.path)
        owner = None if alone else podcliquesets.service_at(resource or {}, path, change.key.namespace)
        if owner in (None, service):
            found.append(number)
    return found


def _both(one: Row, other: Row) -> Row:
    both = {one.effect, other.effect}
    effect = "restarts" if both == {"created", "deleted"} else min(both, key=_ORDER.index)
    gpus = (one.gpus[0] + other.gpus[0], one.gpus[1] + other.gpus[1])
    return Row(one.service, effect, one.stuck or other.stuck, gpus, tuple(dict.fromkeys((*one.spots, *other.spots))))


def title(service: Service) -> str:
    """The graph and the name of a service; the name alone for a component without a graph."""
    return f"{service.graph}/{service.name}" if service.graph else service.name


def together(spots: Sequence[Spot]) -> str:
    """Lines with the file named once: `graph.yaml:12, 14; render.yaml:3`."""
    files: dict[str, list[int]] = {}
    for spot in spots:
        files.setdefault(spot.file, []).append(spot.line)
    return "; ".join(f"{file}:{', '.join(str(line) for line in sorted(set(lines)))}" for file, lines in files.items())


def _spots(report: Report, number: int, fields: Sequence[int]) -> tuple[Spot, ...]:
    """The lines that change one object, or some of its fields."""
    found = [spot for field in (None, *fields) for _, spot in report.origins(number, field) if spot]
    return tuple(dict.fromkeys(found))


def verdict(report: Report) -> list[tuple[str, str]]:
    """The sentences that a reviewer reads first, each with the word whose colour it has."""
    failed = [(f"Not compared, because one of the states has errors: {_names(report.diff.failed)}.", "error")] * bool(report.diff.failed)
    if not report.diff.differing:
        return failed or [("The states are the same: no object changes.", "same")]
    forecast, found = report.diff.forecast, report.objects
    said = [*failed, _restarts(forecast.services, forecast.restarting)]
    gpus = forecast.gpus
    if gpus.peak:
        interrupted = f"{_gpus(gpus.interrupted)} {'is' if gpus.interrupted == 1 else 'are'} interrupted. " if gpus.interrupted else ""
        said.append((f"{interrupted}{gpus.before} GPUs before, {gpus.peak} at the peak, {gpus.after} after.", ""))
    refused = [change.key for _, change, effect in found if effect == "refused"]
    if refused:
        said.append((f"{_changes(len(refused))} refused: {_names(refused)}.", "refused"))
    said += _room(report, [outcome.key.name for outcome in forecast.outcomes if outcome.stuck])
    return said


def _restarts(services: Sequence[Service], restarting: Sequence[Service]) -> tuple[str, str]:
    if not restarting:
        return "No service restarts.", "same"
    count = sum(each in services for each in restarting)
    gone = [each for each in restarting if each not in services]
    several = len({each[:2] for each in services}) > 1
    named = _listed([title(each) if several else each.name for each in (*(each for each in restarting if each in services), *gone)])
    return f"{count} of {len(services)} services restart{'s' * (count == 1)}: {named}.", "restarts"


def _room(report: Report, stuck: Sequence[str]) -> list[tuple[str, str]]:
    """If the GPUs are enough for the rollouts."""
    forecast = report.diff.forecast
    if stuck:
        rollouts = "The rollout" if len(stuck) == 1 else "The rollouts"
        waits = "is stuck" if len(stuck) == 1 else "are stuck"
        free = f"{_gpus(forecast.needed)} must be free, and {forecast.free} {'is' if forecast.free == 1 else 'are'}"
        return [(f"{rollouts} of {_listed(stuck)} {waits}: {free}.", "stuck")]
    if forecast.free is not None and forecast.needed:
        return [("The rollouts fit on the nodes.", "same")]
    if forecast.needed:
        return [(f"The rollouts need {forecast.needed} free GPU{'s' * (forecast.needed > 1)}.", "")]
    return []


def _names(keys: Sequence[ObjectKey]) -> str:
    return _listed([f"{key.kind} {key.name}" for key in keys])


def _listed(names: Sequence[str]) -> str:
    """The names, as many as a sentence can have."""
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"


def _changes(count: int) -> str:
    return "1 change is" if count == 1 else f"{count} changes are"
