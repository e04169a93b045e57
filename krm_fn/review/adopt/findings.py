"""The findings of the proof: each difference, and what would close it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels
from krm_fn.results import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Result
    from krm_fn.review.adopt.prove import Count, Difference, Field, Proof

_ADDRESSES = {
    "NATS_SERVER": "natsAddress",
    "ETCD_ENDPOINTS": "etcdAddress",
    "MODEL_EXPRESS_URL": "modelExpressURL",
    "PROMETHEUS_ENDPOINT": "prometheusEndpoint",
    "DYN_DISCOVERY_BACKEND": "discoveryBackend",
}
_SHOWN = 60
_MOST = 5
_ORDER = "(order)"


def of(proof: Proof, *, complete: bool) -> Iterator[Result]:
    """An error for each pod template that differs and for each number of pods that differs.

    A render that is not `complete` has errors of its own, which say why pod templates are missing.
    """
    for each in proof.differences:
        if each.live is not None and each.rendered is not None:
            yield _different(each)
        elif complete:
            yield _missing(each)
    for count in proof.counts:
        yield _count(count)


def summary(proof: Proof) -> str:
    """The outcome in one line: `9 of 9 pod templates the same, no restart`."""
    said = f"{proof.same} of {proof.total} pod templates the same"
    return f"{said}, no restart" if proof.same == proof.total and not proof.counts else said


def _different(difference: Difference) -> Result:
    """One finding for a template, because one restart is the price of all its fields."""
    fields = difference.fields
    said = "; ".join(_said(each) for each in fields[:_MOST])
    more = f"; and {len(fields) - _MOST} more" if len(fields) > _MOST else ""
    closings = " ".join(dict.fromkeys(f"{_closing(each)}." for each in fields[:_MOST])).removesuffix(".")
    return results.error("DYN568", f"these pods would restart, because {said}{more}; {closings}", _ref(difference))


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
    workload = count.workload
    return results.error("DYN570", message, Ref("", workload.kind, workload.name, workload.namespace), ("spec", "replicas"))


def _said(field: Field) -> str:
    if field.path.endswith(_ORDER):
        return f"{field.path.removesuffix(_ORDER)} have another order"
    if not field.live:
        return f"{field.path} is {_short(field.rendered)} and does not run"
    if not field.rendered:
        return f"{field.path} is missing, and {_short(field.live)} runs"
    return f"{field.path} is {_short(field.rendered)}, and {_short(field.live)} runs"


def _closing(field: Field) -> str:
    """What makes the field the same: a setting, a field of the graph, or the end of an update."""
    setting = next((key for name, key in _ADDRESSES.items() if f"env[{name}]" in field.path), "")
    if setting:
        return f"set {setting} in render.yaml, or write the variable into the graph"
    if "imagePullSecrets" in field.path:
        return "add the secret to imagePullSecrets in render.yaml"
    if labels.RESTART_AT in field.path:
        return "wait until the operator has restarted all services, and export again"
    if labels.WORKER_HASH in field.path or "DYN_NAMESPACE_WORKER_SUFFIX" in field.path:
        return "set operatorVersion in render.yaml to the version of the operator that made the graph"
    if ".command[" in field.path or ".args[" in field.path:
        return (
            "docs/differences.md names the commands that krm-fn writes otherwise, because the operator's cannot work: accept one restart; "
            "otherwise write the live value into the graph"
        )
    if field.path.startswith("metadata."):
        return "write the live value into the metadata of the service's pods in the graph"
    return "write the live value into the pods of the service in the graph, or accept one restart"


def _ref(difference: Difference) -> Ref:
    key, template = difference.place
    return Ref("", key.kind, f"{key.name} {template}".strip(), key.namespace)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
