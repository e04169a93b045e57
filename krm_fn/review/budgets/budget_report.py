"""The report about budgets: a table for people, one for Markdown, JSON for programs, and the findings about exceeded limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn import results
from krm_fn.kube.types import Resource
from krm_fn.results import Result
from krm_fn.review.budgets.gpu_use import LimitUse, Measured
from krm_fn.review.budgets.limits import Budget
from krm_fn.review.diff import markdown_diff
from krm_fn.review.forecast import Gpus

_HEAD = ("BUDGET", "LIMIT", "BEFORE", "PEAK", "AFTER")
_OTHERS = "(in no budget)"
_MOST_NAMES = 3


def findings(resource: Resource, measured: Measured) -> Iterator[Result]:
    """Yields an error for each exceeded limit, and the findings about GPUs that count in several limits or cannot be counted.

    `resource` is the DynamoBudget.
    """
    ref = results.ref(resource)
    for use in measured.uses:
        if use.is_exceeded:
            yield _exceeded(use, ref)
        if use.open_products:
            yield _open_products(use, ref)
    yield from measured.findings


def _exceeded(use: LimitUse, ref: results.Ref) -> Result:
    limit, peak = use.limit, use.gpus.peak
    shown = ", ".join(f"{name} ({count})" for name, count in use.largest[:_MOST_NAMES])
    more = f" and {len(use.largest) - _MOST_NAMES} more" if len(use.largest) > _MOST_NAMES else ""
    when = (
        "in use"
        if use.gpus.before == peak == use.gpus.after
        else "at the peak of the change"
        if peak > use.gpus.after
        else "after the change"
    )
    if limit.gpus is not None and peak > limit.gpus:
        problem, field = f"{_gpus(peak)} {when}, and the limit is {limit.gpus}", "gpus"
    else:
        problem, field = f"{_gpus(peak)} {when} cost {use.cost(peak):g} per hour, and the limit is {limit.cost:g}", "costPerHour"
    fix = "lower replicas, make the rollout smaller, or raise the limit"
    message = f"the budget {limit.name} is exceeded: {problem}; most are of {shown}{more}; {fix}"
    return results.error("DYN640", message, ref, ("spec", "budgets", limit.number, field))


def _open_products(use: LimitUse, ref: results.Ref) -> Result:
    shown = ", ".join(f"{name} ({products})" for name, products in use.open_products[:_MOST_NAMES])
    more = f" and {len(use.open_products) - _MOST_NAMES} more" if len(use.open_products) > _MOST_NAMES else ""
    message = f"the budget {use.limit.name} counts all GPUs of pods that may run on several products: {shown}{more}"
    fix = "they count in each product where they may run; to count them in one product only, require it in their node selector"
    return results.info("DYN748", f"{message}; {fix}", ref, ("spec", "budgets", use.limit.number, "products"))


def rows(budget: Budget, measured: Measured) -> list[tuple[str, ...]]:
    """Returns the head and one row for each limit. Columns with costs are there if a limit has a price."""
    has_prices = any(limit.price is not None for limit in budget.limits)
    unit = f" {budget.currency}/H" if budget.currency else "/H"
    table = [(*_HEAD, *((f"PEAK{unit}", f"AFTER{unit}") if has_prices else ()), "STATE")]
    for use in measured.uses:
        costs = tuple(_cost(use, gpus) for gpus in (use.gpus.peak, use.gpus.after)) if has_prices else ()
        table.append((use.limit.name, _limit(use), *_numbers(use.gpus), *costs, "exceeded" if use.is_exceeded else "ok"))
    if any(measured.others):
        table.append((_OTHERS, "-", *_numbers(measured.others), *(("-", "-") if has_prices else ()), ""))
    return table


def _numbers(gpus: Gpus) -> tuple[str, str, str]:
    return f"{gpus.before}", f"{gpus.peak}", f"{gpus.after}"


def _limit(use: LimitUse) -> str:
    limits = (f"{use.limit.gpus}" if use.limit.gpus is not None else "", f"{use.limit.cost:g}/h" if use.limit.cost is not None else "")
    return ", ".join(filter(None, limits))


def _cost(use: LimitUse, gpus: int) -> str:
    cost = use.cost(gpus)
    return "-" if cost is None else f"{cost:.2f}"


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Returns the rows as a table of Markdown. Names are code, so their characters have no effect."""
    head, *body = table
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join([markdown_diff.cell(markdown_diff.code(row[0])), *row[1:]])} |" for row in body]
    return "".join(f"{line}\n" for line in lines)


def json_fields(budget: Budget, measured: Measured) -> dict[str, Any]:
    """Returns the report for programs. Unknown values are null."""
    return {
        "currency": budget.currency or None,
        "limits": [
            {
                "name": use.limit.name,
                "gpus": {"limit": use.limit.gpus, **_json_gpus(use.gpus)},
                "costPerHour": {
                    "limit": use.limit.cost,
                    **{name: use.cost(number) for name, number in _json_gpus(use.gpus).items()},
                },
                "exceeded": use.is_exceeded,
                "largest": [{"name": name, "gpus": count} for name, count in use.largest],
            }
            for use in measured.uses
        ],
        "others": _json_gpus(measured.others),
    }


def _json_gpus(gpus: Gpus) -> dict[str, int]:
    return {"before": gpus.before, "peak": gpus.peak, "after": gpus.after}


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"
