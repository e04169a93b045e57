"""Repositories of teams, as YAML files beside this module: their files, and commits that a team would make.

A file of this folder has these keys:

* `files`: texts by path.
* `copies`: folders that get a copy of a file, which is left out itself. kustomize reads the files of a layer only from its folder.
* `schemas`: folders that get the schema of `krm-fn schema --for kustomize` as `dynamo.json`.
* `programs`: texts of programs that functions of the repository run, by path.
* `renders`: folders with the rendered objects of other folders, by the folder of the Kustomization. Each commit renders them again.
* `commits`: each with a `subject` and `edits`. An edit replaces `old` by `new` in `file` (the first time, or `count` times, or after
  the text `after`), removes everything `from` a text on, writes `text`, deletes the file, renames it, or adds a `render` into it.
* `of`: the name of a repository whose commits are rendered; then only the rendered objects are in this one.
"""

from __future__ import annotations

import functools
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.cli import console

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("monorepo", "kpt_packages", "applications", "flux_clusters", "rendered_branch")
BUILD = ("kustomize", "build", "--enable-alpha-plugins", "--enable-exec")
_GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")


class Commit(NamedTuple):
    """A commit of a repository: its hash and its subject."""

    revision: str
    subject: str


class TeamRepository:
    """A git repository with the history of a team, in an empty folder. `environment` has the programs of the team on its PATH."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self._content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))
        self._renders: dict[str, str] = dict(self._content.get("renders", {}))
        self._source = folder
        if "of" in self._content:
            self._source = folder.with_name(f"{folder.name}-source")
            self._content |= yaml.safe_load(Path(__file__).with_name(f"{self._content['of']}.yaml").read_text(encoding="utf-8"))

    def create(self, first: int = 0, every: int = 1) -> list[Commit]:
        """Writes the commits up to the last one that `range(first, …, every)` has, and returns those that change a file."""
        self.folder.mkdir(parents=True)
        self.git("init")
        self._write_files()
        self._commit("Add the applications")
        wanted = range(first, len(self._content["commits"]), every)
        return list(itertools.islice(self._commits(), wanted[-1] + 1))

    def checkout(self, commit: Commit) -> None:
        """Checks out a commit."""
        self.git("checkout", "--quiet", "--detach", commit.revision)

    def git(self, *arguments: str) -> str:
        """Runs git and returns its output. Raises CalledProcessError."""
        return self._run(*_GIT, *arguments)

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.folder, env=self.environment, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    def _commits(self) -> Iterator[Commit]:
        for commit in self._content["commits"]:
            for edit in commit["edits"]:
                self._edit(edit)
            made = self._commit(commit["subject"])
            if made is not None:
                yield made

    def _write_files(self) -> None:
        copies = self._content.get("copies", {})
        for name, text in self._content["files"].items():
            for target in [f"{folder}/{name}" for folder in copies[name]] if name in copies else [name]:
                self._write(target, text)
        for folder in self._content.get("schemas", ()):
            self._write(f"{folder}/dynamo.json", _schema())
        for name, text in self._content.get("programs", {}).items():
            self._write(name, text).chmod(0o755)

    def _write(self, name: str, text: str) -> Path:
        path = self._source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _edit(self, edit: dict[str, Any]) -> None:
        path = self._source / edit["file"]
        if "render" in edit:
            self._renders[edit["render"]] = edit["file"]
        elif "text" in edit:
            self._write(edit["file"], edit["text"])
        elif "rename" in edit:
            target = self._source / edit["rename"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, target)
        elif edit.get("delete"):
            path.unlink()
        else:
            path.write_text(_replaced(path.read_text(encoding="utf-8"), edit), encoding="utf-8")

    def _commit(self, subject: str) -> Commit | None:
        """Renders, and commits all files. Returns None if no file has changed."""
        targets: dict[Path, str | None] = {self.folder / target: None for target in self._renders.values()}
        for source, target in self._renders.items():
            if (self._source / source / "kustomization.yaml").is_file():
                targets[self.folder / target] = self._run(*BUILD, str(self._source / source))
        for folder, text in targets.items():
            if text is None:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "manifests.yaml").write_text(text, encoding="utf-8")
        self.git("add", "--all")
        if not self.git("status", "--porcelain"):
            return None
        self.git("commit", "--quiet", "--message", subject)
        return Commit(self.git("rev-parse", "HEAD").strip(), subject)


def _replaced(text: str, edit: dict[str, str]) -> str:
    if "from" in edit:
        return text.partition(edit["from"])[0]
    before, separator, after = text.partition(edit["after"]) if "after" in edit else ("", "", text)
    assert edit["old"] in after, f"{edit['file']} has no {edit['old']!r}"
    return before + separator + after.replace(edit["old"], edit["new"], int(edit.get("count", 1)))


@functools.cache
def _schema() -> str:
    return console.run("schema", "--for", "kustomize").out
