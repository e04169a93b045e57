"""Five repositories as teams have them, with 40 commits each: `diff` names lines of the commit, and announces what the objects do.

`make test-all` judges one commit of each repository, and `make company` all of them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.cli import console
from tests.company import judge
from tests.company.repositories import NAMES, TeamRepository
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.company.repositories import Commit

EVERY = int(os.environ.get("KRM_FN_COMMITS", "40"))
FOLDERS = {
    "monorepo": "clusters",
    "kpt_packages": ".",
    "applications": "apps",
    "flux_clusters": "deploy",
    "rendered_branch": "clusters",
}
"""The folder of each repository below which all roots are that a cluster applies."""


class Judged(NamedTuple):
    """A commit, its report, its lines, and the effects of real builds on the objects of clusters."""

    commit: Commit
    report: dict[str, Any]
    lines: dict[tuple[str, str], set[int]]
    effects: judge.Effects


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in NAMES])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, kustomize: Path, kpt: Path) -> list[Judged]:
    """The commits of a repository that this run judges. The first one depends on the repository, so that subjects differ."""
    folder = tmp_path_factory.mktemp("company") / request.param
    tools = [programs.ROOT / ".venv" / "bin", kustomize.parent, kpt.parent, folder / "bin"]
    environment = {**os.environ, "PATH": programs.search_path(*tools)}
    repository = TeamRepository(request.param, folder, environment)
    first = NAMES.index(request.param) % EVERY
    commits = repository.create(first, EVERY)
    return [*_judged(repository, commits, environment, first, FOLDERS[request.param])]


def _judged(repository: TeamRepository, commits: list[Commit], environment: dict[str, str], first: int, folder: str) -> Iterator[Judged]:
    scratch = repository.folder.with_name("package")
    for number in range(first, len(commits), EVERY):
        repository.git("checkout", "--quiet", "--detach", f"{commits[number].revision}~1")
        old = judge.built(repository, folder, environment, scratch)
        repository.checkout(commits[number])
        new = judge.built(repository, folder, environment, scratch)
        done = console.program("diff", "--old", "HEAD~1", "--format", "json", folder=repository.folder, PATH=environment["PATH"])
        assert done.code == 0, done.err
        lines = judge.lines(repository, commits[number])
        yield Judged(commits[number], json.loads(done.out), lines, judge.total(old, new))


def test_the_lines_of_a_report_are_lines_of_the_commit(judged):
    """Every line that a report names is a line of the commit, and a report with a changed object names at least one."""
    wrong: list[tuple[object, ...]] = []
    for commit, report, lines, _ in judged:
        named = {*judge.locations([root["objects"] for root in judge.roots(report)])}
        wrong += [(commit.subject, *location) for location in sorted(named) if location[2] not in lines.get(location[:2], ())]
        if not named and any(root["objects"] for root in judge.roots(report)):
            wrong.append((commit.subject, "no line"))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("effect", judge.Effects._fields)
def test_a_report_announces_what_the_objects_of_the_clusters_do(judged, effect):
    """The objects that restart, go, come or change are those of real builds of both revisions, no more and no fewer."""
    wrong = [
        (entry.commit.subject, sorted(announced ^ real))
        for entry in judged
        if (announced := getattr(judge.reported(entry.report), effect)) != (real := getattr(entry.effects, effect))
    ]
    assert not wrong, "\n".join(map(str, wrong))
