"""Asks PyPI if there is a newer release of Dynamo than those that krm-fn knows. Needs the network.

Usage:

    python tools/upstream.py
"""

from __future__ import annotations

import json
import sys
import urllib.request

from krm_fn.kubernetes import version
from krm_fn.render.resolve import release_choice

PACKAGE = "ai-dynamo"
_INDEX = f"https://pypi.org/pypi/{PACKAGE}/json"
_TIMEOUT = 30  # seconds


def main() -> int:
    """Exit code 0, or 1 if a release is missing."""
    with urllib.request.urlopen(_INDEX, timeout=_TIMEOUT) as answer:
        published = list(json.load(answer)["releases"])
    code, line = judged(published, list(release_choice.RELEASES))
    print(line)
    return code


def judged(published: list[str], known: list[str]) -> tuple[int, str]:
    """Returns the exit code and one line for the versions on PyPI and the names of the known releases, such as `v1.6`.

    Versions that are not plain releases, such as candidates, do not count.

    >>> judged(["1.6.1", "1.7.0rc1"], ["v0.9", "v1.6"])
    (0, 'v1.6 is the newest release, and 1.6.1 its newest version')
    """
    newest = max(filter(None, map(version.core, published)), default=None)
    ours = max(number for name in known if (number := version.of_operator(name)))
    if newest is None:
        return 1, f"PyPI lists no release of {PACKAGE}"
    text = ".".join(map(str, newest))
    if newest[:2] > ours[:2]:
        return 1, f"{PACKAGE} {text} is newer than {known[-1]}; UPSTREAM.md says how to add its release"
    return 0, f"{known[-1]} is the newest release, and {text} its newest version"


if __name__ == "__main__":
    sys.exit(main())
