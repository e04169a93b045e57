"""The sentences that a reviewer reads first, about one comparison or about all roots of a repository together.

The first line says what is lost and what stops: deletions, addresses, replicas, restarts. Then it has creations and GPUs. The lines
after it say what the cluster refuses, and if the rollouts can end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import report
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.manifests import ownership
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.diff import addresses, comparison
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.forecast import Gpus, gpu_texts
from krm_fn.review.forecast.rollouts import Service

_MOST_NAMES = 10
_FEW_NAMES = 4

Sentence = tuple[str, str]
"""A sentence, and the word whose colour it has; empty for a sentence without one."""


class Verdict(NamedTuple):
    """The sentences of the first line, and those of the lines after it."""

    first: list[Sentence]
    others: list[Sentence]

    @property
    def sentences(self) -> list[Sentence]:
        """All sentences in their order."""
        return [*self.first, *self.others]

    @property
    def headline(self) -> str:
        """The first line as a text."""
        return " ".join(sentence for sentence, _ in self.first)


def verdict(diffs: Sequence[Diff]) -> Verdict:
    """Returns the sentences about comparisons whose changes are applied together."""
    failed = [key for diff in diffs for key in diff.failed]
    first = [(f"Not compared, because one of the states has errors: {_names(failed)}.", "error")] * bool(failed)
    differing = [diff for diff in diffs if diff.differing or diff.refused]
    partial = [diff for diff in diffs if diff.is_partial]
    if not differing:
        return Verdict(first or [_partial(partial, diffs) if partial else ("The states are the same: no object changes.", "same")], [])
    first += [*_losses(differing), *_restarts(differing), *_creations(differing)]
    first += [*_sentences_about_unlisted(differing), *_other_effects(differing), *_gpus_of(differing)]
    if len(diffs) > 1:
        first.append(
            (f"{len(differing)} of {report.pluralize(len(diffs), 'folder')} {'changes' if len(differing) == 1 else 'change'}.", "")
        )
    others = [*_sentences_about_refused(differing), *_needed_gpus(differing)]
    return Verdict(first, [*others, *([_partial(partial, diffs)] if partial else [])])


def _partial(partial: Sequence[Diff], diffs: Sequence[Diff]) -> Sentence:
    """Returns the sentence about roots of which a part is not known."""
    subject = "A part of one of the states" if len(diffs) == 1 else f"A part of {len(partial)} of {len(diffs)} folders"
    return f"{subject} cannot be read, so it is not compared; repair the errors below.", "error"


def _losses(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    """Yields the sentences about deleted services and objects, lost addresses and replicas that stop."""
    services = [(diff, service) for diff in diffs for service in diff.forecast.deleted]
    if services:
        held = gpu_texts.total(_share(diff, service) for diff, service in services)
        gpus = f", with {gpu_texts.count_gpus(held.before, held.unknown_before)}" if held.before or held.unknown_before else ""
        yield f"{_services(len(services), 'deleted')}{gpus}: {titles(diffs, (service for _, service in services))}.", "deleted"
    if objects := [change.key for diff in diffs for change in _single_objects(diff, "deleted")]:
        yield f"{_objects(len(objects), 'deleted')}: {_names(objects, _FEW_NAMES)}.", "deleted"
    changed = [addresses.compare_addresses(change for change in diff.changes if not diff.is_unlisted(change)) for diff in diffs]
    if lost := [address for addresses_of_diff in changed for address in addresses_of_diff.lost]:
        yield f"{_addresses(len(lost), 'goes', 'go')}: {report.list_first(lost, _FEW_NAMES)}.", "deleted"
    if added := [address for addresses_of_diff in changed for address in addresses_of_diff.added]:
        yield f"{_addresses(len(added), 'is new', 'are new')}: {report.list_first(added, _FEW_NAMES)}.", "created"
    if drops := [drop for diff in diffs for drop in _drops(diff)]:
        subject = report.pluralize(len(drops), "workload drops", "workloads drop")
        yield (
            f"{subject} to 1 replica until another writer scales {'it' if len(drops) == 1 else 'them'}: {_list_names(drops)}.",
            "restarts",
        )


def _drops(diff: Diff) -> Iterator[str]:
    """Yields each workload whose replicas stop, with their number before."""
    for outcome in diff.forecast.outcomes:
        if outcome.dropped:
            names = [title(service) for service in outcome.services] or [f"{outcome.key.kind} {outcome.key.name}"]
            yield f"{', '.join(names)} (from {outcome.dropped + 1})"


def _share(diff: Diff, service: Service) -> Gpus:
    """Returns the GPUs of a service."""
    return gpu_texts.total(gpus for outcome in diff.forecast.outcomes for owner, gpus in outcome.shares if owner == service)


def _single_objects(diff: Diff, effect: str) -> Iterator[ObjectChange]:
    """Yields the objects that are deleted or created, without those that belong to a deleted or new service, and without addresses."""
    moved = {service.graph or service.name for service in (*diff.forecast.deleted, *diff.forecast.created)}
    for change, outcome in zip(diff.changes, diff.forecast.outcomes, strict=True):
        resource = change.new or change.old or {}
        owners = {name.partition("/")[2] for name in ownership.owners(resource)}
        is_of_service = bool(outcome.services) or not moved.isdisjoint({*owners, change.key.name})
        if outcome.effect == effect and not is_of_service and not any(addresses.of(change.key, resource)):
            yield change


def _restarts(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    services = [service for diff in diffs for service in diff.forecast.services]
    present = [service for diff in diffs for service in diff.forecast.restarting if service in diff.forecast.services]
    removed = [service for diff in diffs for service in diff.forecast.restarting if service not in diff.forecast.services]
    created = sum(len(diff.forecast.created) for diff in diffs)
    if present or removed:
        names = titles(diffs, (*present, *removed))
        yield f"{len(present)} of {len(services)} services restart{'s' * (len(present) == 1)}: {names}.", "restarts"
    elif not any(diff.forecast.deleted or any(_drops(diff)) for diff in diffs):
        yield "No service restarts.", "same"
    elif len(services) > created:
        yield "No other service restarts.", "same"


def _creations(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    services = [service for diff in diffs for service in diff.forecast.created]
    if services:
        yield f"{_services(len(services), 'created')}: {titles(diffs, services)}.", "created"
    objects = [change.key for diff in diffs for change in _single_objects(diff, "created") if not diff.is_unlisted(change)]
    if objects:
        yield f"{_objects(len(objects), 'created')}: {_names(objects, _FEW_NAMES)}.", "created"


def _sentences_about_unlisted(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    """Yields the sentence about objects that the cluster may have already."""
    if objects := [change.key for diff in diffs for change in diff.changes if diff.is_unlisted(change)]:
        subject, kinds = (
            report.pluralize(len(objects), "object counts", "objects count"),
            "its kind" if len(objects) == 1 else "their kinds",
        )
        yield f"{subject} as new, because the export has no object of {kinds}: {_names(objects, _FEW_NAMES)}.", ""


def _other_effects(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    """Yields the sentences about pods of no service, and about kinds that krm-fn does not know."""
    outcomes = [outcome for diff in diffs for outcome in diff.forecast.outcomes]
    restarting = [outcome.key for outcome in outcomes if outcome.effect == "restarts" and not outcome.services]
    if restarting:
        yield f"Pods of no service restart: {_names(restarting)}.", "restarts"
    unknown = [outcome.key for outcome in outcomes if outcome.effect == "unknown"]
    if unknown:
        yield f"The effect of {report.pluralize(len(unknown), 'change')} is unknown: {_names(unknown)}.", "unknown"


def _gpus_of(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    gpus = gpu_texts.total(diff.forecast.gpus for diff in diffs)
    if gpus.peak or gpus.unknown_peak:
        unknown_stops = any(comparison.interrupts_unknown_claims(diff) for diff in diffs)
        stopped = _capital(gpu_texts.count_gpus(gpus.interrupted, unknown_stops))
        verb = "are" if gpus.interrupted > 1 else "is"
        interrupted = f"{stopped} {verb} interrupted. " if gpus.interrupted or unknown_stops else ""
        before = _capital(gpu_texts.count_gpus(gpus.before, gpus.unknown_before))
        peak, after = (_number(*counts) for counts in ((gpus.peak, gpus.unknown_peak), (gpus.after, gpus.unknown_after)))
        claims = f"; {gpu_texts.claims(gpus.unknown_peak)}" if gpus.unknown_peak else ""
        yield f"{interrupted}{before} before, {peak} at the peak, {after} after{claims}.", ""


def _number(count: int, unknown_claims: int) -> str:
    return gpu_texts.number(count, unknown_claims) if count or not unknown_claims else "an unknown number"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentences_about_refused(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    objects = (outcome.key for diff in diffs for outcome in diff.forecast.outcomes if outcome.effect == "refused")
    refused = [*(key for diff in diffs for key in diff.refused), *objects]
    if refused:
        yield f"{report.pluralize(len(refused), 'change is', 'changes are')} refused: {_names(refused)}.", "refused"


def _needed_gpus(diffs: Sequence[Diff]) -> Iterator[Sentence]:
    """Yields the sentences that compare the GPUs that the rollouts need with the free GPUs."""
    for diff in diffs:
        forecast = diff.forecast
        stuck = [outcome.key.name for outcome in forecast.outcomes if outcome.stuck]
        if stuck:
            subject, verb = ("The rollout", "is stuck") if len(stuck) == 1 else ("The rollouts", "are stuck")
            free = f"{gpu_texts.count_gpus(forecast.needed)} must be free, and {forecast.free} {'is' if forecast.free == 1 else 'are'}"
            yield f"{subject} of {_list_names(stuck)} {verb}: {free}.", "stuck"
    needing = [diff.forecast for diff in diffs if diff.forecast.needed and not any(outcome.stuck for outcome in diff.forecast.outcomes)]
    needed = sum(forecast.needed for forecast in needing)
    if needing and all(forecast.free is not None for forecast in needing):
        yield "The rollouts fit on the nodes.", "same"
    elif needed:
        yield f"The rollouts need {report.pluralize(needed, 'free GPU')}.", ""


def title(service: Service) -> str:
    """Returns the graph and the name of a service; the name alone for a standalone component."""
    return f"{service.graph}/{service.name}" if service.graph else service.name


def titles(diffs: Sequence[Diff], services: Iterable[Service]) -> str:
    """Returns the names of services: with their graphs if there are several, and with their namespaces if a comparison has several.

    Equal names of several roots are one.
    """
    present = [{*diff.forecast.services, *diff.forecast.deleted} for diff in diffs]
    has_graphs = len({service.graph for of_diff in present for service in of_diff}) > 1
    has_namespaces = any(len({service.namespace for service in of_diff}) > 1 for of_diff in present)
    names = (title(service) if has_graphs or has_namespaces else service.name for service in services)
    if has_namespaces:
        names = (f"{service.namespace}/{title(service)}" for service in services)
    return report.list_first([*dict.fromkeys(names)], _MOST_NAMES if len(diffs) == 1 else _FEW_NAMES)


def _services(count: int, effect: str) -> str:
    return report.pluralize(count, f"service is {effect}", f"services are {effect}")


def _objects(count: int, effect: str) -> str:
    return report.pluralize(count, f"object is {effect}", f"objects are {effect}")


def _addresses(count: int, one: str, several: str) -> str:
    return report.pluralize(count, f"address {one}", f"addresses {several}")


def _names(keys: Sequence[ObjectKey], most: int = _MOST_NAMES) -> str:
    return report.list_first([*dict.fromkeys(f"{key.kind} {key.name}" for key in keys)], most)


def _list_names(names: Sequence[str]) -> str:
    return report.list_first(names, _MOST_NAMES)
