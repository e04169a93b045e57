"""CHANGELOG.md follows Keep a Changelog, and `make bump` writes a version into a clone."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess

import pytest
import yaml
from release import bump, changelog, description, names

import krm_fn
from tests.releases import earlier_release
from tests.testbed import programs

TEXT = changelog.FILE.read_text()
SECTIONS = changelog.sections(TEXT)
NEXT = "7.8.9"


def test_each_section_has_a_version_a_date_and_a_link():
    """Versions fall, dates do not rise, and only the newest section has no date. Each link compares with the version before."""
    versions = [[int(number) for number in section.version.split(".")] for section in SECTIONS]
    assert versions == sorted(versions, reverse=True)
    dates = [section.date for section in SECTIONS if section.date]
    assert dates == sorted(dates, reverse=True)
    assert len(dates) >= len(SECTIONS) - 1
    assert len(re.findall(r"^## ", TEXT, re.MULTILINE)) == len(SECTIONS)
    repository = f"https://{names.read().repository}"
    expected = [f"{repository}/compare/v{old.version}...v{new.version}" for new, old in itertools.pairwise(SECTIONS)]
    assert [*changelog.links(TEXT).values()] == [*expected, f"{repository}/commits/v{SECTIONS[-1].version}"]
    assert [*changelog.links(TEXT)] == [section.version for section in SECTIONS]


def test_the_version_of_the_package_is_in_the_changelog():
    """The newest dated section, or the newest section, is that of the package."""
    assert krm_fn.__version__ in [section.version for section in SECTIONS[:2]]
    assert [section.date for section in SECTIONS if section.version == krm_fn.__version__] != [""]


def test_the_first_groups_of_a_section_are_those_that_break():
    """Breaking changes come first, and other groups have a name of Keep a Changelog."""
    groups = re.findall(r"^### (\w+)", SECTIONS[0].notes, re.MULTILINE)
    order = ["Breaking", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    assert groups == sorted(groups, key=order.index)


def test_the_versions_with_a_tag_are_in_the_changelog():
    releases = yaml.safe_load((programs.ROOT / bump.RELEASES).read_text())
    dates = {section.version: section.date for section in SECTIONS}
    assert [str(release["date"]) for release in releases] == [dates[release["version"]] for release in releases]
    for release in releases:
        command = ["git", "rev-parse", "--verify", "--quiet", f"refs/tags/v{release['version']}^{{commit}}"]
        tag = subprocess.run(command, cwd=programs.ROOT, check=False, capture_output=True, text=True).stdout.strip()
        assert tag in ("", release["commit"])
        package = f"{earlier_release.commit(release['version'])}:krm_fn/__init__.py"
        shown = subprocess.run(["git", "show", package], cwd=programs.ROOT, check=True, capture_output=True, text=True)
        assert f'__version__ = "{release["version"]}"' in shown.stdout


def test_the_notes_of_a_version_are_printed():
    for section in SECTIONS:
        command = ["make", "--silent", "release-notes", f"VERSION={section.version}"]
        printed = subprocess.run(command, cwd=programs.ROOT, check=True, capture_output=True, text=True).stdout
        assert printed == f"{section.notes}\n"
        assert "\n## " not in printed
    command = ["make", "--silent", "release-notes", "VERSION=99.0.0"]
    assert subprocess.run(command, cwd=programs.ROOT, check=False, capture_output=True).returncode != 0


@pytest.fixture
def clone(tmp_path):
    """A git repository with the files that name the version, and an unreleased section of the next one."""
    root = tmp_path / "clone"
    for path, text in [*names.files(), (str(names.FILE), (programs.ROOT / names.FILE).read_text())]:
        if (
            path in (str(description.PACKAGE), str(bump.RELEASES), str(names.FILE))
            or f":{krm_fn.__version__}" in text
            or f"v{krm_fn.__version__}" in text
        ):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(programs.ROOT / path, root / path)
    link = f"[{NEXT}]: https://{names.read().repository}/compare/v{krm_fn.__version__}...v{NEXT}"
    (root / "CHANGELOG.md").write_text(
        f"# Changes\n\n## [{NEXT}] - unreleased\n\n* New.\n\n## [{krm_fn.__version__}] - 2026-11-21\n\n* Old.\n\n{link}\n"
    )
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        [*identity, "commit", "--quiet", "--message", "first"],
        ["tag", f"v{krm_fn.__version__}"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def test_a_version_is_written(clone):
    """No file but those about the past names an image, the Action or the hook in the version of before."""
    changed = bump.bump(clone, NEXT, "2026-12-01")
    assert {"krm_fn/__init__.py", "CHANGELOG.md", "platform/syncer/core/deployment.yaml", ".pre-commit-hooks.yaml", "docs/ci.md"} <= {
        *changed
    }
    assert not any(path.startswith("docs/upgrade-") for path in changed)
    assert description.current_version(clone) == NEXT
    assert changelog.sections((clone / "CHANGELOG.md").read_text())[0][:2] == (NEXT, "2026-12-01")
    old, project = re.escape(krm_fn.__version__), names.read()
    stale = re.compile(rf"(?:{re.escape(project.image)}:|{re.escape(project.action)}@v|rev: v){old}\b")
    assert [path for path, text in names.files(clone) if path != "CHANGELOG.md" and stale.search(text)] == []
    assert krm_fn.__version__ in [release["version"] for release in yaml.safe_load((clone / bump.RELEASES).read_text())]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (krm_fn.__version__, "write three numbers above"),
        ("0.0.1", "write three numbers above"),
        ("v1.0.0", "write three numbers above"),
        ("8.0.0", "no heading"),
        ("7.8", "write three numbers above"),
    ],
)
def test_another_version_changes_no_file(clone, version, message):
    before = dict(names.files(clone))
    with pytest.raises(bump.BumpError, match=message):
        bump.bump(clone, version, "2026-12-01")
    assert dict(names.files(clone)) == before


def test_a_version_without_a_link_changes_no_file(clone):
    text = (clone / "CHANGELOG.md").read_text()
    (clone / "CHANGELOG.md").write_text(re.sub(r"^\[7.*\n", "", text, flags=re.MULTILINE))
    with pytest.raises(bump.BumpError, match="no link"):
        bump.bump(clone, NEXT, "2026-12-01")


def test_a_version_after_one_without_a_tag_changes_no_file(clone):
    """A row of `releases.yaml` needs the commit of the tag."""
    (clone / bump.RELEASES).write_text("[]\n")
    subprocess.run(["git", "tag", "--delete", f"v{krm_fn.__version__}"], cwd=clone, check=True, capture_output=True)
    with pytest.raises(bump.BumpError, match="has no tag"):
        bump.bump(clone, NEXT, "2026-12-01")
