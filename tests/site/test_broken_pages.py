"""A mistake in a page fails the build of the site, also one that only the generator sees."""

from __future__ import annotations

import shutil

import pytest
from website import build_site, site_navigation

from tests.testbed import programs

BROKEN = (
    ("[page](nowhere.md)", "docs/a.md:3: the link nowhere.md leads to no file"),
    ("[anchor](b.md#nothing)", "anchor does not exist"),
    ("[anchor](#nothing)", "anchor does not exist"),
    ("DYN999", "docs/a.md:3: DYN999 is not a code"),
    ("![picture](missing.png)", "docs/a.md:3: the link missing.png leads to no file"),
    ('<a href="b.html#nothing">anchor</a>', "b.html#nothing leads to no"),
)


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_mistake_fails_the_build(tmp_path, text, message):
    """A broken link or anchor, an unknown code and a missing picture fail the build, and the last good site stays."""
    programs.path("npm")
    root, output = tmp_path / "clone", tmp_path / "site"
    (root / "docs" / "errors").mkdir(parents=True)
    (root / "tools" / "website").mkdir(parents=True)
    (root / "README.md").write_text("# Start\n\n[a](docs/a.md)\n")
    (root / "docs" / "a.md").write_text("# A\n\n[b](b.md#b)\n")
    (root / "docs" / "b.md").write_text("# B\n")
    (root / "tools" / "website" / site_navigation.FILE.name).write_text(
        "navigation:\n- Start: README.md\n- A: docs/a.md\n- B: docs/b.md\nunlisted: []\n"
    )
    build_site.build(root, output, [], releases=False)
    built = (output / "main" / "a.html").read_text()
    (root / "docs" / "a.md").write_text(f"# A\n\n{text}\n")
    with pytest.raises(build_site.SiteError, match=message):
        build_site.build(root, output, [], releases=False)
    assert (output / "main" / "a.html").read_text() == built
    shutil.rmtree(output)
