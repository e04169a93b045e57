"""The comparison of wheels finds what is known to differ between the real wheels of 1.5.1 and 1.6.1."""

from __future__ import annotations

import functools

from upstream import wheel_facts

from tests.support.cases import cases

KNOWN = [
    ("the planner reads the scale of adapters, which degrades without the right", "+ get dynamographdeploymentscalingadapters/scale"),
    ("the planner reads a power limit from the status", "+ gpuPowerLimitWatts"),
    ("the planner reads the served model from the status", "+ servedModelName"),
    ("the planner no longer reads device claims from the graph", "- claims"),
]


@functools.cache
def lines():
    return wheel_facts.differences(wheel_facts.installed("1.5.1"), wheel_facts.installed("1.6.1"))


@cases("line", KNOWN)
def test_a_known_difference_has_a_line(line):
    assert line in lines()
