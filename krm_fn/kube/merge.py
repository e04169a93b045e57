"""Layering: a user's values over defaults, always in a new object.

Not its business: which defaults there are. The rules are those of the reference's merge library for Go structs
(mergo with override, used by `internal/dynamo/graph.go` GenerateBasePodSpec).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from krm_fn.kube.types import Container, EnvVar, Probe

HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_WHOLE = ("env", "startupProbe")


def some(**values: Any) -> dict[str, Any]:
    """A dict without the keys whose value is None; zero, empty and false stay."""
    return {key: value for key, value in values.items() if value is not None}


def overlay(base: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """`user` over `base`, as Go structs merge.

    An empty user value never overrides what the base has, lists are replaced whole, structs merge field by field.

    >>> overlay({"a": 1, "b": {"c": 2}, "l": [1]}, {"a": 0, "b": {"d": 3}, "l": [], "e": 0})
    {'a': 1, 'b': {'c': 2, 'd': 3}, 'l': [1], 'e': 0}
    """
    merged = dict(base)
    for key, value in user.items():
        if key not in base:
            merged[key] = value
        elif isinstance(value, dict) and isinstance(base[key], dict):
            merged[key] = overlay(base[key], value)
        elif value:
            merged[key] = value
    return merged


def container(base: Container, user: Container) -> Container:
    """The user's main container over the default one.

    `env` merges by name and a `startupProbe` replaces the default's; everything else is `overlay`, save that a probe
    handler of another type replaces the default's instead of standing beside it.
    """
    merged = overlay(base, {key: value for key, value in user.items() if key not in (*_WHOLE, *PROBES)})
    if "env" in base or "env" in user:
        merged["env"] = envs(base.get("env") or (), user.get("env") or ())
    for name in PROBES:
        default, written = base.get(name), user.get(name)
        if written is None:
            continue
        replaces = default is None or name in _WHOLE
        merged[name] = written if replaces else probe(default or {}, written)
    return merged


def probe(default: Probe, user: Probe) -> Probe:
    """The user's probe over the default one.

    A number never overrides a port that the default names, as in the reference, whose int-or-string counts as empty then.
    """
    handler = {key for key in HANDLERS if user.get(key) is not None}
    base = {key: value for key, value in default.items() if key not in HANDLERS or not handler or key in handler}
    merged = overlay(base, user)
    if keeps_named_port(default, user):
        merged["httpGet"] = {**merged["httpGet"], "port": default["httpGet"]["port"]}
    return merged


def keeps_named_port(default: Probe, user: Probe) -> bool:
    """Whether the user wrote a numeric httpGet port that the default's name outlives."""
    mine, theirs = (user.get("httpGet") or {}).get("port"), (default.get("httpGet") or {}).get("port")
    return isinstance(theirs, str) and isinstance(mine, int)


def envs(*layers: Iterable[EnvVar]) -> list[EnvVar]:
    """Environment variables merged by name, later layers win, sorted by name (reference: MergeEnvs)."""
    merged = {variable.get("name", ""): variable for layer in layers for variable in layer}
    return [merged[name] for name in sorted(merged)]
