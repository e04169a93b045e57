"""Warns of annotations that Dynamo does not read as their author means: misspelt keys, other values, and keys at another level.

The operator ignores them silently. Sources: internal/consts/consts.go for the keys, and the functions that read their values:
internal/controller/dynamocomponentdeployment_controller.go (strategies, debug modes, pull secrets), internal/dynamo/graph.go (discovery
backend, metrics) and internal/controller/dynamographdeployment_controller.go (Grove). These are findings of `krm-fn check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership

_KINDS = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
_METADATA: Path = ("metadata", "annotations")
_TEMPLATE: Path = ("podTemplate", "metadata", "annotations")
_OF_COMPONENTS: tuple[Path, ...] = tuple(
    (*component, *below)
    for component in (("spec", "services", EVERY), ("spec", "components", EVERY), ("spec", "components", EVERY, "roles", EVERY), ("spec",))
    for below in (("annotations",), ("extraPodMetadata", "annotations"), _TEMPLATE)
)
_ONLY_GRAPHS = (labels.ENABLE_GROVE, labels.KAI_QUEUE_NAME, labels.VOLCANO_QUEUE_NAME, labels.GROVE_UPDATE_STRATEGY)
_ONLY_COMPONENTS = (labels.STRATEGY, labels.MAX_SURGE, labels.MAX_UNAVAILABLE, labels.NO_PULL_SECRETS)
_BY_AUTHORS = (
    *_ONLY_GRAPHS,
    *_ONLY_COMPONENTS,
    *(labels.DISCOVERY_BACKEND, labels.DISCOVERY_MODE, labels.ENABLE_METRICS, labels.EXECUTOR_BACKEND, labels.DEBUG, labels.STEALING_DEBUG),
)
"""The annotations that authors write."""
_KNOWN = {value for name, value in vars(labels).items() if name.isupper() and isinstance(value, str)}
_DOMAIN = "nvidia"
_BOOLEANS = ("true", "false")
_OFF = ("false", "no", "off", "0", "n", "f", "disabled", "disable", "none")
_ON = ("true", "yes", "on", "1", "y", "t", "enabled", "enable")
_MEANT: dict[str, dict[str, tuple[str, ...]]] = {
    labels.ENABLE_METRICS: {"false": _OFF},
    labels.NO_PULL_SECRETS: {"true": _ON},
    labels.DEBUG: {"true": _ON},
    labels.STEALING_DEBUG: {"true": _ON},
    labels.STRATEGY: {"RollingUpdate": ("rollingupdate", "rolling"), "Recreate": ("recreate",)},
    labels.DISCOVERY_BACKEND: {"kubernetes": ("kubernetes", "k8s", "kube"), "etcd": ("etcd",)},
}
"""The only values that each annotation has an effect with, each with the words in small letters that mean it."""
_SHORTEST = 4
"""The shortest word of which another one can be a slip: `on` is none for `no`."""
_ANY_CASE: dict[str, dict[str, tuple[str, ...]]] = {labels.ENABLE_GROVE: {"false": _OFF}}
"""The same for an annotation whose value counts in any case."""


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the warnings about each graph and component that no render has made. Fields may have wrong types."""
    for resource in resources:
        if resource.get("kind") in _KINDS and dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            ref = results.ref(resource)
            for path, annotations in paths.find(resource, (_METADATA, *_OF_COMPONENTS)):
                for key, value in annotations.items() if isinstance(annotations, dict) else ():
                    if isinstance(key, str) and isinstance(value, str):
                        yield from _of_annotation(ref, (*path, key), key, value)


def _of_annotation(ref: Ref, path: Path, key: str, value: str) -> Iterator[Result]:
    if key not in _KNOWN:
        if near := _near_key(key):
            message = f"Dynamo reads no annotation {key}; write {near}"
            yield results.warning(codes.UNREAD_ANNOTATION, message, ref, path)
    elif ref.kind == dynamo_api.GRAPH and key in _ONLY_GRAPHS and path[:-1] != _METADATA:
        message = "Dynamo reads this annotation of graphs alone, so it has no effect here; write it under metadata.annotations of the graph"
        yield results.warning(codes.UNREAD_ANNOTATION, message, ref, path)
    elif ref.kind == dynamo_api.GRAPH and key in _ONLY_COMPONENTS and path[:-1] == _METADATA:
        is_v1alpha1 = ref.api_version == dynamo_api.V1ALPHA1
        level = "annotations of a service" if is_v1alpha1 else "podTemplate.metadata.annotations of a component"
        message = f"Dynamo reads this annotation of components alone, so it has no effect here; write it under {level}"
        yield results.warning(codes.UNREAD_ANNOTATION, message, ref, path)
    elif meant := _meant_value(key, value):
        written = f'"{meant}"' if meant in _BOOLEANS else meant  # YAML reads the word without quotes as another type
        message = f"Dynamo does not know the value {value!r} of this annotation; write {written}"
        yield results.warning(codes.UNREAD_ANNOTATION, message, ref, path, current=value, proposed=None if " " in meant else meant)


def _near_key(key: str) -> str:
    """Returns the annotation that a key misspells, in its name or in its domain; empty for keys of other programs."""
    domain, slash, name = key.rpartition("/")
    if slash and _DOMAIN not in domain:
        return ""
    names = {known.rpartition("/")[2]: known for known in _BY_AUTHORS}
    return names.get(name.lower()) or (names.get(spelling.nearest(name, names), "") if slash else "")


def _meant_value(key: str, value: str) -> str:
    """Returns the value that an author means; empty for a value that Dynamo reads, or that does not turn on or off anything."""
    any_case = _ANY_CASE.get(key)
    meant = any_case or _MEANT.get(key)
    if meant is None or (value.lower() if any_case else value) in meant:
        return ""
    word = value.strip().lower().replace("-", "").replace("_", "")
    for right, words in meant.items():
        if word in words or spelling.nearest(word, (long for long in words if len(long) >= _SHORTEST)):
            return right
    return " or ".join(meant) if key in (labels.STRATEGY, labels.DISCOVERY_BACKEND) else ""
