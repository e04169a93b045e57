"""Merges a user's values over defaults. The result is always a new object.

The rules are those of mergo with override, the Go library with which the operator merges structs (`internal/dynamo/graph.go`
GenerateBasePodSpec).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from krm_fn.kubernetes.native_types import Container, EnvVar, Probe, ResourceRequirements
    from krm_fn.kubernetes.types import HandlerName, ProbeName

    Fields = TypeVar("Fields", bound=Mapping[str, Any])

HANDLERS: tuple[HandlerName, ...] = ("exec", "httpGet", "tcpSocket", "grpc")
PROBES: tuple[ProbeName, ...] = ("livenessProbe", "readinessProbe", "startupProbe")


def present(**values: Any) -> dict[str, Any]:
    """Returns a dict of the values that are not None. Zero, the empty string and false stay."""
    return {key: value for key, value in values.items() if value is not None}


def without(written: Fields, *names: str) -> Fields:
    """Copies an object without the fields of these names."""
    return {key: value for key, value in written.items() if key not in names}  # type: ignore[return-value]


def overlay(base: Fields, user: Fields) -> Fields:
    """Merges `user` over `base`, as mergo merges Go structs.

    An empty user value does not override a value of the base. A list replaces the whole list of the base. Structs merge field by field.

    >>> overlay({"a": 1, "b": {"c": 2}, "l": [1]}, {"a": 0, "b": {"d": 3}, "l": [], "e": 0})
    {'a': 1, 'b': {'c': 2, 'd': 3}, 'l': [1], 'e': 0}
    """
    merged: dict[str, Any] = {**base}
    for key, value in user.items():
        if key not in merged:
            merged[key] = value
        elif isinstance(value, dict) and isinstance(merged[key], dict):
            merged[key] = overlay(merged[key], value)
        elif value:
            merged[key] = value
    return merged  # type: ignore[return-value]


def append_fields(base: Fields, *uppers: Fields) -> Fields:
    """Adds `uppers` to `base`: lists are appended, variables and resources merge by name, and any other value replaces the base's."""
    merged: dict[str, Any] = {**base}
    for upper in uppers:
        for key, value in upper.items():
            if key == "env":
                merged[key] = envs(merged.get(key) or (), value)
            elif key == "resources":
                merged[key] = _resources(merged.get(key, {}), value)
            elif isinstance(value, list):
                merged[key] = [*(merged.get(key) or ()), *value]
            else:
                merged[key] = value
    return merged  # type: ignore[return-value]


def _resources(base: ResourceRequirements, over: ResourceRequirements) -> ResourceRequirements:
    """Merges resources: limits and requests by name; claims are appended."""
    merged = overlay(base, without(over, "claims"))
    if claims := [*(base.get("claims") or ()), *(over.get("claims") or ())]:
        merged["claims"] = claims
    return merged


def container(base: Container, user: Container) -> Container:
    """Merges the user's main container over the default one.

    `env` merges by name. A `startupProbe` replaces the default's. All other fields merge as in `overlay`. A probe handler of another type
    replaces the default's handler, because the API server refuses a probe with two handlers.
    """
    merged = overlay(base, without(user, "env", *PROBES))
    if "env" in base or "env" in user:
        merged["env"] = envs(base.get("env") or (), user.get("env") or ())
    for name in PROBES:
        default, written = base.get(name), user.get(name)
        if written is not None:
            merged[name] = written if default is None or name == "startupProbe" else probe(default, written)
    return merged


def probe(default: Probe, user: Probe) -> Probe:
    """Merges the user's probe over the default one.

    A port number does not override a named port of the default, because the operator's int-or-string counts as empty then.
    """
    replaced = [name for name in HANDLERS if user.get(name) is None] if has_handler(user) else []
    merged = overlay(without(default, *replaced), user)
    if keeps_named_port(default, user):
        merged["httpGet"] = {**merged["httpGet"], "port": default["httpGet"]["port"]}
    return merged


def has_handler(probe: Probe) -> bool:
    """Returns true if a probe names a handler, even an empty one."""
    return any(probe.get(name) is not None for name in HANDLERS)


def keeps_named_port(default: Probe, user: Probe) -> bool:
    """Returns true if the `httpGet` port is a number in the user's probe and a name in the default. The name stays then."""
    user_port, default_port = (user.get("httpGet") or {}).get("port"), (default.get("httpGet") or {}).get("port")
    return isinstance(default_port, str) and isinstance(user_port, int)


def last_of_each(variables: Iterable[Fields]) -> list[Fields]:
    """Returns the last variable of each name, in the place of the first one of that name."""
    return list({str(variable.get("name", "")): variable for variable in variables}.values())


def envs(*layers: Iterable[EnvVar]) -> list[EnvVar]:
    """Merges environment variables by name and sorts them by name. Later layers win, as in the operator's `MergeEnvs`."""
    merged = {variable.get("name", ""): variable for layer in layers for variable in layer}
    return [merged[name] for name in sorted(merged)]
