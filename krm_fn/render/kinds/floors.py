"""Floors and windows: the platform that each release of Dynamo needs, and the runtime versions that it supports.

The tables are data. A new release is a new row. Sources: the Helm chart `dynamo-platform` of each release, which names its subcharts and
the version of Kubernetes, and its README, which names the window of runtime images.
"""

from __future__ import annotations

import re

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}
_VERSION = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-(alpha|beta|rc)\.?([0-9]{1,9}))?(?:[-+.].*)?", re.DOTALL)
RUNTIMES = (*((0, minor) for minor in range(1, 10)), *((1, minor) for minor in range(8)))
"""The minor versions of Dynamo's runtime, the older ones first. 1.0 came after 0.9."""
IMAGES_ONLY = ((1, 6, 2), (1, 7, 0))
"""Versions of images without wheels in the index of Python packages. Source: the release notes of these versions."""
OLDER, NEWER = 2, 1
"""A release supports runtimes from two minor versions before it to one after it."""


class Floors(NamedTuple):
    """The lowest versions of the parts of the platform that a release needs. Empty: the release names none.

    The names of the fields are those of `krm_fn.render.config.PlatformSettings`.
    """

    kubernetes: str = ""
    grove: str = ""
    kai_scheduler: str = ""
    leader_worker_set: str = ""


FLOORS = {
    (0, 9): Floors(grove="0.1.0-alpha.3", kai_scheduler="0.9.4", leader_worker_set="0.7.0"),
    (1, 2): Floors(grove="0.1.0-alpha.8", kai_scheduler="0.13.4", leader_worker_set="0.7.0"),
    (1, 3): Floors(grove="0.1.0-alpha.8", kai_scheduler="0.13.4", leader_worker_set="0.7.0"),
    (1, 4): Floors("1.30", "0.1.0-alpha.12-rc1", "0.13.4", "0.7.0"),
    (1, 5): Floors("1.30", "0.1.0-alpha.13", "0.17.0", "0.7.0"),
    (1, 6): Floors("1.30", "0.1.0-alpha.14", "0.17.0", "0.7.0"),
    (1, 7): Floors("1.30", "0.1.0-alpha.14", "0.17.0", "0.7.0"),
}
"""Each release needs at least these versions of Kubernetes, Grove, the KAI scheduler and LeaderWorkerSet."""
NAMES = {"kubernetes": "Kubernetes", "grove": "Grove", "kai_scheduler": "the KAI scheduler", "leader_worker_set": "LeaderWorkerSet"}
"""The parts of the platform for messages and pages."""
SOURCES = {
    (0, 9): "Helm chart dynamo-platform 0.9: the versions of its subcharts",
    (1, 2): "Helm chart dynamo-platform 1.2: the versions of its subcharts",
    (1, 3): "Helm chart dynamo-platform 1.3: the versions of its subcharts",
    (1, 4): "Helm chart dynamo-platform 1.4: the versions of its subcharts, and its version of Kubernetes",
    (1, 5): "Helm chart dynamo-platform 1.5: its README (Requirements; Upgrading, v1.5.0)",
    (1, 6): "Helm chart dynamo-platform 1.6.0: its README (Requirements; Upgrading, v1.6.0)",
    (1, 7): "at least the versions of 1.6; the chart of 1.7.0 was not read",
}
"""The source of each row of `FLOORS`."""


class UnstatedPart(NamedTuple):
    """A part of the platform for which no release states a lowest version. `chart` is the version of the chart that releases bundle."""

    name: str
    chart: str


UNSTATED = {"nats": UnstatedPart("NATS", "1.3.2"), "etcd": UnstatedPart("etcd", "12.0.18")}
"""The Helm charts dynamo-platform 0.6.1, 1.3.0 and 1.6.0 bundle these charts of NATS and etcd, in the same versions."""


class PlatformChange(NamedTuple):
    """A change of a part of the platform with a release. `upgrade` and `downgrade` say what to do before a step across this release.

    `downgrade` is empty if there is nothing to do.
    """

    release: tuple[int, int]
    part: str
    upgrade: str
    downgrade: str = ""


PLATFORM_CHANGES = (
    PlatformChange(
        (1, 0),
        "leader_worker_set",
        "newer releases make no PodGroups; for gang scheduling, set gangSchedulingManagement.schedulerProvider to volcano in the "
        "configuration of LeaderWorkerSet",
    ),
    PlatformChange(
        (1, 4),
        "grove",
        "apply Grove's definitions with its new version: Dynamo now uses ClusterTopologyBinding in place of ClusterTopology",
        "releases before 1.4 use Grove's ClusterTopology, and Grove from v0.1.0-alpha.12-rc1 on has ClusterTopologyBinding in its place",
    ),
    PlatformChange(
        (1, 4),
        "nats",
        "the Helm chart dynamo-platform no longer installs NATS by default: if graphs use its NATS, set global.nats.install to true, "
        "or install NATS yourself",
    ),
    PlatformChange(
        (1, 5),
        "kai_scheduler",
        "if Grove's backend for the KAI scheduler is on, set the scheduler's argument default-staleness-grace-period to -1s",
    ),
)
"""Sources: the sections Upgrading of the README of the Helm chart dynamo-platform, v1.4.0 and v1.5.0, and the page about multinode
orchestration of each release for PodGroups."""


def parse_version(text: str) -> tuple[Any, ...] | None:
    """Returns a version as a value that can be compared; None for another text. What a distribution appends does not count.

    >>> parse_version("v1.33.2-gke.100") > parse_version("1.30")
    True
    >>> parse_version("v0.1.0-alpha.9") < parse_version("0.1.0-alpha.13") < parse_version("0.1.0")
    True
    >>> parse_version("main") is None
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


def platform_changes(before: tuple[int, int], after: tuple[int, int], part: str) -> list[str]:
    """Returns what to do with a part of the platform before a step from one release to another one, in either direction.

    >>> platform_changes((1, 6), (0, 9), "nats"), len(platform_changes((0, 9), (1, 5), "grove"))
    ([], 1)
    """
    rows = [row for row in PLATFORM_CHANGES if row.part == part and min(before, after) < row.release <= max(before, after)]
    texts = [row.upgrade if before < after else row.downgrade for row in rows]
    return [text for text in texts if text]


def _position(version: tuple[int, ...]) -> int:
    minor = (version[0], version[1])
    if minor in RUNTIMES:
        return RUNTIMES.index(minor)
    newest = RUNTIMES[-1]
    if minor < newest:
        return -1
    return len(RUNTIMES) - 1 + (minor[1] - newest[1] if minor[0] == newest[0] else minor[1] + 1)
