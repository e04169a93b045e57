"""The names and the power limit that the status of a component repeats from its pods: model, component in the runtime, watts.

Follows the operator's `internal/controller/component_runtime_status.go`. The words of a command line are split as it splits them, which is
not what a shell does: operators and comments mean nothing, and empty words vanish.
"""

from __future__ import annotations

import re

from krm_fn.base.records import NamedTuple
from krm_fn.render import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

_MODEL_FLAGS = ("--served-model-name", "--model-name", "--model", "--model-path")
_ENDPOINT, _COMPONENT = "--endpoint", "--component"
_SCHEME = "dyn://"
_COMPONENT_VARIABLE = "DYN_COMPONENT"
_SPECIAL = re.compile(r"""[\s'"\\]""")
_WATTS = re.compile(r"\+?[0-9]+")
_MOST_WATTS = 2**63 - 1


class ServedNames(NamedTuple):
    """The model that a component serves, its name in the runtime, and the power limit of a GPU in watts. Empty and None: unknown."""

    model: str = ""
    component: str = ""
    watts: int | None = None


def of_pod(pod: Mapping[str, Any], main: Mapping[str, Any], annotations: Mapping[str, str]) -> ServedNames:
    """Reads the served model, the component and the power limit from a pod.

    In sidecar mode, the container that runs Dynamo has the flags; the flags of the engine name the model only if it has none.

    Rule status.served-names: The status names the model and the component in the flags of the pod that serves, and the power limit in its
    annotation. (operator: internal/controller/component_runtime_status.go)
    """
    runtime = next((container for container in pod.get("initContainers") or () if container.get("name") == names.RUNTIME), None)
    watts = _watts(annotations.get(labels.POWER_LIMIT, ""))
    line = words(main)
    if runtime is None:
        return ServedNames(_model(line), _of_endpoint(line), watts)
    runtime_line = words(runtime)
    return ServedNames(_model(runtime_line) or _model(line), _of_runtime(runtime, runtime_line), watts)


def words(container: Mapping[str, Any]) -> list[str]:
    """Returns the words of a command and its arguments. Those of a nested `sh -c` come after the others.

    >>> words({"command": ["sh", "-c"], "args": ["exec x --model 'a b'"]})
    ['sh', '-c', 'exec', 'x', '--model', 'a b', 'exec']
    """
    line = [word for field in ("command", "args") for text in container.get(field) or () for word in _split_words(str(text))]
    return _with_nested(line)


def _with_nested(line: list[str]) -> list[str]:
    nested = (_split_words(line[index]) for index in range(2, len(line)) if line[index - 1] == "-c" and _is_shell(line[index - 2]))
    return [*line, *(word for inner in nested for word in _with_nested(inner))]


def _is_shell(word: str) -> bool:
    return word.rpartition("/")[2] in ("sh", "bash")


def _split_words(text: str) -> list[str]:
    """Splits a text at blanks outside quotes, and removes the quotes and backslashes."""
    if not _SPECIAL.search(text):
        return [text] if text else []
    return [word for word in _quoted_words(text) if word]


def _quoted_words(text: str) -> Iterator[str]:
    word, quote, characters = "", "", iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            word += next(characters, "\\")
        elif quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character in ("'", '"'):
            quote = character
        elif character.isspace():
            yield word
            word = ""
        else:
            word += character
    yield word


def _model(line: Sequence[str]) -> str:
    return next((value for flag in _MODEL_FLAGS if (value := _value(line, flag)) is not None), "")


def _of_endpoint(line: Sequence[str]) -> str:
    """Returns the component of an endpoint `dyn://namespace.component.endpoint`."""
    parts = (_value(line, _ENDPOINT) or "").removeprefix(_SCHEME).split(".")
    return parts[1] if len(parts) == 3 else ""


def _of_runtime(runtime: Mapping[str, Any], line: Sequence[str]) -> str:
    """Returns the component in the flags of the container that runs Dynamo beside an engine, or in its variable."""
    return _value(line, _COMPONENT) or _of_endpoint(line) or _variable(runtime.get("env") or ())


def _variable(variables: Iterable[Mapping[str, Any]]) -> str:
    value = next((f"{variable.get('value') or ''}" for variable in variables if variable.get("name") == _COMPONENT_VARIABLE), "")
    return "" if "$(" in value else value


def _value(line: Sequence[str], flag: str) -> str | None:
    """Returns the value of the first occurrence of a flag; None without one. Whatever follows the flag is its value."""
    assigned = f"{flag}="
    for index, word in enumerate(line):
        if word.startswith(assigned):
            return word[len(assigned) :]
        if word == flag and index + 1 < len(line):
            return line[index + 1]
    return None


def _watts(text: str) -> int | None:
    written = text.strip()
    if len(written) > 40 or not _WATTS.fullmatch(written):
        return None
    watts = int(written)
    return watts if 0 < watts <= _MOST_WATTS else None
