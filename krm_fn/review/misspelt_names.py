"""Warns of names in a graph that are a slip of the pen away from what is beside it: objects, volumes, and plugins of endpoint pickers.

The claims of Jobs beside a graph are compared, too.
An object that is missing in the input may be in the cluster, from another repository or a controller. So a missing name alone is no
warning: only a name next to that of an object which the input does have, or one that `unread_objects` finds. A claim that a graph mounts
without saying so is a note. These are findings of `krm-fn check`. A render leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api, dynamo_references, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.manifests import volumes as shared_memory
from krm_fn.render.resolve import cluster, release_choice
from krm_fn.review import required_objects, unread_objects, written_pods
from krm_fn.review.unread_objects import UnreadObjects

_GENERATED = re.compile(r"-[2456789bcdfghkmt]{10}")
"""The end that kustomize gives the name of a generated ConfigMap or Secret (kustomize `api/hasher`)."""
_CODE, _UNDECLARED = codes.MISSPELT_NAME, codes.MISSING_CLAIM
_CHECKS_VOLUMES = "v0.9"
"""The release in which a mount without a volume is an error (DYN208)."""
_KINDS = (name_fields.CLAIM, name_fields.SECRET, name_fields.CONFIG_MAP, name_fields.RESOURCE_CLAIM, name_fields.RESOURCE_CLAIM_TEMPLATE)
_JOBS = ("CronJob", "Job")
_WORD_FOR_SECRET = re.compile(r"-secrets?$|^secrets?-")
_FROM = frozenset(("envFrom", "envFromSecret"))
_COMPONENT = 3
"""The length of the path of a component."""
_LEAST_LETTERS = 5
_MOST_PATHS = 20
"""The largest number of findings about one name."""
_WORDS_FOR_CLAIM = ("claim", "pvc", "volume")
_WORD_FOR_CLAIM = re.compile(r"-(?:claim|pvc|volume)$|^(?:claim|pvc|volume)-")
_DECLARED: Path = ("spec", "pvcs", paths.EVERY)
_CONTAINERS = ("containers", "initContainers")
_VOLUMES: tuple[Path, ...] = tuple(
    (*pod, "volumes", paths.EVERY)
    for pod in (
        *written_pods.PODS,
        ("spec", "template", "spec"),
        ("spec", "jobTemplate", "spec", "template", "spec"),
    )
)
_MOUNTS: tuple[Path, ...] = (
    ("volumeMounts", paths.EVERY),
    ("extraPodSpec", "mainContainer", "volumeMounts", paths.EVERY),
    *(
        (*pod, field, paths.EVERY, "volumeMounts", paths.EVERY)
        for pod in (("extraPodSpec",), ("podTemplate", "spec"))
        for field in _CONTAINERS
    ),
)
"""The mounts of a component: those of a v1alpha1 service, and those of its containers."""


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each misspelt name in Dynamo's resources that no render has made. Fields may have wrong types."""
    default = cluster.default_namespace(config)
    existing = {identity.key(resource, default) for resource in resources} | {*required_objects.promised_secrets(resources, default)}
    graphs = [resource for resource in resources if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource)]
    existing |= {*_claims(graphs, default, only_created=True)}
    declared = existing | {*_claims(graphs, default, only_created=False)}
    names_to_declare, names = _by_kind(existing), _by_kind(declared)
    unread = unread_objects.of(resources, _KINDS, default)
    volumes = _claims_of_volumes(resources, default)
    for graph in graphs:
        namespace = identity.key(graph, default).namespace
        for reference in dynamo_references.of(graph):
            key = ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name)
            is_declaration = reference.path[:2] == _DECLARED[:2]
            known = (names_to_declare if is_declaration else names).get(key[:3], {})
            if (reference.group, reference.kind) in _KINDS and not reference.is_optional and key.name not in known:
                near = spelling.nearest_name(reference.name, known) or (_near_claim(key, known) if not is_declaration else "")
                yield from _missing(graph, reference.path, key, near) if near else _unread(graph, reference.path, key, unread)
        yield from _other_secrets(graph, names.get((*name_fields.SECRET, namespace), {}))
        yield from _pull_secrets(graph, names.get((*name_fields.SECRET, namespace), {}))
        claims = names.get((*name_fields.CLAIM, namespace), {})
        unmounted = _only_one(
            (name_of(claim) for _, claim in paths.find(graph, (_DECLARED,)) if isinstance(claim, dict)),
            {
                name
                for _, component in paths.find(graph, written_pods.COMPONENTS)
                if isinstance(component, dict)
                for name in _mounted_by(component)
            },
        )
        is_mounted = release_choice.release_name(graph, config) != _CHECKS_VOLUMES
        for path, component in paths.find(graph, written_pods.COMPONENTS):
            if isinstance(component, dict):
                yield from _check_declared(graph, path, component, claims, unmounted)
                if is_mounted:
                    yield from _mounts(graph, path, component, claims, volumes.get(namespace, {}))
                yield from _plugins(graph, path, component)
    yield from _of_jobs(resources, names, default)


