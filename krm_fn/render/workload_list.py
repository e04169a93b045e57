"""Writes and reads the annotation `dynamo.krm-fn.io/workloads`, which lists the workloads of a graph.

A render writes it; the check of finished builds and the status syncer read it. The list is compact JSON with one object per workload:
`service`, `apiVersion`, `kind`, `name`, `replicas` unless an autoscaler owns the count, and `graph` if `name` does not contain the name of
the graph. Under releases whose operator reports them, an object also has what the status repeats from the pods (`StatusFacts`). This module
is the only writer and the only reader of that format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.gpu_demand import ClaimUse, GPUDemand


class StatusFacts(NamedTuple):
    """What the status of a component repeats from its pods.

    `engine` are the GPUs of its engine, `replica` those of all pods of one replica. Both are None if `gpu_problem` says why they are
    unknown. Claims are left in them only if the render does not know the GPUs of these claims.
    """

    engine: GPUDemand | None = None
    replica: GPUDemand | None = None
    gpu_problem: str = ""
    served_model: str = ""
    runtime_component: str = ""
    power_limit: int | None = None


class WorkloadEntry(NamedTuple):
    """A workload of a component (`service`). `replicas` is None if an autoscaler owns the count.

    `graph` is the name of the graph, if `name` does not contain it; otherwise empty. `facts` is None under releases whose operator does not
    report them.
    """

    service: str
    api_version: str
    kind: str
    name: str
    replicas: int | None = None
    graph: str = ""
    facts: StatusFacts | None = None


MOST = 1000
"""The most entries that are read. A tenant writes the annotation, and each status of the graph reads all of them."""
_INT64 = 2**63
_KEYS = {"service": "service", "apiVersion": "api_version", "kind": "kind", "name": "name"}
"""The attribute of an entry for each key of a workload.

Rule status.workloads: see `krm_fn.render.workload_list`.
"""
_DEMANDS = {"engine": ("gpusPerEngine", "claimsPerEngine"), "replica": ("gpusPerReplica", "claimsPerReplica")}
"""The keys of the number of GPUs and of the claims, for each attribute with a demand.

Rule status.workloads: see `krm_fn.render.workload_list`.
"""
_NAMES = {"gpuProblem": "gpu_problem", "servedModelName": "served_model", "runtimeComponentName": "runtime_component"}
"""The attribute of the facts for each key with a text.

Rule status.workloads: see `krm_fn.render.workload_list`.
"""
_POWER_LIMIT = "gpuPowerLimitWatts"
"""The key of the power limit.

Rule status.workloads: see `krm_fn.render.workload_list`.
"""
_REFERENCES = {"claim": "ResourceClaim", "template": "ResourceClaimTemplate"}
"""The kind of a claim for each key with its name.

