"""The steps of an upgrade: from the versions that graphs have to the target, by the table of the releases and their runtimes.

A step moves graphs to one runtime version and to the operator release that this version follows. While a step is applied, old and new pods
of a graph run side by side, so their runtimes should be at most two minor versions apart, and the release must support the new runtime
(`krm_fn.render.kinds.floors`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.version import Version
from krm_fn.render.kinds import floors
from krm_fn.render.resolve import release_choice
from krm_fn.review import image_names

_TARGET = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?", re.ASCII)
_NAMES = tuple(release_choice.RELEASES)


class UpgradeStep(NamedTuple):
    """One step of an upgrade or a downgrade.

    `number` counts from 1. The releases are names as in the configuration, such as `v1.5`; the old ones are the farthest from the target
    among the graphs of the step. `runtime` is the version of Dynamo's images after the step. `api_version` is the API version of graphs
    after the step, such as `nvidia.com/v1beta1`; if it is empty, each graph keeps its own. If `new_origin` is true, the origin version of
    graphs becomes that of the step; otherwise each graph keeps its origin version.
    """

    number: int
    old_release: str
    release: str
    old_runtime: Version
    runtime: Version
    api_version: str = ""
    new_origin: bool = False

    @property
    def is_downgrade(self) -> bool:
        """True if the step goes to an older version."""
        return is_before(Versions(self.release, self.runtime), Versions(self.old_release, self.old_runtime))

    @property
    def runtime_text(self) -> str:
        """The runtime version as a tag of an image: `1.5.1`."""
        return version_text(self.runtime)

    def changes_version(self, version: Version) -> bool:
        """Returns true for a runtime version that the step replaces. Images that are already at the target, or beyond it, stay."""
        return version > self.runtime if self.is_downgrade else version < self.runtime


class Versions(NamedTuple):
    """The operator release that a graph follows, and the runtime version of its images."""

    release: str
    runtime: Version


def version_text(version: Version) -> str:
    """Returns a version as a text: `1.5.1`."""
    return ".".join(map(str, version))


def target(text: str) -> Version | None:
    """Returns the version that a text names; without a patch number the newest one that krm-fn knows.

    Each patch of a minor version that krm-fn knows is a target, also one that is newer than krm-fn. Returns None for another version.

    >>> target("v1.5"), target("0.9.0"), target("1.5.9"), target("newest")
    ((1, 5, 1), (0, 9, 0), (1, 5, 9), None)
    """
    match = _TARGET.fullmatch(text.strip())
    versions = [version for version in image_names.published_versions() if match and version[:2] == (int(match[1]), int(match[2]))]
    if match is None or not versions:
        return None
    return (*versions[-1][:2], int(match[3])) if match[3] else versions[-1]


def names_patch(text: str) -> bool:
    """Returns true for the text of a target with a patch number.

    >>> names_patch("1.6"), names_patch("v1.6.2")
    (False, True)
    """
    match = _TARGET.fullmatch(text.strip())
    return bool(match and match[3])


def release_of(runtime: Version) -> str:
    """Returns the release of the operator that images of a version follow.

    >>> release_of((0, 9, 1)), release_of((1, 4, 2)), release_of((1, 6, 1))
    ('v0.9', 'v1.4', 'v1.6')
    """
    return release_choice.of_version(runtime)


def distance(runtime: Version, other: Version) -> int:
    """Returns the number of minor versions between two runtimes, without a sign."""
    return abs(floors.distance(runtime, other))


def is_supported(versions: Versions) -> bool:
    """Returns true if a release supports a runtime version."""
    number = release_choice.number(versions.release)
    return -floors.OLDER <= floors.distance(number, versions.runtime) <= floors.NEWER


def path(start: Versions, end: Version) -> tuple[Versions, ...]:
    """Returns the versions after each step from `start` to the runtime version `end`; empty if there is nothing to change.

    Of all paths, it is the one with the fewest steps that break a rule of the module, and among these the one with the fewest steps. A
    release that is pinned beyond the target stays.
    """
    goal = Versions(release_of(end), end)
    if goal.release != start.release and _is_release_before(goal.release, start.release) != is_before(goal, start):
        goal = goal._replace(release=start.release)
    return _cheapest(start, goal).points


class _Path(NamedTuple):
    """A path to the target: the number of times that it breaks a rule, and the versions after each step."""

    broken: int
    points: tuple[Versions, ...]


@lru_cache(maxsize=1024)  # most graphs of a fleet have the same versions
def _cheapest(start: Versions, goal: Versions) -> _Path:
    if start == goal:
        return _Path(0, ())
    paths = []
    for point in _following(start, goal):
        rest = _cheapest(point, goal)
        paths.append(_Path(_broken(start, point) + rest.broken, (point, *rest.points)))
    return min(paths, key=lambda path: (path.broken, len(path.points), _preference(path.points[0])))


def _broken(old: Versions, new: Versions) -> int:
    """Counts the rules that a step breaks: pods that are too far apart, and a runtime that the release does not support."""
    return (distance(old.runtime, new.runtime) > floors.OLDER) + (not is_supported(new))


def _preference(point: Versions) -> tuple[bool, int]:
    """Returns a sort key of equal steps: first a runtime of the same number as its release, then the newest one."""
    number = release_choice.number(point.release)
    return point.runtime[:2] != number, -image_names.published_versions().index(
        point.runtime
    ) if point.runtime in image_names.published_versions() else 0


def _following(start: Versions, goal: Versions) -> Iterator[Versions]:
    """Yields the versions that one step can reach: the target, the last patches of minor versions, and a release with the same runtime."""
    newest = {version[:2]: version for version in image_names.published_versions()}
    points = [goal, *(Versions(release_of(runtime), runtime) for runtime in newest.values())]
    points += [Versions(release, start.runtime) for release in _NAMES]
    is_back = is_before(goal, start)
    if not is_back:  # a release that is pinned beyond the images stays until the images reach it
        behind = (runtime for runtime in newest.values() if _is_release_before(release_of(runtime), start.release))
        points += [Versions(start.release, runtime) for runtime in behind]
    for point in dict.fromkeys(points):
        first, last = (goal, start) if is_back else (start, goal)
        is_between = first.runtime <= point.runtime <= last.runtime and (
            _NAMES.index(first.release) <= _NAMES.index(point.release) <= _NAMES.index(last.release)
        )
        if point != start and is_between:
            yield point


def is_before(one: Versions, other: Versions) -> bool:
    """Returns true for an older runtime, or for an older release with the same runtime."""
    return (one.runtime, _NAMES.index(one.release)) < (other.runtime, _NAMES.index(other.release))


def _is_release_before(one: str, other: str) -> bool:
    return _NAMES.index(one) < _NAMES.index(other)


def steps(paths: Iterable[tuple[Versions, tuple[Versions, ...]]]) -> tuple[UpgradeStep, ...]:
    """Returns the steps of a fleet from the start and the path of each graph. A graph is in the steps of its own path only.

    All paths must go in the same direction.
    """
    starts: dict[Versions, list[Versions]] = {}
    for start, points in paths:
        for old, new in pairwise((start, *points)):
            starts.setdefault(new, []).append(old)
    points_in_order = sorted(starts, key=lambda point: (point.runtime, _NAMES.index(point.release)))
    is_back = any(is_before(new, old) for new, olds in starts.items() for old in olds)
    return tuple(
        _step(number, starts[new], new, is_back=is_back)
        for number, new in enumerate(reversed(points_in_order) if is_back else points_in_order, 1)
    )


def _step(number: int, starts: Iterable[Versions], new: Versions, *, is_back: bool) -> UpgradeStep:
    farthest = max if is_back else min
    release = farthest((start.release for start in starts), key=_NAMES.index)
    return UpgradeStep(number, release, new.release, farthest(start.runtime for start in starts), new.runtime)
