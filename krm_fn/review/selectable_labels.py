"""The labels of all pods and Services of a build, indexed so that many selectors of a large build are compared in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.references.selector_fields import EVERYWHERE
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.manifests import ownership
from krm_fn.review import pods

_MOST = 200
"""The largest number of different labels with which a selector is compared, if it selects nothing."""


class Labelled(NamedTuple):
    """The labels of a pod template or of a Service, with its namespace. `is_generated` is true if the function made its object."""

    namespace: str
    labels: dict[str, str]
    is_generated: bool


class LabelIndex:
    """Pods, or Services, by their namespace and their labels."""

    def __init__(self, items: Iterable[Labelled]) -> None:
        self._by_label: dict[tuple[str, str, str], list[Labelled]] = {}
        self._distinct: dict[str, list[Labelled]] = {}
        known: set[tuple[str, tuple[tuple[str, str], ...], bool]] = set()
        for item in items:
            key = (item.namespace, tuple(sorted(item.labels.items())), item.is_generated)
            if key not in known:
                known.add(key)
                for namespace in (item.namespace, EVERYWHERE):
                    self._distinct.setdefault(namespace, []).append(item)
                    for label, value in item.labels.items():
                        self._by_label.setdefault((namespace, label, value), []).append(item)

    def having(self, namespaces: Sequence[str], label: str, values: Sequence[str]) -> list[Labelled]:
        """Returns the pods of some namespaces whose label has one of the values."""
        return [item for namespace in namespaces for value in values for item in self._by_label.get((namespace, label, value), ())]

    def some(self, namespaces: Sequence[str]) -> list[Labelled]:
        """Returns pods of some namespaces, each with other labels, and no more than a reader could compare."""
        return [item for namespace in namespaces for item in self._distinct.get(namespace, ())[:_MOST]]


def of_pods(resources: Iterable[Resource], default: str) -> Iterator[Labelled]:
    """Yields the labels of all pods. `default` is the namespace of resources without one."""
    for resource in resources:
        for template in pods.of(resource):
            yield _labelled_object(resource, template.labels, default)


def of_services(resources: Iterable[Resource], default: str) -> Iterator[Labelled]:
    """Yields the labels of all Services. `default` is the namespace of resources without one."""
    for resource in resources:
        if results.ref(resource)[:2] == ("v1", "Service"):
            yield _labelled_object(resource, labels.of(resource), default)


def of_template(resource: Resource, path: Path, default: str) -> list[Labelled]:
    """Returns the labels of the pods whose spec is at a path of an object."""
    return [_labelled_object(resource, template.labels, default) for template in pods.of(resource) if template.path == path]


def _labelled_object(resource: Resource, written: dict[str, object], default: str) -> Labelled:
    texts = {key: value for key, value in written.items() if isinstance(value, str)}
    return Labelled(identity.key(resource, default).namespace, texts, ownership.is_marked(resource))
