"""The report about budgets: a table for people, one for Markdown, JSON for programs, and the findings about exceeded limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import codes, report, results
from krm_fn.base.report_model import ReportTable, Span
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.review.budgets.gpu_use import LimitUse, Measured
from krm_fn.review.budgets.limits import Budget
from krm_fn.review.forecast import Gpus, gpu_texts

_HEAD = ("LIMIT", "BEFORE", "PEAK", "AFTER")
_ALL, _UNKNOWN = "(all)", "(unknown)"
_OTHERS = "(in no budget)"
_MOST_NAMES = 3


def findings(resource: Resource, measured: Measured) -> Iterator[Result]:
    """Yields an error for each limit that a cluster exceeds, and the findings about GPUs that count in several limits or cannot be counted.

    `resource` is the DynamoBudget.
    """
    ref = results.ref(resource)
    exceeded = [_report_exceeded(use, ref) for use in measured.uses if use.is_exceeded]
    open_products = dict.fromkeys(_open_products(use, ref) for use in measured.uses if use.open_products)
    yield from (*exceeded, *open_products, *_unknown_clusters(measured, ref), *measured.findings)


def _unknown_clusters(measured: Measured, ref: results.Ref) -> Iterator[Result]:
    """Warns of names of clusters that no root has: the limit would hold for nothing, and nobody would see it."""
    known = ", ".join(filter(None, measured.clusters)) or "not known"
    for limit in measured.limits:
        for number, name in enumerate(limit.clusters):
            if name not in measured.clusters:
                message = f"the budget {limit.name} names the cluster {name}, to which no root is applied, so it limits nothing there"
                path: results.Path = ("spec", "budgets", limit.number, "clusters", number)
                yield results.warning(codes.BUDGET_OF_UNKNOWN_CLUSTER, f"{message}; the clusters are {known}", ref, path)


def _report_exceeded(use: LimitUse, ref: results.Ref) -> Result:
    limit, peak = use.limit, use.gpus.peak
    counted = gpu_texts.count_gpus(peak, use.gpus.unknown_peak)
    largest = report.list_first([f"{name} ({count})" for name, count in use.largest], _MOST_NAMES)
    when = (
        "in use"
        if use.gpus.before == peak == use.gpus.after
        else "at the peak of the change"
        if peak > use.gpus.after
        else "after the change"
    )
    if limit.gpus is not None and peak > limit.gpus:
        problem, field = f"{counted} {when}, and the limit is {limit.gpus}", "gpus"
    else:
        problem, field = f"{counted} {when} cost {use.cost(peak):g} per hour, and the limit is {limit.cost:g}", "costPerHour"
    fix = "lower replicas, make the rollout smaller, or raise the limit"
    at = f" in the cluster {use.cluster}" if use.cluster else ""
    message = f"the budget {limit.name} is exceeded{at}: {problem}; most are of {largest}; {fix}"
    return results.error(codes.BUDGET_EXCEEDED, message, ref, ("spec", "budgets", limit.number, field))


def _open_products(use: LimitUse, ref: results.Ref) -> Result:
    pods = report.list_first([f"{name} ({products})" for name, products in use.open_products], _MOST_NAMES)
    message = f"the budget {use.limit.name} counts all GPUs of pods that may run on several products: {pods}"
    fix = "they count in each product where they may run; to count them in one product only, require it in their node selector"
    return results.info(codes.PODS_ON_SEVERAL_GPU_PRODUCTS, f"{message}; {fix}", ref, ("spec", "budgets", use.limit.number, "products"))


def table(budget: Budget, measured: Measured) -> ReportTable:
    """Returns a table with one row for each limit; with several clusters, one for each of them, and one for all of them together.

    Columns with costs are there if a limit has a price.
    """
    has_prices = any(limit.price is not None for limit in budget.limits)
    unit = f" {budget.currency}/H" if budget.currency else "/H"
    clusters = measured.clusters if len(measured.clusters) > 1 else ()
    head = ("BUDGET", *(["CLUSTER"] if clusters else ()), *_HEAD, *((f"PEAK{unit}", f"AFTER{unit}") if has_prices else ()), "STATE")
    rows: list[tuple[str, ...]] = []
    for uses in _by_limit(measured):
        for use in uses:
            cluster = [use.cluster or _UNKNOWN] if clusters else ()
            state = "exceeded" if use.is_exceeded else "unknown" if use.gpus.unknown_peak else "ok"
            rows.append(
                (use.limit.name, *cluster, _limit(use), *gpu_texts.of(use.gpus), *_costs(use, use.gpus, has_prices=has_prices), state)
            )
        if len(uses) > 1:
            together = gpu_texts.total(use.gpus for use in uses)
            rows.append((uses[0].limit.name, _ALL, "-", *gpu_texts.of(together), *_costs(uses[0], together, has_prices=has_prices), ""))
    if any(measured.others):
        cluster = [_ALL] if clusters else ()
        rows.append((_OTHERS, *cluster, "-", *gpu_texts.of(measured.others), *(("-", "-") if has_prices else ()), ""))
    return ReportTable([*map(Span, head)], [(Span(row[0], "code"), *row[1:]) for row in rows])


def _by_limit(measured: Measured) -> list[list[LimitUse]]:
    """Returns the uses of each limit that holds in a cluster, together."""
    groups: dict[int, list[LimitUse]] = {}
    for use in measured.uses:
        groups.setdefault(use.limit.number, []).append(use)
    return [*groups.values()]


def _costs(use: LimitUse, gpus: Gpus, *, has_prices: bool) -> tuple[str, ...]:
    counts = (gpus.peak, gpus.unknown_peak), (gpus.after, gpus.unknown_after)
    return tuple(_cost(use, *count) for count in counts) if has_prices else ()


def _limit(use: LimitUse) -> str:
    limits = (f"{use.limit.gpus}" if use.limit.gpus is not None else "", f"{use.limit.cost:g}/h" if use.limit.cost is not None else "")
    return ", ".join(filter(None, limits))


def _cost(use: LimitUse, gpus: int, unknown_claims: int) -> str:
    cost = use.cost(gpus)
    return "-" if cost is None else gpu_texts.number(f"{cost:.2f}" if cost or not unknown_claims else "", unknown_claims)


def json_fields(budget: Budget, measured: Measured) -> dict[str, Any]:
    """Returns the report for programs. Unknown values are null."""
    return {
        "currency": budget.currency or None,
        "limits": [_json_limit(uses, has_clusters=len(measured.clusters) > 1) for uses in _by_limit(measured)],
        "others": _json_gpus(measured.others),
    }


def _json_limit(uses: Sequence[LimitUse], *, has_clusters: bool) -> dict[str, Any]:
    """Returns the use of a limit: of all clusters together, and of each of them if there are several."""
    first, gpus = uses[0], gpu_texts.total(use.gpus for use in uses)
    largest = sorted((entry for use in uses for entry in use.largest), key=lambda entry: (-entry[1], entry[0]))
    return {
        "name": first.limit.name,
        "gpus": {"limit": first.limit.gpus, **_json_gpus(gpus)},
        "costPerHour": {"limit": first.limit.cost, **{name: first.cost(number) for name, number in _counts(gpus).items()}},
        "exceeded": any(use.is_exceeded for use in uses),
        "largest": [{"name": name, "gpus": count} for name, count in largest],
        **({"clusters": [*map(_json_cluster, uses)]} if has_clusters else {}),
    }


def _json_cluster(use: LimitUse) -> dict[str, Any]:
    return {"name": use.cluster or None, "gpus": _json_gpus(use.gpus), "exceeded": use.is_exceeded}


def _json_gpus(gpus: Gpus) -> dict[str, Any]:
    return {name: value for name, value in gpu_texts.json_fields(gpus).items() if name != "interrupted"}


def _counts(gpus: Gpus) -> dict[str, int]:
    return {"before": gpus.before, "peak": gpus.peak, "after": gpus.after}
