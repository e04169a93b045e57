"""The workflows of GitHub. No GitHub runs them here, so linters read them, and their commands are make targets or scripts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from release import bytecode, names

import krm_fn
from tests.testbed import programs

ROOT = programs.ROOT
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted([*(ROOT / "tools").glob("*.sh"), *(ROOT / "tools" / "release").glob("*.sh")])
BIN = Path(sys.executable).parent
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
LATER = {"release", "release-check", "tools-release"}  # targets that build releases
_USES = re.compile(r"^\s*(?:- )?uses: (\S+)( # \S+)?$", re.MULTILINE)
_RUNS = re.compile(r"^\s*(?:- )?run: ([^{].*)$", re.MULTILINE)
_PIN = re.compile(r"[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40}")


def _lint(*words: str | Path, path: str = os.environ["PATH"]) -> str:
    ended = subprocess.run(words, cwd=ROOT, env=os.environ | {"PATH": path}, check=False, capture_output=True, text=True)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr


def _actionlint(*files: Path) -> str:
    return _lint(programs.path("actionlint"), "-no-color", *files, path=programs.search_path(BIN))


def _zizmor(*files: Path) -> str:
    return _lint(
        BIN / "zizmor", "--offline", "--no-progress", "--quiet", "--color=never", "--persona=pedantic", "--min-severity=low", *files
    )


def test_actionlint_finds_nothing():
    assert len(WORKFLOWS) > 3
    assert _actionlint(*WORKFLOWS) == ""


def test_zizmor_finds_nothing():
    assert _zizmor(ROOT / ".github", ROOT / "action.yml") == ""


def test_shellcheck_finds_nothing():
    assert _lint(BIN / "shellcheck", *SCRIPTS) == ""


MISTAKES = [
    (_actionlint, "runs-on: ubuntu-24.04", "runs-on: ubuntu-99", 'label "ubuntu-99" is unknown'),
    (_actionlint, "needs: tools", "needs: moon", 'needs job "moon"'),
    (_actionlint, "run: make test-all\n", "run: for x in $(ls); do echo $x; done\n", "shellcheck reported issue"),
    (_zizmor, "permissions: {}\n", "permissions: write-all\n", "excessive-permissions"),
    (_zizmor, "        with: {persist-credentials: false}\n", "", "artipacked"),
    (_zizmor, 'run: make "$TARGET"', "run: make ${{ github.head_ref }}", "template-injection"),
]


@pytest.mark.parametrize(("lint", "old", "new", "finding"), MISTAKES, ids=[row[3][:20] for row in MISTAKES])
def test_the_linters_find_mistakes(tmp_path, lint, old, new, finding):
    """Otherwise the tests above prove nothing."""
    file = tmp_path / ".github" / "workflows" / "tests.yml"
    file.parent.mkdir(parents=True)
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert finding in lint(file)


def unpinned(text: str) -> list[str]:
    """The actions of a workflow that no commit pins, or whose comment names no version."""
    return [uses for uses, comment in _USES.findall(text) if not _PIN.fullmatch(uses) or not re.fullmatch(r" # v\d+\.\d+\.\d+", comment)]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_commit_pins_each_action(file):
    """A tag can move to other code. A comment has the version, which Dependabot updates together with the commit."""
    text = file.read_text()
    assert len(_USES.findall(text)) == text.count("uses: ")
    assert unpinned(text) == []


OTHER_PINS = ["actions/checkout@v4", "actions/checkout@main # v4.0.0", f"actions/checkout@{'a' * 40}", f"a/b@{'a' * 39} # v1.0.0"]


@pytest.mark.parametrize("uses", OTHER_PINS)
def test_other_pins_are_found(uses):
    assert unpinned(f"      - uses: {uses}\n") == [uses.partition(" ")[0]]


def test_one_action_has_one_commit():
    pins = {pin for file in WORKFLOWS for pin in _USES.findall(file.read_text())}
    actions = [uses.partition("@")[0] for uses, _ in pins]
    assert sorted(actions) == sorted({*actions})


def test_each_command_is_a_target_or_a_script():
    """So it can run here: long shell code in a workflow runs on GitHub only."""
    others = "docker login |docker push |cosign sign |gh release create |mkdir dist && mv release/"
    allowed = re.compile(rf"make |(?:sudo )?tools/[\w/]+\.sh |{others}")
    commands = [command for file in WORKFLOWS for command in _RUNS.findall(file.read_text())]
    assert len(commands) > 10
    assert [command for command in commands if not allowed.match(command)] == []
    scripts = {script for command in commands for script in re.findall(r"tools/[\w/]+\.sh", command)}
    assert scripts == {str(script.relative_to(ROOT)) for script in SCRIPTS}
    assert [script for script in SCRIPTS if not os.access(script, os.X_OK)] == []
    targets = {word for command in commands if command.startswith("make ") for word in re.findall(r"(?<= )[a-z][a-z-]*(?= |$)", command)}
    listed = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["targets"]["strategy"]["matrix"]["target"]
    assert {"lint", "test-all", "upstream"} <= targets
    assert {*targets, *listed} <= TARGETS | LATER


def test_only_publishing_jobs_may_write():
    """A job that may write to a registry or the repository asks the environment `release` first."""
    writes = {}
    for file in WORKFLOWS:
        workflow = yaml.safe_load(file.read_text())
        assert workflow["permissions"] == {}, file.name
        for name, job in workflow["jobs"].items():
            writes[file.stem, name] = sorted(key for key, value in job["permissions"].items() if value == "write")
            if {"packages", "contents"} & {*writes[file.stem, name]} or name == "pypi":
                assert job["environment"] == "release", name
    assert {job: keys for job, keys in writes.items() if keys} == {
        ("release", "attest"): ["attestations", "id-token"],
        ("release", "pypi"): ["id-token"],
        ("release", "images"): ["packages"],
        ("release", "registry"): ["attestations", "id-token", "packages"],
        ("release", "page"): ["contents"],
        ("security", "codeql"): ["security-events"],
        ("security", "scorecard"): ["id-token", "security-events"],
    }


def test_the_versions_of_python_are_those_of_the_package():
    """The lowest version is that of setup.cfg, and the page of the supported versions names the range."""
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["check"]["strategy"]["matrix"]["python"]
    assert f"python_requires = >={matrix[0]}\n" in (ROOT / "setup.cfg").read_text()
    assert list(bytecode.VERSIONS) == matrix
    assert f"{matrix[0]} to {matrix[-1]}" in (ROOT / "SUPPORT.md").read_text()
    assert [version.split(".")[1] for version in matrix] == [str(int(matrix[0].split(".")[1]) + step) for step in range(len(matrix))]


def _tagged(root: Path, tag: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([root / "tools" / "release" / "tagged_names.sh", tag], check=False, capture_output=True, text=True)


@pytest.fixture
def clone(tmp_path):
    """The files that the script reads, with a dated section of this version in the changelog."""
    for path in ("tools/release/tagged_names.sh", "tools/release/names.yaml", "krm_fn/__init__.py", "Makefile"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    (tmp_path / "tools" / "release" / "tagged_names.sh").chmod(0o755)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## [{krm_fn.__version__}] - 2026-12-01\n")
    return tmp_path


def test_a_tag_gives_the_names(clone):
    ended = _tagged(clone, f"v{krm_fn.__version__}")
    project = names.read()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        *(f"version={krm_fn.__version__}", f"image={project.image}", f"manifests={project.manifests}", f"chart={project.chart}")
    ]


def test_another_tag_stops_the_release(clone):
    ended = _tagged(clone, "v99.0.0")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "the tag is v99.0.0" in ended.stderr


def test_a_version_without_a_date_stops_the_release(clone):
    (clone / "CHANGELOG.md").write_text(f"# Changes\n\n## [{krm_fn.__version__}] - unreleased\n")
    ended = _tagged(clone, f"v{krm_fn.__version__}")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no section" in ended.stderr
