"""The report about equality: text for people, JSON for programs, and an anonymous report without names, images and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import krm_fn
from krm_fn.base import escaping, report, report_model, results
from krm_fn.migration.equality import Equality, LiveDifference
from krm_fn.migration.equality.difference_causes import Cause
from krm_fn.render import labels

_LONGEST = 60
_KNOWN_KEYS = ("nvidia.com/", "kubernetes.io/", "grove.io/", labels.PREFIX, "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")
_NAMED = ("labels", "annotations", "data", "binaryData", "matchLabels", "nodeSelector", "selector", "limits", "requests", "parameters")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9]{0,60}")
_GROUP = re.compile(r"(.*\.)?(k8s\.io|nvidia\.com|grove\.io|istio\.io|keda\.sh|apps|batch|autoscaling|)")


def text(namespaces: Mapping[str, Equality]) -> str:
    """Returns the verdict of each namespace, and its differences by cause."""
    return "\n".join(escaping.join_lines(_lines(name, equality)) for name, equality in namespaces.items())


def _lines(name: str, equality: Equality) -> Iterator[str]:
    yield f"namespace {name}" if name else "the export"
    if equality.templates or equality.objects:
        settings = ", ".join(f"{key}: {escaping.json_text(value)}" for key, value in equality.settings.items())
        yield f"  rendered with {settings}"
        templates = f"{equality.same_templates} of {equality.templates} pod templates"
        yield f"  {equality.same_objects} of {equality.objects} objects the same, {templates}"
        unknown, pending = (sum(difference.cause.kind == kind for difference in equality.differences) for kind in ("unknown", "pending"))
        waiting = f", {pending} before the operator has acted" if pending else ""
        yield f"  {report.pluralize(len(equality.differences), 'difference')}, {unknown} of unknown cause{waiting}"
    by_cause: dict[Cause, list[LiveDifference]] = {}
    for difference in equality.differences:
        by_cause.setdefault(difference.cause, []).append(difference)
    for cause in sorted(by_cause, key=lambda cause: (cause.kind != "unknown", cause)):
        yield f"  {cause_text(cause)}:"
        yield from (f"    {line}" for line in map(_line, by_cause[cause]))


def cause_text(cause: Cause) -> str:
    """Describes a cause in a few words."""
    texts = {
        "deviation": f"known deviation {cause.name}",
        "rollout": "the operator is still rolling it out",
        "edit": f"edited with {cause.name}",
        "controller": f"written by {cause.name}",
        "release": f"as operator release {cause.name} does it",
        "refused": f"its graph has the error {cause.name}",
        "pending": f"the operator has not acted on the last change of {cause.name}",
        "unknown": "unknown cause",
    }
    return texts[cause.kind]


def _line(difference: LiveDifference) -> str:
    name = f"{difference.key.kind} {difference.key.name}"
    if not difference.field:
        state = "runs, and is not rendered" if difference.live else "is rendered, and does not exist"
        return f"{name} {state}"
    live, rendered = (_short(value) or "missing" for value in (difference.live, difference.rendered))
    return f"{name} {difference.field}: {live} runs, {rendered} is rendered"


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def json_text(namespaces: Mapping[str, Equality]) -> str:
    """Returns the whole comparison for programs."""
    return report_model.document({"namespaces": [_json_namespace(name, equality) for name, equality in namespaces.items()]})


def _json_namespace(name: str, equality: Equality) -> dict[str, Any]:
    return {
        "namespace": name or None,
        "settings": dict(equality.settings),
        "explained": equality.is_explained,
        **_counts(equality),
        "differences": [*map(_json_difference, equality.differences)],
        "findings": [report.json_fields(finding) for finding in equality.findings],
    }


def _json_difference(difference: LiveDifference) -> dict[str, Any]:
    return {
        "object": difference.key._asdict(),
        "field": difference.field or None,
        "live": difference.live or None,
        "rendered": difference.rendered or None,
        "cause": {"kind": difference.cause.kind, "name": difference.cause.name or None},
    }


def _counts(equality: Equality) -> dict[str, Any]:
    return {
        "objects": {"total": equality.objects, "same": equality.same_objects},
        "podTemplates": {"total": equality.templates, "same": equality.same_templates},
    }


def anonymous(namespaces: Mapping[str, Equality]) -> str:
    """Returns a report that users can send: kinds, paths of fields, causes and numbers, without names, images, keys of users or values."""
    document = {
        "version": krm_fn.__version__,
        "namespaces": [
            {
                "release": equality.settings.get("behaviour"),
                "orchestrator": equality.settings.get("orchestrator"),
                **_counts(equality),
                "differences": _anonymous_differences(equality.differences),
                "findings": dict(sorted(Counter(finding.code for finding in equality.findings).items())),
            }
            for equality in namespaces.values()
        ],
    }
    return escaping.json_text(document, 2) + "\n"


def _anonymous_differences(differences: Sequence[LiveDifference]) -> list[dict[str, Any]]:
    rows = Counter(
        (
            difference.key.group if _GROUP.fullmatch(difference.key.group) else "*",
            difference.key.kind if _FIELD.fullmatch(difference.key.kind) else "*",
            results.field(anonymous_path(difference.path)),
            "both" if difference.live and difference.rendered else "live" if difference.live else "rendered",
            difference.cause.kind,
            difference.cause.name if difference.cause.kind in ("deviation", "release", "refused") else "",
        )
        for difference in differences
    )
    names = ("group", "kind", "field", "in", "cause", "causeName")
    return [{**dict(zip(names, row, strict=True)), "count": count} for row, count in sorted(rows.items())]


def anonymous_path(path: results.Path) -> results.Path:
    """Returns a path without keys that users chose. Keys of Kubernetes, Dynamo and Grove stay.

    >>> anonymous_path(("metadata", "labels", "customer"))
    ('metadata', 'labels', '*')
    """
    shown: list[str | int] = []
    for index, step in enumerate(path):
        is_named = index > 0 and path[index - 1] in _NAMED
        is_known = isinstance(step, int) or (f"{step}".startswith(_KNOWN_KEYS) if is_named else bool(_FIELD.fullmatch(step)))
        shown.append(step if is_known else "*")
    return tuple(shown)
