"""Finds settings of the operator in live objects.

A render with a marker in place of each setting shows where the value of the setting stands. This asks the question of
`krm_fn.origins.trace` the other way round: the setting is unknown, and its value is the part of a live text where the render has the
marker. A trace cannot answer it, because without a value for the setting the render makes no such field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text

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

_ENTRY_KEYS = ("mountPath", "name")
_MARKER_BEGIN = "krm-fn-mark-"
_MARKER = _MARKER_BEGIN + "{}-end"

_TLS = {"mode": "tlsMode", "clientCertificate": "clientCertificate", "privateKey": "privateKey", "caCertificates": "caCertificates"}
_TLS_MODE = "SIMPLE"
_TERMINATION_DELAYS = ("15m", "15m0s")
"""The default of the setting, as a render writes it and as Go prints it."""


class ObservedValue(NamedTuple):
    """The value of a setting in a live object, and the kind and name of the object."""

    value: str
    holder: str


def with_markers(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings with a marker in place of each of `SETTINGS`."""
    marked: dict[str, Any] = dict(spec)
    for number, setting in enumerate(SETTINGS):
        marked = with_setting(marked, setting, _MARKER.format(number))
    return marked


def with_setting(spec: Mapping[str, Any], setting: Setting, value: Any) -> dict[str, Any]:
    """Returns the settings with another value of one setting."""
    first, *rest = setting
    return {**spec, first: with_setting(spec.get(first) or {}, tuple(rest), value) if rest else value}


def observed_values(rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> dict[Setting, list[ObservedValue]]:
    """Reads the values that live objects have where the rendered objects have markers. Skips objects and fields that are not live."""
    values: dict[Setting, list[ObservedValue]] = {}
    for resource in rendered:
        live_object = live.get(identity.key(resource))
        for path, rendered_text in _texts(resource, ()) if live_object else ():
            if _MARKER_BEGIN not in rendered_text:
                continue
            for number, setting in enumerate(SETTINGS):
                before, marker, after = rendered_text.partition(_MARKER.format(number))
                live_text = _value_at(live_object, path) if marker else None
                if isinstance(live_text, str) and _has_ends(live_text, before, after):
                    value = live_text[len(before) : len(live_text) - len(after)]
                    values.setdefault(setting, []).append(ObservedValue(value, f"{resource['kind']} {resource['metadata']['name']}"))
    return values


def _has_ends(live_text: str, before: str, after: str) -> bool:
    """True if a text has these ends and something between them."""
    return len(live_text) > len(before + after) and live_text.startswith(before) and live_text.endswith(after)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts in a value with their paths. Entries of lists have the step `mountPath=…` or `name=…` if all of them have this field."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, _step(value, index)))


def _step(entries: Sequence[Any], index: int) -> str | int:
    """The step to an entry of a list: `key=value`, or its index."""
    for key in _ENTRY_KEYS:
        if all(isinstance(entry, dict) and isinstance(entry.get(key), str) for entry in entries):
            return f"{key}={entries[index][key]}"
    return index


def _value_at(value: Any, path: Path) -> Any:
    """The value at a path of `_texts`; None if the object has no such field."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else None
        elif isinstance(value, list):
            key, _, wanted = str(step).partition("=")
            value = next((entry for entry in value if isinstance(entry, dict) and entry.get(key) == wanted), None)
        else:
            return None
    return value


def istio_gateway(rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> str:
    """Returns the gateway of a live VirtualService that a render makes too; empty without one. Without the setting, a render makes none."""
    gateways = (gateway for spec in _live_specs("VirtualService", rendered, live) for gateway in spec.get("gateways") or ())
    return str(next(gateways, ""))


def service_mesh(rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> dict[str, Any]:
    """Returns the setting `serviceMesh` of a live DestinationRule that a render with a mesh makes too; empty without one."""
    rule = next(iter(_live_specs("DestinationRule", rendered, live)), None)
    if rule is None:
        return {}
    tls = (rule.get("trafficPolicy") or {}).get("tls") or {}
    istio = {setting: tls[field] for field, setting in _TLS.items() if tls.get(field) and tls[field] != _TLS_MODE}
    if not tls.get("insecureSkipVerify"):
        istio["insecureSkipVerify"] = False
    return {"enabled": True, **({"istio": istio} if istio else {})}


def _live_specs(kind: str, rendered: Iterable[Resource], live: Mapping[ObjectKey, Resource]) -> list[dict[str, Any]]:
    """The specs of the live objects of a kind that are also rendered."""
    return [live[key].get("spec") or {} for resource in rendered if resource["kind"] == kind and (key := identity.key(resource)) in live]


def topology_aware_scheduling(live: Iterable[Resource]) -> str:
    """Returns the setting `grove.topologyAwareScheduling`: enabled if Grove has accepted a topology constraint; otherwise empty."""
    templates = [mapping(mapping(item.get("spec")).get("template")) for item in live if item.get("kind") == "PodCliqueSet"]
    parts = [
        part
        for template in templates
        for part in (template, *objects(template.get("cliques")), *objects(template.get("podCliqueScalingGroups")))
    ]
    return "enabled" if any(part.get("topologyConstraint") for part in parts) else ""


def termination_delay(live: Iterable[Resource]) -> str:
    """Returns the setting `grove.terminationDelay` of the live PodCliqueSets; empty for the default, and without any set."""
    templates = [mapping(mapping(item.get("spec")).get("template")) for item in live if item.get("kind") == "PodCliqueSet"]
    delays = [delay for template in templates if (delay := text(template.get("terminationDelay")))]
    return delays[0] if delays and delays[0] not in _TERMINATION_DELAYS else ""
