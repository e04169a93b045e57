"""The strata of a component's pods: the fields of each origin, from the defaults to the enforced fields.

The order is the reference's (`internal/dynamo/graph.go` GenerateBasePodSpec). The engine changes the pod after all strata, because it may
rewrite the whole pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.kube import merge, names
from krm_fn.manifests import backends, components, env, volumes
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.types import Container, PodSpec
    from krm_fn.manifests.components import Component
    from krm_fn.plan import ComponentPlan

Origin = Literal["defaults", "user", "component", "account", "claims", "cache", "shared memory", "pull secrets", "engine"]
Part = Literal["pod", "container"]

MAIN = "main"
_FS_GROUP = 1000  # the group of the cache folders in the images


class Stratum(NamedTuple):
    """The fields that one origin gives to a pod and to its main container.

    The origin `user` is the user's pod; `component` are the fields beside it that describe its main container. An `enforced` stratum is
    added to the lower strata (`merge.added`). The defaults and the user's pod are merged (`merge.overlay`, `merge.container`).
    """

    origin: Origin
    pod: PodSpec
    container: Container
    enforced: bool = True


class Entry(NamedTuple):
    """The origin of one entry of a joined list, and its index in the list of that origin."""

    origin: Origin
    place: int


def layers(plan: ComponentPlan) -> tuple[Stratum, ...]:
    """The strata of a component's pods, lowest first: the defaults, the user's fields, the enforced fields. All roles have the same."""
    kind = components.get(plan.who.type)
    defaults = Stratum("defaults", kind.pod(plan), _default_container(plan, kind), enforced=False)
    return (defaults, _user(plan), *_enforced(plan, defaults.pod))


def joined(strata: Sequence[Stratum]) -> tuple[PodSpec, Container]:
    """The pod without its main container, and the main container. Later strata win."""
    defaults, user, *enforced = strata
    pod, container = merge.overlay(defaults.pod, user.pod), merge.container(defaults.container, user.container)
    return merge.added(pod, *(stratum.pod for stratum in enforced)), merge.added(container, *(stratum.container for stratum in enforced))


def entry(strata: Sequence[Stratum], part: Part, field: str, index: int) -> Entry:
    """The origin of an entry of a list. A list of the user replaces the default list; enforced strata append their entries."""
    entries: list[Entry] = []
    for stratum in strata:
        holder: Mapping[str, object] = stratum.pod if part == "pod" else stratum.container
        own = holder.get(field)
        marks = [Entry(stratum.origin, place) for place in range(len(own))] if isinstance(own, list) else []
        entries = [*entries, *marks] if stratum.enforced else marks or entries
    return entries[index] if index < len(entries) else Entry("engine", index - len(entries))


def get(strata: Sequence[Stratum], origin: Origin) -> Stratum:
    """The first stratum of an origin, or a stratum without fields."""
    return next((stratum for stratum in strata if stratum.origin == origin), Stratum(origin, {}, {}))


def _default_container(plan: ComponentPlan, kind: Component) -> Container:
    """The default main container of a component type, with the variables of all components."""
    default = kind.container(plan)
    common = [*env.platform(plan.config), *env.common(plan, plan.who.type, kind.facts(plan))]
    return {"name": MAIN, **default, "env": [*common, *(default.get("env") or ())]}


def _user(plan: ComponentPlan) -> Stratum:
    """The pod that the user wrote, without its containers. An empty service account counts as unset."""
    unset = () if plan.pod.spec.get("serviceAccountName") else ("serviceAccountName",)
    return Stratum("user", merge.without(plan.pod.spec, "containers", *unset), plan.pod.container, enforced=False)


def _enforced(plan: ComponentPlan, default: PodSpec) -> Iterator[Stratum]:
    """The strata above the user's pod. The user's own containers come before the main container."""
    yield Stratum("account", account(plan, default), {})
    yield Stratum("user", {"containers": plan.pod.spec.get("containers") or []}, {})
    yield Stratum("component", {}, _component(plan))
    if plan.pod.mounts:
        cache = backends.get(plan.placement.backend).cache_dir
        yield Stratum("claims", {"volumes": volumes.of_claims(plan)}, {"volumeMounts": volumes.mounts(plan, cache)})
    if plan.pod.shared_memory:
        yield Stratum("shared memory", *volumes.shared_memory(plan.pod.shared_memory))
    known = {secret.get("name") for secret in plan.pod.spec.get("imagePullSecrets") or ()}
    if found := [name for name in plan.pod.pull_secrets if name not in known]:
        yield Stratum("pull secrets", {"imagePullSecrets": [{"name": name} for name in found]}, {})


def account(plan: ComponentPlan, default: PodSpec) -> PodSpec:
    """The fsGroup and the service account, each unless a lower stratum sets it, and the fields that the component type enforces."""
    written = plan.pod.spec
    found: PodSpec = {}
    if written.get("securityContext") is None and default.get("securityContext") is None:
        found["securityContext"] = {"fsGroup": _FS_GROUP}
    if not written.get("serviceAccountName") and not default.get("serviceAccountName") and _discovers(plan):
        found["serviceAccountName"] = names.discovery(plan.who.graph)
    return {**found, **plan.pod.enforced}


def _discovers(plan: ComponentPlan) -> bool:
    """True if the pods use Kubernetes discovery, for which the graph creates a ServiceAccount."""
    return plan.placement.discovery == "kubernetes" and bool(plan.who.graph)


def _component(plan: ComponentPlan) -> Container:
    """The fields beside the user's pod that describe its main container."""
    facts = plan.pod
    found: Container = {}
    if facts.envs:
        found["env"] = list(facts.envs)
    if facts.liveness is not None:
        found["livenessProbe"] = facts.liveness
    if facts.readiness is not None:
        found["readinessProbe"] = facts.readiness
    if any(facts.resources.values()):
        found["resources"] = merge.without(facts.resources, *(side for side, amounts in facts.resources.items() if not amounts))
    if facts.env_from_secret:
        found["envFrom"] = [{"secretRef": {"name": facts.env_from_secret}}]
    return found
