"""Infers the settings of the operator from fields of live objects that the user did not write.

Each guess is rendered and compared with the live pod templates. The settings with the fewest differences win.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity, version
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.migration.adopt import declared_settings, migration_files, observed_settings, verification
from krm_fn.migration.adopt.exported_objects import ExportedObjects, templates_of
from krm_fn.migration.adopt.observed_settings import ObservedValue, Setting
from krm_fn.render import config, expand, labels
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.manifests import ingress, workloads
from krm_fn.render.resolve import cluster, release_choice

Spec = dict[str, Any]

_DEFAULTS: Mapping[Setting, str] = {
    ("mpiSecretName",): config.Config().mpi_secret_name,
    ("debuggerImage",): config.Config().debugger_image,
    ("ingress", "hostSuffix"): ingress.DEFAULT_SUFFIX,
    ("rbac", "plannerRole"): config.RbacSettings().planner_role,
    ("rbac", "eppRole"): config.RbacSettings().epp_role,
    ("grove", "kaiScheduler", "queue"): config.KaiSchedulerSettings().queue,
}
_BY_GRAPH = ""  # each graph has its own release
_DISCOVERY = ("kubernetes", "etcd")
_VERSIONS = (
    "1.5.0",
    "1.5.1",
    "1.6.0",
    "1.6.1",
    "1.6.2",
    "1.7.0",
    "1.4.0",
    "1.4.1",
    "1.4.2",
    "1.3.0",
    "1.3.1",
    "1.2.0",
    "1.2.1",
    "1.1.0",
    "1.0.0",
)
_SCHEDULERS = {"kai-scheduler": "kaiScheduler", "volcano": "volcanoScheduler"}


class InferredSettings(NamedTuple):
    """The `spec` of a DynamoRender, and findings about settings that cannot be known."""

    spec: Spec
    results: list[Result]


def settings(exported: ExportedObjects) -> InferredSettings:
    """Infers the settings with which a render makes the live pods."""
    releases, scored = _likely_releases(exported), _scorer(exported)
    guesses = list(_guesses(exported, releases, scored))
    best = _best(guesses, scored)
    if 0 < scored(best.spec).templates < inf:  # the version of the operator can make another release the right one
        of_releases = (_best([guess for guess in guesses if guess.spec["behaviour"] == release], scored) for release in releases)
        best = _best([guess._replace(spec=_with_worker_hash(guess.spec, exported, scored)) for guess in of_releases], scored)
    else:
        best = best._replace(spec=_with_worker_hash(best.spec, exported, scored))
    best = best._replace(spec={key: value for key, value in best.spec.items() if value != _BY_GRAPH})
    return best._replace(spec=_with_declared(best.spec, exported, scored))


def _with_declared(spec: Spec, exported: ExportedObjects, scored: Callable[[Spec], Score]) -> Spec:
    """Adds the settings that the operator declares and no live object shows, as long as they change no pod that runs."""
    for setting, value in declared_settings.parts(dict(exported.declared)):
        more = observed_settings.with_setting(spec, setting, value)
        is_new = not _has(spec, setting) and migration_files.settings(more) != migration_files.settings(spec)
        if is_new and scored(more) <= scored(spec):
            spec = more
    return spec


def _has(spec: Spec, setting: Setting) -> bool:
    """True if a setting is already known."""
    *above, last = setting
    return last in mapping(spec, *above)


def _guesses(exported: ExportedObjects, releases: Sequence[str], scored: Callable[[Spec], Score]) -> Iterator[InferredSettings]:
    """Yields the settings of each release and discovery, and ends with a likely release without a difference: nothing is better."""
    orchestrator = _orchestrator(exported)
    for release, discovery in product(releases, _DISCOVERY):
        guess = _complete_settings({"orchestrator": orchestrator, "behaviour": release, "discoveryBackend": discovery}, exported)
        yield guess
        if release == releases[0] and not any(scored(guess.spec)):
            return


def _orchestrator(exported: ExportedObjects) -> str:
    """The orchestrator whose object holds a whole graph, if such an object runs; else that of the single workloads."""
    kinds = {identity.key(resource)[:2] for resource in exported.live}
    whole = (name for name in sorted(WHOLE_GRAPH) if not kinds.isdisjoint(workloads.get(name).objects))
    return next(whole, config.Config().orchestrator)


def _scorer(exported: ExportedObjects) -> Callable[[Spec], Score]:
    """A function that scores settings, equal ones only once."""
    known: dict[str, Score] = {}

    def score_once(spec: Spec) -> Score:
        key = json.dumps(spec, sort_keys=True)
        if key not in known:
            known[key] = score(spec, exported)
        return known[key]

    return score_once


def _best(guesses: Sequence[InferredSettings], scored: Callable[[Spec], Score]) -> InferredSettings:
    """The guess whose render has the fewest differences from the live pods; the first one is of the likely release.

    If the graphs do not render under the likely release, another release must make pod templates that are the same.
    """
    scores = [scored(guess.spec) for guess in guesses]
    is_unlikely = [guess.spec["behaviour"] != guesses[0].spec["behaviour"] for guess in guesses]
    is_broken = all(item.errors for item, unlikely in zip(scores, is_unlikely, strict=True) if not unlikely)
    order = [(item.templates, is_broken and unlikely, item) for item, unlikely in zip(scores, is_unlikely, strict=True)]
    return guesses[order.index(min(order))]


def render_with_settings(spec: Spec, exported: ExportedObjects) -> expand.Expansion:
    """Expands the written resources with some settings."""
    return expand.expand([*exported.written, *exported.accounts], migration_files.settings(spec))


def _likely_releases(exported: ExportedObjects) -> tuple[str, ...]:
    """The releases that are tried: that of the graphs' annotations and version first, then those next to it, the older one first.

    Releases can make the same pods, so the first one of them is chosen. Graphs of two releases may need no setting.
    """
    likely, releases = sorted({_likely_release(item) for item in exported.written}), [*release_choice.RELEASES]
    distances = {name: min(abs(index - releases.index(one)) for one in likely) for index, name in enumerate(releases)}
    others = (release for release in sorted(releases, key=lambda name: distances[name]) if release not in likely)
    return (*likely, *others, _BY_GRAPH) if len(likely) > 1 else (*likely, *others)


def _likely_release(resource: Resource) -> str:
    """The release that the images choose, or a newer one whose operator created the graph: newer operators run older images."""
    origin = version.of_operator(text(labels.annotations(resource).get(labels.ORIGIN_VERSION))) or (0, 0, 0)
    created_by = release_choice.of_version(origin)
    return max(release_choice.release_name(resource, config.Config()), created_by, key=[*release_choice.RELEASES].index)


class Score(NamedTuple):
    """The differences of a render from the live pods: pod templates, errors of the render, and fields. Less is better."""

    templates: float
    errors: int
    fields: int


def score(spec: Spec, exported: ExportedObjects) -> Score:
    """Compares a render with the live pods. Without any pod template on either side, nothing is known, and the number is infinite."""
    expansion = render_with_settings(spec, exported)
    counts = verification.counts(expansion.resources, exported)
    return Score(counts.different if counts.total else inf, len(results.errors_of(expansion.results)), counts.fields)


def _complete_settings(shape: Spec, exported: ExportedObjects) -> InferredSettings:
    """Adds to the settings of one shape those that live objects show."""
    live = {identity.key(item, exported.namespace): item for item in exported.live}
    grove = {
        "terminationDelay": observed_settings.termination_delay(exported.live),
        "topologyAwareScheduling": observed_settings.topology_aware_scheduling(exported.live),
    }
    spec = {**shape, **({"grove": {key: value for key, value in grove.items() if value}} if any(grove.values()) else {})}
    resources = render_with_settings(observed_settings.with_markers(spec), exported).resources
    if schedulers := _schedulers(resources, exported):
        spec = {**spec, "grove": {**spec.get("grove", {}), **schedulers}}
        resources = render_with_settings(observed_settings.with_markers(spec), exported).resources
    findings: list[Result] = []
    observed = observed_settings.observed_values(resources, live)
    for setting in observed_settings.SETTINGS:
        values = Counter(item.value for item in observed.get(setting, ()))
        if not values:
            continue
        value = values.most_common(1)[0][0]
        if len(values) > 1:
            findings.append(_ambiguous(setting, observed[setting], value))
        if value != _DEFAULTS.get(setting):
            spec = observed_settings.with_setting(spec, setting, value)
    spec = _with_istio(spec, resources, exported, live)
    if secrets := _pull_secrets(spec, exported):
        spec["imagePullSecrets"] = secrets
    return InferredSettings(spec, findings)


def _schedulers(resources: Sequence[Resource], exported: ExportedObjects) -> Spec:
    """The schedulers that cliques have and their graphs do not name."""
    desired, actual = templates_of(resources, ""), templates_of(exported.live, exported.namespace)
    names = {actual[key].spec.get("schedulerName") for key in desired.keys() & actual.keys() if not desired[key].spec.get("schedulerName")}
    return {key: {"enabled": True} for name, key in _SCHEDULERS.items() if name in names}


def _with_istio(spec: Spec, resources: Sequence[Resource], exported: ExportedObjects, live: Mapping[identity.ObjectKey, Resource]) -> Spec:
    """Adds to the settings those of Istio. A render makes the objects of Istio only with these settings."""
    if not (spec.get("ingress") or {}).get("istioGateway") and (gateway := observed_settings.istio_gateway(resources, live)):
        spec = observed_settings.with_setting(spec, ("ingress", "istioGateway"), gateway)
    if not any(resource["kind"] == "DestinationRule" for resource in exported.live):
        return spec  # without a render
    with_mesh = render_with_settings({**spec, "serviceMesh": {"enabled": True}}, exported).resources
    mesh = observed_settings.service_mesh(with_mesh, live)
    return {**spec, "serviceMesh": mesh} if mesh else spec


def _pull_secrets(spec: Spec, exported: ExportedObjects) -> list[dict[str, str]]:
    """The pull secrets that pods have and their graphs do not name, by the registry of the main container's image, in their live order."""
    actual = templates_of(exported.live, exported.namespace)
    if not any(_secrets(template.spec) for template in actual.values()):
        return []  # without a render
    desired = templates_of(render_with_settings(spec, exported).resources, exported.namespace)
    names: dict[tuple[str, str], None] = {}
    for key in sorted(desired.keys() & actual.keys()):
        known = _secrets(desired[key].spec)
        more = [name for name in _secrets(actual[key].spec) if name not in known]
        names.update({(host, name): None for host in _registries(desired[key].spec) for name in more})
    return [{"registry": host, "name": name} for host, name in names]


