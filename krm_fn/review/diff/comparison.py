"""Compares two rendered states: pairs their objects, finds the fields that differ, and adds the origins and the forecast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, secret_values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_resources
from krm_fn.render.resolve import cluster, release_choice
from krm_fn.render.rules import updates
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review import forecast
from krm_fn.review.diff.rendered_state import ChangeOrigin, Render
from krm_fn.review.forecast import Forecast
from krm_fn.review.forecast.object_rules import Effect

Origins = Mapping[tuple[int, int | None], tuple[ChangeOrigin, ...]]
"""The lines that make changes, by the number of the change and of its field; None for an object that is new or was removed."""
FindOrigins = Callable[[Sequence[ObjectChange]], Origins]


class Diff(NamedTuple):
    """The changes of all objects, also of those that are the same, with the forecast. Its outcomes are in the order of the changes.

    `origins` has the lines that make changes. `failed` are the Dynamo resources whose objects are not compared, because one of the states
    does not render. `updates` are the findings about changes of Dynamo resources themselves, and `refused` the resources whose change a
    cluster refuses.
    `is_partial`: a part of a state cannot be read, so there may be more changes. `unlisted` are the groups and kinds of the old state of
    which nothing is known.
    """

    changes: tuple[ObjectChange, ...]
    forecast: Forecast
    origins: Origins
    failed: tuple[ObjectKey, ...] = ()
    findings: tuple[Result, ...] = ()
    updates: tuple[Result, ...] = ()
    refused: tuple[ObjectKey, ...] = ()
    is_partial: bool = False
    unlisted: frozenset[tuple[str, str]] = frozenset()

    @property
    def differing(self) -> list[tuple[int, ObjectChange]]:
        """The changes of objects that differ, with their numbers."""
        return [(number, change) for number, change in enumerate(self.changes) if change.fields or change.old is None or change.new is None]

    def is_unlisted(self, change: ObjectChange) -> bool:
        """True for an object that the cluster may have already, because the export has no object of its kind."""
        return change.old is None and (change.key.group, change.key.kind) in self.unlisted

    @property
    def forecast_findings(self) -> list[Result]:
        """The findings of the forecast, with those about single objects."""
        return [*(result for outcome in self.forecast.outcomes for result in outcome.findings), *self.forecast.findings]


def _has_effect(diff: Diff, effect: Effect) -> bool:
    return any(outcome.effect == effect for outcome in diff.forecast.outcomes)


def interrupts_unknown_claims(diff: Diff) -> bool:
    """True if pods stop that hold an unknown number of GPUs."""
    stopped = {*diff.forecast.restarting, *diff.forecast.deleted}
    return any(gpus.unknown_before for outcome in diff.forecast.outcomes for service, gpus in outcome.shares if service in stopped)


_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
_CONDITIONS: dict[str, Callable[[Diff], bool]] = {
    "changes": lambda diff: bool(diff.differing),
    "deleted": lambda diff: _has_effect(diff, "deleted"),
    "restarts": lambda diff: bool(diff.forecast.restarting) or _has_effect(diff, "restarts"),
    "interrupted": lambda diff: diff.forecast.gpus.interrupted > 0 or interrupts_unknown_claims(diff),
    "refused": lambda diff: bool(diff.refused) or _has_effect(diff, "refused"),
    "unknown": lambda diff: bool(diff.failed) or _has_effect(diff, "unknown"),
    "stuck": lambda diff: any(outcome.stuck for outcome in diff.forecast.outcomes),
}
CONDITIONS = tuple(_CONDITIONS)
"""The conditions of `--fail-on`."""


def conditions(diff: Diff, names: Iterable[str]) -> list[str]:
    """Returns the names of the conditions that hold for a comparison. Raises KeyError for an unknown name."""
    return [name for name in names if _CONDITIONS[name](diff)]


def compare(
    old: Render,
    new: Render,
    nodes: Sequence[Resource] | None = None,
    pods: Sequence[Resource] = (),
    find_origins: FindOrigins = lambda _: {},
) -> Diff:
    """Compares two states. `nodes` and `pods` are those of the cluster; None means that nothing is known about the nodes.

    `find_origins` returns the lines that make changes.

    The objects of a Dynamo resource that fails in one of the states are left out of both, so that its change has no forecast. Secret
    values are hidden.
    """
    changes = (*compare_objects(old, new), *_compare_sources(old, new))
    origins = find_origins(changes)
    outcomes = forecast.forecast(changes, nodes, pods)
    shown = tuple(without_secrets(change) for change in changes)
    findings = (*not_compared(old, new), *moved_graphs(old, new))
    update_findings = tuple(_updates(old, new))
    refused = tuple(sorted({_key(result, new) for result in results.errors_of(update_findings)}))
    failed, is_partial = tuple(sorted(_unknown(old, new))), old.is_partial or new.is_partial
    return Diff(shown, outcomes, origins, failed, findings, update_findings, refused, is_partial, old.unlisted)


def _updates(old: Render, new: Render) -> Iterator[Result]:
    """Yields the findings of `krm-fn check --old` about changed resources. `moved_graphs` has those about releases."""
    for result in updates.check(old.inputs, new.inputs, cluster.default_namespace(new.config), new.config):
        if result.code == codes.SERVICE_ADDED_OR_REMOVED:
            yield result._replace(severity="warning")
        elif result.code != codes.GRAPH_MOVES_TO_OTHER_RELEASE:
            yield result


def _key(result: Result, state: Render) -> ObjectKey:
    return identity.key_of(result.ref or results.ref({}), cluster.default_namespace(state.config))


def compare_objects(old: Render, new: Render) -> tuple[ObjectChange, ...]:
    """Returns the changes of all objects, without those of Dynamo resources that fail in one of the states.

    An object that is in one state only is left out, if the other state lacks a part that cannot be read: the object may be there.
    """
    failed = _unknown(old, new)
    changes = object_changes.between_states(_objects(old, failed), _objects(new, failed))
    return tuple(change for change in changes if not (_is_single(change) and (old if change.old is None else new).is_partial))


def _compare_sources(old: Render, new: Render) -> tuple[ObjectChange, ...]:
    """Returns the Dynamo resources that a change adds to the cluster or removes from it: renamed, deleted or no longer kept."""
    failed = _unknown(old, new)
    before, after = (
        {identity.key(source, cluster.default_namespace(state.config)): source for source in state.sources} for state in (old, new)
    )
    keys = [key for key in (*after, *before) if (key in before) != (key in after) and key not in failed]
    return tuple(ObjectChange(key, before.get(key), after.get(key)) for key in keys)


def _is_single(change: ObjectChange) -> bool:
    """True for an object that is in one state only, and that no Dynamo resource made."""
    is_single = change.old is None or change.new is None
    return is_single and not dynamo_resources.owner_keys(change.new or change.old or {}, change.key.namespace)


def _unknown(old: Render, new: Render) -> frozenset[ObjectKey]:
    """Returns the Dynamo resources that fail in a state, or that may be in a part of a state that cannot be read."""
    old_keys, new_keys = _expanded_keys(old), _expanded_keys(new)
    added = new_keys - old_keys if old.is_partial else frozenset[identity.ObjectKey]()
    removed = old_keys - new_keys if new.is_partial else frozenset[identity.ObjectKey]()
    return old.failed | new.failed | added | removed


def _expanded_keys(state: Render) -> frozenset[ObjectKey]:
    namespace = cluster.default_namespace(state.config)
    return frozenset(identity.key(resource, namespace) for resource in state.inputs if dynamo_resources.is_expanded(resource))


def _objects(state: Render, failed: frozenset[ObjectKey]) -> dict[ObjectKey, Resource]:
    """Returns the objects by their keys, without those of failed Dynamo resources."""
    namespace = cluster.default_namespace(state.config)
    keyed = ((identity.key(resource, namespace), resource) for resource in state.objects)
    return {key: resource for key, resource in keyed if failed.isdisjoint(dynamo_resources.owner_keys(resource, key.namespace))}


def not_compared(old: Render, new: Render) -> Iterator[Result]:
    """Warns of Dynamo resources without a forecast, because one of the states does not render or cannot be read."""
    for key in sorted(_unknown(old, new)):
        in_new = key in new.failed or (new.is_partial and key not in _expanded_keys(new))
        name, state = ("new", new) if in_new else ("old", old)
        problem = "does not render" if key in state.failed else "cannot be read"
        namespace = cluster.default_namespace(state.config)
        resources = (resource for resource in (*new.inputs, *old.inputs) if identity.key(resource, namespace) == key)
        message = f"the {name} state of {key.kind} {key.name} {problem}, so its objects are not compared and have no forecast"
        yield results.warning(codes.CHANGE_WITHOUT_FORECAST, f"{message}; fix the errors about it", results.ref(next(resources, {})))


def without_secrets(change: ObjectChange) -> ObjectChange:
    """Returns the change with hidden secret values in its fields."""
    if not change.fields or change.old is None or change.new is None:
        return change
    old = secret_values.paths_near(change.old, (field.old_path for field in change.fields))
    new = secret_values.paths_near(change.new, (field.path for field in change.fields))
    fields = (_without_secrets(field, old, new) if (old or new) and not field.order else field for field in change.fields)
    return change._replace(fields=tuple(fields))


def _without_secrets(field: FieldChange, old: Sequence[Path], new: Sequence[Path]) -> FieldChange:
    return field._replace(
        old=secret_values.hide_secrets(field.old, field.old_path, old), new=secret_values.hide_secrets(field.new, field.path, new)
    )


def moved_graphs(old: Render, new: Render) -> Iterator[Result]:
    """Yields a note for each graph and component that follows another release than before, at the image that decides."""
    before = _inputs(old)
    for key, resource in _inputs(new).items():
        if key in before:
            then, now = release_choice.release_name(before[key], old.config), release_choice.release_name(resource, new.config)
            yield from updates.check_release(resource, then, now, is_pinned=release_choice.is_pinned(new.config))


def _inputs(state: Render) -> dict[ObjectKey, Resource]:
    """The resources that are rendered. A finished build is not rendered again."""
    namespace = cluster.default_namespace(state.config)
    keyed = ((identity.key(resource, namespace), resource) for resource in state.inputs)
    return {
        key: resource
        for key, resource in keyed
        if dynamo_resources.is_expanded(resource) and resource["kind"] in _RENDERED and key not in state.built
    }
