"""Roots whose inputs are the same in both states: the proof, and that a diff without them says the same as one with them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from krm_fn import review
from krm_fn.repository import kustomizations, preparation, root_inputs, roots, states
from krm_fn.repository.states import RootOptions
from krm_fn.repository.tree import Tree
from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, RENDER
from tests.testbed import tier

if TYPE_CHECKING:
    from tests.repository.clones import Clone

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prompts}\ndata: {a: b}\n"
PATCH = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\nspec: {services: {Worker: {replicas: 3}}}\n"
TRANSFORMER = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: more}\npath: more/patch.txt\n"
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: batch}
spec: {source: {path: batch, kustomize: {components: [../component]}}}
"""
FILES = {
    "base/graph.yaml": GRAPH,
    "base/kustomization.yaml": "resources: [graph.yaml]\n",
    "component/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\npatches: [{path: scale.yaml}]\n",
    "component/scale.yaml": PATCH,
    "prod/kustomization.yaml": "namespace: prod\nresources: [../base, settings.yaml]\n"
    "components: [../component]\ntransformers: [more.yaml]\n",
    "prod/settings.yaml": CONFIG_MAP,
    "prod/more.yaml": TRANSFORMER,
    "prod/more/patch.txt": PATCH.replace("replicas: 3", "envs: [{name: A, value: b}]"),
    "test/kustomization.yaml": "namespace: test\nresources: [../base]\nconfigMapGenerator: [{name: more, envs: [settings.env]}]\n",
    "test/settings.env": "A=b\n",
    "plain/graph.yaml": GRAPH.replace("name: chat", "name: plain"),
    "plain/render.yaml": RENDER,
    "other/graph.yaml": GRAPH.replace("name: chat", "name: other"),
}
"""Two overlays: with a base, a component, a generator that reads a file, and a transformer that names one. Two folders of plain files."""

ROOTS = {"prod", "test", "plain", "."}


