"""`krm-fn install`: its copy runs without Python and in any folder, and can install itself again."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

import krm_fn
from tests.support import builds, golden
from tests.support.cases import cases
from tests.testbed import programs

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("installed copy")]  # so that the copy is written once

GRAPH = golden.EXAMPLES / "agg-vllm"
LIST = (
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: nvidia.com/v1alpha1\n  kind: DynamoGraphDeployment\n"
    "  metadata: {name: llm, namespace: prod}\n"
    "  spec: {services: {Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: example.com/dynamo:1.5.0}}}}}\n"
)


def install(folder, program=builds.COMMAND, **settings):
    return subprocess.run([program, "install", str(folder)], capture_output=True, text=True, check=False, timeout=300, **settings)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy that the command of this environment wrote, moved to another folder."""
    folder = tmp_path_factory.mktemp("install")
    done = install(folder / "first")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"krm-fn in {folder / 'first'}\n")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture
def copy(installed, tmp_path):
    """A copy that the test may change."""
    return shutil.copytree(installed, tmp_path / "copy", symlinks=True)


def run(command, text="", environment=None, **settings):
    environment = environment or {}
    return subprocess.run(
        list(map(str, command)), input=text, capture_output=True, text=True, check=False, timeout=300, env=environment, **settings
    )


def bare_root(folder, installed):
    """A root folder with a shell, what the shell is linked with, and the copy in /tools."""
    linked = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True).stdout
    for file in map(Path, ["/bin/sh", *re.findall(r"/\S+", linked)]):
        target = folder / "root" / file.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    shutil.copytree(installed, folder / "root" / "tools")
    return folder / "root"


def same(left, right):
    """True if two folders hold the same files, byte by byte."""
    names = {str(file.relative_to(folder)) for folder in (left, right) for file in folder.rglob("*") if file.is_file()}
    return sorted(filecmp.cmpfiles(left, right, names, shallow=False)[0]) == sorted(names)


def test_two_names_are_written(installed):
    assert sorted(file.name for file in installed.iterdir()) == ["krm-fn", "krm-fn.d"]
    assert os.access(installed / "krm-fn", os.X_OK)


def test_it_is_the_function_without_any_environment(installed):
    here = run([builds.COMMAND], LIST, dict(os.environ))
    there = run([installed / "krm-fn"], LIST)
    assert (there.returncode, there.stdout, there.stderr) == (0, here.stdout, "")
    assert "kind: Deployment" in there.stdout


def test_it_renders_what_the_command_renders(installed):
    done = run([installed / "krm-fn", "render", GRAPH / "graph.yaml"])
    assert (done.returncode, done.stdout) == (0, (GRAPH / "expected.yaml").read_text())


def test_kustomize_finds_it_on_path(installed, kustomize):
    command = [kustomize, "build", *builds.FLAGS, golden.EXAMPLES / "layout-a-overlays" / "prod"]
    done = run(command, environment={"PATH": str(installed)})
    assert done.stdout == (golden.EXAMPLES / "layout-a-overlays" / "expected-prod.yaml").read_text()


def test_every_verb_is_there(installed):
    """Every verb starts, with all its imports."""
    verbs = re.findall(r"^  (\w+) ", run([installed / "krm-fn", "--help"]).stdout.partition("Options:")[2], re.MULTILINE)
    assert "install" in verbs
    for verb in verbs:
        done = run([installed / "krm-fn", verb, "--help"])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: krm-fn {verb}")


NAMES = [
    ("by its full path", "{}/krm-fn", "/"),
    ("by a path from here", "./krm-fn", "{}"),
    ("by a symbolic link", "{}/links/other", "/"),
    ("by a relative symbolic link", "links/relative", "{}"),
    ("by the shell", "sh krm-fn", "{}"),
]


@cases(("command", "folder"), NAMES)
def test_it_is_found_however_it_is_called(command, folder, copy):
    (copy / "links").mkdir()
    (copy / "links" / "other").symlink_to(copy / "krm-fn")
    (copy / "links" / "relative").symlink_to("../krm-fn")
    done = run([*command.format(copy).split(), "--version"], environment={"PATH": "/usr/bin:/bin"}, cwd=folder.format(copy))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("krm-fn ")


def test_its_folder_may_have_any_name(copy):
    moved = copy.rename(copy.with_name('a folder\'s "name" $HOME'))
    assert run([moved / "krm-fn"], LIST).returncode == 0


def test_settings_of_another_python_do_not_matter(installed, tmp_path):
    (tmp_path / "yaml.py").write_text("raise SystemExit('the wrong yaml')")
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": "/nowhere"}
    assert run([installed / "krm-fn"], LIST, environment, cwd=tmp_path).returncode == 0


def test_a_source_folder_gives_the_same_modules(installed, tmp_path):
    """PYTHONPATH names a clone whose metadata, made by setuptools, lists all its files."""
    source, listed = tmp_path / "source", tmp_path / "source" / "dynamo_krm_fn.egg-info"
    shutil.copytree(programs.ROOT / "krm_fn", source / "krm_fn", ignore=shutil.ignore_patterns("__pycache__"))
    listed.mkdir()
    (source / "README.md").touch()
    distribution = metadata.distribution(krm_fn.PACKAGE)
    (listed / "PKG-INFO").write_text(distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "")
    (listed / "SOURCES.txt").write_text("README.md\nkrm_fn/__init__.py\ndynamo_krm_fn.egg-info/PKG-INFO\n")
    assert install(tmp_path / "copy", env={**os.environ, "PYTHONPATH": str(source)}).returncode == 0
    names = [{each.name for each in folder.glob("krm-fn.d/lib/python*/*")} for folder in (tmp_path / "copy", installed)]
    assert listed.name in names[0]
    assert [name for name in names[0] ^ names[1] if not name.endswith("-info")] == []
    assert run([tmp_path / "copy" / "krm-fn"], LIST).returncode == 0


