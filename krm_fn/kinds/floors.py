"""Floors and windows: the platform that each release of Dynamo needs, and the runtime versions that it supports.

The tables are data. A new release is a new row. Sources: the Helm chart `dynamo-platform` of each release, which names its subcharts and
the version of Kubernetes, and its README, which names the window of runtime images.
"""

from __future__ import annotations

import re
from typing import Any

from krm_fn.records import NamedTuple

_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}
_VERSION = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-(alpha|beta|rc)\.?([0-9]{1,9}))?(?:[-+.].*)?", re.DOTALL)
RUNTIMES = (*((0, minor) for minor in range(1, 10)), *((1, minor) for minor in range(7)))
"""The minor versions of Dynamo's runtime, the older ones first. 1.0 came after 0.9."""
OLDER, NEWER = 2, 1
"""A release supports runtimes from two minor versions before it to one after it."""


class Floors(NamedTuple):
    """The lowest versions of the parts of the platform that a release needs. Empty: the release names none.

    The names of the fields are those of `krm_fn.config.PlatformSettings`.
    """

    kubernetes: str = ""
    grove: str = ""
    kai_scheduler: str = ""
    leader_worker_set: str = ""


FLOORS = {
    (0, 9): Floors(grove="0.1.0-alpha.3", kai_scheduler="0.9.4", leader_worker_set="0.7.0"),
    (1, 5): Floors("1.30", "0.1.0-alpha.13", "0.17.0", "0.7.0"),
    (1, 6): Floors("1.30", "0.1.0-alpha.14", "0.17.0", "0.7.0"),
}
"""Each release needs at least these versions of Kubernetes, Grove, the KAI scheduler and LeaderWorkerSet."""
NAMES = {"kubernetes": "Kubernetes", "grove": "Grove", "kai_scheduler": "the KAI scheduler", "leader_worker_set": "LeaderWorkerSet"}
"""The parts of the platform for messages and pages."""


def parsed(text: str) -> tuple[Any, ...] | None:
    """Returns a version as a value that can be compared; None for another text. What a distribution appends does not count.

    >>> parsed("v1.33.2-gke.100") > parsed("1.30"), parsed("v0.1.0-alpha.9") < parsed("0.1.0-alpha.13") < parsed("0.1.0")
    (True, True)
    >>> parsed("main") is None
    True
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3] or 0), _STAGES[match[4]], int(match[5] or 0)


def distance(version: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Returns the number of minor versions from one runtime or release to another; negative if the second one is older.

    >>> distance((0, 9, 0), (1, 1, 3)), distance((1, 6), (1, 4)), distance((1, 6), (1, 8))
    (2, -2, 2)
    """
    return _position(other) - _position(version)


def window(release: tuple[int, int]) -> tuple[str, str]:
    """Returns the oldest and the newest minor version of the runtimes that a release supports.

    >>> window((1, 0)), window((1, 6))
    (('0.8', '1.1'), ('1.4', '1.7'))
    """
    position = RUNTIMES.index(release)
    newest = RUNTIMES[position + NEWER] if position + NEWER < len(RUNTIMES) else (release[0], release[1] + NEWER)
    return f"{RUNTIMES[position - OLDER][0]}.{RUNTIMES[position - OLDER][1]}", f"{newest[0]}.{newest[1]}"


def _position(version: tuple[int, ...]) -> int:
    minor = (version[0], version[1])
    if minor in RUNTIMES:
        return RUNTIMES.index(minor)
    newest = RUNTIMES[-1]
    if minor < newest:
        return -1
    return len(RUNTIMES) - 1 + (minor[1] - newest[1] if minor[0] == newest[0] else minor[1] + 1)
