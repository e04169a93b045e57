"""The pages of the site: links and titles as the site needs them, mistakes with file and line, and the navigation."""

from __future__ import annotations

import pytest
from website import built_pages, editions, page_list, site_navigation, site_pages

FILES = {
    "README.md": "# Start\n\nFirst line.\nSecond line.\n\nMore.\n",
    "docs/review.md": "# Review\n\n## Two states\n",
    "docs/errors/README.md": "# Codes\n",
    "docs/errors/DYN001.md": "# DYN001 no-input: No input\n",
    "docs/graph.svg": "<svg/>",
    "examples/a/README.md": "# A\n",
    "examples/a/graph.yaml": "kind: A\n",
    "LICENSE": "",
}
LINKS = (
    ("docs/review.md", "[start](../README.md)", "[start](index.md)"),
    ("docs/review.md", "[start](../README.md#first)", "[start](index.md#first)"),
    ("README.md", "[`review`](docs/review.md#two-states)", "[`review`](review.md#two-states)"),
    ("README.md", "[code](docs/errors/DYN001.md), [codes](docs/errors)", "[code](errors/DYN001.md), [codes](errors/index.md)"),
    ("docs/review.md", "[example](../examples/a)", "[example](examples/a/index.md)"),
    ("docs/review.md", "[file](../examples/a/graph.yaml)", "[file](https://example.com/r/blob/v1.0.0/examples/a/graph.yaml)"),
    ("docs/review.md", "[folder](../examples)", "[folder](https://example.com/r/tree/v1.0.0/examples)"),
    ("docs/errors/DYN001.md", "![graph](../graph.svg)", "![graph](../graph.svg)"),
    ("docs/review.md", '<img src="graph.svg" alt="graph">', '<img src="graph.svg" alt="graph">'),
    ("docs/review.md", "[this](#two-states), [host](https://example.com/a)", "[this](#two-states), [host](https://example.com/a)"),
    ("docs/review.md", "`[text](nowhere.md)`", "`[text](nowhere.md)`"),
    ("docs/review.md", "```yaml graph.yaml\n[a](b.md)\n```", '```yaml title="graph.yaml"\n[a](b.md)\n```'),
    ("docs/review.md", "```yaml\n# DYN999\n```", "```yaml\n# DYN999\n```"),
)
MISTAKES = (
    ("[page](nowhere.md)", "docs/review.md:2: the link nowhere.md leads to no file of the repository"),
    ("![picture](missing.svg)", "docs/review.md:2: the link missing.svg leads to no file of the repository"),
    ("[outside](../../secret.md)", "docs/review.md:2: the link ../../secret.md leads to no file of the repository"),
    ("DYN999 is unknown", "docs/review.md:2: DYN999 is not a code of a finding"),
)
NAVIGATION = "navigation:\n- Start: README.md\n- Use:\n  - Review: docs/review.md\n  - examples/*/README.md\nunlisted: [docs/errors/*.md]\n"


TABS = """\
Before.

<!-- tabs -->

**kustomize**

See [start](../README.md).

```yaml a.yaml
**b**: 1

# c
```

**Argo CD**

Text with **bold** words.

<!-- /tabs -->

**After**
"""
STAGED_TABS = """\
Before.


=== "kustomize"

    See [start](index.md).

    ```yaml title="a.yaml"
    **b**: 1

    # c
    ```

=== "Argo CD"

    Text with **bold** words.


**After**
"""
MISTAKES_IN_TABS = (
    ("<!-- tabs -->\n\ntext\n<!-- /tabs -->", ["docs/review.md:3: text before the first tab: begin with its label, a bold line"]),
    ("<!-- tabs -->\n**a**\n## b\n<!-- /tabs -->", ["docs/review.md:3: a heading in a tab: end the tabs before it"]),
    ("<!-- tabs -->\n**a**\n", ["docs/review.md:1: <!-- tabs --> has no <!-- /tabs -->"]),
)


@pytest.fixture
def tree(tmp_path) -> site_pages.Tree:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return site_pages.Tree(tmp_path, "https://example.com/r", "v1.0.0", "README.md")


@pytest.mark.parametrize(("path", "text", "expected"), LINKS)
def test_links_work_on_the_site(tree, path, text, expected):
    """Links to pages and pictures are paths of the site, links to other files lead to the repository, and code stays as it is."""
    (tree.root / path).write_text(text)
    assert site_pages.staged(tree, path, set()) == (expected + "\n", [])


def test_parts_between_two_comments_are_tabs(tree):
    """Their labels are bold lines, so that the page reads well in the repository, too."""
    (tree.root / "docs/review.md").write_text(TABS)
    assert site_pages.staged(tree, "docs/review.md", set()) == (STAGED_TABS, [])


@pytest.mark.parametrize(("text", "messages"), MISTAKES_IN_TABS)
def test_mistakes_in_tabs(tree, text, messages):
    (tree.root / "docs/review.md").write_text(text)
    assert [*map(str, site_pages.staged(tree, "docs/review.md", set())[1])] == messages


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistake_has_file_and_line(tree, text, message):
    """A link to nothing, a missing picture and an unknown code are mistakes with their file and line."""
    (tree.root / "docs/review.md").write_text(f"# Review\n{text}\n")
    assert [str(problem) for problem in site_pages.staged(tree, "docs/review.md", set())[1]] == [message]


