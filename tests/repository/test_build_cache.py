"""The cache of builds: the same output with it as without it, whatever its files hold, and who may read them."""

from __future__ import annotations

import os
import random
import shutil
import stat
from typing import TYPE_CHECKING

import pytest

from krm_fn.repository import build_cache
from krm_fn.repository.private_programs import Programs
from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH
from tests.support.cases import cases
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.repository.clones import Clone

OVERLAY = "namespace: {name}\nresources: [../base]\ncomponents: [../component]\ntransformers: [render.yaml]\n"
FILES = {
    "base/graph.yaml": GRAPH,
    "base/kustomization.yaml": "resources: [graph.yaml]\n",
    "component/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\npatches: [{path: scale.yaml}]\n",
    "component/scale.yaml": GRAPH.partition("spec:")[0].replace("  namespace: team\n", "") + "spec: {services: {Worker: {replicas: 3}}}\n",
    "prod/kustomization.yaml": OVERLAY.format(name="prod"),
    "prod/render.yaml": FUNCTION,
    "test/kustomization.yaml": OVERLAY.format(name="test") + "configMapGenerator: [{name: more, envs: [settings.env]}]\n",
    "test/settings.env": "A=b\n",
    "test/render.yaml": FUNCTION,
    "alone/graph.yaml": GRAPH.replace("name: chat", "name: alone"),
    "alone/kustomization.yaml": "resources: [graph.yaml]\n",
}
"""Three roots: two overlays with the function and with a component, one of them with a generator, and one without the function."""

