"""The page of the status explains the messages and reasons that the code has, and no others."""

from __future__ import annotations

import re

from krm_fn.status import readiness
from krm_fn.status.replica_status import deployment_status, pod_status
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "status.md").read_text()
CODE = "".join(path.read_text() for path in (programs.ROOT / "krm_fn" / "status").rglob("*.py"))
KUBERNETES = {"exceeded quota", "Unschedulable:", "Insufficient nvidia.com/gpu", "OOMKilled"}
"""Words of Kubernetes that a message passes on."""


def cells(heading):
    """The first column of the table under a heading."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return [line.split("|")[1] for line in section.splitlines() if line.startswith("|")][2:]


def words(cell):
    """The phrases of a cell. Numbers and names in them are examples."""
    found = [part.strip() for phrase in re.findall(r"`([^`]+)`", cell) for part in phrase.split("…")]
    return [word for part in found for word in re.split(r"=\d+(?:, )?", part) if word]


def test_every_message_on_the_page_is_one_of_the_code():
    phrases = {word for cell in cells("What to do") for word in words(cell)}
    assert len(phrases) > 15
    assert [phrase for phrase in sorted(phrases) if phrase not in CODE and phrase not in KUBERNETES] == []


def test_every_reason_of_stalled_is_on_the_page():
    listed = {word for cell in cells("When waiting does not help") for word in words(cell)}
    assert listed == {*pod_status.LASTING.values(), deployment_status.DEADLINE, "InvalidWorkloads"}


def test_the_time_of_a_pod_is_that_of_the_code():
    assert readiness.PATIENCE == 10 * 60
    assert "is not ready for ten minutes" in PAGE
    assert pod_status.CRASHES == 3
    assert "A container with three restarts" in PAGE
