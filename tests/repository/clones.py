"""Repositories for tests: files, commits, and krm-fn run in the root of a clone with the real kustomize and kpt."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import yaml

from tests.cli import console
from tests.testbed import programs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
BUILD = ("kustomize", "build", "--enable-alpha-plugins", "--enable-exec")
GRAPH = console.GRAPH.replace("  namespace: team\n", "")
FUNCTION = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: krm-fn}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  source: {{repoURL: https://git.example/team/fleet.git, targetRevision: HEAD, path: {path}}}
  destination: {{server: https://kubernetes.default.svc, namespace: {namespace}}}
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{interval: 10m, prune: true, path: {path}, sourceRef: {{kind: {kind}, name: fleet}}{more}}}
"""
RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\n"
README = {
    "graph.yaml": GRAPH,
    "render.yaml": FUNCTION,
    "kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ntransformers: [render.yaml]\n",
}
"""The layout of the README: a graph, a Kustomization, and the function."""


class Clone:
    """A git repository, in which commands run."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.path = programs.search_path(programs.path("kustomize").parent, *self._folders())
        patch.chdir(folder)
        patch.setenv("PATH", self.path)
        self.git("init")

    def _folders(self) -> list[Path]:
        entry = programs.where()["kpt"]
        return [programs.ROOT / ".venv" / "bin", *([programs.path("kpt").parent] if "path" in entry else [])]

    def write(self, **files: str) -> Clone:
        """Write files; `__` in a name is a `/`, and names without an ending get `.yaml`."""
        return self.put({(name.replace("__", "/") + ".yaml"): text for name, text in files.items()})

    def put(self, files: dict[str, str], folder: str = ".") -> Clone:
        """Write files by their paths."""
        for name, text in files.items():
            path = self.folder / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self

    def edit(self, name: str, old: str, new: str) -> Clone:
        """Replace a text in a file. It must be there."""
        path = self.folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        return self

    def commit(self) -> Clone:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--message", "Change")
        return self

    def git(self, *arguments: str) -> str:
        """Run git. Raises CalledProcessError."""
        return subprocess.run([*GIT, *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def shell(self, *command: str) -> str:
        """Run a command of a user, such as kustomize. Raises CalledProcessError."""
        environment = {**os.environ, "PATH": self.path}
        return subprocess.run(command, cwd=self.folder, env=environment, check=True, capture_output=True, text=True, timeout=300).stdout

    def save(self, name: str, *command: str) -> Clone:
        """Write the output of a command into a file."""
        return self.put({name: self.shell(*command)})


def graph_with_frontend(image: str) -> str:
    """The text of a graph of vLLM in v1beta1. Its last component is the frontend, so others can follow."""
    return f"""\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: chat}}
spec:
  backendFramework: vllm
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "{image}"}}]}}}}
"""


def codes(done: console.Done) -> list[str]:
    """The codes of errors and warnings that a command prints, each once."""
    words = (done.out + done.err).split()
    pairs = itertools.pairwise(words)
    return sorted({code for noun, code in pairs if noun in ("error", "warning") and re.fullmatch("DYN[0-9]{3}", code)})


def documents(text: str) -> list[Any]:
    """The documents in a text."""
    return list(yaml.safe_load_all(text))
