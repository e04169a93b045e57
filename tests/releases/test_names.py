"""`tools/release/names.yaml` has the names of the project, every file spells them so, and `make names` writes others into a clone."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys

import pytest
from release import names
from release.names import ProjectNames

import krm_fn
from tests.support.cases import cases
from tests.testbed import programs

NAMES = names.read()
OTHER = "acme"
FORK = ProjectNames(
    repository="github.com/acme/render",
    package="acme-render",
    image="registry.example.com/acme/function",
    manifests="registry.example.com/acme/platform",
    chart="registry.example.com/acme/charts/render",
    plugin="acme-plugin",
    tap="github.com/acme/homebrew-own",
    site="pages.example.com",
    security="github.com/acme/render/security/advisories/new",
)


def test_the_package_and_its_metadata_have_these_names():
    """The package cannot read a file outside itself, so its own copy must be equal."""
    setup = configparser.ConfigParser()
    setup.read(programs.ROOT / "setup.cfg")
    assert (NAMES.repository, NAMES.image, NAMES.package) == (krm_fn.REPOSITORY, krm_fn.IMAGE, krm_fn.PACKAGE)
    assert setup["metadata"]["name"] == NAMES.package


def test_every_file_spells_the_names_so():
    """The message says which file and line differs. `make names` writes the names of the file."""
    assert [f"{one.file}:{one.line}: {one.text}" for one in names.misspellings(names.files(), NAMES)] == []


SPELLINGS = [
    ("the image", f"image: {NAMES.image}:0.1.0-sync", 0),
    ("an image of another owner", f"image: ghcr.io/{OTHER}/{NAMES.image.rpartition('/')[2]}:0.1.0", 1),
    ("another image of the owner", f"{NAMES.image}-sync:0.1.0", 1),
    ("the action", f"uses: {NAMES.action}@v0.1.0", 0),
    ("an action of another owner", f"uses: {OTHER}/krm-fn@v0.1.0", 1),
    ("an action of others", "uses: actions/checkout@v4", 0),
    ("a page of the repository", f"https://{NAMES.repository}/blob/main/README.md.", 0),
    ("a repository of another owner", f"git+https://github.com/{OTHER}/dynamo-krm-fn@v1", 1),
    ("a repository with another name", f"https://github.com/{NAMES.action.partition('/')[0]}/krm-fn", 1),
    ("the package", f"https://pypi.org/project/{NAMES.package}/", 0),
    ("another package", f"https://pypi.org/project/{OTHER}-krm-fn/", 1),
    ("a group of an API", "config.dynamo.krm-fn.io/behaviour", 0),
    ("a repository of others", "github.com/ai-dynamo/dynamo and ghcr.io/nvidia/grove", 0),
]


@cases(("reason", "text", "count"), SPELLINGS)
def test_other_spellings(reason, text, count):
    located = list(names.misspellings([("page.md", f"first line\n{text}\n")], NAMES))
    assert [(one.file, one.line) for one in located] == [("page.md", 2)] * count


def _fetched(text: str) -> list[str]:
    """The commands that fetch something published under our names."""
    package, image, chart = map(re.escape, (NAMES.package, NAMES.image, NAMES.chart))
    installs = rf"(?:pip|pipx|uvx?|brew|krew) [^\n`]*?(?<![\w./-])(?:{package}|{re.escape(NAMES.plugin)})(?![\w./-])"
    return re.findall(rf"{installs}|(?:docker|podman) pull {image}|helm \w+ [^\n`]*oci://{chart}", text)


def _published(text: str) -> list[str]:
    """The commands of a page that does not say that nothing is published."""
    return [] if re.search(r"\b(?:not|nothing is|no \w+ is) published\b", text, re.IGNORECASE) else _fetched(text)


def test_no_page_says_that_something_is_published():
    pages = [programs.ROOT / "README.md", programs.ROOT / "CONTRIBUTING.md", *(programs.ROOT / "docs").glob("*.md")]
    assert {page.name: commands for page in pages if (commands := _published(page.read_text()))} == {}


PUBLISHED = [
    (f"pip install '{NAMES.package}'", 1),
    (f"pipx install {NAMES.package}[sync]", 1),
    (f"uvx {NAMES.package} check", 1),
    (f"kubectl krew install {NAMES.plugin}", 1),
    (f"docker pull {NAMES.image}:1", 1),
    (f"helm install sync oci://{NAMES.chart}", 1),
    (f"Nothing is published yet. Later: pip install {NAMES.package}", 0),
    (f"pip install git+https://{NAMES.repository}@v1", 0),
    ("pip install .", 0),
]


@pytest.mark.parametrize(("text", "count"), PUBLISHED)
def test_commands_that_fetch(text, count):
    assert len(_published(text)) == count


WRONG = [
    ({"image": "https://ghcr.io/a/b"}, "image: write 'https://ghcr.io/a/b' without a scheme"),
    ({"plugin": "a b"}, "plugin: 'a b' contains a blank"),
    ({"chart": "ghcr.io/Acme/b"}, "chart: registries accept no capitals: 'ghcr.io/Acme/b'"),
    ({"repository": "gitlab.com/a/b"}, "repository: 'gitlab.com/a/b' is not github.com/OWNER/NAME"),
    ({"image": FORK.chart}, "two names are equal, so that they could not be told apart later"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[row[1][:20] for row in WRONG])
def test_wrong_names(changes, message):
    assert names.problems(FORK._replace(**changes)) == [message]


def test_the_names_are_right():
    assert names.problems(NAMES) == names.problems(FORK) == []


@pytest.fixture
def fork(tmp_path):
    """A git repository with the files of this clone that contain a name."""
    root = tmp_path / "clone"
    owner = NAMES.action.partition("/")[0]
    for path, text in [*names.files(), (str(names.FILE), (programs.ROOT / names.FILE).read_text())]:
        if path == "tools/release/names.py" or any(word in text for word in (owner, NAMES.package, NAMES.plugin)):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(programs.ROOT / path, root / path)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def _run(root, *options):
    command = [sys.executable, "-m", "release.names", *options]
    return subprocess.run(
        command, cwd=root, env={"PYTHONPATH": str(root / "tools"), "PATH": "/usr/bin:/bin"}, check=False, capture_output=True, text=True
    )


def test_a_fork_changes_one_file(fork):
    """After `make names`, no file has a name of before, each file spells the new ones, and the way back gives the bytes of before."""
    before = dict(names.files(fork))
    text = (fork / names.FILE).read_text()
    (fork / names.FILE).write_text(names.rewritten(text, NAMES, FORK))
    assert names.read((fork / names.FILE).read_text()) == FORK
    stale = {one.file for one in names.misspellings(names.files(fork), FORK)}
    assert {"README.md", "platform/syncer/core/deployment.yaml", "metadata.yaml"} <= stale
    ended = _run(fork)
    assert (ended.returncode, ended.stderr) == (0, "")
    renamed = dict(names.files(fork))
    assert list(names.misspellings(renamed.items(), FORK)) == []
    assert [
        path for path, content in renamed.items() for name in (NAMES.repository, NAMES.image, f"{NAMES.action}@") if name in content
    ] == []
    assert 'PACKAGE = "acme-render"' in renamed["krm_fn/__init__.py"]
    assert "--repo acme/render" in renamed["SECURITY.md"]
    assert names.rename(FORK, NAMES, fork)
    own = {"tools/release/names.py", "tests/releases/test_names.py"}  # they contain names of the fork, too
    assert {path: text for path, text in names.files(fork) if path not in own} == {path: before[path] for path in before.keys() - own}


def test_wrong_names_change_no_file(fork):
    (fork / names.FILE).write_text((fork / names.FILE).read_text().replace(NAMES.image, f"https://{NAMES.image}"))
    before = dict(names.files(fork))
    ended = _run(fork)
    assert ended.returncode == 1
    assert "image: write 'https://" in ended.stderr
    assert dict(names.files(fork)) == before


def test_an_unknown_revision_changes_no_file(fork):
    before = dict(names.files(fork))
    assert _run(fork, "--from", "no-such-revision").returncode == 2
    assert dict(names.files(fork)) == before


def test_make_prints_each_name():
    for key, name in NAMES._asdict().items():
        printed = subprocess.run(["make", "--silent", "name", f"KEY={key}"], cwd=programs.ROOT, check=True, capture_output=True, text=True)
        assert printed.stdout == f"{name}\n"
