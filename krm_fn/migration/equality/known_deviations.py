"""The known deviations of a render from the operator's objects, by name. docs/differences.md gives their reasons."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.migration.adopt import adopt_findings
from krm_fn.render import dynamo_api, labels
from krm_fn.render.schema.object_changes import FieldChange

_RETAINED = ("argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune", "client.lifecycle.config.k8s.io/")
_FIRST_RANK = re.compile(r"\$\(\( ([0-9]+) \* \$\(LWS_WORKER_INDEX\) \)\)")
_PLANNER_ACCOUNT = re.compile(r"planner-serviceaccount(-binding)?|epp-serviceaccount(-binding)?")
_ACCOUNT = "-k8s-service-discovery"
"""The account of a component without a graph. No cluster allows the name, so such pods never start."""
_REVISION = (labels.WORKER_HASH, "DYN_NAMESPACE_WORKER_SUFFIX")
_EXPORT = " -x DYN_NAMESPACE_WORKER_SUFFIX"
_DEFAULT_DEADLINE = 600
_DEFAULT_STRATEGY: dict[str, tuple[Any, ...]] = {
    "type": ("", "RollingUpdate"),
    "maxUnavailable": (1,),
    "maxSurge": (0,),
    "partition": (0,),
}
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class DifferingField(NamedTuple):
    """A field that differs between a live object and a rendered one. `owner` is the kind of the Dynamo resource of the object."""

    key: ObjectKey
    field: FieldChange
    owner: str = ""


class Deviation(NamedTuple):
    """A deviation in a field: its name, and the test that recognizes it."""

    name: str
    matches: Callable[[DifferingField], bool]


def of_field(differing: DifferingField) -> str:
    """Returns the name of the deviation that explains a field; empty for none."""
    return next((deviation.name for deviation in FIELDS if deviation.matches(differing)), "")


def of_live_object(key: ObjectKey) -> str:
    """Returns the name of the deviation that explains a live object which no render makes; empty for none."""
    if key.kind == "Service" and key.name.endswith(("-p", "-d")):
        return "debug-services"
    if key.kind in ("ServiceAccount", "RoleBinding") and _PLANNER_ACCOUNT.fullmatch(key.name):
        return "unused-accounts"
    return ""


def _at(kind: str, *path: str) -> Callable[[DifferingField], bool]:
    """Returns a test for a field of a kind, and all that is in it."""
    return lambda differing: differing.key.kind == kind and differing.field.path[: len(path)] == path


def _added_annotations(field: FieldChange) -> list[str]:
    """Returns the names of the annotations that a render adds to an object; empty for another change."""
    if field.path[:2] != ("metadata", "annotations") or field.old is not None:
        return []
    return [*field.new] if field.path[2:] == () and isinstance(field.new, dict) else [f"{field.path[-1]}"]


def _is_retention(differing: DifferingField) -> bool:
    """True for annotations that keep the data of a claim."""
    names = _added_annotations(differing.field)
    return differing.key.kind == "PersistentVolumeClaim" and bool(names) and all(name.startswith(_RETAINED) for name in names)


def _is_flux_variable(differing: DifferingField) -> bool:
    """True for the annotation of an object with a variable for its pods."""
    return _added_annotations(differing.field) == [labels.FLUX_SUBSTITUTE]


def _is_first_rank(differing: DifferingField) -> bool:
    """True for the first rank of a follower, which Kubernetes does not compute."""
    return _is_correction(differing.field, lambda text: _FIRST_RANK.sub(r"$(( \1 * LWS_WORKER_INDEX ))", text))


def _is_leader_address(differing: DifferingField) -> bool:
    return _is_correction(differing.field, lambda text: text.replace("$LWS_LEADER_ADDRESS", "$(LWS_LEADER_ADDRESS)"))


def _is_quoting(differing: DifferingField) -> bool:
    """True for a command line that differs in quotes and signs of variables only."""
    field = differing.field
    return _is_line(field) and adopt_findings.plain_words(field.old) == adopt_findings.plain_words(field.new)


def _is_correction(field: FieldChange, corrected: Callable[[str], str]) -> bool:
    """True if a part of a command line is the rendered one after a correction."""
    return _is_line(field) and corrected(field.old) == field.new


def _is_line(field: FieldChange) -> bool:
    """True for a part of a command line that both sides have."""
    return isinstance(field.old, str) and isinstance(field.new, str) and not {"args", "command"}.isdisjoint(field.path)


def _is_revision(differing: DifferingField) -> bool:
    """True for the worker revision of a clique, which operators of August 2026 did not write."""
    field = differing.field
    name = field.new.get("name") if isinstance(field.new, dict) else field.path[-1]
    is_added = (field.old is None and name in _REVISION) or _is_correction(field, lambda text: f"{text}{_EXPORT}")
    is_line = _is_line(field) and field.old == field.new.replace(_EXPORT, "")
    return differing.key.kind == "PodCliqueSet" and (is_added or is_line)


def _is_second_handler(differing: DifferingField) -> bool:
    field = differing.field
    return field.new is None and field.path[-1] in _HANDLERS and any(probe in field.path for probe in _PROBES)


def _is_ingress_metadata(differing: DifferingField) -> bool:
    field = differing.field
    is_metadata = field.path[:2] in (("metadata", "annotations"), ("metadata", "labels"))
    return differing.key.kind in ("Ingress", "VirtualService") and is_metadata and field.old is None


def _is_component_selector(differing: DifferingField) -> bool:
    is_selector = differing.key.kind == "Service" and differing.field.path[:2] == ("spec", "selector")
    return is_selector and differing.owner == dynamo_api.COMPONENT and differing.field.new is None


def _is_component_account(differing: DifferingField) -> bool:
    """True for the discovery of a standalone component, whose account the operator names without a graph."""
    field = differing.field
    is_discovery = any(mark in f"{field.path} {field.old}" for mark in ("dynamo-discovery", "DYN_DISCOVERY_BACKEND"))
    is_line = _is_correction(field, lambda text: text.replace(" -x DYN_DISCOVERY_BACKEND", ""))
    return differing.owner == dynamo_api.COMPONENT and (field.old == _ACCOUNT or is_line or (is_discovery and field.new is None))


def _is_deadline(differing: DifferingField) -> bool:
    """True for a deadline that only the render writes: the live one is missing, or the default of an API server."""
    is_deadline = _at("Deployment", "spec", "progressDeadlineSeconds")(differing)
    return is_deadline and differing.field.old in (None, _DEFAULT_DEADLINE)


def _is_default_strategy(differing: DifferingField) -> bool:
    """True for an empty strategy, and for the defaults that LeaderWorkerSet's webhook writes in its place."""
    field = differing.field
    return _at("LeaderWorkerSet", "spec", "rolloutStrategy")(differing) and _is_default(f"{field.path[-1]}", field.old)