def _other_secrets(graph: Resource, known: Collection[str]) -> Iterator[Result]:
    """Finds Secrets with the variables of workers whose names differ in the word for a Secret alone: `hf-token` and `hf-token-secret`.

    The name of an object of the input is right. Else that which more components read is right, or else the longer one. This is a note,
    because both may be in the cluster.
    """
    read: dict[str, dict[str, list[Path]]] = {}
    for reference in dynamo_references.of(graph):
        is_secret = (reference.group, reference.kind) == name_fields.SECRET and not reference.is_optional
        if is_secret and not _FROM.isdisjoint(reference.path) and written_pods.is_worker(paths.at(graph, reference.path[:_COMPONENT])):
            read.setdefault(_WORD_FOR_SECRET.sub("", reference.name), {}).setdefault(reference.name, []).append(reference.path)
    for alike in read.values():
        right = max(alike, key=lambda name: (name in known, len(alike[name]), len(name)))
        for name, fields in alike.items():
            if name != right and name not in known and not _is_slip_of(name, known):
                problem = f"the graph reads the Secrets {right} and {name}, and their names differ in one word"
                fix = f"write {right}, or ignore {_CODE} if both exist"
                for path in fields[:_MOST_PATHS]:
                    yield results.info(_CODE, f"{problem}; {fix}", results.ref(graph), path, current=name)


def _pull_secrets(graph: Resource, known: Collection[str]) -> Iterator[Result]:
    """Finds a pull secret of one component with a slip in the name that others of its components have."""
    read: dict[str, list[Path]] = {}
    for reference in dynamo_references.of(graph):
        if (reference.group, reference.kind) == name_fields.SECRET and "imagePullSecrets" in reference.path:
            read.setdefault(reference.name, []).append(reference.path)
    names = sorted(read, key=lambda name: -len(read[name]))  # of two that are as frequent, the first one is right
    for number, name in enumerate(names):
        fields, others = read[name], names[:number]
        near = spelling.nearest_name(name, others) or next((other for other in others if _is_one_letter_off(name, other)), "")
        if near and name not in known and not _is_slip_of(name, known):
            message = f"the graph pulls images with the Secret {name} here, and with {near} elsewhere; write {near}"
            for path in fields[:_MOST_PATHS]:
                yield from _finding(graph, path, near, f"{message}, or ignore {_CODE} if both exist", name)


def _is_one_letter_off(name: str, other: str) -> bool:
    """True for a long name with a letter more or less, or with two letters in another order."""
    is_long = min(len(name), len(other)) > _LEAST_LETTERS
    return is_long and spelling.is_slip(name, other) and (len(name) != len(other) or sorted(name) == sorted(other))


def _is_slip_of(name: str, known: Collection[str]) -> bool:
    """True for a name that has a finding of its own."""
    return bool(spelling.nearest_name(name, known))


def _of_jobs(resources: Iterable[Resource], names: Mapping[tuple[str, str, str], Collection[str]], default: str) -> Iterator[Result]:
    """Finds claims of Jobs beside a graph, such as those that download its model, that mean a claim of the input.

    Such a name is a slip, or it has one word for a claim more or less: `model-cache` and `model-cache-pvc`.
    """
    for resource in resources:
        namespace = identity.key(resource, default).namespace
        claims = names.get((*name_fields.CLAIM, namespace), ()) if resource.get("kind") in _JOBS else ()
        for reference in dynamo_references.of(resource) if claims else ():
            if (reference.group, reference.kind) == name_fields.CLAIM and reference.name not in claims:
                key = ObjectKey(*name_fields.CLAIM, namespace, reference.name)
                near = spelling.nearest_name(reference.name, claims) or _near_claim(key, claims)
                yield from _missing(resource, reference.path, key, near) if near else ()