def write(folder: Path, files: dict[str, str | None]) -> Path:
    """Write files, and remove those without a text."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
    return folder


def unchanged(tmp_path: Path, old: dict[str, str], edit: Any) -> set[str]:
    """The roots with the same inputs before and after an edit: new texts, or a function that changes the new folder."""
    folders = [write(tmp_path / name, {**old}) for name in ("old", "new")]
    _ = edit(folders[1]) if callable(edit) else write(folders[1], edit)
    before, after = (states.find(Tree(folder), RootOptions()) for folder in folders)
    return {*root_inputs.same(before.inputs, after.inputs)}


def link(name: str, target: str) -> Any:
    """Puts a link in the place of a file."""

    def edit(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return edit


@pytest.mark.parametrize(
    ("edit", "reached"),
    {
        "nothing": ({}, set()),
        "a graph of the base": ({"base/graph.yaml": GRAPH.replace("replicas: 2", "replicas: 3")}, {"prod", "test"}),
        "a patch of a component": ({"component/scale.yaml": PATCH.replace("3", "4")}, {"prod"}),
        "a file that only a transformer names": ({"prod/more/patch.txt": PATCH}, {"prod"}),
        "a file that only a generator names": ({"test/settings.env": "A=c\n"}, {"test"}),
        "line ends": ({"test/settings.env": "A=b\r\n"}, {"test"}),
        "a new file beside a graph": ({"base/new.txt": ""}, {"prod", "test"}),
        "a removed file": ({"prod/settings.yaml": None}, {"prod"}),
        "a renamed file": ({"plain/graph.yaml": None, "plain/graphs.yaml": FILES["plain/graph.yaml"]}, {"plain"}),
        "a plain file": ({"other/graph.yaml": GRAPH}, {"."}),
        "the configuration of a folder": ({"plain/render.yaml": RENDER + "spec: {behaviour: v1.5}\n"}, {"plain"}),
        "a file without resources": ({"README.md": "text"}, set()),
        "another mode": (lambda folder: (folder / "prod/settings.yaml").chmod(0o755), {"prod"}),
        "a link to an equal file": (link("base/graph.yaml", "../component/../base/kustomization.yaml"), {"prod", "test"}),
        "a link of a plain file": (link("plain/more.yaml", "graph.yaml"), {"plain"}),
        "a root that the base now is": ({"test/kustomization.yaml": "resources: [settings.yaml]\n", "test/settings.yaml": GRAPH}, {"test"}),
        "a pipeline that names a root": ({"argo/app.yaml": APPLICATION.replace("batch", "prod").replace("../c", "../x")}, {"prod", "."}),
        "a remote base": ({"test/kustomization.yaml": "resources: [../base, 'https://example.com/x?ref=v1']\n"}, {"test"}),
    }.values(),
)
def test_the_roots_that_a_change_reaches(tmp_path, edit, reached):
    """A root is unchanged only if all files that its build can read are the same, byte by byte."""
    assert unchanged(tmp_path, FILES, edit) == ROOTS - reached


@pytest.mark.parametrize(
    ("old", "unproven"),
    {
        "a component that only a pipeline names": (
            {"argo/app.yaml": APPLICATION, "batch/kustomization.yaml": FILES["test/kustomization.yaml"], "batch/settings.env": "A=b\n"},
            {"batch"},
        ),
        "a chart": ({"test/kustomization.yaml": "resources: [../base]\nhelmCharts: [{name: a}]\n"}, {"test"}),
        "a committed render": ({"out/all.yaml": "# Rendered by krm-fn; rendering again overwrites this file.\n" + CONFIG_MAP}, ROOTS),
    }.values(),
)
def test_what_cannot_be_proved_is_rendered(tmp_path, old, unproven):
    """Without any change, these roots are rendered: krm-fn does not know all of their inputs, or needs their objects."""
    same = unchanged(tmp_path, FILES | old, {})
    assert unproven.isdisjoint(same)
    assert same == {path for path in ROOTS if path not in unproven}


def test_links_are_not_proved(tmp_path):
    """A root with a link has no proof, also if nothing changes: the target is elsewhere."""
    for name in ("old", "new"):
        link("linked.yaml", "base/graph.yaml")(write(tmp_path / name, {**FILES}))
        link("base/linked.yaml", "graph.yaml")(tmp_path / name)
    assert unchanged(tmp_path, FILES, {}) == {"plain"}


def test_a_configuration_of_the_command_belongs_to_all_roots(tmp_path):
    """Roots are not the same if the file of `--config` differs between the states, or cannot be read."""
    files = [write(tmp_path, {f"{name}.yaml": RENDER}) / f"{name}.yaml" for name in "ab"]
    inputs = []
    for file in files:
        folder = write(tmp_path / file.stem, {**FILES})
        inputs.append(states.find(Tree(folder), RootOptions(config=str(file))).inputs)
    assert root_inputs.same(*inputs) == ROOTS
    files[1].write_text(RENDER + "spec: {behaviour: v1.5}\n")
    changed = states.find(Tree(tmp_path / "b"), RootOptions(config=str(files[1]))).inputs
    assert root_inputs.same(inputs[0], changed) == frozenset()
    assert states.find(Tree(tmp_path / "b"), RootOptions(config=str(tmp_path / "missing.yaml"))).inputs == {}


def changed_at_random(clone: Clone, number: int) -> None:
    """One to three edits of random files: another number, a new line, no file, another name, a copy, another mode, or a link."""
    choice = random.Random(number)  # noqa: S311 - no secret
    for _ in range(choice.randint(1, 3)):
        files = sorted(path for path in clone.folder.rglob("*") if path.is_file() and ".git" not in path.parts)
        path, kind = choice.choice(files), choice.choice(("number", "line", "removed", "renamed", "copied", "mode", "link"))
        text = path.read_text()
        if kind == "number":
            path.write_text(text.replace("replicas: 3", "replicas: 5").replace("replicas: 2", "replicas: 4").replace("A=b", "A=c"))
        elif kind == "line":
            path.write_text(f"# {number}\n{text}")
        elif kind == "removed":
            path.unlink()
        elif kind in ("renamed", "copied"):
            path.with_name(f"copy-{path.name}").write_text(text.replace("name: other", "name: copy"))
            if kind == "renamed":
                path.unlink()
        elif kind == "mode":
            path.chmod(0o755)
        else:
            path.unlink()
            path.symlink_to(choice.choice(files))


@pytest.mark.parametrize("number", range(tier.number(300, 10, "KRM_FN_EXAMPLES") // 100))
def test_a_diff_says_the_same_with_and_without_unchanged_roots(clone, number):
    """Random edits of random files, in random order: the report is the same with `--all`."""
    clone.put(FILES).commit()
    changed_at_random(clone, number)
    quick, whole = console.run("diff", "--old", "HEAD"), console.run("diff", "--old", "HEAD", "--all")
    assert (quick.code, quick.out) == (whole.code, whole.out)
    assert "unchanged" not in whole.err


def test_a_diff_names_the_number_of_unchanged_roots(clone):
    """The text says it beside the lines of the roots; in JSON, each of these roots is `unchanged`, and has no services."""
    clone.put(FILES).commit().edit("component/scale.yaml", "replicas: 3", "replicas: 4")
    done = console.run("diff", "--old", "HEAD")
    assert done.err.splitlines()[-1].startswith("3 of 4 folders are unchanged: their inputs are the same as in HEAD")
    assert "== 3 folders: test, plain, .\nThe states are the same: no object changes.\n" in done.out
    report = json.loads(console.run("diff", "--old", "HEAD", "-o", "json").out)
    jsonschema.validate(report, json.loads((Path(review.__file__).parent / "schemas" / "diff.json").read_text()))
    assert {root["root"]: root.get("unchanged", False) for root in report["roots"]} == {
        "prod": False,
        "test": True,
        "plain": True,
        ".": True,
    }
    whole = json.loads(console.run("diff", "--old", "HEAD", "-o", "json", "--all").out)
    assert [root for root in report["roots"] if "unchanged" not in root] == [root for root in whole["roots"] if root["root"] == "prod"]


def test_errors_of_unchanged_roots_need_all(clone):
    """A change does not fail because of an error elsewhere. A file that cannot be read is always reported."""
    wrong = FILES["plain/graph.yaml"].replace("replicas", "replica")
    clone.put(FILES | {"plain/graph.yaml": wrong}).commit().edit("component/scale.yaml", "replicas: 3", "replicas: 4")
    assert console.run("diff", "--old", "HEAD").code == 0
    for more in (["--all"], ["--fail-on", "unknown"]):
        done = console.run("diff", "--old", "HEAD", *more)
        assert (done.code, "error DYN" in done.out) == (1, True)
    clone.put({"plain/graph.yaml": "kind: DynamoGraphDeployment\na: [\n"}).commit()
    clone.edit("component/scale.yaml", "replicas: 4", "replicas: 5")
    assert console.run("diff", "--old", "HEAD").code == 1


def folders_of(patch: pytest.MonkeyPatch, module: Any, name: str, folder: Any) -> list[str]:
    """The folders for which a function of a module is called, in a list that grows. `folder` reads one from the second argument."""
    folders: list[str] = []
    original = getattr(module, name)

    def recorded(tree: Tree, about: Any, *more: Any) -> Any:
        folders.append(folder(about))
        return original(tree, about, *more)

    patch.setattr(module, name, recorded)
    return folders


def test_check_builds_an_unchanged_root_once(clone, monkeypatch):
    """`check --old` judges all roots of the new state, and of the old state it builds only those that differ."""
    clone.put(FILES).commit().edit("component/scale.yaml", "replicas: 3", "replicas: 4")
    built = folders_of(monkeypatch, preparation, "prepare_root", str)
    done = console.run("check", "--old", "HEAD")
    assert (done.code, sorted(built)) == (0, ["prod", "prod", "test"])
    assert ", 4 compared with HEAD" in done.err


def test_each_kustomization_is_followed_once(tmp_path, monkeypatch):
    """The work to find the roots grows with the number of Kustomizations, not with its square."""
    followed = folders_of(monkeypatch, kustomizations, "included_folders", str)
    roots.find(Tree(write(tmp_path, {**FILES, "prod/render.yaml": FUNCTION})))
    assert sorted(followed) == ["base", "component", "prod", "test"]