def _is_default(name: str, value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_default(inner, part) for inner, part in value.items())
    return value in _DEFAULT_STRATEGY.get(name, ())


FIELDS = (
    Deviation("retained-claims", _is_retention),
    Deviation("flux-variables", _is_flux_variable),
    Deviation("progress-deadline", _is_deadline),
    Deviation("first-rank", _is_first_rank),
    Deviation("leader-address", _is_leader_address),
    Deviation("worker-revision", _is_revision),
    Deviation("quoting", _is_quoting),
    Deviation("wait-script", _at("ConfigMap", "data", "wait-for-leader.py")),
    Deviation("clique-order", lambda differing: differing.key.kind == "PodCliqueSet" and differing.field.order),
    Deviation("restart-order", lambda differing: labels.RESTART_AT in f"{differing.field.path} {differing.field.new}"),
    Deviation("second-handler", _is_second_handler),
    Deviation("ingress-metadata", _is_ingress_metadata),
    Deviation("component-selector", _is_component_selector),
    Deviation("component-account", _is_component_account),
    Deviation("account-role", lambda differing: differing.key.kind == "RoleBinding" and differing.field.path[0] == "roleRef"),
    Deviation("rollout-strategy", _is_default_strategy),
)
"""The deviations in fields. Their order matters where two tests match."""

NAMES = (*(deviation.name for deviation in FIELDS), "debug-services", "unused-accounts")
"""The names of all deviations."""
