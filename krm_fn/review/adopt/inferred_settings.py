"""Infers the settings of the operator from what runs and the user did not write.

Each guess is rendered and compared with the live pod templates. The settings with the fewest differences win.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

from krm_fn import config, expand, results
from krm_fn.kube import identity
from krm_fn.kube.values import mapping, name_of, objects, text
from krm_fn.manifests import ingress
from krm_fn.records import NamedTuple
from krm_fn.resolve import cluster, release_choice
from krm_fn.review.adopt import exported_pods, istio, marks, migration_documents, verification

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.adopt.exported_objects import Inventory
    from krm_fn.review.adopt.marks import Setting

Spec = dict[str, Any]

_DEFAULTS: Mapping[Setting, str] = {
    ("mpiSecretName",): config.Config().mpi_secret_name,
    ("debuggerImage",): config.Config().debugger_image,
    ("ingress", "hostSuffix"): ingress.DEFAULT_SUFFIX,
    ("rbac", "plannerRole"): config.RbacSettings().planner_role,
    ("rbac", "eppRole"): config.RbacSettings().epp_role,
    ("grove", "kaiScheduler", "queue"): config.KaiSchedulerSettings().queue,
}
_BY_GRAPH = ""  # each graph says its release
_DISCOVERY = ("kubernetes", "etcd")
_VERSIONS = ("1.5.0", "1.4.0", "1.3.0", "1.2.0", "1.1.0", "1.0.0")
_DELAYS = ("15m", "15m0s")
_SCHEDULERS = {"kai-scheduler": "kaiScheduler", "volcano": "volcanoScheduler"}


class Inferred(NamedTuple):
    """The `spec` of a DynamoRender, and findings about settings that cannot be known."""

    spec: Spec
    results: list[Result]


def settings(inventory: Inventory) -> Inferred:
    """The settings with which a render makes the live pods."""
    shape = {"orchestrator": "grove" if any(item.get("kind") == "PodCliqueSet" for item in inventory.live) else "deployment"}
    shapes = [
        {**shape, "behaviour": release, "discoveryBackend": discovery}
        for release, discovery in product(_likely_releases(inventory), _DISCOVERY)
    ]
    best = _best([_completed(item, inventory) for item in shapes], inventory)
    spec = _with_generation(best.spec, inventory)
    return best._replace(spec={key: value for key, value in spec.items() if value != _BY_GRAPH})


def _best(guesses: Sequence[Inferred], inventory: Inventory) -> Inferred:
    """The guess that comes nearest to what runs; the first one is of the likely release.

    If the graphs do not render under the likely release, another release must make pod templates that are the same.
    """
    best = [misses(guess.spec, inventory) for guess in guesses]
    others = [guess.spec["behaviour"] != guesses[0].spec["behaviour"] for guess in guesses]
    is_broken = all(item.errors for item, other in zip(best, others, strict=True) if not other)
    order = [(item.templates, is_broken and other, item) for item, other in zip(best, others, strict=True)]
    return guesses[order.index(min(order))]


def rendered(spec: Spec, inventory: Inventory) -> expand.Expansion:
    """The expansion of the written resources with some settings."""
    return expand.expand([*inventory.written, *inventory.accounts], migration_documents.settings(spec))


def _likely_releases(inventory: Inventory) -> tuple[str, ...]:
    """The releases that are tried: that of the graphs' annotations and version first. Graphs of two releases may need no setting."""
    likely = sorted({release_choice.release_name(item, config.Config()) for item in inventory.written})
    others = (release for release in release_choice.RELEASES if release not in likely)
    return (*likely, *others, _BY_GRAPH) if len(likely) > 1 else (*likely, *others)


class Misses(NamedTuple):
    """How far a render is from what runs: pod templates that differ, errors of the render, and fields that differ. Less is better."""

    templates: float
    errors: int
    fields: int


def misses(spec: Spec, inventory: Inventory) -> Misses:
    """Compares a render with what runs. Without any pod template on either side, nothing is known, and the number is infinite."""
    expansion = rendered(spec, inventory)
    comparison = verification.compare(expansion.resources, inventory)
    errors = sum(item.severity == "error" for item in expansion.results)
    return Misses(
        len(comparison.differences) if comparison.total else inf, errors, sum(len(item.fields) for item in comparison.differences)
    )


