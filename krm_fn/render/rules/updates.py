"""Changes between two states of Dynamo resources that a cluster would reject, or that move a graph to another release.

Follows ValidateUpdate of the operator's `internal/webhook/validation/`. The policies in `platform/admission` enforce the same rules in
a cluster.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.values import mapping, text
from krm_fn.render import dynamo_api, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from krm_fn.render.dynamo_api import GROUP
from krm_fn.render.resolve import release_choice, runtime_version
from krm_fn.render.rules import graph_updates
from krm_fn.render.schema import invalid_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.rules.graph_updates import Change


_DEFAULTS = Config()


class _Fixed(NamedTuple):
    """An immutable field of the spec, with the reason."""

    code: str
    field: str
    reason: str
    default: str = ""


_ENGINE = _Fixed(codes.IMMUTABLE_BACKEND_FRAMEWORK, "backendFramework", "the engine is immutable")
_OF_MODELS = (
    _Fixed(codes.IMMUTABLE_MODEL_TYPE, "modelType", "what was loaded for the old type stays loaded", "base"),
    _Fixed(codes.IMMUTABLE_BASE_MODEL, "baseModelName", "endpoints are found by it"),
)


def check(old: Iterable[Resource], new: Iterable[Resource], default_namespace: str, config: Config = _DEFAULTS) -> Iterator[Result]:
    """Yields the findings about changes of resources that are in both states.

    Any field may have any type, and the API versions of the states may differ. `default_namespace` is the namespace of resources without
    one. `config` has the orchestrator of all graphs that do not opt out, and can name their release.
    """
    before = _by_key(old, default_namespace)
    for key, resource in _by_key(new, default_namespace).items():
        if key in before and repr(before[key]) != repr(resource):
            was, now = (invalid_fields.without_nulls(state) for state in (before[key], resource))
            yield from (result._replace(ref=results.ref(resource)) for result in _rules(key.kind, was, now, config))


def count_compared(old: Iterable[Resource], new: Iterable[Resource], default_namespace: str) -> int:
    """Counts the Dynamo resources that are in both states."""
    return len(_by_key(old, default_namespace).keys() & _by_key(new, default_namespace).keys())


def _by_key(state: Iterable[Resource], default_namespace: str) -> dict[identity.ObjectKey, Resource]:
    named = {identity.key(resource, default_namespace): resource for resource in state}
    return {key: resource for key, resource in named.items() if key.group == GROUP}


def _rules(kind: str, was: Resource, now: Resource, config: Config) -> Iterator[Result]:
    """Checks a change of one resource. The findings have no resource yet."""
    if kind in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
        yield from _keeps(_ENGINE, was, now)
        yield from check_releases_of_files(was, now, config)
        change = graph_updates.change(was, now)
        yield from graph_updates.check_nodes(change, config.orchestrator)
        if kind == dynamo_api.GRAPH:
            for rule in _OF_GRAPHS:
                yield from rule(change)
            yield from graph_updates.check_holder(change, config.orchestrator)
            made_with = render_mark.read(text(labels.annotations(now).get(labels.RENDERED_BY)))
            if release_choice.release(now, made_with or config).role_templates:
                yield from graph_updates.check_roles(change)
    elif kind == dynamo_api.MODEL:
        for fixed in _OF_MODELS:
            yield from _keeps(fixed, was, now)
    elif kind == dynamo_api.REQUEST:
        yield from _request(was, now)


def _keeps(fixed: _Fixed, was: Resource, now: Resource) -> Iterator[Result]:
    old, new = (mapping(resource.get("spec")).get(fixed.field) or fixed.default for resource in (was, now))
    if old != new:
        message = (
            f"{fixed.field} cannot change from {graph_updates.show_value(old)} to {graph_updates.show_value(new)}, because {fixed.reason}"
        )
        message += "; set it back, or make a resource with another name"
        yield results.error(fixed.code, message, path=("spec", fixed.field), current=new or None, proposed=old or None)


def _request(was: Resource, now: Resource) -> Iterator[Result]:
    """Warns of a changed request: the change has no effect if profiling has begun, which only the cluster knows."""
    version = results.ref(now).api_version.rpartition("/")[2]
    old, new = (mapping(resource.get("spec")) for resource in (versions.to(version, was), now))
    changed = [key for key in (*new, *old) if new.get(key) != old.get(key)]
    if changed:
        message = f"{changed[0]} was changed, and a request does not change once profiling has begun; make a request with another name"
        yield results.warning(codes.CHANGE_OF_RUNNING_REQUEST, message, path=("spec", changed[0]))


_OF_GRAPHS: tuple[Callable[[Change], Iterator[Result]], ...] = (
    graph_updates.check_services,
    graph_updates.check_replicas,
    graph_updates.check_claims,
    graph_updates.check_features,
)


def check_release(resource: Resource, old: str, new: str, *, is_pinned: bool) -> Iterator[Result]:
    """Yields a note if the two releases differ: at the image that decides, or at the spec if the configuration names the new release."""
    if old == new:
        return
    highest = runtime_version.of_resource(resource)
    path: Path = highest.path if highest and not is_pinned else ("spec",)
    message = f"the render follows {new} in place of {old}; to keep the release, set behaviour: {old} in the configuration"
    yield results.info(codes.GRAPH_MOVES_TO_OTHER_RELEASE, message, results.ref(resource), path)


def check_releases_of_files(was: Resource, now: Resource, config: Config) -> Iterator[Result]:
    """Yields the note for two states of a graph in files, with the configuration of the new state.

    A rendered graph names the release that its render followed.
    """
    names = (_rendered_release(resource) or release_choice.release_name(resource, config) for resource in (was, now))
    yield from check_release(now, *names, is_pinned=release_choice.is_pinned(config))


def _rendered_release(resource: Resource) -> str:
    config = render_mark.read(text(labels.annotations(resource).get(labels.RENDERED_BY)))
    return config.behaviour if config else ""
