"""Decides which values of a resource are secret, and hides them. Commands print secret values only in the resources that they write.

Secret are the data of Secrets, and the values of environment variables whose names end in KEY, TOKEN, SECRET or PASSWORD.
"""

from __future__ import annotations

import json
import re

from krm_fn.kubernetes import identity
from krm_fn.kubernetes.paths import replace_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.types import Resource

HIDDEN = "(hidden)"
"""The text in place of a secret value."""

_NAME = re.compile(r"(?:key|token|secret|password)\s*$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(?:key|token|secret|password)[\"']?\s*[=:]", re.IGNORECASE)
_MENTION = re.compile(r"key|token|secret|password|stringData|\\\\", re.IGNORECASE)
_LIKELY = re.compile(r"secret|(?:token|password)\b|\wkey\b|name\W+key\b|(?-i:\bKEY\b)|stringData", re.IGNORECASE)
_VARIABLES = ("env", "envs")
_PRIVATE = frozenset((*_VARIABLES, "args", "command", "httpHeaders"))
_DATA = ("data", "stringData")
_TOPS = tuple((field,) for field in _DATA)
_WHOLE = object()
"""The key of a branch whose whole value counts."""
_ONLY_IN_SECRETS = ("stringData", "secretGenerator", identity.LAST_APPLIED)


def is_secret_name(name: object) -> bool:
    """True for the name of an environment variable whose value is secret.

    >>> is_secret_name("HF_TOKEN"), is_secret_name("apiKey"), is_secret_name("MAX_TOKENS")
    (True, True, False)
    """
    return isinstance(name, str) and bool(_NAME.search(name))


def may_be_in_text(text: str) -> bool:
    """False only if no document in a YAML text can have a secret value."""
    return bool(_MENTION.search(text))


def is_likely_in_text(text: str) -> bool:
    """True if a text that is not valid YAML probably has a secret value. A lone `key`, as in a toleration, is not the name of one."""
    return bool(_LIKELY.search(text))


def may_be_at(path: Path) -> bool:
    """True for a field whose value may be a secret, whatever its name is.

    These are variables, command lines and headers, but not their names, the data of an object, and a `value` anywhere: a `name` beside it
    may be that of a secret.
    """
    return path[:1] in _TOPS or path[-1:] == ("value",) or (not _PRIVATE.isdisjoint(path) and path[-1] != "name")


def paths(value: Any) -> list[Path]:
    """Returns the paths of all secret values in a resource, or in any other value.

    Values of the wrong type and under misspelt fields count too, because findings are about mistakes. A text that holds a resource as JSON,
    such as an annotation of kubectl, is secret as a whole if a value in it is secret.

    >>> paths({"env": [{"name": "HF_TOKEN", "value": "x"}, {"name": "A", "value": "y"}]})
    [('env', 0, 'value')]
    """
    return [*_paths(value, ())]


def paths_near(resource: Resource, fields: Iterable[Path]) -> list[Path]:
    """Returns the paths of the secret values at, above and below some fields of a resource, without a search of the rest of it.

    >>> paths_near({"env": [{"name": "A_KEY", "value": "x"}, {"name": "B_KEY", "value": "y"}]}, [("env", 1, "value")])
    [('env', 1, 'value')]
    """
    branches: dict[Any, Any] = {}
    for path in fields:
        branch = branches
        for step in path:
            branch = branch.setdefault(step, {})
        branch[_WHOLE] = {}
    return paths(_near(resource, branches))


def _near(value: Any, branches: dict[Any, Any]) -> Any:
    """Returns a value with only some branches, and with all texts beside them: `name` and `kind` decide if another field is secret."""
    if _WHOLE in branches or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_near(entry, branches[index]) if index in branches else None for index, entry in enumerate(value)]
    return {
        key: _near(inner, branches[key]) if key in branches else inner
        for key, inner in value.items()
        if key in branches or not isinstance(inner, dict | list)
    }


def hide_secrets(value: Any, path: Path, secrets: Sequence[Path]) -> Any:
    """Returns the value of a field with HIDDEN in place of secret values. `secrets` are those of its resource, as `paths` returns them.

    >>> hide_secrets([{"name": "A_KEY", "value": "x"}], ("spec", "env"), [("spec", "env", 0, "value")])
    [{'name': 'A_KEY', 'value': '(hidden)'}]
    """
    if value is None:
        return None
    for secret in secrets:
        if path[: len(secret)] == secret:
            return HIDDEN
        if secret[: len(path)] == path:
            value = replace_at(value, secret[len(path) :], HIDDEN)
    return value


def _paths(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        yield from _in_mapping(value, path)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _paths(entry, (*path, index))
    elif isinstance(value, str) and _holds_secret(value):
        yield path


def _in_mapping(value: dict[str, Any], path: Path) -> Iterator[Path]:
    is_secret = str(value.get("kind")).casefold() == "secret"
    for key, inner in value.items():
        here = (*path, key)
        if inner is None:
            continue
        if key in _ONLY_IN_SECRETS or (is_secret and key in _DATA):
            yield from ((*here, name) for name in inner) if isinstance(inner, dict) else (here,)
        elif key == "value" and is_secret_name(value.get("name")):
            yield here
        elif key in _VARIABLES:
            yield from _in_variables(inner, here)
        else:
            yield from _paths(inner, here)


def _in_variables(value: Any, path: Path) -> Iterator[Path]:
    """Yields the paths in a list of variables, or in what stands in its place."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _in_variables(entry, (*path, index))
    elif isinstance(value, dict):
        yield from _in_variable(value, path)
    elif isinstance(value, str) and (_ASSIGNMENT.search(value) or _holds_secret(value)):
        yield path


def _in_variable(value: dict[str, Any], path: Path) -> Iterator[Path]:
    """Yields the paths in one variable. If its name is secret, all that is not its name or its source is the value."""
    names = [value["name"]] if isinstance(value.get("name"), str) else [inner for inner in value.values() if isinstance(inner, str)]
    secret_names = [name for name in names if is_secret_name(name)]
    for key, inner in value.items():
        is_source = key == "valueFrom" and isinstance(inner, dict)
        is_value = bool(secret_names) and inner is not None and inner not in secret_names and not is_source
        if is_value or is_secret_name(key):
            yield (*path, key)
        else:
            yield from _paths(inner, (*path, key))


def _holds_secret(text: str) -> bool:
    """True for JSON with a secret value in it."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return bool(paths(json.loads(text)))
    except (ValueError, RecursionError):
        return False
