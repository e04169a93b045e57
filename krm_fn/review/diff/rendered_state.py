"""One state of a comparison: the objects that a render makes, the resources and the configuration of the render, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.kubernetes.values import objects as objects_of
from krm_fn.render import dynamo_api, expand, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.dynamo_resources import is_expanded, owner_keys
from krm_fn.render.expand import KnownItems, PlannedResource
from krm_fn.render.function_config import is_config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve.cluster import default_namespace

StateName = Literal["old", "new"]
_OLD = codes.ERROR_IN_OLD_STATE
_LOST = codes.KUSTOMIZATION_LOST_FUNCTION


class ChangeOrigin(NamedTuple):
    """A line that makes a change, in the files of one state. `line` is 0 if only the file is known.

    `path` is that of the field that begins at the line; empty for none. `is_configuration`: the line configures the render.
    """

    state: StateName
    file: str
    line: int
    path: Path = ()
    is_configuration: bool = False


class Render(NamedTuple):
    """One of the two states that are compared.

    `objects` are the objects that reach the cluster, without the Dynamo resources that a render expands. `sources` are those of these
    resources that reach the cluster too. `inputs` are the resources from which the objects were made, and `config` the configuration of
    that render; `settings` is the resource that holds the configuration. `built` are the keys of the Dynamo resources whose objects no
    render of `inputs` made: those of finished builds and of clusters. `failed` are the keys of the Dynamo resources whose objects are not
    known. `is_partial` is true if a part of the state cannot be read, so that resources may be missing. `findings` are about `inputs`.
    `unlisted` are groups and kinds of which the export of a cluster has no object, so the cluster may have some.
    """

    objects: tuple[Resource, ...]
    inputs: tuple[Resource, ...]
    config: Config
    settings: Resource | None = None
    built: frozenset[ObjectKey] = frozenset()
    failed: frozenset[ObjectKey] = frozenset()
    is_partial: bool = False
    findings: tuple[Result, ...] = ()
    sources: tuple[Resource, ...] = ()
    unlisted: frozenset[tuple[str, str]] = frozenset()


def render(
    inputs: Sequence[Resource],
    config: Config,
    settings: Resource | None = None,
    file_findings: Iterable[Result] = (),
    known: KnownItems | None = None,
) -> Render:
    """Renders the state of some resources, with the first replicas of scaling adapters.

    `settings` is the resource that holds the configuration, and `known` has items of another state.

    A Dynamo resource whose objects are among the inputs, as in a finished build, is not rendered again: later layers may have changed
    the objects, and the configuration of the build is not known. `file_findings` are about the files of the state: an error about a Dynamo
    resource makes its objects unknown, and an error about the configuration makes all objects unknown. After any other error, the state may
    lack resources.
    """
    from krm_fn.review.arguments import argument_findings  # noqa: PLC0415 - the command render imports this module, and judges no flags

    state, planned = _render_state(inputs, config, settings, file_findings, known)
    of_builds = (resource for resource in inputs if identity.key(resource, default_namespace(config)) in state.built)
    commands = argument_findings.check([*planned, *_of_builds(of_builds, known)])
    return state._replace(findings=(*state.findings, *commands))


def render_objects(
    inputs: Sequence[Resource], config: Config, settings: Resource | None = None, file_findings: Iterable[Result] = ()
) -> Render:
    """Renders a state of which only the objects are needed: as `render`, without the findings about command lines."""
    return _render_state(inputs, config, settings, file_findings, None)[0]


def _render_state(
    inputs: Sequence[Resource],
    config: Config,
    settings: Resource | None,
    file_findings: Iterable[Result],
    known: KnownItems | None,
) -> tuple[Render, list[PlannedResource]]:
    """Returns the state of some resources, and the plans of those that it renders."""
    keyed = [(identity.key(resource, default_namespace(config)), resource) for resource in inputs]
    built = built_keys(inputs, config)
    finished = [resource for key, resource in keyed if not built.isdisjoint(owner_keys(resource, key.namespace))]
    remaining = [resource for key, resource in keyed if key not in built and built.isdisjoint(owner_keys(resource, key.namespace))]
    planned: list[PlannedResource] = []
    expansion = expand.expand(remaining, config, planned.append, known)
    applied = [resource for resource in (*expansion.resources, *finished) if not labels.is_local(resource)]
    rendered = (labels.without_tool_annotations(resource) for resource in applied if not is_expanded(resource))
    objects = tuple(_with_first_replicas(rendered, [resource for _, resource in keyed], default_namespace(config)))
    own = (resource for key, resource in keyed if key in built and not labels.is_local(resource))
    sources = (*filter(is_expanded, applied), *own)
    failed = frozenset(_failed_keys(remaining, expansion.results, default_namespace(config)))
    state = Render(objects, tuple(inputs), config, settings, built, failed, findings=tuple(expansion.results), sources=sources)
    return _with_errors(state, file_findings), planned


def _of_builds(resources: Iterable[Resource], known: KnownItems | None) -> Iterator[PlannedResource]:
    """Yields the plans of Dynamo resources of finished builds, with the settings that made them: their command lines are judged, too."""
    make_plan = known.plan if known else expand.plan
    for resource in resources:
        settings = render_mark.read(labels.annotations(resource).get(labels.RENDERED_BY, ""))
        if settings and (planned := make_plan(resource, settings)):
            yield planned


def _with_first_replicas(objects: Iterable[Resource], inputs: Iterable[Resource], namespace: str) -> Iterator[Resource]:
    """Yields the objects. A scaling adapter without replicas gets those of its graph, as the syncer writes them into a new adapter."""
    graphs = {identity.key(resource, namespace): resource for resource in inputs if results.ref(resource).kind == dynamo_api.GRAPH}
    for resource in objects:
        spec, key = mapping(resource.get("spec")), identity.key(resource, namespace)
        if key.kind == dynamo_api.ADAPTER and "replicas" not in spec:
            target = mapping(spec.get("dgdRef"))
            graph = graphs.get(key._replace(kind=dynamo_api.GRAPH, name=f"{target.get('name')}"), {})
            replicas = _component(graph, target.get("componentName", target.get("serviceName"))).get("replicas", 1)
            yield {**resource, "spec": {"replicas": replicas, **spec}}
        else:
            yield resource


def _component(graph: Resource, name: Any) -> dict[str, Any]:
    """Returns a component of a graph in its API version; an empty object if the graph does not have it."""
    services, components = (mapping(graph.get("spec")).get(field) for field in ("services", "components"))
    listed = next((component for component in objects_of(components) if component.get("name") == name), None)
    return mapping(mapping(services).get(name) if listed is None else listed)


def built_keys(inputs: Sequence[Resource], config: Config) -> frozenset[ObjectKey]:
    """Returns the keys of the Dynamo resources whose objects are among the inputs, as in a finished build."""
    keyed = [(identity.key(resource, default_namespace(config)), resource) for resource in inputs]
    expanded = {key for key, resource in keyed if is_expanded(resource)}
    generated = [(key, resource) for key, resource in keyed if ownership.is_generated(resource)]
    return frozenset(expanded.intersection(owner for key, resource in generated for owner in owner_keys(resource, key.namespace)))


def lost_objects(old: Sequence[Resource], new: Sequence[Resource], config: Config, folder: str) -> list[Result]:
    """Returns an error for each Dynamo resource whose objects the old build of a Kustomization has, and the new build has not.

    `old` and `new` are the resources that the builds print, and `folder` is that of the Kustomization. A render of the new build would
    make the objects, and hide that an apply of the build deletes them.
    """
    lost = built_keys(old, config) - built_keys(new, config)
    resources = [resource for resource in new if is_expanded(resource) and identity.key(resource, default_namespace(config)) in lost]
    return [results.error(_LOST, _lost_message(results.ref(resource), folder), results.ref(resource)) for resource in resources]


def _lost_message(ref: Ref, folder: str) -> str:
    problem = f"{folder} no longer builds the objects of {ref.kind} {ref.name}, because krm-fn does not run in it"
    return f"{problem}; list the DynamoRender under transformers"


def _with_errors(state: Render, findings: Iterable[Result]) -> Render:
    """Returns the state with the unknown objects and missing resources that errors about its files cause."""
    wrong = {finding.ref for finding in results.errors_of(findings)}
    refs = {results.ref(resource) for resource in state.inputs}
    namespace = default_namespace(state.config)
    keyed = {results.ref(resource): identity.key(resource, namespace) for resource in state.inputs if is_expanded(resource)}
    settings = {ref for ref in wrong if ref and (is_config(ref) or (state.settings and ref == results.ref(state.settings)))}
    failed = keyed.values() if settings else (key for ref, key in keyed.items() if ref in wrong)
    return state._replace(failed=state.failed.union(failed), is_partial=not wrong <= refs | settings)


def _failed_keys(inputs: Iterable[Resource], findings: Iterable[Result], namespace: str) -> Iterable[ObjectKey]:
    """Returns the keys of Dynamo resources with an error."""
    wrong = {result.ref for result in results.errors_of(findings)}
    return (identity.key(resource, namespace) for resource in inputs if is_expanded(resource) and results.ref(resource) in wrong)


def comparable_objects(state: Render, new: Render) -> dict[ObjectKey, Resource] | None:
    """Returns the objects of a state by their keys, with its Dynamo resources; None if less of it is known than of the new state."""
    if state.failed - new.failed or (state.is_partial and not new.is_partial):
        return None
    namespace = default_namespace(state.config)
    return {identity.key(resource, namespace): resource for resource in (*state.sources, *state.objects)}


def old_findings(findings: Iterable[Result]) -> Iterator[Result]:
    """Yields the errors about the old state as warnings, because a change may repair them. Its warnings and notes are left out."""
    for result in findings:
        if result.severity == "error":
            yield result._replace(severity="warning", code=_OLD, message=f"the old state has the error {result.code}: {result.message}")


def new_findings(findings: Iterable[Result], old: Render) -> list[Result]:
    """Returns the findings about the new state, without warnings and notes that the old state has too."""
    known = {result[1:5] for result in old.findings}
    return [result for result in findings if result.severity == "error" or result[1:5] not in known]