def _secrets(pod: dict[str, Any]) -> list[str]:
    return [name_of(reference) for reference in objects(pod.get("imagePullSecrets"))]


def _registries(pod: dict[str, Any]) -> Iterator[str]:
    containers = objects(pod.get("containers"))
    for container in [container for container in containers if name_of(container) == "main"] or containers:
        if host := cluster.registry_host(text(container.get("image"))):
            yield host


def _with_worker_hash(spec: Spec, exported: ExportedObjects, scored: Callable[[Spec], Score]) -> Spec:
    """Adds to the settings those of worker revisions. The version of the operator is a part of the worker hash."""
    if not any(scored(spec)):
        return spec
    versions = [{**spec, "operatorVersion": name} for name in _VERSIONS]
    ordered = sorted(versions, key=lambda guess: version.core(guess["operatorVersion"]) or ())
    lowest, highest = _templates(ordered[0], exported), _templates(ordered[-1], exported)
    # Without a worker hash, or if each graph names its version, all versions make the same pods.
    return min([spec, *(versions if lowest != highest else ()), {**spec, "workerHash": "names"}], key=scored)


def _templates(spec: Spec, exported: ExportedObjects) -> tuple[Any, int]:
    """The pod templates of a render, and the number of its errors."""
    expansion = render_with_settings(spec, exported)
    return templates_of(expansion.resources, exported.namespace), len(results.errors_of(expansion.results))


def _ambiguous(setting: Setting, observed: Sequence[ObservedValue], chosen: str) -> Result:
    other = next(item for item in observed if item.value != chosen)
    name = ".".join(setting)
    message = (
        f"live objects have different values of {name}, and {chosen} is the most frequent; {other.holder} has {other.value}: write it "
        "into its graph, or adopt the graphs in two steps"
    )
    return results.warning(codes.CONFLICTING_LIVE_SETTINGS, message)
