"""Builds the site: `make site`. Each release has an edition, a folder of the site; the working tree has the edition `main`.

The pages are the Markdown files of the repository as they are. This program writes them into a folder for the generator (Zensical), with
links as the site needs them, and checks the result. A mistake in a page of the working tree fails the build. Pages of a released tag cannot
change, so their mistakes are only printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from website import built_pages, editions, npm_files, page_list, site_navigation, site_pages, theme_repairs

from krm_fn import REPOSITORY

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class SiteError(Exception):
    """The site cannot be built. The message has a line for each mistake."""


class Extra(NamedTuple):
    """A folder that another target builds, and its name in each edition, such as the playground."""

    name: str
    folder: Path


def main() -> int:
    """Exit code 0, or 1 after printing the mistakes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="the folder of the site")
    add_extra(parser)
    parser.add_argument("--only-main", action="store_true", help="leave out the editions of releases")
    options = parser.parse_args()
    try:
        build(ROOT, options.output, extras(options.extra), releases=not options.only_main)
    except (SiteError, site_navigation.NavigationError, npm_files.NpmError, theme_repairs.RepairError) as error:
        print(str(error).rstrip(), file=sys.stderr)
        return 1
    return 0


def add_extra(parser: argparse.ArgumentParser) -> None:
    """Adds the option `--extra`."""
    help_text = "copy a folder into the edition of the working tree"
    parser.add_argument("--extra", action="append", default=[], metavar="NAME=FOLDER", help=help_text)


def extras(arguments: list[str]) -> list[Extra]:
    """Returns the folders of arguments such as `playground=build/playground`. Raises SiteError if one does not exist."""
    folders = [Extra(name, Path(folder)) for name, _, folder in (argument.partition("=") for argument in arguments)]
    for extra in folders:
        if not (extra.folder / "index.html").exists():
            raise SiteError(f"{extra.folder} has no index.html: build it first")
    return folders


def build(root: Path, output: Path, added: list[Extra], *, releases: bool) -> None:
    """Writes the whole site into the folder `output`, which is replaced. Raises SiteError, NavigationError, NpmError and RepairError."""
    known = [editions.MAIN, *(editions.releases(root) if releases else ())]
    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    for edition in known:
        with editions.checkout(root, edition) as tree_root:
            _edition(tree_root, partial / edition.name, edition, added if edition is editions.MAIN else [])
    editions.write_switch(partial, known)
    shutil.rmtree(output, ignore_errors=True)
    partial.rename(output)
    print(f"{output}: {len(known)} editions")


def _edition(root: Path, output: Path, edition: editions.Edition, added: list[Extra]) -> None:
    """Writes one edition, and checks it."""
    strict = edition is editions.MAIN
    tree = site_pages.Tree(root, f"https://{REPOSITORY}", edition.revision, "README.md")
    file = root / "tools" / "website" / "navigation.yaml"
    navigation = site_navigation.read(tree.paths(), file if file.exists() else site_navigation.FILE, strict=strict)
    tree = tree._replace(start=navigation.start)
    work = output.with_name(output.name + ".work")
    shutil.rmtree(work, ignore_errors=True)
    facts: dict[str, object] = {"edition": edition.name, "folders": [extra.name for extra in added]}
    problems = _stage(tree, navigation, work, facts, has_edit_links=edition is editions.MAIN)
    if problems and strict:
        raise SiteError("\n".join(map(str, problems)))
    _generate(work, strict=strict)
    built = work / "site"
    for extra in added:
        shutil.copytree(extra.folder, built / extra.name)
    page_list.write(tree, navigation, work / "docs", built)
    broken = built_pages.problems(built)
    for problem in [*problems, *broken]:
        print(f"edition {edition.name}: {problem}", file=sys.stderr)
    if broken and strict:
        raise SiteError(f"{len(broken)} links of the built site lead nowhere")
    built.rename(output)
    shutil.rmtree(work)


def _stage(
    tree: site_pages.Tree, navigation: site_navigation.Navigation, work: Path, facts: dict[str, object], *, has_edit_links: bool
) -> list[site_pages.Problem]:
    """Writes the input of the generator into the folder `work`. `facts` are for the theme. Returns the mistakes in pages."""
    problems: list[site_pages.Problem] = []
    pictures: set[str] = set()
    for path in tree.paths():
        text, mistakes = site_pages.staged(tree, path, pictures)
        problems += mistakes
        target = work / "docs" / tree.target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + (site_pages.edit_line(tree, path, text) if has_edit_links else ""), "utf-8")
    for picture in pictures:
        target = work / "docs" / tree.target(picture)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree.root / picture, target)
    npm_files.bring(work / "docs")
    shutil.copytree(HERE / "assets", work / "docs" / "assets", dirs_exist_ok=True)
    shutil.copytree(HERE / "theme", work / "theme")
    theme_repairs.write(work / "theme")
    settings = tomllib.loads((HERE / "zensical.toml").read_text("utf-8"))["project"]
    settings |= {"nav": [_nav(tree, entry) for entry in navigation.entries], "repo_url": tree.repository}
    settings["extra"] |= facts
    (work / "mkdocs.yml").write_text(json.dumps(settings), "utf-8")  # JSON is YAML
    return problems


def _nav(tree: site_pages.Tree, entry: site_navigation.Entry) -> object:
    """Returns an entry of the navigation as the generator reads it."""
    value = tree.target(entry.path) if entry.path else [_nav(tree, child) for child in entry.entries]
    return {entry.title: value} if entry.title else value


def _generate(work: Path, *, strict: bool) -> None:
    """Runs the generator. Raises SiteError if it finds a mistake."""
    command = [sys.executable, "-m", "zensical", "build", "--config-file", "mkdocs.yml", *(["--strict"] if strict else [])]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode or not (work / "site" / "index.html").exists():
        raise SiteError(done.stdout + done.stderr)
    (worker,) = (work / "site" / "assets" / "javascripts" / "workers").glob("search.*.js")
    worker.write_text(worker.read_text("utf-8") + "\n" + (HERE / "search_questions.js").read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
