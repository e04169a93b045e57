"""Requests of v1beta2, their Runs and Candidates: builders, and Hypothesis strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from krm_fn.render import dynamo_api
from tests.support import beta, given

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from krm_fn.kubernetes.types import Resource

NAME = "find"
STATIC = {"isl": 2048, "osl": 256, "numRequestRatio": 4, "concurrency": 8}
BUDGET = {"maxRounds": 10, "parallelEvaluations": 2}
SPEC: dict[str, Any] = {
    "modelRef": {"name": "acme/tiny"},
    "backends": ["vllm"],
    "hardware": {"gpu": {"sku": "h200_sxm", "budget": 8}},
    "workload": {"static": STATIC},
    "objective": {"mode": "optimize", "metric": "throughputPerGpu"},
    "search": {"budget": BUDGET},
}
METRICS = ("throughput", "throughputPerGpu", "throughputPerUser", "e2eLatency", "goodput", "goodputPerGpu")
COMPLETED = {"type": "Completed", "status": "True", "reason": "SearchCompleted", "message": ""}


def request(status: Any = None, /, *, version: str = dynamo_api.V1BETA2, **spec: Any) -> Resource:
    """A request; `spec` replaces fields of one that is complete."""
    item = given.item(dynamo_api.REQUEST, NAME, api=version, spec={**SPEC, **spec})
    return item if status is None else {**item, "status": status}


def view(spec: Any, version: str = dynamo_api.V1BETA1, **beside: Any) -> Resource:
    """A request with a view of v1beta2, or of v1beta1 in v1beta2."""
    field = dynamo_api.BETA1 if version == dynamo_api.V1BETA2 else dynamo_api.BETA2
    return given.item(dynamo_api.REQUEST, NAME, api=version, spec={field: spec, **beside})


def run(*candidates: str, name: str = f"{NAME}-1", **status: Any) -> Resource:
    """A Run that is done, with these Candidates; the best one first."""
    done = {"phase": "Succeeded", "conditions": [COMPLETED], "candidateRefs": [{"name": candidate} for candidate in candidates]}
    return {**given.item(dynamo_api.RUN, name, api=dynamo_api.V1BETA2, spec=SPEC), "status": {**done, **status}}


def candidate(name: str, spec: Any = None, *, valid: str = "True") -> Resource:
    """A Candidate as the operator writes it, with labels and an owner. Without `valid`, nothing has judged it yet."""
    graph = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker")) if spec is None else {"spec": spec}
    item = given.item(dynamo_api.CANDIDATE, name, api=dynamo_api.V1BETA2, spec=graph["spec"])
    owner = {"apiVersion": dynamo_api.V1BETA2, "kind": dynamo_api.RUN, "name": f"{NAME}-1", "uid": "1"}
    item["metadata"] |= {"labels": {"nvidia.com/dgdr-run-uid": "1"}, "ownerReferences": [owner]}
    condition = {"type": "Valid", "status": valid, "reason": "Judged", "message": "the search has judged it"}
    return {**item, "status": {"conditions": [condition] if valid else []}}


_COUNTS = st.integers(1, 2**31 - 1)
_AMOUNTS = _COUNTS | st.floats(0.001, 1e6)
_NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=12)


def _with(*required: tuple[str, SearchStrategy[Any]], **optional: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.fixed_dictionaries(dict(required), optional=optional)


_OBJECTIVES = _with(
    ("mode", st.just("optimize")), ("metric", st.sampled_from(METRICS)), sla=st.just({"e2eMs": 900}) | st.just({"ttftMs": 300, "itlMs": 20})
) | _with(("mode", st.just("pareto")), ("metrics", st.lists(st.sampled_from(METRICS), min_size=2, max_size=3, unique=True)))
_LOADS = st.one_of(
    st.builds(lambda number: {"requestRate": number}, _AMOUNTS),
    st.builds(lambda number: {"concurrency": number}, _COUNTS),
    st.builds(lambda number: {"kvLoadRatio": [number]}, st.floats(0.1, 1)),
)
_STATICS = st.builds(
    lambda sizes, load: {"static": {**sizes, **load}}, _with(("isl", _COUNTS), ("osl", _COUNTS), ("numRequestRatio", _COUNTS)), _LOADS
)
_SOURCES = st.builds(lambda name: {"uri": f"s3://{name}"}, _NAMES) | st.builds(
    lambda name: {"pvc": {"claimName": name, "path": "trace.jsonl"}}, _NAMES
)
_TRACES = st.builds(
    lambda trace: {"trace": trace},
    _with(("source", _SOURCES), format=st.just("mooncake"), replay=_with(arrivalSpeedupRatio=_AMOUNTS, concurrency=_COUNTS)),
)
SPECS: SearchStrategy[Any] = _with(
    ("modelRef", _with(("name", _NAMES), revision=_NAMES)),
    ("backends", st.lists(st.sampled_from(["vllm", "sglang", "trtllm"]), min_size=1, unique=True)),
    ("hardware", _with(("gpu", _with(("sku", _NAMES), ("budget", _COUNTS))))),
    ("workload", _STATICS | _TRACES),
    ("objective", _OBJECTIVES),
    ("search", _with(("budget", _with(("maxRounds", _COUNTS), ("parallelEvaluations", _COUNTS), candidatesPerRound=_COUNTS)))),
    recommendation=_with(maxCandidates=_COUNTS),
)
"""Native specs that no rule reports."""
STATUSES: SearchStrategy[Any] = _with(
    ("observedGeneration", _COUNTS),
    activeRunRef=st.builds(lambda name: {"name": name}, _NAMES),
    recentRunRefs=st.lists(st.builds(lambda name: {"name": name}, _NAMES), max_size=3),
    conditions=st.just([{"type": "Accepted", "status": "True"}]),
)
_WORKERS = st.builds(
    lambda name, kind, replicas, gpus: beta.component(
        name, kind, main={"resources": {"limits": {"nvidia.com/gpu": f"{gpus}"}}}, replicas=replicas
    ),
    st.sampled_from(["Worker", "Decode", "Backend"]),
    st.sampled_from(["worker", "decode"]),
    st.integers(0, 4),
    st.sampled_from([1, 2, 4, 8]),
)
GRAPHS: SearchStrategy[Any] = st.builds(
    lambda front, worker, prefill: beta.graph(front, worker, *prefill)["spec"],
    st.builds(lambda replicas: beta.component("Frontend", "frontend", replicas=replicas), st.integers(1, 3)),
    _WORKERS,
    st.lists(st.just(beta.component("Prefill", "prefill")), max_size=1),
)
"""Specs of graphs that an API server accepts, as a search finds them."""
