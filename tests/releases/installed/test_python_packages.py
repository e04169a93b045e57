"""The sdist and the wheel on PyPI: what pip, pipx and uvx install from them, and what their page shows."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes

import pytest

from tests.releases.installed import conftest
from tests.testbed import programs


@pytest.fixture(scope="module")
def page(built):
    """The text that PyPI shows."""
    with zipfile.ZipFile(built.file("*.whl")) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(wheel.read(name)).get_payload()


def test_pypi_accepts_both(built):
    """twine checks what PyPI checks of an upload, and renders the page."""
    command = [conftest.tool("twine"), "check", "--strict", built.file("*.whl"), built.file("dynamo_krm_fn-*.tar.gz")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("PASSED") == 2


def test_links_of_the_page_are_absolute_and_lead_to_files_of_the_tag(built, page):
    targets = re.findall(r"\]\(([^)\s]+)", re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL))
    base = f"https://{built.release.names.repository}/blob/v{built.release.version}/"
    inside = [target.removeprefix(base).partition("#")[0] for target in targets if target.startswith(base)]
    assert len(inside) > 10
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    assert [path for path in inside if not (programs.ROOT / path).exists()] == []


def test_the_sdist_has_the_sources_of_the_wheel(built):
    with tarfile.open(built.file("dynamo_krm_fn-*.tar.gz")) as sdist, zipfile.ZipFile(built.file("*.whl")) as wheel:
        sources = {name.partition("/")[2] for name in sdist.getnames()}
        modules = {name for name in wheel.namelist() if name.startswith("krm_fn/")}
    assert len(modules) > 400
    assert modules <= sources


@pytest.mark.parametrize("pattern", ["*.whl", "dynamo_krm_fn-*.tar.gz"], ids=["wheel", "sdist"])
def test_pip_installs_it(pattern, built, user):
    user.run(sys.executable, "-m", "venv", "venv")
    user.run("venv/bin/python", "-m", "pip", "install", "--quiet", f"{built.file(pattern)}[sync]")
    user.renders("venv/bin/krm-fn")
    assert "--leader-election" in user.run("venv/bin/krm-fn", "sync", "--help").stdout
    assert user.run("venv/bin/krm-fn", "--version").stdout == f"krm-fn {built.release.version}\n"


def test_pipx_installs_it(built, user):
    user.run(conftest.tool("pipx"), "install", "--quiet", "--python", sys.executable, built.file("*.whl"))
    user.renders(user.home / ".local" / "bin" / "krm-fn")


def test_uvx_runs_it(built, user):
    user.renders(conftest.tool("uvx"), "--quiet", "--python", sys.executable, "--from", built.file("*.whl"), "krm-fn")
