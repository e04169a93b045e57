"""The steps in which the controller of a DisaggregatedSet replaces the replicas of all its roles.

Follows `pkg/controllers/disaggregatedset/planner.go` of LeaderWorkerSet (ComputeNextStep), which is the same in 0.9 and 0.10. The
controller takes a step only when all new replicas of the step before are ready. A step adds new replicas of all roles in proportion, or
removes old ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base.records import NamedTuple


class Role(NamedTuple):
    """One role: its old and new number of replicas, and the replicas that may run besides the new number, or be missing."""

    old: int
    new: int
    surge: int = 1
    unavailable: int = 0


class Counts(NamedTuple):
    """The replicas of each role at one time: of the old revision and of the new one."""

    old: tuple[int, ...]
    new: tuple[int, ...]


def steps(roles: Sequence[Role]) -> Iterator[Counts]:
    """Yields the counts before the rollout and after each step. The last counts have old replicas if the rollout never ends."""
    counts = Counts(tuple(role.old for role in roles), (0,) * len(roles))
    total = max((-(-max(role.old, role.new) // (role.surge or max(1, role.unavailable))) for role in roles), default=0)
    while counts:
        yield counts
        step = _next(roles, counts, total) if total else None
        if step is None or step == counts:
            return
        counts = step


def peaks(roles: Sequence[Role]) -> list[int]:
    """Returns the most replicas that each role has at one time."""
    return [max(old + new for old, new in zip(of_old, of_new, strict=True)) for of_old, of_new in zip(*_columns(roles), strict=True)]


def _columns(roles: Sequence[Role]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    listed = [*steps(roles)]
    return [*zip(*(counts.old for counts in listed), strict=True)], [*zip(*(counts.new for counts in listed), strict=True)]


def _next(roles: Sequence[Role], counts: Counts, total: int) -> Counts | None:
    """Returns the counts after the next step of `total` ones; None if nothing is left to do."""
    if all(new >= role.new for role, new in zip(roles, counts.new, strict=True)):
        return Counts((0,) * len(roles), counts.new) if any(counts.old) else None
    more = _more(roles, counts, total)
    if more != counts.new and _fits(roles, counts.old, more):
        return Counts(counts.old, more)
    fewer = _coordinate_roles(roles, _fewer(roles, counts, total), counts.new)
    if fewer != counts.old and all(after <= before for after, before in zip(fewer, counts.old, strict=True)):
        return Counts(fewer, counts.new)
    room = tuple(max(role.new + role.surge - new, 0) for role, new in zip(roles, more, strict=True))
    least = _least(roles, more)
    forced = tuple(max(min(old, most), low) for old, most, low in zip(counts.old, room, least, strict=True))
    return Counts(_coordinate_roles(roles, forced, more), more) if forced != counts.old else None


def _more(roles: Sequence[Role], counts: Counts, total: int) -> tuple[int, ...]:
    """Returns the new replicas after the next step that adds some."""
    done = min((new * total // role.new if role.new else total for role, new in zip(roles, counts.new, strict=True)), default=total)
    index = min(done, total) + 1
    return tuple(max(min(-(-index * role.new // total), role.new), new) for role, new in zip(roles, counts.new, strict=True))


def _fewer(roles: Sequence[Role], counts: Counts, total: int) -> tuple[int, ...]:
    """Returns the old replicas after the next step that removes some, as far as the new ones that are ready allow it."""
    pairs = [*zip(roles, counts.old, strict=True)]
    index = max(((role.old - old) * total // role.old for role, old in pairs if role.old), default=0) + 1
    wanted = (min(max(role.old - index * role.old // total, 0), old) for role, old in pairs)
    return tuple(max(old, low) for old, low in zip(wanted, _least(roles, counts.new), strict=True))


def _least(roles: Sequence[Role], new: Sequence[int]) -> list[int]:
    """Returns the old replicas that each role needs beside its new ones. A role that grows needs none."""
    return [max(role.new - role.unavailable - count, 0) if role.old >= role.new else 0 for role, count in zip(roles, new, strict=True)]


def _fits(roles: Sequence[Role], old: Sequence[int], new: Sequence[int]) -> bool:
    """Returns true if no role has more replicas than its surge allows."""
    rows = zip(roles, old, new, strict=True)
    return all(of_old + of_new <= role.new + role.surge for role, of_old, of_new in rows if role.new)


def _coordinate_roles(roles: Sequence[Role], old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    """Keeps one old replica of a role while another role has some, so that no old prefill runs without its decode; or removes all."""
    ending = [role.old > 0 and not count for role, count in zip(roles, old, strict=True)]
    staying = [role.old > 0 and count > 0 for role, count in zip(roles, old, strict=True)]
    if not (any(ending) and any(staying)):
        return tuple(old)
    rows = zip(roles, new, strict=True)
    if all(count >= role.new - role.unavailable for role, count in rows if role.old >= role.new):
        return (0,) * len(roles)
    return tuple(1 if ends else count for ends, count in zip(ending, old, strict=True))
