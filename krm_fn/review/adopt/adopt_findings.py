"""The findings of the proof: each difference, and what would close it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.results import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.results import Path, Result
    from krm_fn.review.adopt.verification import ComparedField, Count, Difference, Proof
    from krm_fn.review.forecast import ObjectForecast

_ADDRESSES = {
    "NATS_SERVER": "natsAddress",
    "ETCD_ENDPOINTS": "etcdAddress",
    "MODEL_EXPRESS_URL": "modelExpressURL",
    "PROMETHEUS_ENDPOINT": "prometheusEndpoint",
    "DYN_DISCOVERY_BACKEND": "discoveryBackend",
}
_MOST, _SHOWN, _CONTEXT = 5, 60, 20
"""The most fields that one finding shows, the most characters of a value, and how many of them stand before the first difference."""

_QUOTING = re.compile(r"[\"'\\$(){}]")


def of(proof: Proof, *, complete: bool) -> Iterator[Result]:
    """An error for each pod template and each number of pods that differs, and for each object that the cluster refuses.

    A render that is not `complete` has errors of its own, which say why pod templates are missing.
    """
    for each in proof.differences:
        if each.live is not None and each.rendered is not None:
            yield _different(each)
        elif complete:
            yield _missing(each)
    for count in proof.counts:
        yield _count(count)
    templates = {each.place.workload for each in proof.differences}
    for outcome in proof.outcomes:
        if outcome.effect == "restarts" and outcome.key not in templates:
            yield _restarts(outcome)
        yield from (each for each in outcome.findings if each.severity == "error")


def summary(proof: Proof) -> str:
    """The outcome in one line: `9 of 9 pod templates the same, no restart`."""
    texts = f"{proof.same} of {proof.total} pod templates the same"
    return f"{texts}, no restart" if proof.keeps_all else texts


def _different(difference: Difference) -> Result:
    """One finding for a template, because one restart is the price of all its fields."""
    fields = difference.fields
    text = "; ".join(_said(field) for field in fields[:_MOST])
    more = f"; and {len(fields) - _MOST} more" if len(fields) > _MOST else ""
    closings = " ".join(dict.fromkeys(f"{_closing(field)}." for field in fields[:_MOST])).removesuffix(".")
    return results.error("DYN568", f"these pods would restart, because {text}{more}; {closings}", _ref(difference))


def _missing(difference: Difference) -> Result:
    if difference.rendered is None:
        message = "these pods run, but no pod template is rendered for them; write their service into the graph, with the same replicas"
    else:
        message = (
            "this pod template is rendered, but does not run; wait until the operator has made it, or take its service out of the graph"
        )
    return results.error("DYN569", message, _ref(difference))


def _count(count: Count) -> Result:
    message = f"{count.live} replicas run, and {count.rendered} are rendered; write replicas: {count.live} into the graph"
    return results.error("DYN570", message, _address(count.workload), ("spec", "replicas"))


def _restarts(outcome: ObjectForecast) -> Result:
    """A workload whose pods restart although its pod templates are the same."""
    message = f"these pods would restart, because {_paths(outcome.causes)} differs; write the live value into the graph"
    return results.error("DYN568", message, _address(outcome.key), outcome.causes[0] if outcome.causes else ())


def _paths(paths: tuple[Path, ...]) -> str:
    return ", ".join(".".join(str(step) for step in path) for path in paths[:_MOST])


def _said(field: ComparedField) -> str:
    if field.is_order:
        return f"{field.path} have another order"
    if not field.live:
        return f"{field.path} is {_short(field.rendered)} and does not run"
    if not field.rendered:
        return f"{field.path} is missing, and {_short(field.live)} runs"
    ours, theirs = _apart(field.rendered, field.live)
    return f"{field.path} is {ours}, and {theirs} runs"


def _closing(field: ComparedField) -> str:
    """The way to make the field the same: a setting, a field of the graph, or the end of an update."""
    setting = "imagePullSecrets" if "imagePullSecrets" in field.path else ""
    setting = next((key for name, key in _ADDRESSES.items() if f"env[{name}]" in field.path), setting)
    if setting and not field.live:
        return f"{setting} in render.yaml is that of other pods: adopt the graph of these pods into a folder of its own"
    if setting:
        return f"set {setting} in render.yaml, or write the live value into the graph"
    if labels.RESTART_AT in field.path:
        return "wait until the operator has restarted all services, and export again"
    if labels.WORKER_HASH in field.path or "DYN_NAMESPACE_WORKER_SUFFIX" in field.path:
        return "set operatorVersion in render.yaml to the version of the operator that made the graph"
    if (".command[" in field.path or ".args[" in field.path) and _words(field.live) == _words(field.rendered):
        return (
            "the operator writes this command so that it loses quotes or variables, and krm-fn corrects it (docs/differences.md, Pods): "
            "accept one restart of these pods"
        )
    if field.path.startswith("metadata."):
        return "write the live value into the metadata of the service's pods in the graph"
    return "write the live value into the pods of the service in the graph, or accept one restart"


def _words(command: str) -> list[str]:
    """The words of a command without what quotes and replaces them: equal for a command and its correction."""
    return sorted(_QUOTING.sub("", command).split())


def _apart(ours: str, theirs: str) -> tuple[str, str]:
    """Two values that differ, each from shortly before the first difference on."""
    first = next((index for index, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), 0)
    start = max(first - _CONTEXT, 0)
    return _short(ours, start), _short(theirs, start)


def _ref(difference: Difference) -> Ref:
    key, template = difference.place
    return Ref("", key.kind, f"{key.name} {template}".strip(), key.namespace)


def _address(key: ObjectKey) -> Ref:
    return Ref("", key.kind, key.name, key.namespace)


def _short(value: str, start: int = 0) -> str:
    """At most `_SHOWN` characters of a value, with marks for what is left out."""
    end = start + _SHOWN
    return f"{'…' * (start > 0)}{value[start:end]}{'…' * (len(value) > end)}"