ROOTS = 3
COMMITS = int(os.environ.get("KRM_FN_CACHED_COMMITS", "4"))
"""The number of random commits; 300 take half an hour."""


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders in which kustomize runs, in a list that grows."""
    folders: list[Path] = []
    run = Programs.run

    def recorded(self: Programs, command: list[str], at: Path, **more: object) -> object:
        folders.append(at)
        return run(self, command, at, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Programs, "run", recorded)
    return folders


def entries(folder: Path) -> list[Path]:
    """The entries of a cache."""
    return sorted((folder / "krm-fn-1").glob("*.build"))


def test_a_second_run_builds_nothing(clone: Clone, tmp_path: Path, builds: list[Path]):
    clone.put(FILES).commit()
    first = console.run("check", "--cache", tmp_path / "cache")
    assert (first.code, len(builds)) == (0, ROOTS)
    assert console.run("check", "--cache", tmp_path / "cache") == first == console.run("check")
    assert len(builds) == 2 * ROOTS  # those of the command without a cache
    clone.edit("test/settings.env", "A=b", "A=c")
    console.run("check", "--cache", tmp_path / "cache")
    assert [folder.name for folder in builds[2 * ROOTS :]] == ["test"]


def test_a_root_with_the_same_inputs_is_built_once_for_both_states(clone: Clone, builds: list[Path]):
    clone.put(FILES).commit()
    clone.edit("test/settings.env", "A=b", "A=c")
    assert "(test/settings.env:1)" in console.run("diff", "--old", "HEAD", "--all").out
    assert {name: sum(folder.name == name for folder in builds) > 1 for name in ("prod", "alone", "test")} == {
        "prod": False,
        "alone": False,
        "test": True,
    }


def change(clone: Clone, number: int) -> None:
    """A commit with one to three random edits, which later edits can take back."""
    choice = random.Random(number)  # noqa: S311 - no secret
    edits = [
        *(("component/scale.yaml", f"replicas: {before}", f"replicas: {after}") for before, after in ((3, 4), (4, 3), (3, 5), (5, 3))),
        *(("base/graph.yaml", before, after) for before, after in (("dynamo:1.5.0", "dynamo:1.5.1"), ("dynamo:1.5.1", "dynamo:1.5.0"))),
        *(("test/settings.env", before, after) for before, after in (("A=b", "A=c"), ("A=c", "A=b"), ("A=b", ""))),
        *(("prod/kustomization.yaml", before, after) for before, after in (("namespace: prod", "namespace: live"), ("live", "prod"))),
        ("prod/render.yaml", "name: render\n", "name: render\n  labels: {a: b}\n"),
        ("test/kustomization.yaml", "components: [../component]\n", ""),
        ("base/graph.yaml", "replicas", "replica"),
        ("base/graph.yaml", "replica:", "replicas:"),
        ("base/kustomization.yaml", "[graph.yaml]", "[graph.yaml, missing.yaml]"),
        ("base/kustomization.yaml", ", missing.yaml", ""),
        ("alone/graph.yaml", "name: alone", "name: other"),
    ]
    for name, before, after in choice.sample(edits, choice.randint(1, 3)):
        path = clone.folder / name
        path.write_text(path.read_text().replace(before, after))
    clone.put({"number.txt": f"{number}\n"}).commit()


def test_commits_have_the_same_output_with_a_cache(clone: Clone, tmp_path: Path, builds: list[Path]):
    """One cache for all commits, as a pipeline has it."""
    clone.put(FILES).commit()
    cached = 0
    for number in range(COMMITS):
        change(clone, number)
        for command in (["check"], ["check", "--old", "HEAD~1"], ["diff", "--old", "HEAD~1", "-o", "json"]):
            known = len(builds)
            alone = console.run(*command)
            between = len(builds)
            done = console.run(*command, "--cache", tmp_path / "cache")
            assert (number, done.code, done.out.splitlines(), done.err.splitlines()) == (
                number,
                alone.code,
                alone.out.splitlines(),
                alone.err.splitlines(),
            )
            cached += (between - known) > (len(builds) - between)
    assert cached


def cut(path: Path, _other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def edit(path: Path, _other: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"name: chat", b"name: that").replace(b"name: alone", b"name: above"))


def copy_other(path: Path, other: Path) -> None:
    shutil.copyfile(other, path)


def link_to(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to(other)


def empty(path: Path, _other: Path) -> None:
    path.write_bytes(b"")


def write_other(path: Path, _other: Path) -> None:
    path.write_bytes(b"\0\xff{}\n\n")


def make_pipe(path: Path, _other: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path, _other: Path) -> None:
    path.unlink()
    path.mkdir()


POISONS: list[tuple[str, Callable[[Path, Path], None]]] = [
    ("an entry is cut off", cut),
    ("the content is edited", edit),
    ("the content is that of another root", copy_other),
    ("a link to another entry", link_to),
    ("an empty file", empty),
    ("another file", write_other),
    ("a named pipe, which nobody writes", make_pipe),
    ("a folder", make_folder),
]


@cases(("poison",), POISONS)
def test_a_wrong_entry_changes_nothing(poison, clone, tmp_path, builds):
    clone.put(FILES).commit()
    first = console.run("check", "--cache", tmp_path / "cache", "-o", "json")
    listed = entries(tmp_path / "cache")
    assert len(listed) == ROOTS
    content = [path.read_bytes() for path in listed]
    for path, other in zip(listed, [*listed[1:], listed[0]], strict=True):
        poison(path, other)
    assert console.run("check", "--cache", tmp_path / "cache", "-o", "json") == first
    assert len(builds) == 2 * ROOTS
    if poison is not make_folder:
        assert [path.read_bytes() for path in listed] == content, "the entries are repaired"


def test_a_secret_is_not_stored(clone: Clone, tmp_path: Path, builds: list[Path]):
    generator = "secretGenerator: [{name: token, literals: [token=very-secret]}]\n"
    clone.put({**FILES, "prod/kustomization.yaml": OVERLAY.format(name="prod") + generator}).commit()
    for _ in range(2):
        console.run("check", "--cache", tmp_path / "cache")
    assert len(entries(tmp_path / "cache")) == ROOTS - 1
    assert len(builds) == ROOTS + 1
    stored = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert [text for text in (b"very-secret", b"dmVyeS1zZWNyZXQ") if text in stored] == []


def test_the_files_of_a_cache_belong_to_their_user(clone: Clone, tmp_path: Path):
    """Also if every new file of the user is for everybody, and if a tool that restored the folder changed its mode."""
    clone.put(FILES).commit()
    mask = os.umask(0)
    try:
        (tmp_path / "cache" / "krm-fn-1").mkdir(parents=True, mode=0o777)
        console.run("check", "--cache", tmp_path / "cache")
    finally:
        os.umask(mask)
    folder = tmp_path / "cache" / "krm-fn-1"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in entries(tmp_path / "cache")} == {0o600}


def test_git_ignores_a_cache_in_the_repository(clone: Clone, builds: list[Path]):
    """GitLab stores only folders inside of the clone. The entries are no input of the root of the whole repository."""
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}).commit()
    for _ in range(3):
        console.run("check", "--cache", ".krm-fn-cache")
    assert len(builds) == 1
    assert clone.git("status", "--porcelain") == ""


def test_a_commit_cannot_bring_entries(clone: Clone):
    """The author of a change could otherwise write the output of its build."""
    clone.put({**FILES, "cache/krm-fn-1/a.build": "a"}).commit()
    done = console.run("check", "--cache", "cache")
    assert (done.code, "'cache' has files in Git; name a folder that has none" in done.err) == (2, True)


def test_a_folder_that_cannot_be_made_is_an_error_of_usage(clone: Clone):
    clone.put(FILES).commit()
    done = console.run("diff", "--old", "HEAD", "--cache", "base/graph.yaml/cache")
    assert (done.code, "cannot be written: Not a directory" in done.err) == (2, True)


def test_another_kustomize_or_krm_fn_builds_again(clone: Clone, tmp_path: Path, builds: list[Path], monkeypatch):
    clone.put(FILES).commit()
    console.run("check", "--cache", tmp_path / "cache")
    other = tmp_path / "bin" / "kustomize"
    other.parent.mkdir()
    other.write_bytes(programs.path("kustomize").read_bytes() + b"\0")
    other.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{other.parent}{os.pathsep}{os.environ['PATH']}")
        console.run("check", "--cache", tmp_path / "cache")
    assert len(builds) == 2 * ROOTS
    monkeypatch.setattr(build_cache, "_own_files", lambda: iter([("krm_fn/__init__.py", "another digest")]))
    console.run("check", "--cache", tmp_path / "cache")
    assert len(builds) == 3 * ROOTS


def test_the_entries_that_are_not_used_are_removed_first(clone: Clone, tmp_path: Path, builds: list[Path], monkeypatch):
    clone.put(FILES).commit()
    console.run("check", "--cache", tmp_path / "cache")
    for path in entries(tmp_path / "cache"):
        os.utime(path, (1, 1))
    clone.edit("test/settings.env", "A=b", "A=c")
    monkeypatch.setattr(build_cache, "_MOST", ROOTS)
    console.run("check", "--cache", tmp_path / "cache")
    assert len(entries(tmp_path / "cache")) == ROOTS
    known = len(builds)
    console.run("check", "--cache", tmp_path / "cache")
    assert len(builds) == known
