"""Fixtures for all tests: the real programs, and a real control plane."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from _pytest import runner

from krm_fn.schemas.generate import crds as generated
from tests.support import definitions
from tests.testbed import control_plane as planes
from tests.testbed import kubelet as kubelets
from tests.testbed import programs, scheduler, server, tier
from tests.testbed.fragile import between, fragile  # noqa: F401 - fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest_plugins = ["tests.testbed.collection"]

# A slow machine must not fail a test: properties have no deadline, and no health check measures time.
hypothesis.settings.register_profile(
    "busy", max_examples=tier.number(50, 10), deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")

# kubectl and kustomize need a third less CPU time, and more memory, if Go's garbage collector runs less often.
os.environ.setdefault("GOGC", planes.GO_VARIABLES["GOGC"])
# pip compiles only what is imported, and not all modules of each package that it installs.
os.environ.setdefault("PIP_NO_COMPILE", "1")

_SHARED = ("control_plane", "dynamo_v1beta1", "fragile", "argo", "controller")
"""Fixtures with servers that take long to start: their tests run on one worker."""
_SERVERS = (*_SHARED, "migration", "audited")
_running: dict[str, tuple[pytest.FixtureDef[Any], Any]] = {}
"""The fixtures of `_SERVERS` that have a value, with the request that made it."""


def pytest_configure(config: pytest.Config) -> None:
    """Let a test fail that starts a kube-apiserver without the mark `server`: neither `make check` nor `make test-servers` would run it."""
    programs.with_servers = config.option.markexpr != "not server"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests that share servers on one worker, so that these start once. The names of several fixtures make one group.

    Two tiers leave the slow tests out.
    """
    for item in items:
        if not {*_SERVERS}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.server)
    if tier.WITHOUT_SLOW:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("slow")])
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            for fixture in _SHARED:
                if fixture in getattr(item, "fixturenames", ()):
                    item.add_marker(pytest.mark.xdist_group(fixture))


def pytest_collection_finish() -> None:
    """Keep the collected tests out of garbage collections, which would walk through all 20,000 again and again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> scheduler.GroupScheduling:
    """Hands tests to the workers of pytest-xdist."""
    return scheduler.GroupScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send the reports of a worker that say something: that of the call, and of a setup or teardown only failures, skips and measurements.

    A report costs half a millisecond of CPU in the two processes, and two thirds of the reports of 24,000 tests say that nothing happened.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runner.runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.user_properties:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    """Note the servers that start."""
    if fixturedef.argname in _SERVERS and fixturedef.scope == "session":
        _running[fixturedef.argname] = fixturedef, request


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the shared servers after the last test of a group: an etcd and an API server without a test take two seconds of CPU a minute.

    A worker gets all tests of a group at once. Without groups, the servers run until the end.
    """
    yield
    group = scheduler.group_of(item.nodeid)
    if nextitem and group and scheduler.group_of(nextitem.nodeid) != group:
        while _running:
            definition, request = _running.popitem()[1]
            definition.finish(request)


@pytest.fixture(scope="session")
def kustomize() -> Path:
    """The real kustomize, in the pinned version."""
    return programs.path("kustomize")


@pytest.fixture
def kustomize_on_path(kustomize: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real kustomize on the PATH of commands that run within this process."""
    monkeypatch.setenv("PATH", programs.search_path(kustomize.parent))


@pytest.fixture(scope="session")
def kpt() -> Path:
    """The real kpt."""
    return programs.path("kpt")


@pytest.fixture(scope="session")
def kubectl() -> Path:
    """The real kubectl, in the pinned version."""
    return programs.path("kubectl")


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[planes.ControlPlane]:
    """A real etcd and kube-apiserver, shared by all tests: create a namespace for each test with `control_plane.namespace(name)`."""
    with planes.running(tmp_path_factory.mktemp("control-plane"), _programs()) as plane:
        yield plane


def _programs() -> planes.Programs:
    return planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))


@pytest.fixture(scope="session")
def controllers(control_plane: planes.ControlPlane) -> Iterator[server.Server]:
    """The real kube-controller-manager for the control plane; it works in all namespaces."""
    with planes.controllers(control_plane, programs.path("kube-controller-manager")) as running:
        yield running


@pytest.fixture(scope="module")
def kubelet(control_plane: planes.ControlPlane) -> Iterator[None]:
    """A fake kubelet for all pods of the control plane while the tests of one module run: see `tests.testbed.kubelet`."""
    with kubelets.running(control_plane):
        yield


@pytest.fixture(scope="session")
def crds(control_plane: planes.ControlPlane) -> list[dict[str, Any]]:
    """The definitions of tests/crds, served by the control plane."""
    found = definitions.every()
    assert found
    definitions.serve(control_plane, found)
    return found


@pytest.fixture(scope="session")
def dynamo(control_plane: planes.ControlPlane, crds: list[dict[str, Any]]) -> planes.ControlPlane:
    """The control plane with Dynamo's kinds and those of the orchestrators."""
    definitions.serve(control_plane, generated.definitions())
    return control_plane


@pytest.fixture(scope="session")
def dynamo_v1beta1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[planes.ControlPlane]:
    """A control plane of its own that serves Dynamo's kinds as v1beta1. A control plane serves one version of a kind only."""
    with planes.running(tmp_path_factory.mktemp("control-plane-v1beta1"), _programs()) as plane:
        definitions.serve(plane, generated.definitions("v1beta1"))
        yield plane


_MEASURED: list[str] = []
_PROPERTY = "measured"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take the measurements of a test out of its last report, which also comes from the other processes of pytest-xdist."""
    if report.when == "teardown":
        _MEASURED.extend(str(line) for name, line in report.user_properties if name == _PROPERTY)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the measurements at the end of the run."""
    for line in _MEASURED:
        terminalreporter.write_line(line)


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The lines that the run prints at its end."""
    lines: list[str] = []
    yield lines
    request.node.user_properties.extend((_PROPERTY, line) for line in lines)
