"""What the author of a graph or a component wrote by hand, in either version of the API: a build must not be judged by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, paths
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

_COMPONENTS: tuple[Path, ...] = (("spec",), ("spec", "services", "*"), ("spec", "components", "*"))
_CONTAINERS: tuple[Path, ...] = (
    ("extraPodSpec", "mainContainer"),
    ("extraPodSpec", "containers", "*"),
    ("podTemplate", "spec", "containers", "*"),
)
_TEXTS: tuple[Path, ...] = (
    ("envs", "*", "name"),
    ("env", "*", "name"),
    *((*container, "env", "*", "name") for container in _CONTAINERS),
    *((*container, "args", "*") for container in _CONTAINERS),
)
_LABELS: tuple[Path, ...] = (("labels",), ("extraPodMetadata", "labels"), ("podTemplate", "metadata", "labels"))


class Written(NamedTuple):
    """The names of variables, the arguments and the keys of labels that the author wrote, and the Dynamo namespaces of services."""

    texts: frozenset[str]
    labels: frozenset[str]
    namespaces: frozenset[str]


def read(source: Resource) -> Written:
    """Reads a source. Any field may have any type. Fields that a conversion keeps in an annotation count, too."""
    holders = [source, *_kept(source)]
    found = [_each(holders, places) for places in (_TEXTS, _LABELS, (("dynamoNamespace",),))]
    texts, own, namespaces = found
    keys = (key for each in own if isinstance(each, dict) for key in each)
    return Written(frozenset(_only_texts(texts)), frozenset(keys), frozenset(_only_texts(namespaces)))


def _each(holders: list[Any], places: tuple[Path, ...]) -> list[Any]:
    patterns = [(*component, *place) for component in _COMPONENTS for place in places]
    return [value for holder in holders for _, value in paths.each(holder, patterns)]


def _only_texts(found: list[Any]) -> list[str]:
    return [each for each in found if isinstance(each, str)]


def _kept(source: Resource) -> list[Any]:
    """The fields in the annotations of a conversion; none if a text is not JSON."""
    found = []
    for key in (labels.PRESERVED_GRAPH, labels.PRESERVED_COMPONENT):
        try:
            found.append(json.loads(labels.notes(source).get(key) or "null"))
        except (TypeError, ValueError, RecursionError):
            continue
    return found