@pytest.mark.parametrize(
    ("path", "text", "link"),
    [
        ("docs/review.md", "# Review\n", "[Edit this page](https://git.example/o/n/edit/main/docs/review.md)"),
        (
            "docs/reference/a.md",
            "<!-- Made from krm_fn/api by `make generate`. -->\n",
            "[Made from krm_fn/api](https://git.example/o/n/tree/main/krm_fn/api)",
        ),
        (
            "docs/errors/DYN001.md",
            "# DYN001\n",
            "[Made from krm_fn/schemas/finding_pages/texts](https://git.example/o/n/tree/main/krm_fn/schemas/finding_pages/texts)",
        ),
    ],
)
def test_a_page_leads_to_its_source(tree, path, text, link):
    """An edit of a page that a program makes would be lost, so the page leads to what it is made from."""
    named = tree._replace(repository="https://git.example/o/n", revision="main")
    assert site_pages.edit_line(named, path, text) == f"\n{link}{{ .edit-page }}\n"


def test_pictures_are_collected(tree):
    """The build copies exactly the pictures that pages show."""
    (tree.root / "docs/review.md").write_text("![graph](graph.svg)\n")
    pictures: set[str] = set()
    site_pages.staged(tree, "docs/review.md", pictures)
    assert pictures == {"docs/graph.svg"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("docs/review.md", "docs/other.md", "docs/other.md does not exist"),
        ("  - Review: docs/review.md\n", "", "docs/review.md is missing: list it, or add it to `unlisted`"),
        ("Start: README.md", "Start: docs/review.md", "docs/review.md is listed twice"),
    ],
)
def test_navigation_lists_every_page_once(tree, old, new, message):
    """The navigation names each page of the repository once; a pattern lists the rest of a folder."""
    file = tree.root / "navigation.yaml"
    file.write_text(NAVIGATION)
    navigation = site_navigation.read(tree.paths(), file)
    assert navigation.listed() == ["README.md", "docs/review.md", "examples/a/README.md"]
    file.write_text(NAVIGATION.replace(old, new))
    with pytest.raises(site_navigation.NavigationError, match=message):
        site_navigation.read(tree.paths(), file)


def test_navigation_of_a_release_leaves_out_new_pages(tree):
    """The pages of a released tag cannot change, so pages that it lacks are left out of the navigation."""
    file = tree.root / "navigation.yaml"
    file.write_text(NAVIGATION.replace("docs/review.md", "docs/new.md"))
    assert site_navigation.read(tree.paths(), file, strict=False).listed() == ["README.md", "examples/a/README.md"]


def test_list_for_programs_has_all_pages(tree, tmp_path):
    """`llms.txt` begins with the first paragraph of the start page, and names the Markdown of each page, which lies beside the HTML."""
    file = tree.root / "navigation.yaml"
    file.write_text(NAVIGATION)
    built, staged = tmp_path / "built", tmp_path / "staged"
    for path in tree.paths():
        for folder in (built, staged):
            (folder / tree.target(path)).parent.mkdir(parents=True, exist_ok=True)
        (staged / tree.target(path)).write_text((tree.root / path).read_text())
    page_list.write(tree, site_navigation.read(tree.paths(), file), staged, built)
    assert (built / "llms.txt").read_text().splitlines()[:5] == ["# Start", "", "> First line. Second line.", "", "## Start"]
    assert "- [DYN001 no-input: No input](errors/DYN001.md)" in (built / "llms.txt").read_text()
    assert (built / "errors/DYN001.md").read_text() == FILES["docs/errors/DYN001.md"]


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ('<a href="nowhere.html">', "a.html: nowhere.html leads to no file"),
        ('<a href="#nothing">', "a.html: #nothing leads to no anchor"),
        ('<a href="b.html#nothing">', "a.html: b.html#nothing leads to no anchor"),
        ('<img src="nothing.png">', "a.html: nothing.png leads to no file"),
        ('<script src="https://example.com/a.js"></script>', "a.html: https://example.com/a.js is loaded from another host"),
        ('<link rel="stylesheet" href="//example.com/a.css">', "a.html: //example.com/a.css is loaded from another host"),
        ('<a href="b.html#here">', None),
        ('<a href="https://example.com">', None),
    ],
)
def test_built_pages_are_checked(tmp_path, html, message):
    """A link, anchor or picture of the built site that leads nowhere is a problem, and so is a file of another host."""
    (tmp_path / "a.html").write_text(html)
    (tmp_path / "b.html").write_text('<h2 id="here">')
    assert built_pages.problems(tmp_path) == ([message] if message else [])


def test_editions_are_the_newest_patches(tmp_path):
    """Each minor release has an edition, that of its newest patch; the start of the site leads to the newest release."""
    known = [editions.MAIN, *editions.of_tags(["v0.1.0", "v0.10.0", "v0.2.0", "v0.2.10", "v0.2.9", "v1.0.0-rc1", "other"])]
    assert known == [
        editions.MAIN,
        editions.Edition("0.10", "v0.10.0"),
        editions.Edition("0.2", "v0.2.10"),
        editions.Edition("0.1", "v0.1.0"),
    ]
    editions.write_switch(tmp_path, known)
    assert "url=0.10/index.html" in (tmp_path / "index.html").read_text()
    editions.write_switch(tmp_path, known[:1])
    assert "url=main/index.html" in (tmp_path / "index.html").read_text()