def _near_claim(key: ObjectKey, claims: Collection[str]) -> str:
    """Returns the only claim whose name has one word for a claim more or less; empty without one, and for other kinds."""
    plain = _WORD_FOR_CLAIM.sub("", key.name) if (key.group, key.kind) == name_fields.CLAIM else ""
    longer = [name for word in _WORDS_FOR_CLAIM for name in (f"{plain}-{word}", f"{word}-{plain}") if name in claims]
    alike = [plain] if plain in claims else longer if plain else []
    return alike[0] if len(alike) == 1 else ""


def _missing(graph: Resource, path: Path, key: ObjectKey, near: str, unread: str = "") -> Iterator[Result]:
    problem = f"{key.kind} {key.name} is not in the input, but {near} is{unread}"
    if _GENERATED.fullmatch(near.removeprefix(key.name)):
        fix = "set disableNameSuffixHash: true in the options of its generator, or add a nameReference for this field (configurations)"
        yield results.warning(_CODE, f"{problem}, with the hash of kustomize; {fix}", results.ref(graph), path, current=key.name)
        return
    yield from _finding(graph, path, near, f"{problem}; write {near}, or ignore {_CODE} if {key.name} exists too", key.name)


def _unread(graph: Resource, path: Path, key: ObjectKey, unread: UnreadObjects) -> Iterator[Result]:
    """Finds a name that means an object which nothing reads. A graph without a namespace may get that of the object.

    An object without a namespace beside a render gets its namespace where it is applied, for example from Argo CD.
    """
    is_placed = bool(identity.key(graph).namespace)
    is_unplaced = is_placed and labels.RENDERED_BY not in labels.annotations(graph)
    namespace = unread.namespace_of(key) if is_placed else ""
    if namespace or (is_unplaced and (key.group, key.kind, key.name) in unread.unplaced):
        where = f"is in namespace {namespace} of the input" if namespace else "has no namespace in the input"
        problem = f"{key.kind} {key.name} {where}, and pods read it in {key.namespace} only"
        fix = f"write namespace: {key.namespace} in the {key.kind}, or ignore {_CODE} if it exists there too"
        yield results.warning(_CODE, f"{problem}; {fix}", results.ref(graph), path, current=key.name)
    else:
        yield from _missing(graph, path, key, unread.name_of(key), ", which nothing reads")


def _claims(graphs: Iterable[Resource], default: str, *, only_created: bool) -> Iterator[ObjectKey]:
    """Yields the claims that graphs create, or that they declare."""
    for graph in graphs:
        for _, claim in paths.find(graph, (_DECLARED,)):
            if isinstance(claim, dict) and (not only_created or claim.get("create") is True):
                yield ObjectKey(*name_fields.CLAIM, identity.key(graph, default).namespace, text(claim.get("name")))


