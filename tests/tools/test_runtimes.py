"""`tools/runtimes.py` installs a release of the runtime whole or not at all, and again if its pinned packages change."""

from __future__ import annotations

import progress
import pytest
import runtimes

pytestmark = pytest.mark.slow  # makes virtual environments


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_failed_installation_leaves_no_environment(monkeypatch):
    """The message ends with pip's reason."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(progress.BuildError, match="No matching distribution found for ai-dynamo"):
        runtimes.install("1.5.1")
    assert runtimes.find("1.5.1") is None


@pytest.mark.parametrize(("name", "package"), [(runtimes.PLANNER, "aiconfigurator-core"), (runtimes.PROFILER, "aiconfigurator")])
def test_failed_installation_leaves_no_packages_besides_the_runtime(name, package, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(progress.BuildError, match=f"No matching distribution found for {package}=="):
        runtimes.install_packages(name)
    assert runtimes.find_packages(name) is None


def test_environment_belongs_to_its_pinned_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(runtimes, "HERE", tmp_path)
    pinned = tmp_path / "1.0.0.txt"
    pinned.write_text("# nothing\n")
    first = runtimes.install("1.0.0")
    assert runtimes.find("1.0.0") == first
    assert (first / "bin" / "python3").exists()
    pinned.write_text("# something else\n")
    assert runtimes.find("1.0.0") is None
