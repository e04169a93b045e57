"""Without an engine the container tests are skipped with a remedy, and fail in CI and in `make test-containers`.

The setup names the missing programs.
"""

from __future__ import annotations

import os
import subprocess
import sys

import containers
import pytest

from tests.testbed import programs

TEST = "tests/containers/test_image.py::test_commands_are_arguments"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """An empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def pytest_of(bare, **variables):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", TEST]
    environment = {**os.environ, "PATH": str(bare), "CI": "", "KRM_FN_TOOLS": "", **variables}
    return subprocess.run(command, cwd=programs.ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_without_an_engine_the_tests_are_skipped_with_a_remedy(bare):
    done = pytest_of(bare)
    assert done.returncode == 0
    assert "1 skipped" in done.stdout
    assert "neither docker nor podman answers; as root on Debian, `python tools/containers.py` installs it" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("variables", [{"CI": "true"}, {"KRM_FN_TOOLS": "required"}], ids=["in CI", "make test-containers"])
def test_tests_that_must_run_fail(variables, bare):
    """`make test-containers` must not succeed if it ran nothing."""
    done = pytest_of(bare, **variables)
    assert done.returncode == 1
    assert "neither docker nor podman answers" in done.stdout


def test_an_engine_that_does_not_answer_is_passed_over(bare):
    """For example the docker command without its daemon."""
    (bare / "docker").write_text("#!/bin/sh\nexit 1\n")
    (bare / "docker").chmod(0o755)
    with pytest.raises(containers.UnavailableError, match="neither docker nor podman"):
        containers.find()


def test_an_engine_that_runs_nothing_is_not_taken(bare, monkeypatch):
    """The message holds the last line of the engine's output."""
    (bare / "podman").write_text('#!/bin/sh\n[ "$1" = info ] || { echo "one" >&2; echo "no cgroups" >&2; exit 126; }\n')
    (bare / "podman").chmod(0o755)
    monkeypatch.setenv("BASE", "example.com/python")
    with pytest.raises(containers.UnavailableError, match=r"podman runs no container of example\.com/python: no cgroups"):
        containers.find()


def test_a_named_base_is_taken_and_variables_are_tried(bare, monkeypatch):
    """A podman that runs only with our settings."""
    (bare / "podman").write_text('#!/bin/sh\n[ "$1" = info ] || [ -n "$CONTAINERS_CONF" ]\n')
    (bare / "podman").chmod(0o755)
    monkeypatch.setenv("BASE", "example.com/python")
    monkeypatch.delenv("CONTAINERS_CONF", raising=False)
    engine = containers.find()
    assert (engine.name, engine.base) == ("podman", "example.com/python")
    assert engine.variables["CONTAINERS_CONF"].endswith("tools/containers.conf")


def test_setting_up_names_what_is_missing_where_there_is_no_apt(bare, monkeypatch, capsys):
    monkeypatch.setattr(containers, "_which", lambda name: None)
    assert containers.install() == 2
    assert capsys.readouterr().err == "missing: podman, runc, debootstrap; install them as root on Debian\n"


def test_setting_up_installs_what_is_missing(bare, monkeypatch, capsys):
    """With a stand-in for apt-get that records its arguments."""
    if os.geteuid():
        pytest.skip("only root may install")
    (bare / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {bare}/asked\n')
    (bare / "apt-get").chmod(0o755)
    monkeypatch.setattr(containers, "_which", lambda name: None if name == "runc" else f"/usr/bin/{name}")
    assert containers.install() == 0
    assert (bare / "asked").read_text() == "update -qq\ninstall -y -qq --no-install-recommends runc\n"
    (bare / "apt-get").write_text("#!/bin/sh\necho no such package >&2\nexit 100\n")
    assert containers.install() == 1
    assert "no such package" in capsys.readouterr().err


def test_without_qemu_there_is_no_image_for_another_architecture(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "_REGISTERED", tmp_path / "missing")
    with pytest.raises(containers.UnavailableError, match="no QEMU runs programs for arm64; as root"):
        containers.find(containers.EMULATED)


def test_setting_up_registers_qemu_in_the_kernel(tmp_path, monkeypatch):
    """As systemd does where it runs: with the line of Debian's package. A refusal has its reason."""
    monkeypatch.setattr(containers, "_which", lambda name: f"/usr/bin/{name}")
    for name, value in {"_FORMATS": tmp_path, "_REGISTERED": tmp_path / "qemu", "_REGISTRATION": tmp_path / "conf"}.items():
        monkeypatch.setattr(containers, name, value)
    (tmp_path / "conf").write_text(":qemu-aarch64:M::")
    (tmp_path / "register").touch()
    assert containers.install(emulation=True) == 0
    assert (tmp_path / "register").read_text() == ":qemu-aarch64:M::"