Rule status.workloads: see `krm_fn.render.workload_list`.
"""


class TooManyWorkloadsError(ValueError):
    """The annotation has more than `MOST` entries."""


def write(entries: Iterable[WorkloadEntry]) -> str:
    """Writes the text of the annotation; the entries keep their order.

    >>> write([WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", 2)])
    '[{"service":"Worker","apiVersion":"apps/v1","kind":"Deployment","name":"chat-worker","replicas":2}]'

    Rule status.workloads: An annotation of a graph lists its workloads, from which the syncer computes the status. (krm-fn)
    """
    return json.dumps([_object(entry) for entry in entries], ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> list[WorkloadEntry]:
    """Reads the entries of the annotation. Ignores unknown keys, because a newer render may add keys.

    Raises ValueError if the text does not have the format of `write`. The error message names the entry and the key. Raises
    TooManyWorkloadsError for more than `MOST` entries.
    """
    try:
        listed = json.loads(text)
    except RecursionError as problem:
        raise ValueError("the annotation is nested too deeply") from problem
    except ValueError as problem:
        raise ValueError(f"the annotation is not JSON: {problem}") from problem
    _require(isinstance(listed, list), "the annotation is not a JSON list")
    if len(listed) > MOST:
        raise TooManyWorkloadsError(f"the annotation has {len(listed)} entries, and at most {MOST} are read; divide the graph")
    return [_entry(index, value) for index, value in enumerate(listed)]


def _object(entry: WorkloadEntry) -> dict[str, Any]:
    """Returns the JSON object of an entry.

    Rule status.workloads: see `krm_fn.render.workload_list`.
    """
    texts = {key: getattr(entry, attribute) for key, attribute in _KEYS.items()}
    fields = texts if entry.replicas is None else {**texts, "replicas": entry.replicas}
    return {**fields, **({"graph": entry.graph} if entry.graph else {}), **(_facts_object(entry.facts) if entry.facts else {})}


def _facts_object(facts: StatusFacts) -> dict[str, Any]:
    """Returns the keys and values of facts in the object of an entry.

    Rule status.workloads: see `krm_fn.render.workload_list`.
    """
    fields: dict[str, Any] = {key: text for key, attribute in _NAMES.items() if (text := getattr(facts, attribute))}
    if facts.power_limit is not None:
        fields[_POWER_LIMIT] = facts.power_limit
    for attribute, (number, claims) in _DEMANDS.items():
        demand: GPUDemand | None = getattr(facts, attribute)
        if demand is not None:
            fields[number] = demand.number
            if demand.claims:
                fields[claims] = [_claim_object(claim) for claim in demand.claims]
    return fields


def _claim_object(claim: ClaimUse) -> dict[str, Any]:
    """Returns the JSON object of a claim.

    Rule status.workloads: see `krm_fn.render.workload_list`.
    """
    reference = {key: claim.name for key, kind in _REFERENCES.items() if kind == claim.kind}
    requests = {"requests": list(claim.requests)} if claim.requests else {}
    return {**reference, **requests, **({} if claim.times == 1 else {"times": claim.times})}


def _entry(index: int, value: Any) -> WorkloadEntry:
    _require(isinstance(value, dict), f"entry {index} is not a JSON object")
    for key in _KEYS:
        _require(isinstance(value.get(key), str), f"entry {index} has no text under {key}")
    replicas = value.get("replicas")
    _require(replicas is None or _is_int64(replicas), f"entry {index} has no whole number under replicas")
    graph = value.get("graph", "")
    _require(isinstance(graph, str), f"entry {index} has no text under graph")
    texts = {attribute: value[key] for key, attribute in _KEYS.items()}
    return WorkloadEntry(**texts, replicas=replicas, graph=graph, facts=_facts(index, value))


def _facts(index: int, value: dict[str, Any]) -> StatusFacts | None:
    """Reads the facts of an entry; None if it has none, which an entry of another release has."""
    for key in _NAMES:
        _require(isinstance(value.get(key, ""), str), f"entry {index} has no text under {key}")
    limit = value.get(_POWER_LIMIT)
    _require(limit is None or _is_count(limit), f"entry {index} has no whole number under {_POWER_LIMIT}")
    fields: dict[str, Any] = {attribute: value.get(key, "") for key, attribute in _NAMES.items()}
    fields |= {attribute: _demand(index, value, *keys) for attribute, keys in _DEMANDS.items()}
    facts = StatusFacts(**fields, power_limit=limit)
    return None if facts == StatusFacts() else facts


def _demand(index: int, value: dict[str, Any], number: str, claims: str) -> GPUDemand | None:
    from krm_fn.kubernetes.gpu_demand import GPUDemand  # noqa: PLC0415 - a render writes the annotation only

    gpus, listed = value.get(number), value.get(claims, [])
    _require(gpus is None or _is_count(gpus), f"entry {index} has no whole number under {number}")
    _require(isinstance(listed, list), f"entry {index} has no list under {claims}")
    return (
        None if gpus is None else GPUDemand(gpus, tuple(_claim(f"entry {index} has no claims under {claims}", claim) for claim in listed))
    )


def _claim(otherwise: str, value: Any) -> ClaimUse:
    from krm_fn.kubernetes.gpu_demand import ClaimUse  # noqa: PLC0415 - see above

    _require(isinstance(value, dict), otherwise)
    references = [(kind, value[key]) for key, kind in _REFERENCES.items() if key in value]
    _require(len(references) == 1 and isinstance(references[0][1], str), otherwise)
    requests, times = value.get("requests", []), value.get("times", 1)
    _require(isinstance(requests, list) and all(isinstance(request, str) for request in requests) and _is_count(times), otherwise)
    return ClaimUse(*references[0], tuple(requests), times)


def _is_count(value: Any) -> bool:
    return _is_int64(value) and value >= 0


def _is_int64(value: Any) -> bool:
    return type(value) is int and -_INT64 <= value < _INT64


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)