def test_nothing_is_written_and_nothing_compiled_when_it_runs(installed):
    before = {file: file.stat().st_mtime_ns for file in installed.rglob("*")}
    python = [installed / "krm-fn.d" / "lib" / next(each.name for each in installed.glob("krm-fn.d/lib/ld-*"))]
    python += ["--library-path", installed / "krm-fn.d" / "lib", installed / "krm-fn.d" / "bin" / "python3"]
    said = run([*python, "-I", "-S", "-v", "-m", "krm_fn", "check", "--help"]).stderr
    assert "code object from" in said
    assert re.findall(r"# code object from (/.*)", said) == []  # a source, not what was compiled of it
    assert {file: file.stat().st_mtime_ns for file in installed.rglob("*")} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root folder")
@pytest.mark.parametrize("user", ["65534:65534", "999:999"])
def test_a_shell_and_its_library_are_all_it_needs(installed, user, tmp_path):
    root = bare_root(tmp_path, installed)
    for folder in (tmp_path.parent.parent, tmp_path.parent, tmp_path):
        folder.chmod(0o755)
    done = run([shutil.which("chroot", path="/usr/sbin:/usr/bin"), f"--userspec={user}", root, "/tools/krm-fn"], LIST)
    assert (done.returncode, done.stderr) == (0, "")
    assert "kind: Deployment" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root folder")
def test_a_copy_builds_a_kustomization_where_no_other_library_is(installed, tmp_path):
    """kustomize starts krm-fn again, with the loader and the libraries of the copy."""
    root = bare_root(tmp_path, installed)
    shutil.copytree(golden.EXAMPLES / "argocd" / "llm-agg-kustomize", root / "graph")
    shutil.copy(programs.path("kustomize"), root / "tools")
    for name in ("dev", "tmp"):
        (root / name).mkdir()
    (root / "dev" / "null").touch()
    command = [shutil.which("chroot", path="/usr/sbin:/usr/bin"), root, "/tools/krm-fn", "build", "/graph"]
    built = run(command, environment={"PATH": "/tools:/bin"})
    assert (built.returncode, built.stderr) == (0, "")
    assert "kind: Deployment" in built.stdout


def test_the_copy_makes_itself_again(installed, tmp_path):
    """As in an init container whose image holds such a copy."""
    assert install(tmp_path / "again", installed / "krm-fn", env={}).returncode == 0
    assert same(tmp_path / "again", installed)


def test_an_earlier_copy_is_replaced(copy, installed):
    (copy / "krm-fn.d" / "left").touch()
    (copy / "krm-fn").write_text("old")
    (copy / "mine").touch()
    assert install(copy, installed / "krm-fn", env={}).returncode == 0
    (copy / "mine").unlink()
    assert same(copy, installed)


REFUSED = [
    ("a file in the place of the folder", lambda place: place.write_text(""), 2, "is a file"),
    (
        "a folder of somebody's in the place of ours",
        lambda place: (place / "krm-fn.d" / "mine").mkdir(parents=True),
        1,
        "was not made by krm-fn",
    ),
    ("a folder in the place of the program", lambda place: (place / "krm-fn").mkdir(parents=True), 1, "directory"),
    ("a place below a file", lambda place: place.parent.rmdir() or place.parent.write_text(""), 1, "Not a directory"),
]


@cases(("prepare", "code", "words"), REFUSED)
def test_what_cannot_be_written_is_said(prepare, code, words, installed, tmp_path):
    place = tmp_path / "some" / "where"
    place.parent.mkdir()
    prepare(place)
    before = sorted(tmp_path.rglob("*/mine"))
    done = install(place, installed / "krm-fn", env={})
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*/mine")) == before


@pytest.mark.parametrize("name", ["krm-fn.d.partial", ".krm-fn.d.partial", "krm-fn"])
def test_no_link_in_the_folder_is_followed(name, installed, tmp_path):
    """An earlier version filled the folder that a planted link names."""
    victim = tmp_path / "victim"
    place = tmp_path / "tools"
    place.mkdir()
    victim.mkdir() if "partial" in name else victim.write_text("mine")
    (place / name).symlink_to(victim)
    done = install(place, installed / "krm-fn", env={})
    assert (done.returncode, done.stderr) == (0, f"krm-fn in {place}\n")
    assert same(place, installed) or "partial" in name
    assert (list(victim.iterdir()) if victim.is_dir() else victim.read_text()) == ([] if "partial" in name else "mine")
    assert not (place / "krm-fn").is_symlink()


def test_a_link_in_place_of_our_folder_is_refused(installed, tmp_path):
    """Even if it leads to a copy of ours."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "krm-fn.d").symlink_to(installed / "krm-fn.d")
    done = install(tmp_path / "tools", installed / "krm-fn", env={})
    assert (done.returncode, "was not made by krm-fn" in done.stderr) == (1, True)


def test_a_disk_that_is_full_leaves_the_earlier_copy_and_nothing_else(copy, installed):
    """With a real limit on the size of files, which the interpreter meets."""
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f 1000; {installed}/krm-fn install {copy}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in copy.iterdir()) == ["krm-fn", "krm-fn.d"]
    assert same(copy, installed)


def test_an_empty_name_is_not_the_current_folder(installed, tmp_path):
    done = install("", installed / "krm-fn", env={}, cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
