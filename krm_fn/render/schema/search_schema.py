"""The schema of a request of v1beta2, as far as it is known, and its walk.

The fields are those of two states of upstream's main branch before the release of 1.7.0, so a release may have more of them. Only an enum
value that both states refuse is an error. An unknown field, a wrong type, a missing field or a wrong size is a warning.

Follows the operator's `api/v1beta2/dynamographdeploymentrequest_types.go`, and the schema in the definition of the Run.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render.schema import schema_check, unknown_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.render.schema.table import Schema

ENGINES = ("vllm", "sglang", "trtllm")
METRICS = ("throughput", "throughputPerGpu", "throughputPerUser", "e2eLatency", "goodput", "goodputPerGpu")


def _object(*required: str, **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": required}


def _list(item: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": item, "minItems": least}


def _word(*values: str) -> Schema:
    return {"type": "string", "enum": [*values]}


_FREE: Schema = {"type": "object"}
_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_POSITIVE: Schema = {"type": "number", "x-above": 0}
_STATIC = _object(
    *("isl", "osl", "numRequestRatio"),
    isl=_COUNT,
    osl=_COUNT,
    numRequestRatio=_COUNT,
    requestRate=_POSITIVE,
    concurrency=_COUNT,
    kvLoadRatio=_list({"type": "number"}, 1),
)
_TRACE = _object(
    "source",
    source=_object(pvc=_object("claimName", "path", claimName=_NAME, path=_NAME), uri=_NAME),
    format=_TEXT,
    replay=_object(arrivalSpeedupRatio=_POSITIVE, concurrency=_COUNT),
)
_OBJECTIVE = _object(
    "mode",
    mode=_word("optimize", "pareto"),
    metric=_word(*METRICS),
    metrics=_list(_word(*METRICS), 2),
    sla=_object(e2eMs=_POSITIVE, ttftMs=_POSITIVE, itlMs=_POSITIVE),
)
_BUDGET = _object(
    *("maxRounds", "parallelEvaluations"),
    maxRounds=_COUNT,
    parallelEvaluations=_COUNT,
    candidatesPerRound=_COUNT,
    maxEvaluationDuration=_TEXT,
)
SPEC = _object(
    modelRef=_object("name", name=_NAME, revision=_TEXT),
    backends=_list(_word(*ENGINES), 1),
    hardware=_object("gpu", gpu=_object("sku", "budget", sku=_NAME, budget=_COUNT)),
    workload=_object(static=_STATIC, trace=_TRACE),
    objective=_OBJECTIVE,
    search=_object("budget", budget=_BUDGET, parameters=_FREE),
    recommendation=_object(maxCandidates=_COUNT),
)
"""The spec. A rule says which of its fields are required."""


def check(value: Any, schema: Schema, ref: Ref, path: Path) -> Iterator[Result]:
    """Yields every violation of a value by a schema of this module. A warning has the code DYN199, and an error DYN198."""
    if isinstance(value, dict) and schema["type"] == "object":
        yield from _check_fields(value, schema, ref, path)
    elif isinstance(value, list) and schema["type"] == "array":
        if len(value) < schema["minItems"]:
            yield _warning(f"the list needs {schema['minItems']} or more entries; add to it", ref, path)
        for index, entry in enumerate(value):
            yield from check(entry, schema["items"], ref, (*path, index))
    else:
        for violation in schema_check.violations(value, schema, path, {}):
            if violation.code == codes.UNKNOWN_VALUE:
                yield results.error(
                    codes.REJECTED_V1BETA2_REQUEST, violation.message, ref, path, current=value, proposed=violation.proposed
                )
            else:
                yield _warning(violation.message, ref, path)
        if "x-above" in schema and type(value) in (int, float) and value <= schema["x-above"]:
            yield _warning(f"{value} is not above {schema['x-above']}; write a larger number", ref, path)


def _check_fields(fields: dict[str, Any], schema: Schema, ref: Ref, path: Path) -> Iterator[Result]:
    known = schema.get("properties")
    if known is None:
        return
    for name, value in fields.items():
        if name in known:
            yield from check(value, known[name], ref, (*path, name))
        else:
            nearest = unknown_fields.nearest(name, tuple(known))
            fix = f"write {nearest}" if nearest else "check its name, or keep it if your release of Dynamo has it"
            yield _warning(f"krm-fn does not know this field of v1beta2; {fix}", ref, (*path, name))
    for name in schema["required"]:
        if fields.get(name) is None:
            yield _warning(f"{name} is required in v1beta2, but missing; write it", ref, (*path, name))


def _warning(message: str, ref: Ref, path: Path) -> Result:
    return results.warning(codes.DOUBTFUL_V1BETA2_FIELD, message, ref, path)
