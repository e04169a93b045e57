"""The page of the status explains the messages and reasons that the code has, and no others."""

from __future__ import annotations

import re

import pytest
import yaml

from krm_fn.syncer.status import cached_object, readiness
from krm_fn.syncer.status.replica_status import deployment_status, pod_status
from tests.support import given, markdown
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "status.md").read_text()
CODE = "".join(path.read_text() for path in (programs.ROOT / "krm_fn" / "syncer" / "status").rglob("*.py"))
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
    assert listed == {*pod_status.LASTING.values(), deployment_status.DEADLINE, cached_object.UNREADABLE, cached_object.TOO_MANY}


def test_the_time_of_a_pod_is_that_of_the_code():
    assert readiness.PATIENCE == 10 * 60
    assert "is not ready for ten minutes" in PAGE
    assert pod_status.CRASHES == 3
    assert "A container with three restarts" in PAGE


def longest(probe, grace=0):
    """The seconds until a probe has failed often enough, if the process hangs right after a success: Kubernetes' defaults are 1 and 3."""
    return probe["failureThreshold"] * probe["periodSeconds"] + probe["timeoutSeconds"] + grace


def pods(graph, **settings):
    """The main container and the grace period of each service."""
    rendered = given.rendered(graph, **settings).values()
    specs = [resource["spec"]["template"]["spec"] for resource in rendered if resource["kind"] == "Deployment"]
    return [(pod["containers"][0], pod["terminationGracePeriodSeconds"]) for pod in specs]


def times(container, grace):
    """The longest times until the process is not ready, and until it is restarted."""
    live = container["livenessProbe"]
    return longest(container["readinessProbe"]), longest(live, live.get("terminationGracePeriodSeconds", grace))


@pytest.mark.parametrize("release", ["v0.9", "v1.5", "v1.6"])
def test_the_page_knows_how_long_a_process_may_hang(release):
    """With the default probes, in every release, and with those of the page."""
    graph = given.graph({"Frontend": given.service("frontend"), "Worker": given.service("worker")})
    graph = given.before_1_0(graph) if release == "v0.9" else graph
    found = [times(container, grace) for container, grace in pods(graph, behaviour=release)]
    assert found == [(33, 91), (34, 69 if release == "v0.9" else 79)]
    assert "| 34 s | 69 s; with images of Dynamo 1.5 and newer, 79 s |\n| frontend | 33 s | 91 s |" in PAGE
    (shown,) = [yaml.safe_load(text) for _, text in markdown.fenced(PAGE, "yaml") if "livenessProbe" in text]
    assert [times(container, grace) for container, grace in pods(shown)] == [(12, 17), (12, 19)]
    assert "not ready after 12 seconds, a worker is restarted after 19, and a frontend after 17" in PAGE
