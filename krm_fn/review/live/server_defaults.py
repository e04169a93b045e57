"""Fields that an API server fills in inside of lists that are owned as a whole, so that managed fields do not tell who set them.

The defaults are those of Kubernetes (`pkg/apis/*/v1/defaults.go`) and of the definitions of the Gateway API. The defaults of pods are in
`krm_fn.kubernetes.stored_templates`.
"""

from __future__ import annotations

from typing import Any

from krm_fn.base.results import Path, ref
from krm_fn.kubernetes import identity, paths, quantity
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping

_CLAIM: Path = ("spec", "volumeClaimTemplates", EVERY)
_RULE: Path = ("spec", "rules", EVERY)
_DEFAULTS: dict[tuple[str, str], tuple[tuple[Path, Any], ...]] = {
    ("apps", "StatefulSet"): (
        ((*_CLAIM, "apiVersion"), "v1"),
        ((*_CLAIM, "kind"), "PersistentVolumeClaim"),
        ((*_CLAIM, "spec", "volumeMode"), "Filesystem"),
        ((*_CLAIM, "status"), {"phase": "Pending"}),
    ),
    ("networking.k8s.io", "NetworkPolicy"): (
        (("spec", "ingress", EVERY, "ports", EVERY, "protocol"), "TCP"),
        (("spec", "egress", EVERY, "ports", EVERY, "protocol"), "TCP"),
    ),
    ("gateway.networking.k8s.io", "HTTPRoute"): (
        (("spec", "parentRefs", EVERY, "group"), "gateway.networking.k8s.io"),
        (("spec", "parentRefs", EVERY, "kind"), "Gateway"),
        ((*_RULE, "matches"), [{"path": {"type": "PathPrefix", "value": "/"}}]),
        ((*_RULE, "matches", EVERY, "path"), {"type": "PathPrefix", "value": "/"}),
        ((*_RULE, "matches", EVERY, "path", "type"), "PathPrefix"),
        ((*_RULE, "backendRefs", EVERY, "group"), ""),
        ((*_RULE, "backendRefs", EVERY, "kind"), "Service"),
        ((*_RULE, "backendRefs", EVERY, "weight"), 1),
    ),
}
_LIMITS: Path = ("spec", "limits", EVERY)


def without(live: Resource, wanted: Resource) -> Resource:
    """Returns a live object without the defaults that its file leaves out. An entry of a list has the same index in both."""
    key = identity.key(live)
    fields = [
        path
        for pattern, default in _DEFAULTS.get((key.group, key.kind), ())
        for path, value in paths.find(live, [pattern])
        if value == default and _is_left_out(path, wanted)
    ]
    if ref(live).kind == "LimitRange":
        fields += [path for path, item in paths.find(live, [_LIMITS]) for path in _limits(path, mapping(item), wanted)]
    for path in fields:
        live = paths.replace_at(live, path, None)
    return live


def _is_left_out(path: Path, wanted: Resource) -> bool:
    """True if the file has the parent of a field, but not the field."""
    return paths.at(wanted, path[:-1]) is not None and paths.at(wanted, path) is None


def _limits(path: Path, live: dict[str, Any], wanted: Resource) -> list[Path]:
    """Returns the fields of a limit that are computed: default limits are the largest ones, default requests the limits or the smallest."""
    item = mapping(paths.at(wanted, path))
    default = {**mapping(item.get("max")), **mapping(item.get("default"))}
    computed = {"default": default, "defaultRequest": {**mapping(item.get("min")), **default}}
    return [
        (*path, name)
        for name, value in computed.items()
        if name in live and name not in item and _amounts(mapping(live[name])) == _amounts(value)
    ]


def _amounts(limits: dict[str, Any]) -> dict[str, Any]:
    return {name: quantity.canonical(f"{amount}") for name, amount in limits.items()}
