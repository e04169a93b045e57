"""The KRM function: reads a ResourceList, expands its items and writes a ResourceList.

Follows the KRM Functions Specification. Exit code 1 means exactly that there is an error, and then the items leave unchanged.
"""

from __future__ import annotations

from itertools import chain

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.render import dynamo_api, expand, function_config
from krm_fn.render.krm import origin, resourcelist
from krm_fn.render.manifests import ownership

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO, TextIO

    from krm_fn.base.results import Ref, Result
    from krm_fn.kubernetes.identity import ObjectKey
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.krm.resourcelist import ResourceList

_KPT_LINES = 4  # kpt cuts off more


class _Answer(NamedTuple):
    """The output, and the findings. The output is empty if the ResourceList could not be read."""

    output: bytes
    results: list[Result]
    under_kpt: bool


def run(stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """Reads a ResourceList, writes one, and returns the exit code.

    If the ResourceList cannot be read, nothing is written, because an empty list would mean "delete everything". Never raises, whatever
    the input is.
    """
    data = stdin.read()
    try:
        answer = _answer(resourcelist.parse(data))
    except Exception as problem:  # noqa: BLE001 - no exception may lose an item
        answer = _return_unchanged(data, results.internal(problem))
    failed = results.has_errors(answer.results)
    stderr.write(_summary(answer, failed=failed))
    stderr.flush()
    stdout.write(answer.output)
    stdout.flush()
    return 1 if failed else 0


def _summary(answer: _Answer, *, failed: bool) -> str:
    """Returns the text for stderr: all findings for kustomize, which shows only stderr; for kpt at most four lines, and only on failure."""
    if answer.under_kpt:
        return report.summary(answer.results, _KPT_LINES) if failed else ""
    return f"{report.summary(answer.results)}\n" if answer.results else ""


def _answer(received: ResourceList) -> _Answer:
    under_kpt = origin.under_kpt(received.resources)
    if not received.complete:
        return _Answer(b"", received.results, under_kpt)
    items, findings = expand_items(received)
    return _Answer(resourcelist.render(received, items, findings), findings, under_kpt)


def expand_items(received: ResourceList) -> tuple[list[Any], list[Result]]:
    """Returns the items that leave, and the findings. With an error the items leave unchanged."""
    settings, misread = function_config.read(received.function_config)
    resources, expanded = expand.expand(received.resources, settings)
    lost = _lost(received.resources, resources, settings)
    findings = _locate_findings([*received.results, *misread, *expanded, *lost], received)
    return received.items if results.has_errors(findings) else resources, findings


def _lost(items: list[Resource], output: list[Resource], settings: Config) -> Iterator[Result]:
    """Yields an error for every item that the output lacks although the function may not remove it."""
    unchanged = {id(resource) for resource in output}
    missing = [resource for resource in items if id(resource) not in unchanged]
    kinds = {str(resource.get("kind")) for resource in missing}
    keys = {key for resource in output if str(resource.get("kind")) in kinds for key in _keys(resource)}
    for resource in missing:
        removable = ownership.is_prunable(resource) or (dynamo_api.is_dynamo(resource) and settings.source == "drop")
        if not removable and identity.key(resource) not in keys:
            message = "the resource would be lost, because of a bug in krm-fn and not in the input; report it together with the input"
            yield results.error(codes.LOST_ITEM, message, results.ref(resource))


def _keys(resource: Resource) -> tuple[ObjectKey, ObjectKey]:
    """Returns the key of a resource, and its key before its namespace was set."""
    key = identity.key(resource)
    return key, key._replace(namespace="")


def _locate_findings(findings: list[Result], received: ResourceList) -> list[Result]:
    """Adds to each finding the file or line of its resource, and sorts the findings. The time is linear in the number of findings."""
    by_ref: dict[Ref | None, list[Result]] = {}
    for result in findings:
        by_ref.setdefault(None if result.file or result.line else result.ref, []).append(result)
    located = by_ref.pop(None, [])
    for resource in (*received.resources, *filter(None, [received.function_config])) if by_ref else ():
        about = by_ref.pop(results.ref(resource), ())
        if about:
            locations = resourcelist.locations(received, resource, (result.path for result in about))
            located.extend(result._replace(**locations[result.path]) for result in about)
    return sorted([*located, *chain.from_iterable(by_ref.values())], key=results.order)


def _return_unchanged(data: bytes, problem: Result) -> _Answer:
    """Returns the items unchanged after an internal error; no output if they cannot be read."""
    try:
        received = resourcelist.parse(data)
        findings = [*received.results, problem]
        output = resourcelist.render(received, received.items, findings) if received.complete else b""
        return _Answer(output, findings, origin.under_kpt(received.resources))
    except Exception:  # noqa: BLE001 - `problem` is already reported
        return _Answer(b"", [problem], under_kpt=False)