def _by_kind(keys: Iterable[ObjectKey]) -> dict[tuple[str, str, str], dict[str, None]]:
    """Returns the sorted names of objects by group, kind and namespace. The names are keys, so that one is found at once."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for key in sorted(keys):
        names.setdefault(key[:3], {})[key.name] = None
    return names


def _check_declared(graph: Resource, path: Path, component: dict[str, Any], claims: Collection[str], unmounted: str) -> Iterator[Result]:
    """Finds mounts of a v1alpha1 service whose claim the graph does not declare: its pods mount a claim of this name all the same.

    `unmounted` is the only claim that the graph declares and no service mounts; empty without one.
    """
    for index, mount in enumerate(objects(component.get("volumeMounts")) if path[-1] != "spec" else ()):
        if (name := name_of(mount)) and name not in claims:
            message = f"main mounts a claim {name}, which the graph does not declare and the input does not have"
            at = (*path, "volumeMounts", index, "name")
            if unmounted:
                other = f"{message}, and no service mounts {unmounted}, which it declares; write {unmounted}, or declare {name}"
                yield from _finding(graph, at, unmounted, other, name)
                continue
            fix = f"add name: {name} and create: false to spec.pvcs if the claim exists"
            created = "or with create: true, storageClass, size and volumeAccessMode"
            yield results.info(_UNDECLARED, f"{message}; {fix}, {created}", results.ref(graph), at, current=name)


def _claims_of_volumes(resources: Iterable[Resource], default: str) -> dict[str, dict[str, set[str]]]:
    """Returns the claims behind the volumes of all pods of the input, by namespace and by the name of the volume."""
    found: dict[str, dict[str, set[str]]] = {}
    for resource in resources:
        for _, volume in paths.find(resource, _VOLUMES):
            if isinstance(volume, dict) and (claim := text(mapping(volume, "persistentVolumeClaim").get("claimName"))):
                found.setdefault(identity.key(resource, default).namespace, {}).setdefault(name_of(volume), set()).add(claim)
    return found


def _mounts(
    graph: Resource, path: Path, component: dict[str, Any], claims: Collection[str], elsewhere: Mapping[str, set[str]]
) -> Iterator[Result]:
    """Finds mounts of `main` without a volume of the pod: since 1.0, `main` mounts the claim of this name.

    The operator does so in its conversion to v1alpha1 (api/v1alpha1/dynamographdeployment_conversion.go). `elsewhere` are the claims of
    the volumes of other pods by the name of the volume: such a volume is forgotten here.
    """
    of_pod, volumes = _main_mounts(component)
    mounted = {*map(name_of, objects(component.get("volumeMounts"))), shared_memory.SHARED_MEMORY}
    unmounted = _only_one(volumes, _mounted_by(component)) if of_pod else ""
    for field, mount in of_pod:
        name = name_of(mount)
        if name and name not in volumes and name not in claims and name not in mounted:
            near = spelling.nearest_name(name, (*volumes, *claims)) or unmounted
            problem = f"the pod has no volume {name}, so main mounts a claim {name}, which is not in the input"
            yield from _finding(
                graph, (*path, *field, "name"), near, f"{problem}; write {near}, or ignore {_CODE} if the claim exists", name
            )
            if not near and len(others := [*elsewhere.get(name, ())]) == 1:
                message = f"{problem}; add the volume {name} with persistentVolumeClaim.claimName: {others[0]}, as another pod has it"
                yield results.warning(_UNDECLARED, message, results.ref(graph), (*path, *field, "name"), current=name)
            elif not near:
                message = f"{problem}; add the volume {name} to volumes, or the claim to the input"
                yield results.info(_UNDECLARED, message, results.ref(graph), (*path, *field, "name"), current=name)


def _only_one(names: Iterable[str], used: Collection[str]) -> str:
    """Returns the only name that nothing uses; empty if there are several."""
    unused = [name for name in names if name and name not in used]
    return unused[0] if len(unused) == 1 else ""


def _mounted_by(component: dict[str, Any]) -> set[str]:
    """Returns the names of the volumes that any container of a component mounts."""
    mounts = paths.find(component, _MOUNTS)
    return {name_of(mount) for _, mount in mounts if isinstance(mount, dict)}


def _main_mounts(component: dict[str, Any]) -> tuple[list[tuple[Path, dict[str, Any]]], dict[str, None]]:
    """Returns the mounts of `main` with their paths below the component, and the names of the pod's volumes."""
    template, extra = mapping(component, "podTemplate", "spec"), mapping(component, "extraPodSpec")
    mains: list[tuple[Path, dict[str, Any]]] = [
        (("podTemplate", "spec", "containers", at), container)
        for at, container in enumerate(objects(template.get("containers")))
        if container.get("name") == "main"
    ]
    mains.append((("extraPodSpec", "mainContainer"), mapping(extra, "mainContainer")))
    mounts = [
        ((*path, "volumeMounts", index), mount) for path, main in mains for index, mount in enumerate(objects(main.get("volumeMounts")))
    ]
    return mounts, dict.fromkeys(name_of(volume) for pod in (template, extra) for volume in objects(pod.get("volumes")))


def _plugins(graph: Resource, path: Path, component: dict[str, Any]) -> Iterator[Result]:
    """Finds plugins of scheduling profiles that the configuration of an endpoint picker does not have. The picker ends at its start.

    A plugin without a name has the name of its type (Gateway API Inference Extension, pkg/epp/config/loader: `applyStaticDefaults` in
    defaults.go, and `buildSchedulerConfig` in configloader.go).
    """
    config = mapping(component, "eppConfig", "config")
    plugins = [name_of(plugin) or text(plugin.get("type")) for plugin in objects(config.get("plugins"))]
    types = [text(plugin.get("type")) for plugin in objects(config.get("plugins"))]
    for inner, name in paths.find(config, (("schedulingProfiles", paths.EVERY, "plugins", paths.EVERY, "pluginRef"),)):
        if isinstance(name, str) and name not in plugins:
            of_type = [plugin for plugin, kind in zip(plugins, types, strict=True) if kind == name]
            near = spelling.nearest_name(name, plugins) or (of_type[0] if len(of_type) == 1 else "")
            message = f"this configuration has no plugin {name}; write {near}, or add the plugin"
            yield from _finding(graph, (*path, "eppConfig", "config", *inner), near, message, name)


def _finding(graph: Resource, path: Path, near: str, message: str, name: str) -> Iterator[Result]:
    if near:
        yield results.warning(_CODE, message, results.ref(graph), path, current=name, proposed=near)
