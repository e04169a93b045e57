"""Finds settings of the operator in live objects: a render with a mark in place of each setting shows where its value must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krm_fn.kube.types import Resource

Setting = tuple[str, ...]

SETTINGS: tuple[Setting, ...] = (
    ("natsAddress",),
    ("etcdAddress",),
    ("modelExpressURL",),
    ("prometheusEndpoint",),
    ("mpiSecretName",),
    ("debuggerImage",),
    ("ingress", "className"),
    ("ingress", "tlsSecretName"),
    ("ingress", "hostSuffix"),
    ("ingress", "istioGateway"),
    ("rbac", "plannerRole"),
    ("rbac", "eppRole"),
    ("grove", "kaiScheduler", "queue"),
)
"""The settings whose values stand in objects as they are, or as a part of a text."""

_ITEM_KEYS = ("mountPath", "name")
_MARK = "krm-fn-mark-{}-end"


class Sighting(NamedTuple):
    """The value of a setting in a live object, and the kind and name of the object."""

    value: str
    where: str


def marked(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a mark in place of each of `SETTINGS`."""
    found: dict[str, Any] = dict(spec)
    for number, setting in enumerate(SETTINGS):
        found = with_setting(found, setting, _MARK.format(number))
    return found


def with_setting(spec: Mapping[str, Any], setting: Setting, value: Any) -> dict[str, Any]:
    """The settings with another value of one setting."""
    first, *rest = setting
    return {**spec, first: with_setting(spec.get(first) or {}, tuple(rest), value) if rest else value}


def sightings(rendered: Iterable[Resource], live: Mapping[identity.ObjectKey, Resource]) -> dict[Setting, list[Sighting]]:
    """What stands in live objects in place of the marks of rendered objects. Objects and fields that are not live are left out."""
    found: dict[Setting, list[Sighting]] = {}
    for resource in rendered:
        actual = live.get(identity.key(resource))
        for at, text in _texts(resource, ()) if actual else ():
            for number, setting in enumerate(SETTINGS):
                before, mark, after = text.partition(_MARK.format(number))
                value = _reach(actual, at) if mark else None
                if isinstance(value, str) and len(value) > len(before + after) and value.startswith(before) and value.endswith(after):
                    middle = value[len(before) : len(value) - len(after)]
                    found.setdefault(setting, []).append(Sighting(middle, f"{resource['kind']} {resource['metadata']['name']}"))
    return found


def _texts(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The texts in a value with their paths. Entries of lists go by `mountPath` or `name`, if the entries have it."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*at, _step(value, index)))


def _step(entries: Sequence[Any], index: int) -> str | int:
    """How an entry of a list is found again: `key=value`, or its index."""
    for key in _ITEM_KEYS:
        if all(isinstance(each, dict) and isinstance(each.get(key), str) for each in entries):
            return f"{key}={entries[index][key]}"
    return index


def _reach(value: Any, at: tuple[str | int, ...]) -> Any:
    for step in at:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else None
        elif isinstance(value, list):
            key, _, wanted = str(step).partition("=")
            value = next((each for each in value if isinstance(each, dict) and each.get(key) == wanted), None)
        else:
            return None
    return value
