"""Programs have the pinned versions, and a missing program is reported."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support.cases import cases
from tests.testbed import programs, tier

PINNED = [
    ("kustomize", ("version",), "v5.8.2"),
    ("etcd", ("--version",), "3.6.8"),
    ("nats-server", ("--version",), "v2.12.12"),
    ("kube-controller-manager", ("--version",), "v1.36.3"),
]


@cases(("name", "asks", "version"), PINNED)
def test_version_is_the_pinned_one(name, asks, version):
    said = subprocess.run([programs.path(name), *asks], capture_output=True, text=True, check=True).stdout
    assert version in said.split()[:3]


@pytest.mark.server
def test_the_version_of_the_api_server_is_the_pinned_one():
    said = subprocess.run([programs.path("kube-apiserver"), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["Kubernetes", "v1.36.3"]


def test_without_servers_a_test_of_an_api_server_fails(monkeypatch):
    """A test without the mark `server` would run in neither of the two runs."""
    monkeypatch.setattr(tier, "NAME", "")
    monkeypatch.setattr(programs, "with_servers", False)
    with pytest.raises(pytest.fail.Exception, match="needs the mark"):
        programs.path("kube-apiserver")


def test_kubectl_knows_its_version(kubectl):
    """Without linker flags kubectl would report v0.0.0, and warn about every server."""
    said = subprocess.run([kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(said)["clientVersion"]["gitVersion"] == "v1.36.3"


def test_kpt_is_new_enough(kpt):
    """Since 1.0.0-beta.56 a second `kpt fn render` changes nothing."""
    said = subprocess.run([kpt, "version"], capture_output=True, text=True, check=True).stdout
    assert said.strip().removeprefix("v") >= "1.0.0-beta.56"


PROVIDED = {"provided": True, "missing": "not there; `make tools` builds it"}
NOT_PROVIDED = {"provided": False, "missing": "not there; install it from https://example.com"}

MISSING = [
    ("by hand, provided: skipped", PROVIDED, {"required": False, "ci": False}, False),
    ("by hand, not provided: skipped", NOT_PROVIDED, {"required": False, "ci": False}, False),
    ("make test-all, provided: fails", PROVIDED, {"required": True, "ci": False}, True),
    ("make test-all, not provided: skipped", NOT_PROVIDED, {"required": True, "ci": False}, False),
    ("CI, provided: fails", PROVIDED, {"required": True, "ci": True}, True),
    ("CI, not provided: fails", NOT_PROVIDED, {"required": True, "ci": True}, True),
]


@cases(("reason", "entry", "setting", "fails"), MISSING)
def test_missing_program(reason, entry, setting, fails):
    assert programs.verdict("thing", entry, **setting) == (fails, f"thing is missing: {entry['missing']}")
