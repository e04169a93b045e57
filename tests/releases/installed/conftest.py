"""A release, built once for all tests, and the clusters and users who install it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from release import artifacts, description

from tests.platform import installation
from tests.releases.installed import users
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane

BIN = Path(sys.executable).parent


class Built(NamedTuple):
    """A release and the folder with its files."""

    release: description.Release
    folder: Path

    def file(self, pattern: str) -> Path:
        """The only file of a pattern."""
        (file,) = self.folder.glob(pattern)
        return file


class Registry(NamedTuple):
    """A running OCI registry."""

    address: str

    def crane(self, *arguments: object) -> str:
        """Run crane, and return its output."""
        command = [str(programs.path("crane")), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Slow: builds all files of a release. `make release-check VERSION=…` sets the version."""
    for program in ("kustomize", "helm"):
        programs.path(program)
    release = description.describe(version=os.environ.get("KRM_FN_RELEASE", ""))
    folder = tmp_path_factory.mktemp("release")
    artifacts.build(release, folder)
    return Built(release, folder)


@pytest.fixture
def user(tmp_path: Path) -> users.User:
    """A user with an empty home folder."""
    (home := tmp_path / "home").mkdir()
    return users.User(home)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An empty cluster with controllers."""
    with installation.cluster(tmp_path_factory.mktemp("cluster")) as plane:
        yield plane


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """An empty registry on the loopback interface."""
    (port,) = server.free_ports(1)
    log = tmp_path_factory.mktemp("registry") / "log"
    address = f"127.0.0.1:{port}"
    with server.running([programs.path("crane"), "registry", "serve", f"--address={address}"], log) as running:
        running.wait(lambda: "serving" in log.read_text())
        yield Registry(address)


def tool(name: str) -> Path:
    """A program of the extra `release` of setup.cfg. Without it the test is skipped, or fails if the tools are required."""
    if not (BIN / name).exists():
        programs.missing(name, {"missing": "`make release-check` installs it", "provided": True})
    return BIN / name
