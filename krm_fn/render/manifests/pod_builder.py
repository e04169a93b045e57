"""Builds the pods of components from layers. Each entry of a list keeps its origin: the layer that added it.

The release gives the order of the layers. Those of `Release.pod_layers` are the same for all roles of a component; those of
`Release.role_layers` begin with the engine, which changes the main container of each role.
Follows the operator's `internal/dynamo/graph.go` GenerateBasePodSpec.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import env, merge
from krm_fn.render import engines, names
from krm_fn.render.manifests import component_defaults, volumes
from krm_fn.render.manifests.pod_origins import EntryOrigin, Origins
from krm_fn.render.plan.facts import TOPOLOGY_VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krm_fn.kubernetes.native_types import Container, LocalObjectReference, PodSpec, Volume, VolumeMount
    from krm_fn.render.kinds.releases import PodLayer
    from krm_fn.render.plan import ComponentPlan, RolePlan

MAIN = "main"
"""The name of the main container.

Rule container.name: The main container has the name `main`. (operator: internal/dynamo/component_common.go)
"""
_FS_GROUP = 1000  # the group of the cache folders in the images
"""The group of a pod's files.

Rule pod.fs-group: A pod without a security context has the fsGroup 1000, which is the group of the cache folders in the images. (operator:
internal/dynamo/graph.go GenerateBasePodSpec)
"""


class Pod(NamedTuple):
    """The pod of one role. `main_at` is the index of the container that runs Dynamo."""

    role: RolePlan
    spec: PodSpec
    main_at: int

    @property
    def main(self) -> Container:
        """The container that runs Dynamo."""
        return self.spec["containers"][self.main_at]


class Pods(NamedTuple):
    """The pods of one component, one for each role.

    `main` is their main container before the engine changes it: that of the leader if each role has a pod template of its own.
    """

    plan: ComponentPlan
    main: Container
    roles: tuple[Pod, ...]
    origins: Origins


class Draft:
    """A pod that is being built. `before` is the main container before the engine changes it."""

    def __init__(self, plan: ComponentPlan, origins: Origins) -> None:
        self.plan = plan
        self.origins = origins
        self.pod: PodSpec = {}
        self.main: Container = {}
        self.before: Container = {}
        self.main_at = 0

    def with_main(self) -> Draft:
        """Returns a copy to which the layers of one role are added."""
        draft = Draft(self.plan, self.origins)
        draft.pod, draft.main, draft.before = self.pod, self.main, self.main
        return draft


def pods(plan: ComponentPlan, roles: Iterable[RolePlan]) -> Pods:
    """Builds the pods of one component, one for each of these roles."""
    origins = Origins()
    drafts = {name: _shared_draft(template, origins) for name, template in (plan.roles or {"": plan}).items()}
    first = next(iter(drafts.values()))
    built = tuple(_pod(drafts.get(role.role, first).with_main(), role) for role in roles)
    return Pods(plan, first.main, built, origins)


def _shared_draft(plan: ComponentPlan, origins: Origins) -> Draft:
    """Returns the part of a pod that all roles with this pod template share."""
    draft = Draft(plan, origins)
    for layer in plan.release.pod_layers:
        _POD_LAYERS[layer](draft)
    return draft


def _pod(draft: Draft, role: RolePlan) -> Pod:
    for layer in draft.plan.release.role_layers:
        if layer in _ROLE_LAYERS:
            _ROLE_LAYERS[layer](draft, role)
        else:
            _POD_LAYERS[layer](draft)
    return Pod(role, draft.pod, draft.main_at)


def _defaults(draft: Draft) -> None:
    """Starts the pod with the defaults of its component type.

    Rule container.variables: The variables of all components come before those of the component type. (operator: internal/dynamo/graph.go
    GenerateBasePodSpec)
    """
    plan = draft.plan
    if plan.features.sidecar_mode:
        draft.pod, draft.main = component_defaults.pod(plan), {"name": MAIN}
        return
    draft.pod, default = component_defaults.pod(plan), component_defaults.container(plan, plan.type, plan.defaults)
    common = component_defaults.common_variables(plan, plan.identity.type, plan.defaults)
    draft.main = {"name": MAIN, **default, "env": [*common, *(default.get("env") or ())]}
    draft.origins.record_all("defaults", draft.pod.get("volumes"), default.get("volumeMounts"))


def _user(draft: Draft) -> None:
    """Merges the fields of the user over the defaults. An empty service account counts as unset."""
    spec, main = draft.plan.pod.spec, draft.plan.pod.container
    unset = () if spec.get("serviceAccountName") else ("serviceAccountName",)
    draft.pod = merge.overlay(draft.pod, merge.without(spec, "containers", *unset))
    if draft.plan.features.sidecar_mode:
        from krm_fn.render.manifests import sidecars  # noqa: PLC0415 - few components run Dynamo beside an engine

        draft.pod, draft.main = sidecars.with_runtime(draft.plan, draft.pod), merge.overlay(draft.main, main)
        draft.origins.record_all("user", spec.get("volumes"), main.get("volumeMounts"))
        return
    draft.main = merge.container(draft.main, main) if draft.plan.release.merges_probes else _with_whole_probes(draft.plan, draft.main)
    draft.origins.record_all("user", spec.get("volumes"), main.get("volumeMounts"))


def _with_whole_probes(plan: ComponentPlan, default: Container) -> Container:
    """Returns the user's main container merged over the default one.

    Each probe of the user replaces the whole default probe.

    Rule container.merged-v1beta1: The container `main` of a v1beta1 pod template is merged over the default main container. (operator:
    internal/dynamo/graph.go GenerateBasePodSpec, mergeContainerByName)
    """
    user, has_variables = plan.pod.container, bool(plan.defaults.env)
    below = default if has_variables else merge.without(default, "env")  # the variables are the last field then
    merged = merge.overlay(below, merge.without(user, "name", "env", *merge.PROBES))
    for name in merge.PROBES:
        if user.get(name) is not None:
            merged[name] = user[name]
    merged["env"] = merge.envs(default["env"], user.get("env") or ())
    return merged


def _account(draft: Draft) -> None:
    """Adds the group of files and the ServiceAccount to the pod.

    The fields that the component type enforces override the user's.

    Rule pod.account: A pod has a group for its files and the account of Kubernetes discovery, unless the user or the component type sets
    them. (operator: internal/dynamo/graph.go GenerateBasePodSpec)
    """
    plan, pod = draft.plan, draft.pod
    added: PodSpec = {}
    if pod.get("securityContext") is None:
        added["securityContext"] = {"fsGroup": _FS_GROUP}
    if not pod.get("serviceAccountName") and plan.placement.discovery == "kubernetes" and plan.identity.graph:
        added["serviceAccountName"] = names.discovery(plan.identity.graph)
    draft.pod = {**pod, **added, **plan.pod.enforced}


def _sidecars(draft: Draft) -> None:
    """Adds the containers of the user beside the main container."""
    written = draft.plan.pod.spec.get("containers") or []
    draft.pod = {**draft.pod, "containers": written}
    draft.origins.record_all("user", written)


def _service_fields(draft: Draft) -> None:
    """Adds the fields of a v1alpha1 service to the main container.

    Rule container.service-fields: The variables, probes, resources and `envFromSecret` of a service win over the fields of its main
    container. (operator: internal/dynamo/graph.go GenerateBasePodSpec)
    """
    facts = draft.plan.pod
    added: Container = {}
    if facts.envs:
        added["env"] = list(facts.envs)
    if facts.liveness is not None:
        added["livenessProbe"] = facts.liveness
    if facts.readiness is not None:
        added["readinessProbe"] = facts.readiness
    if any(facts.resources.values()):
        added["resources"] = merge.without(facts.resources, *(side for side, amounts in facts.resources.items() if not amounts))
    if facts.env_from_secret:
        added["envFrom"] = [{"secretRef": {"name": facts.env_from_secret}}]
    draft.main = merge.append_fields(draft.main, added)


def _claims(draft: Draft) -> None:
    """Mounts the claims of a service into its main container."""
    plan = draft.plan
    if plan.pod.mounts:
        claims, mounts = volumes.of_claims(plan), volumes.mounts(plan, engines.get(plan.engine).cache_dir)
        draft.pod = {**draft.pod, "volumes": [*(draft.pod.get("volumes") or ()), *claims]}
        draft.main = {**draft.main, "volumeMounts": [*(draft.main.get("volumeMounts") or ()), *mounts]}
        draft.origins.record_all("claims", claims, mounts)


def _shared_memory(draft: Draft) -> None:
    """Adds shared memory. Since release 1.2, it replaces a volume of its name, and a mount of its name or in its folder.

    Rule pod.shared-memory-last: The volume for shared memory comes after the other volumes. (operator: internal/dynamo/graph.go
    GenerateBasePodSpec)
    """
    size, pod, main = draft.plan.pod.shared_memory, draft.pod, draft.main
    if not size:
        return
    volume, mount = volumes.shared_memory(size)
    listed, mounts = pod.get("volumes") or [], main.get("volumeMounts") or []
    if draft.plan.release.replaces_shared_memory:
        listed = [other for other in listed if other.get("name") != volume["name"]]
        mounts = [other for other in mounts if other.get("name") != mount["name"] and other.get("mountPath") != mount["mountPath"]]
    draft.pod, draft.main = {**pod, "volumes": [*listed, volume]}, {**main, "volumeMounts": [*mounts, mount]}
    for entry in (volume, mount):
        draft.origins.record(entry, EntryOrigin("shared memory", 0))


def _pull_secrets(draft: Draft) -> None:
    """Adds the pull secrets of the registries to the pod.

    Rule pod.pull-secrets: A pod has the pull secrets of the registries of its images, after those that the user names. (operator:
    internal/dynamo/graph.go GenerateBasePodSpec, internal/secrets/docker.go)
    """
    written = list(draft.pod.get("imagePullSecrets") or ())
    known = {secret.get("name") for secret in written}
    added: list[LocalObjectReference] = [{"name": name} for name in draft.plan.pod.pull_secrets if name not in known]
    if added:
        draft.pod = {**draft.pod, "imagePullSecrets": [*written, *added]}


def _cache_mount(draft: Draft) -> None:
    """Mounts the compilation cache into the main container."""
    cache = draft.plan.pod.cache
    if cache and cache.path:
        mounts = draft.main.get("volumeMounts") or ()
        draft.main = volumes.with_cache(draft.main, cache)
        for mount in draft.main["volumeMounts"]:
            if mount.get("name") == cache.name and not any(mount is other for other in mounts):
                draft.origins.record(mount, EntryOrigin("cache", 0))


def _cache_volume(draft: Draft) -> None:
    """Adds the volume of the compilation cache, unless a volume has its name."""
    cache, listed = draft.plan.pod.cache, draft.pod.get("volumes") or []
    if cache is not None and all(volume.get("name") != cache.name for volume in listed):
        draft.pod = {**draft.pod, "volumes": [*listed, _of_claim(draft, cache.name, _first_mounts(draft))]}


def _volume_order(draft: Draft) -> None:
    """Moves the volumes of the main container's mounts to the front, in their order.

    A mount without a volume gets a volume with the claim of its name. Volumes and containers of one name have the origin of the first, and
    so have equal mounts.

    Rule pod.volume-order: The volumes that the main container mounts come before the others, in the order of the mounts. (operator:
    internal/dynamo/graph.go GenerateBasePodSpec)
    """
    main, listed = draft.pod["containers"][draft.main_at], list(draft.pod.get("volumes") or ())
    mounts = main.get("volumeMounts") or []
    mounted = dict.fromkeys(mount["name"] for mount in mounts if mount.get("name"))
    by_name: dict[str, list[Volume]] = {}
    for volume in listed:
        by_name.setdefault(volume.get("name") or "", []).append(volume)
    first, written = [], _first_mounts(draft)
    for name in mounted:
        first += by_name.get(name) or [_of_claim(draft, name, written)]
    ordered = [*first, *(volume for volume in listed if volume.get("name") not in mounted)]
    if ordered:
        draft.pod = {**draft.pod, "volumes": ordered}
    draft.origins.inherit(ordered, ordered)
    draft.origins.inherit(draft.pod["containers"], draft.pod["containers"])
    equal: dict[str, VolumeMount] = {}
    for mount in mounts:
        first_equal = equal.setdefault(repr(sorted(mount.items())), mount)
        if first_equal is not mount:
            draft.origins.record(mount, draft.origins.of(first_equal))


def _first_mounts(draft: Draft) -> dict[str, int]:
    """Returns the index of the first mount of each name that the user wrote."""
    written: dict[str, int] = {}
    for index, mount in enumerate(draft.plan.pod.container.get("volumeMounts") or ()):
        written.setdefault(mount.get("name") or "", index)
    return written


def _of_claim(draft: Draft, name: str, written: dict[str, int]) -> Volume:
    """Returns a volume with the claim of its name, which a mount of the user (`written`) or the compilation cache names."""
    volume = volumes.of_claim(name)
    if name in written:
        draft.origins.record(volume, EntryOrigin("claims", written[name]))
    elif draft.plan.pod.cache and draft.plan.pod.cache.name == name:
        draft.origins.record(volume, EntryOrigin("cache", 0))
    return volume


def _main_first(draft: Draft) -> None:
    """Places the main container before the sidecars, of which one can be a frontend.

    Rule pod.main-first: The main container comes before the containers beside it. (operator: internal/dynamo/graph.go
    GenerateBasePodSpec)
    """
    plan = draft.plan
    containers = list(plan.pod.spec.get("containers") or ())
    if plan.features.frontend_sidecar:
        from krm_fn.render.manifests import sidecars  # noqa: PLC0415 - few components have a frontend beside them

        containers = [sidecars.with_frontend_defaults(plan, container, draft.before) for container in containers]
    draft.pod = {**draft.pod, "containers": [draft.main, *containers]}
    draft.origins.record_all("user", containers)


def _main_last(draft: Draft) -> None:
    """Places the main container after the sidecars."""
    sidecars = draft.pod["containers"]
    draft.pod, draft.main_at = {**draft.pod, "containers": [*sidecars, draft.main]}, len(sidecars)


def _topology_aliases(draft: Draft, role: RolePlan) -> None:
    """Adds the variables with the leader's host and the rank of the pod to the main container.

    They replace variables of the user.

    Rule env.topology-aliases: Since Dynamo 1.6, pods of one engine on several nodes have variables with the host of their leader and with
    their rank. (operator: internal/dynamo/graph.go GenerateBasePodSpec)
    """
    if draft.plan.placement.names_topology and not role.serves_memory:
        values = [(TOPOLOGY_VARIABLES[0], role.addressing.leader), (TOPOLOGY_VARIABLES[1], role.addressing.any_rank)]
        draft.main = {**draft.main, "env": merge.envs(draft.main.get("env") or (), env.values(values))}


def _engine(draft: Draft, role: RolePlan) -> None:
    """Lets the engine change the main container. The launch line of a role with a pod template of its own stays as it is."""
    engine = engines.get(draft.plan.engine)
    change = engine.launched_container if draft.plan.features.has_role_templates else engine.container
    draft.main = change(draft.main, role)


def _engine_pod(draft: Draft, role: RolePlan) -> None:
    """Lets the engine change the whole pod."""
    draft.pod = engines.get(draft.plan.engine).pod(draft.pod, role)


def _gpu_memory(draft: Draft, role: RolePlan) -> None:
    """Adds the GPU memory service. It can rewrite sidecars, which keep their names."""
    if draft.plan.features.gpu_memory is None:
        return
    from krm_fn.render.manifests import gpu_memory  # noqa: PLC0415 - few components share GPUs

    pod = draft.pod
    draft.pod = gpu_memory.add_gpu_memory(pod, role)
    draft.origins.inherit(draft.pod["containers"], pod["containers"])
    draft.origins.inherit(draft.pod.get("volumes") or (), pod.get("volumes") or ())


_POD_LAYERS: dict[PodLayer, Callable[[Draft], None]] = {
    "defaults": _defaults,
    "user": _user,
    "account": _account,
    "sidecars": _sidecars,
    "service_fields": _service_fields,
    "claims": _claims,
    "shared_memory": _shared_memory,
    "pull_secrets": _pull_secrets,
    "cache_mount": _cache_mount,
    "cache_volume": _cache_volume,
    "volume_order": _volume_order,
    "main_first": _main_first,
    "main_last": _main_last,
}
_ROLE_LAYERS: dict[PodLayer, Callable[[Draft, RolePlan], None]] = {
    "topology_aliases": _topology_aliases,
    "engine": _engine,
    "engine_pod": _engine_pod,
    "gpu_memory": _gpu_memory,
}
