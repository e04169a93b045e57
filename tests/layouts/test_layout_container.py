"""Layout E without a container engine: real kubectl, kustomize and kpt start a stand-in for `docker`, which runs our command."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import krm_fn
from tests.support import beta, build_checks, builds, golden
from tests.testbed import programs

LAYOUT = golden.EXAMPLES / "layout-e-container"
IMAGE = f"{krm_fn.IMAGE}:{krm_fn.__version__}"
ISOLATED = ["--network", "none", "--user", "nobody", "--security-opt=no-new-privileges"]


@pytest.fixture
def run(tmp_path):
    """Run a program; returns also the command lines of the stand-in."""
    calls = tmp_path / "calls"

    def started(tool, *arguments):
        environment = {**golden.environment(tool), "KRM_FN_SHIM_LOG": str(calls)}
        command = [tool, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        return done, [call.split() for call in calls.read_text().splitlines() if call.startswith("run ")]

    return started


@pytest.mark.parametrize("tool", ["kubectl", "kustomize"])
def test_kustomize_starts_the_image_and_nothing_lies(tool, run):
    build = ["kustomize"] if tool == "kubectl" else ["build"]
    done, (call,) = run(tool, *build, "--enable-alpha-plugins", LAYOUT / "prod")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (LAYOUT / "expected-prod.yaml").read_text()
    build_checks.assert_fit(build_checks.read(done.stdout))
    build_checks.assert_nothing_lies(build_checks.read(done.stdout))
    assert call[-1] == IMAGE
    assert {*ISOLATED} <= {*call}


def test_an_error_stops_the_build_with_our_words(run, tmp_path):
    layout = shutil.copytree(LAYOUT, tmp_path / "layout")
    builds.edit(layout / "base" / "graph.yaml", lambda graph: beta.named(graph, "Worker").update(replcas=2))
    done, _ = run("kubectl", "kustomize", "--enable-alpha-plugins", layout / "prod")
    assert (done.returncode, done.stdout) == (1, "")
    assert "DYN023 spec.components[1].replcas: unknown field; write replicas" in done.stderr


def test_a_second_render_by_kpt_changes_nothing(run, tmp_path):
    package = shutil.copytree(LAYOUT / "package", tmp_path / "package")
    done, (call,) = run("kpt", "fn", "render", package)
    assert done.returncode == 0, done.stderr
    assert call[-1] == IMAGE
    assert {*ISOLATED} <= {*call}
    assert (package / "deployment_chat-worker.yaml").exists()
    first = shutil.copytree(package, tmp_path / "first")
    assert run("kpt", "fn", "render", package)[0].returncode == 0
    assert builds.same_files(package, first)


def test_kpt_shows_the_documentation(run):
    done, (call,) = run("kpt", "fn", "doc", "--image", IMAGE)
    assert done.stdout.startswith("Usage: krm-fn")
    assert call[-2:] == [IMAGE, "--help"]


def test_every_page_and_example_names_the_image_of_this_version():
    files = [path for folder in ("docs", "examples", "platform") for path in (programs.ROOT / folder).rglob("*") if path.is_file()]
    named = {path: re.findall(rf"{re.escape(krm_fn.IMAGE)}:[\w.]+", path.read_text(errors="ignore")) for path in files}
    assert sum(map(len, named.values())) > 3
    assert [str(path) for path, names in named.items() if {*names} - {IMAGE}] == []
