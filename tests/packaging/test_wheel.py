"""What `pip install` gives a user, away from the clone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support import builds, golden
from tests.testbed import programs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # so that the wheel is built once


class User(NamedTuple):
    """A user with an environment of their own, in which nothing but the wheel was installed."""

    home: Path
    wheel: Path

    def run(self, *command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command. The programs of the environment come first on the PATH."""
        environment = {"PATH": f"{self.home / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(self.home), "PIP_NO_COMPILE": "1"}
        typed = list(map(str, command))
        return subprocess.run(typed, cwd=self.home, env=environment, capture_output=True, text=True, check=check, timeout=300)

    def pip(self, *arguments: object) -> str:
        """Run the pip of the tests for the environment, whose own pip would take seconds to install."""
        return self.run(sys.executable, "-m", "pip", "--python", self.home / "venv", *arguments).stdout


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    """Slow: builds the wheel and fills an empty environment, as `pip install` does for a user."""
    home = tmp_path_factory.mktemp("user")
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "node_modules", "examples", "tests")
    source = shutil.copytree(programs.ROOT, home / "source", ignore=ignored)
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", home, source], check=True, capture_output=True, timeout=300)
    (wheel,) = home.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True, timeout=300)
    found = User(home, wheel)
    found.pip("install", "--quiet", wheel)
    return found


def test_the_wheel_renders_outside_the_clone(user, kustomize):
    folder = shutil.copytree(golden.EXAMPLES / "layout-a-overlays", user.home / "layout")
    built = user.run(kustomize, "build", *builds.FLAGS, folder / "prod").stdout
    assert built == (golden.EXAMPLES / "layout-a-overlays" / "expected-prod.yaml").read_text()


def test_the_wheel_has_the_tables_of_flags(user):
    """`krm-fn check` reads them to judge command lines of engines."""
    tables = {
        f"krm_fn/review/arguments/tables/{file.name}"
        for file in (programs.ROOT / "krm_fn" / "review" / "arguments" / "tables").glob("*.json")
    }
    assert tables
    with zipfile.ZipFile(user.wheel) as wheel:
        assert tables <= set(wheel.namelist())


EXTRA = ("aiohttp", "prometheus_client")
SAID = "pip install 'aiohttp>=3.12' 'prometheus_client>=0.21'"


def test_only_the_extra_has_the_packages_of_the_syncer(user):
    """Without the extra, `krm-fn sync` and `krm-fn install --sync` say how to get it. With it, both work."""
    listed = user.pip("list", "--format=freeze")
    assert [name for name in EXTRA if name in listed] == []
    for command in (("sync",), ("install", "--sync", "copy")):
        refused = user.run("krm-fn", *command, check=False)
        assert refused.returncode != 0
        assert SAID in refused.stderr
        assert "Traceback" not in refused.stderr
    declared = user.run("python", "-c", "import importlib.metadata as m; print(m.requires('dynamo-krm-fn'))").stdout
    assert all(f"{package}; extra" in declared for package in re.findall(r"'(\S+)'", SAID)), "the named packages are those of the extra"
    user.pip("install", "--quiet", f"{user.wheel}[sync]")
    assert SAID not in user.run("krm-fn", "sync", "--kubeconfig", "missing", check=False).stderr
    user.run("krm-fn", "install", "--sync", "copy")
    user.run("krm-fn", "install", "plain")
    for folder, has in (("copy", True), ("plain", False)):
        started = user.run(user.home / folder / "krm-fn", "sync", "--kubeconfig", "missing", check=False)
        assert (SAID in started.stderr) is not has
        assert bool([*(user.home / folder).glob("krm-fn.d/lib/python3*/aiohttp")]) is has
