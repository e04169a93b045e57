"""Environment variables of containers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.native_types import Container, EnvVar


def value(name: str, text: str) -> EnvVar:
    """Makes a variable with a fixed value.

    Rule env.value: A variable with a fixed value has a name and a value; an empty value is left out. (operator:
    internal/dynamo/component_common.go)
    """
    return {"name": name, "value": text} if text else {"name": name}


def values(texts: Iterable[tuple[str, str]]) -> list[EnvVar]:
    """Makes variables with fixed values from their names and values.

    Rule env.value: see `krm_fn.kubernetes.env`.
    """
    return [{"name": name, "value": text} if text else {"name": name} for name, text in texts]


def field(name: str, path: str) -> EnvVar:
    """Makes a variable that holds a field of its pod.

    Rule env.field: A variable with a fact of the pod takes its value from a field of the pod. (operator:
    internal/dynamo/component_common.go)
    """
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def append_variables(container: Container, *variables: EnvVar) -> Container:
    """Appends variables to those of a container. A variable of the user with the same name stays; it is reported as set twice."""
    return {**container, "env": [*(container.get("env") or ()), *variables]}


def add_missing_variables(container: Container, *variables: EnvVar) -> Container:
    """Appends variables to those of a container, except those that the user wrote."""
    written = {variable.get("name") for variable in container.get("env") or ()}
    return append_variables(container, *(variable for variable in variables if variable.get("name") not in written))


def replace_variables(container: Container, *variables: EnvVar) -> Container:
    """Appends variables to those of a container, in place of those of the same names."""
    names = {variable.get("name") for variable in variables}
    return {**container, "env": [*(variable for variable in container.get("env") or () if variable.get("name") not in names), *variables]}
