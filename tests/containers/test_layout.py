"""Layout E with a real engine: kustomize, kubectl and kpt start the image."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support import beta, builds, golden, markdown

LAYOUT = golden.EXAMPLES / "layout-e-container"
PAGES = [LAYOUT / "README.md", golden.EXAMPLES.parent / "docs" / "image.md"]


def run(image, *command, folder=None):
    tool = command[0]
    environment = image.environment(tool)
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("command", [("kustomize", "build"), ("kubectl", "kustomize")], ids=["kustomize", "kubectl"])
def test_kustomize_starts_the_image(command, image, clone):
    built = run(image, *command, "--enable-alpha-plugins", clone / "examples" / "layout-e-container" / "prod")
    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout == (LAYOUT / "expected-prod.yaml").read_text()


def test_kustomize_shows_our_error_and_builds_nothing(image, clone):
    layout = clone / "examples" / "layout-e-container"
    builds.edit(layout / "base" / "graph.yaml", lambda graph: beta.named(graph, "Worker").update(replcas=2))
    built = run(image, "kustomize", "build", "--enable-alpha-plugins", layout / "prod")
    assert (built.returncode, built.stdout) == (1, "")
    assert "DYN023 spec.components[1].replcas: unknown field; write replicas" in built.stderr


def test_kpt_renders_with_the_image_what_it_renders_with_the_command(image, clone):
    package = clone / "examples" / "layout-e-container" / "package"
    done = run(image, "kpt", "fn", "render", package)
    assert done.returncode == 0, done.stderr
    mine = shutil.copytree(LAYOUT / "package", clone / "mine")
    builds.edit(mine / "Kptfile", lambda file: file["pipeline"]["mutators"].__setitem__(0, {"exec": "krm-fn", "configPath": "render.yaml"}))
    golden.render(mine)
    for each in (package, mine):
        (each / "Kptfile").unlink()
    assert builds.same_files(package, mine)


def test_kpt_evaluates_settings_from_the_command_line(image, clone):
    package = clone / "examples" / "layout-e-container" / "package"
    done = run(image, "kpt", "fn", "eval", package, "--image", image.name, "--", "natsAddress=nats://other:4222")
    assert done.returncode == 0, done.stderr
    assert "nats://other:4222" in (package / "deployment_chat-worker.yaml").read_text()


def test_kpt_shows_the_documentation(image):
    done = run(image, "kpt", "fn", "doc", "--image", image.name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: krm-fn")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + "/" + page.name)
def test_the_page_holds_with_a_real_engine(page, image, clone, kustomize, kubectl, kpt):
    """Other tests run the same commands without an engine."""
    ours = image.environment("kustomize", "kubectl", "kpt") | {"COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    environment = ours | {"PATH": f"{ours['PATH']}:{builds.COMMAND.parent}"}
    commands = [command for block in markdown.consoles(page.read_text()) for command in block]
    assert commands
    for command in commands:
        answer = markdown.run(command.typed, clone, environment)
        assert markdown.matches(command.output, answer.output), f"{page}:{command.line}: {command.typed}\n{answer.output}"
        assert answer.code == 0
