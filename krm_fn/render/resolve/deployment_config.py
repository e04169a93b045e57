"""`DYN_DEPLOYMENT_CONFIG`: a variable with JSON, in which older graphs set replicas and resources of their services.

In a v1beta1 graph it sets the resources of main containers, and the port of frontends in its own text. It sets no replicas there, because
admission writes a number where the author wrote none, and a written number wins.

Follows the operator's `internal/dynamo/graph.go` updateDynDeploymentConfig and overrideWithDynDeploymentConfig.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isinf

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity
from krm_fn.render.kinds import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.render.plan import SourcePaths


NAME = "DYN_DEPLOYMENT_CONFIG"
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_INT32 = 2**31


class Override(NamedTuple):
    """The settings of one service in the variable; None for a setting that is absent."""

    replicas: int | None = None
    resources: dict[str, Any] | None = None


def parse(text: str) -> dict[str, Any]:
    """Returns the variable's value. Raises ValueError if it is not a JSON object, and RecursionError if it is nested too deeply."""
    content = json.loads(text, parse_constant=_no_constant, parse_int=_integer, parse_float=_finite)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - callers of a JSON parser expect ValueError
    return content


def override(content: dict[str, Any], service: str) -> Override:
    """Returns the settings of a service. Keys below the service's name are case-insensitive, as in Go.

    Raises ValueError for a value of the wrong type.
    """
    arguments = _member(_object(content.get(service), service), "serviceargs", service)
    workers = arguments.get("workers")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or not 0 <= workers < _INT32):
        raise ValueError(f"workers of {service} must be a whole number, 0 or larger")
    resources = _member(arguments, "resources", service)
    amounts: dict[str, Any] = {name: resources[name] for name in ("cpu", "memory", "gpu") if resources.get(name) is not None}
    for name, amount in amounts.items():
        if not isinstance(amount, str):
            raise ValueError(f"{name} of {service} must be a string in quotes")  # noqa: TRY004 - as above
    custom = _object(resources.get("custom"), f"custom resources of {service}")
    if any(not isinstance(amount, str) for amount in custom.values()):
        raise ValueError(f"custom resources of {service} must be strings")
    if custom:
        amounts["custom"] = custom
    return Override(workers, {name: amount for name, amount in amounts.items() if amount} or None)


def with_port(content: dict[str, Any], service: str, port: int) -> str:
    """Returns the variable's value for a frontend, with its `port` set, printed as Go prints JSON."""
    if isinstance(content.get(service), dict):
        content = {**content, service: {**content[service], "port": port}}
    return _go(content)


def _member(holder: dict[str, Any], name: str, service: str) -> dict[str, Any]:
    member = next((value for key, value in holder.items() if key.lower() == name), None)
    return {key.lower(): value for key, value in _object(member, f"{name} of {service}").items()}


def _object(value: Any, what: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object")  # noqa: TRY004 - as above
    return value


def _no_constant(_name: str) -> Any:
    raise ValueError("NaN and infinities are not JSON")


def _integer(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _finite(digits: str) -> float:
    """Returns the number as a 64-bit float. Raises ValueError if it is too large, as Go does."""
    number = float(digits)
    if isinf(number):
        raise ValueError("a number in it is too large")
    return number


def _go(value: Any) -> str:
    """Returns JSON as Go's encoder writes it: sorted keys, all numbers as 64-bit floats, HTML characters and lone surrogates replaced."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_go(key)}:{_go(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_go(entry) for entry in value) + "]"
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return json.dumps(whole, ensure_ascii=False).translate(_ESCAPES)
    return json.dumps(value) if isinstance(value, bool) or value is None else _number(float(value))


def _number(value: float) -> str:
    """Returns a number as Go writes it: plain digits between 1e-6 and 1e21, otherwise an exponent without padding.

    >>> _number(1.5), _number(12345678901234567890.0), _number(1e21), _number(1e-7)
    ('1.5', '12345678901234567000', '1e+21', '1e-7')
    """
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    if not 1e-6 <= abs(value) < 1e21:
        mantissa, _, exponent = repr(value).partition("e")
        return f"{mantissa.removesuffix('.0')}e{'-' if exponent.startswith('-') else '+'}{exponent.lstrip('+-0')}"
    mantissa, _, exponent = repr(value).partition("e")
    digits, shift = mantissa.replace(".", "").replace("-", ""), int(exponent or 0) + len(mantissa.lstrip("-").partition(".")[0])
    sign = "-" if value < 0 else ""
    if shift <= 0:
        return f"{sign}0.{'0' * -shift}{digits}".rstrip("0")
    whole, fraction = digits[:shift].ljust(shift, "0"), digits[shift:].rstrip("0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def variable(container: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the variable of a container, or None."""
    return next((entry for entry in container.get("env") or () if entry.get("name") == NAME), None)


def apply_deployment_config(container: dict[str, Any], component: dict[str, Any], port: int) -> dict[str, Any]:
    """Returns the main container of a component with its settings from the variable. A text that cannot be read changes nothing."""
    entry, name = variable(container), component.get("name") or ""
    if entry is None:
        return container
    try:
        content, amounts = _read(entry, name)
    except (ValueError, RecursionError):
        return container
    if types.get(component.get("type") or "").is_frontend:
        changed = {**entry, "value": with_port(content, name, port)}
        container = {**container, "env": [changed if variable is entry else variable for variable in container["env"]]}
    if not amounts:
        return container
    from krm_fn.render.convert import pod_template_conversion  # noqa: PLC0415 - few graphs have the variable

    over = pod_template_conversion.native_resources({"limits": amounts, "requests": amounts})
    return {**container, "resources": pod_template_conversion.merged_resources(container.get("resources") or {}, over)}


def check(component: dict[str, Any], paths: SourcePaths) -> Iterator[Result]:
    """Reports a variable that cannot be read."""
    pod = (component.get("podTemplate") or {}).get("spec") or {}
    entry = next((value for container in pod.get("containers") or () if (value := variable(container))), None)
    try:
        if entry is not None:
            _read(entry, component.get("name") or "")
    except (ValueError, RecursionError) as problem:
        yield unreadable(problem, paths.ref, paths.at("envs"))


def unreadable(problem: ValueError | RecursionError, ref: Ref, path: Path) -> Result:
    """Returns the error about a variable that cannot be read, at the variables of a component or of a graph."""
    return results.error(codes.INVALID_DEPLOYMENT_CONFIG, f"{NAME} cannot be read: {problem}; write a JSON object", ref, path)


def _read(entry: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the content of the variable, and the amounts in it for one component. Raises ValueError or RecursionError as `parse` does."""
    content = parse(entry.get("value") or "")
    amounts = override(content, name).resources or {}
    for amount in (*(value for key, value in amounts.items() if key != "custom"), *(amounts.get("custom") or {}).values()):
        quantity.parse(amount)
    return content, amounts
