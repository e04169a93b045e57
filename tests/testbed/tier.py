"""The tiers of the tests, by the variable KRM_FN_TIER.

- `quick`, of `make test`: no program of `make tools` runs, tests that are marked as slow are left out, and many tests take fewer inputs.
- `changed`, of `make test CHANGED=1`: no API server runs, tests that are marked as slow are left out, and many tests take fewer inputs.
- `changed-slow`, of `make test CHANGED=1 SLOW=1`: the same with the slow tests.
- None, of `make test-all` and of a test that is run by hand: all tests with all inputs.
"""

from __future__ import annotations

import os

NAME = os.environ.get("KRM_FN_TIER", "")

WITHOUT_SLOW = NAME in ("quick", "changed")


def number(usual: int, quick: int, variable: str = "") -> int:
    """The number of inputs of a test: that of the environment variable if it is set, or `quick` in the tiers that take fewer."""
    return int(os.environ.get(variable) or (quick if NAME else usual))


def reason_against(program: str) -> str:
    """Why this tier does not run a program, or an empty text."""
    if NAME == "quick":
        return "it runs a program of `make tools`, as `make test-all` does"
    if NAME.startswith("changed") and program == "kube-apiserver":
        return "it starts an API server"
    return ""
