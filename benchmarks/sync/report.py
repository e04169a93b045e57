"""Prints the figures of all programs beside each other, with the goals."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from benchmarks.sync import goals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.sync.goals import Goal
    from benchmarks.sync.rounds import Phase, Round

_QUIET = 20  # percent of a core
_KIB, _MIB = 2**10, 2**20

Rounds = dict[str, list["Round"]]
"""The rounds of each program by its name. The first program is the one with the goals, the second the one it is compared with."""


def line(name: str, done: Round) -> str:
    """The main figures of one round."""
    by_rate = ", ".join(f"{rate}/s {_p(50, _latencies([done], rate)):.0f}/{_p(99, _latencies([done], rate)):.0f}" for rate in done.phases)
    return (
        f"{name:20} start {done.cold_start:.1f} s, p50/p99 ms {by_rate}, burst {done.burst.seen.seconds:.1f} s, "
        f"{done.steady:.0f} MiB, idle {done.idle:.1f} %, {done.restart.writes} writes after a restart; "
        f"other programs used {done.others:.0f} % of a core"
    )


def table(rounds: Rounds, objects: int) -> str:
    """All figures of one size: latencies of all rounds together, of other figures the worst round."""
    rows = [
        *_disturbances(rounds),
        _header(list(rounds)),
        *_latency_rows(rounds),
        *_burst_rows(rounds),
        *_start_rows(rounds, objects),
        *_request_rows(rounds),
        *_memory_rows(rounds, objects),
        *_cpu_rows(rounds),
        *_received_rows(rounds),
    ]
    return "\n".join([*rows, *_comparisons(rounds, objects)])


def _disturbances(rounds: Rounds) -> Iterable[str]:
    worst = max(one.others for done in rounds.values() for one in done)
    if worst > _QUIET:
        yield f"other programs used up to {worst:.0f} % of a core: times say little; memory, writes and reads are right\n"


def _latency_rows(rounds: Rounds) -> Iterable[str]:
    for rate in next(iter(rounds.values()))[0].phases:
        for name, goal, figure in (
            ("p50", goals.MEDIAN, lambda taken: _p(50, taken)),
            ("p99", goals.P99, lambda taken: _p(99, taken)),
            ("max", goals.MAXIMUM, max),
        ):
            yield _row(f"{rate} changes/s, {name}", "ms", rounds, lambda done: figure(_latencies(done, rate)), goal)  # noqa: B023


def _burst_rows(rounds: Rounds) -> Iterable[str]:
    size = len(next(iter(rounds.values()))[0].burst.seen.latencies) // 2  # there and back
    yield _row(f"burst of {size}, all visible", "s", rounds, lambda done: max(one.burst.seen.seconds for one in done), goals.BURST_VISIBLE)
    yield _row(f"burst of {size}, p99", "ms", rounds, lambda done: _p(99, _burst(done)))


def _start_rows(rounds: Rounds, objects: int) -> Iterable[str]:
    yield _row("cold start to reconciled", "s", rounds, lambda done: max(one.cold_start for one in done), goals.cold_start(objects))
    yield _row("writes after a restart", "", rounds, lambda done: max(one.restart.writes for one in done), goals.RESTART_WRITES)


def _request_rows(rounds: Rounds) -> Iterable[str]:
    yield _row(
        "writes per change", "", rounds, lambda done: _per_change(done, lambda phase: phase.requests.writes), goals.WRITES_PER_CHANGE
    )
    yield _row(
        "API reads per change", "", rounds, lambda done: _per_change(done, lambda phase: phase.requests.reads), goals.READS_PER_CHANGE
    )
    yield _row("conflicts", "%", rounds, _conflicts, goals.CONFLICTS)


def _memory_rows(rounds: Rounds, objects: int) -> Iterable[str]:
    yield _row("memory, steady", "MiB", rounds, _steady, goals.memory(objects))
    yield _row("memory, peak", "MiB", rounds, lambda done: max(one.peak for one in done))


def _cpu_rows(rounds: Rounds) -> Iterable[str]:
    yield _row("CPU, start", "s", rounds, lambda done: max(one.start_cpu for one in done))
    yield _row("CPU per change", "ms", rounds, lambda done: statistics.mean(phase.own_cpu for phase in _phases(done)))
    yield _row("CPU idle", "%", rounds, lambda done: max(one.idle for one in done), goals.IDLE)
    yield _row("API server CPU per change", "ms", rounds, lambda done: statistics.mean(phase.server_cpu for phase in _phases(done)))


def _received_rows(rounds: Rounds) -> Iterable[str]:
    yield _row("received, start", "MiB", rounds, lambda done: max(one.restart.received for one in done) / _MIB)
    yield _row("received per change", "KiB", rounds, lambda done: max(one.restart.received_per_change for one in done) / _KIB)


def _comparisons(rounds: Rounds, objects: int) -> Iterable[str]:
    """Ratios of the first program to each other one. The goals are for the second program; empty without one."""
    if len(rounds) < 2:
        return
    own, *others = rounds.values()
    memory_goal = goals.MEMORY_RATIO if objects >= goals.MEMORY_RATIO_FROM else None
    yield "\nkrm-fn sync : other program"
    yield _ratios("p99 at a rate", [_paired(_phases(own), _phases(other)) for other in others], goals.P99_RATIO)
    bursts = [one.burst for one in own]
    yield _ratios("p99 of a burst", [_paired(bursts, [one.burst for one in other]) for other in others], goals.BURST_P99_RATIO)
    yield _ratios("memory, steady", [_steady(own) / _steady(other) for other in others], memory_goal)


def _ratios(name: str, ratios: Sequence[float], goal: Goal | None) -> str:
    """One line of ratios. The goal is for the first."""
    values = "".join(f"{ratio:22.2f}" for ratio in ratios)
    return f"{name:44}{values}  {goal.verdict(round(ratios[0], 2)) if goal else ''}".rstrip()


def _steady(done: Iterable[Round]) -> float:
    return max(one.steady for one in done)


def _paired(own: list[Phase], other: list[Phase]) -> float:
    """Median ratio of the p99 of two programs in the same phase and round. A phase with disturbances hardly changes the median."""
    return statistics.median(_p(99, one.seen.latencies) / _p(99, two.seen.latencies) for one, two in zip(own, other, strict=True))


def _header(names: Sequence[str]) -> str:
    return f"{'':32}" + "".join(f"{name:>{12 if not index else 22}}" for index, name in enumerate(names))


def _row(name: str, unit: str, rounds: Rounds, figure: Callable[[list[Round]], float], goal: Goal | None = None) -> str:
    """One figure of every program; the goal is for the first."""
    figures = [figure(done) for done in rounds.values()]
    values = "".join(f"{value:>{12 if not index else 22}.{_digits(value)}f}" for index, value in enumerate(figures))
    title = f"{name}, {unit}" if unit else name
    return f"{title:32}{values}  {goal.verdict(figures[0]) if goal else ''}".rstrip()


def _digits(value: float) -> int:
    return 0 if value >= 100 else 1 if value >= 10 else 2


def _latencies(done: Iterable[Round], rate: int) -> list[float]:
    return [latency for one in done for latency in one.phases[rate].seen.latencies]


def _burst(done: Iterable[Round]) -> list[float]:
    return [latency for one in done for latency in one.burst.seen.latencies]


def _phases(done: Iterable[Round]) -> list[Phase]:
    return [phase for one in done for phase in one.phases.values()]


def _per_change(done: Iterable[Round], count: Callable[[Phase], int]) -> float:
    phases = _phases(done)
    return sum(map(count, phases)) / sum(len(phase.seen.latencies) for phase in phases)


def _conflicts(done: Iterable[Round]) -> float:
    phases = [*_phases(done), *(one.burst for one in done)]
    return 100 * sum(phase.requests.conflicts for phase in phases) / sum(phase.requests.writes for phase in phases)


def _p(percent: int, figures: list[float]) -> float:
    """A percentile of at least two figures."""
    return statistics.quantiles(figures, n=100, method="inclusive")[percent - 1]
