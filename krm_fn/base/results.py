"""Findings about the input: each has a code, the address of a field, and a message with the fix.

The form in a ResourceList follows the KRM Functions Specification, section `ResourceList.results`.
"""

from __future__ import annotations

import krm_fn
from krm_fn.base import codes, escaping
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, TypeAlias

    from krm_fn.base.edits import Edit

Severity: TypeAlias = 'Literal["error", "warning", "info"]'

Path = tuple[str | int, ...]

_ORDER = {"error": 0, "warning": 1, "info": 2}


class Ref(NamedTuple):
    """The address of one resource. `namespace` is as written in the resource, empty where it has none."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""


class Result(NamedTuple):
    """One finding. `line` and `column` count from 1; 0 means unknown. `document` counts from 0.

    `within` leads to a part of a text, such as a word in a line for a shell: it is the number of characters before it, without blanks.
    `edit` is the fix as data, if it is not the proposed value (`krm_fn.base.edits`).
    """

    severity: Severity
    code: str
    message: str
    ref: Ref | None = None
    path: Path = ()
    current: Any = None
    proposed: Any = None
    file: str = ""
    document: int = 0
    line: int = 0
    column: int = 0
    within: int = 0
    edit: Edit | None = None


def error(code: str, message: str, ref: Ref | None = None, path: Path = (), **more: Any) -> Result:
    """Returns a finding that stops the build. `message` is the problem, a semicolon, and the fix."""
    return Result("error", code, message, ref, path, **more)


def warning(code: str, message: str, ref: Ref | None = None, path: Path = (), **more: Any) -> Result:
    """Returns a finding that does not stop the build, but that a reviewer should see."""
    return Result("warning", code, message, ref, path, **more)


def info(code: str, message: str, ref: Ref | None = None, path: Path = (), **more: Any) -> Result:
    """Returns a note: the function changed something, because the output of the Dynamo operator could not work."""
    return Result("info", code, message, ref, path, **more)


def internal(problem: Exception, ref: Ref | None = None) -> Result:
    """Returns the finding for an unexpected exception, with the function and line that raised it."""
    trace = problem.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_qualname}, line {trace.tb_lineno})" if trace else ""
    what = f"krm-fn {krm_fn.__version__} has an internal error, {type(problem).__name__}: {problem}{where}"
    return error(codes.INTERNAL_ERROR, f"{what}; report it together with the input", ref)


def ref(resource: dict[str, Any]) -> Ref:
    """Returns the address of a resource, with an empty string for a part that is missing or not a string.

    >>> ref({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "n"}})
    Ref(api_version='v1', kind='Service', name='a', namespace='n')
    """
    metadata = resource.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    version, kind = resource.get("apiVersion"), resource.get("kind")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    return Ref(
        version if isinstance(version, str) else "",
        kind if isinstance(kind, str) else "",
        name if isinstance(name, str) else "",
        namespace if isinstance(namespace, str) else "",
    )


def field(path: Path) -> str:
    """Returns a path as the KRM specification writes it. Keys that contain dots are in brackets.

    >>> field(("spec", "services", "Decode", "envs", 0, "name"))
    'spec.services.Decode.envs[0].name'
    >>> field(("metadata", "annotations", "nvidia.com/enable-grove"))
    "metadata.annotations['nvidia.com/enable-grove']"
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif "." in step or "/" in step or "[" in step or step == "":
            text += f"['{step}']"
        else:
            text += f".{step}" if text else step
    return text


def line(result: Result) -> str:
    """Returns code, field and message in one text, the form in which every output shows a finding."""
    where = field(result.path)
    return f"{result.code} {where}: {result.message}" if where else f"{result.code} {result.message}"


def order(result: Result) -> tuple[Any, ...]:
    """Returns a sort key: errors first, then by file and line, then by resource and field.

    A line counts only in a named file or for a finding about the text as a whole, so that the same input in YAML and in JSON, which has no
    lines, gives the same order.
    """
    address = result.ref or Ref("", "", "")
    line = result.line if result.file or not (result.ref or result.path) else 0
    steps = tuple((step, "") if isinstance(step, int) else (-1, step) for step in result.path)
    return _ORDER[result.severity], result.file, line, address, steps, result.code, result.message


def errors_of(findings: Iterable[Result]) -> list[Result]:
    """Returns the findings that are errors."""
    return [finding for finding in findings if finding.severity == "error"]


def has_errors(results: list[Result]) -> bool:
    """True if one of the findings is an error; the build must then stop."""
    return any(result.severity == "error" for result in results)


def wire(result: Result) -> dict[str, Any]:
    """Returns the finding as an entry of `ResourceList.results`.

    KRM Functions Specification, Result: `severity` is always written, because readers have different defaults for it.
    """
    out: dict[str, Any] = {"message": escaping.visible(line(result)), "severity": result.severity}
    if result.ref:
        out["resourceRef"] = {
            "apiVersion": result.ref.api_version,
            "kind": result.ref.kind,
            "name": result.ref.name,
            **({"namespace": result.ref.namespace} if result.ref.namespace else {}),
        }
        if result.path:
            out["field"] = {"path": field(result.path)}
            if result.current is not None:
                out["field"]["currentValue"] = result.current
            if result.proposed is not None:
                out["field"]["proposedValue"] = result.proposed
    if result.file:
        out["file"] = {"path": result.file, "index": result.document}
    out["tags"] = {"code": result.code}
    return out
