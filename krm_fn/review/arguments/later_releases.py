"""Findings about images of Dynamo 1.7 and later, beside the tables of flags: what the packages of a nightly build no longer read.

Source: the parsers and the environment of `ai-dynamo` 1.7.0.dev20261026, built four weeks before the release of 1.7.0. The release was not
read, so no finding is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Ref, Result, Severity
from krm_fn.kubernetes.types import WordsField
from krm_fn.review.arguments.judged_commands import AuthorContainer

_SINCE = (1, 7, 0)
_NIGHTLY = "the nightly build 1.7.0.dev20261026"
_GLOBAL_PLANNER = "dynamo.global_planner"
_REMOVED = frozenset(
    (
        *("--managed-namespaces", "--environment", "--no-operation", "--max-total-gpus", "--min-total-gpus"),
        "--intent-cache-ttl-seconds",
    )
)
"""Flags of the global planner that its configuration replaces."""
_FIELDS: tuple[WordsField, ...] = ("command", "args")


class _ChangedVariable(NamedTuple):
    severity: Severity
    message: str


_VARIABLES = {
    "DYN_DYNAMO_REQUEST_QUEUE_LIMIT": _ChangedVariable("warning", f"{_NIGHTLY} of Dynamo does not read this variable any more; remove it"),
    "DYN_ENGINE_REQUEST_LIMIT": _ChangedVariable(
        "info",
        f"in {_NIGHTLY} of Dynamo, this limit is for each data parallel rank, and an engine has one without it too; check the number, and "
        "write DYN_BACKEND_ADMISSION_ENGINE_REQUEST_LIMIT",
    ),
}


def check(container: AuthorContainer, ref: Ref) -> Iterator[Result]:
    """Yields the findings about flags and variables of one container."""
    if container.version is None or container.version < _SINCE:
        return
    lines = [(field, index, f"{text}") for field in _FIELDS for index, text in enumerate(container.fields.get(field) or ())]
    if any(_GLOBAL_PLANNER in line.split() for _, _, line in lines):
        for field, index, line in lines:
            for flag in {word.partition("=")[0]: None for word in line.split()}.keys() & _REMOVED:
                message = f"`{flag}` is not a flag of {_GLOBAL_PLANNER} in {_NIGHTLY} of Dynamo; write its value into the file of --config"
                yield results.warning(codes.FLAG_NOT_IN_DYNAMO_1_7, message, ref, container.at(field, index))
    if container.is_main:
        for index, variable in enumerate(container.plan.pod.container.get("env") or ()):
            change = _VARIABLES.get(f"{variable.get('name')}")
            if change:
                yield Result(
                    change.severity, codes.VARIABLE_CHANGED_IN_DYNAMO_1_7, change.message, ref, container.plan.at("main", "env", index)
                )