def _completed(shape: Spec, inventory: Inventory) -> Inferred:
    """The settings of one shape with all that live objects say about the others."""
    live = {identity.key(item, inventory.namespace): item for item in inventory.live}
    spec = {**shape, **_grove(inventory)}
    resources = rendered(marks.marked(spec), inventory).resources
    if schedulers := _schedulers(resources, inventory):
        spec = {**spec, "grove": {**spec.get("grove", {}), **schedulers}}
        resources = rendered(marks.marked(spec), inventory).resources
    findings: list[Result] = []
    seen = marks.sightings(resources, live)
    for setting in marks.SETTINGS:
        values = Counter(item.value for item in seen.get(setting, ()))
        if not values:
            continue
        value = values.most_common(1)[0][0]
        if len(values) > 1:
            findings.append(_ambiguous(setting, seen[setting], value))
        if value != _DEFAULTS.get(setting):
            spec = marks.with_setting(spec, setting, value)
    spec = _with_istio(spec, resources, inventory, live)
    if secrets := _pull_secrets(spec, inventory):
        spec["imagePullSecrets"] = secrets
    return Inferred(spec, findings)


def _grove(inventory: Inventory) -> Spec:
    sets = [mapping(item.get("spec")) for item in inventory.live if item.get("kind") == "PodCliqueSet"]
    delays = [delay for item in sets if (delay := text(mapping(item.get("template")).get("terminationDelay")))]
    return {"grove": {"terminationDelay": delays[0]}} if delays and delays[0] not in _DELAYS else {}


def _schedulers(resources: Sequence[Resource], inventory: Inventory) -> Spec:
    """The schedulers that cliques have and their graphs do not name."""
    wanted, actual = exported_pods.templates_of(resources, ""), exported_pods.templates_of(inventory.live, inventory.namespace)
    both = [(wanted[template], actual[template]) for template in wanted.keys() & actual.keys()]
    names = {live.spec.get("schedulerName") for ours, live in both if not ours.spec.get("schedulerName")}
    return {key: {"enabled": True} for name, key in _SCHEDULERS.items() if name in names}


def _with_istio(spec: Spec, resources: Sequence[Resource], inventory: Inventory, live: Mapping[identity.ObjectKey, Resource]) -> Spec:
    """The settings with those of Istio. A render makes its objects only with these settings."""
    if not (spec.get("ingress") or {}).get("istioGateway") and (gateway := istio.gateway(resources, live)):
        spec = marks.with_setting(spec, ("ingress", "istioGateway"), gateway)
    meshed = rendered({**spec, "serviceMesh": {"enabled": True}}, inventory).resources
    mesh = istio.mesh(meshed, live)
    return {**spec, "serviceMesh": mesh} if mesh else spec


def _pull_secrets(spec: Spec, inventory: Inventory) -> list[dict[str, str]]:
    """The pull secrets that pods have and their graphs do not name, by the registry of the main container's image, in their live order."""
    wanted = exported_pods.templates_of(rendered(spec, inventory).resources, inventory.namespace)
    actual = exported_pods.templates_of(inventory.live, inventory.namespace)
    names: dict[tuple[str, str], None] = {}
    for template in sorted(wanted.keys() & actual.keys()):
        known = _secrets(wanted[template].spec)
        more = [name for name in _secrets(actual[template].spec) if name not in known]
        names.update({(host, name): None for host in _registries(wanted[template].spec) for name in more})
    return [{"registry": host, "name": name} for host, name in names]


def _secrets(pod: dict[str, Any]) -> list[str]:
    return [name_of(reference) for reference in objects(pod.get("imagePullSecrets"))]


def _registries(pod: dict[str, Any]) -> Iterator[str]:
    containers = objects(pod.get("containers"))
    for item in [item for item in containers if name_of(item) == "main"] or containers:
        if host := cluster.registry_host(text(item.get("image"))):
            yield host


def _with_generation(spec: Spec, inventory: Inventory) -> Spec:
    """The settings with those of worker generations. The version of the operator is a part of the worker hash."""
    if not any(misses(spec, inventory)):
        return spec
    guesses = [
        *({**spec, "operatorVersion": version} for version in _VERSIONS),
        {**spec, "workerHash": "names"},
        {**spec, "workerHash": "none"},
    ]
    return min([spec, *guesses], key=lambda guess: misses(guess, inventory))


def _ambiguous(setting: Setting, seen: list[marks.Sighting], chosen: str) -> Result:
    others = next(item for item in seen if item.value != chosen)
    name = ".".join(setting)
    message = (
        f"live objects have different values of {name}, and {chosen} is the most frequent; {others.where} has {others.value}: write it "
        "into its graph, or adopt the graphs in two steps"
    )
    return results.warning("DYN571", message)
