"""docs/arguments.md shows what the commands print, and names each finding and each program."""

from __future__ import annotations

import re
from pathlib import Path

from krm_fn.review.arguments import flag_tables
from krm_fn.schemas import finding_pages
from tests.cli import console
from tests.support import markdown

PAGE = Path("docs/arguments.md")
TEXT = PAGE.read_text()


def test_the_page_shows_the_findings_of_its_graph(tmp_path, monkeypatch):
    (block,) = re.findall(r"```yaml graph\.yaml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "graph.yaml").write_text(block)
    monkeypatch.chdir(tmp_path)
    (command,) = markdown.fenced(TEXT, "console")
    typed, _, output = command[1].partition("\n")
    assert typed == "$ krm-fn check graph.yaml"
    done = console.run("check", "graph.yaml")
    assert f"{done.out}{done.err}$ echo $?\n{done.code}\n" == output


def test_the_page_lists_all_findings_and_all_programs():
    elsewhere = {"DYN179", "DYN691", "DYN698", "DYN699", "DYN702", "DYN703"}
    ranges = [
        ("DYN600", "DYN640"),
        ("DYN643", "DYN650"),
        ("DYN714", "DYN720"),
        ("DYN724", "DYN728"),
        ("DYN729", "DYN730"),
        ("DYN733", "DYN735"),
    ]
    listed = {code for code in finding_pages.CONSTANTS if any(first <= code < behind for first, behind in ranges)}
    assert listed | elsewhere == set(re.findall(r"\[(DYN[0-9]{3})\]", TEXT))
    assert all(table.stem in TEXT for table in (Path(flag_tables.__file__).parent / "tables").glob("*.json"))


def test_check_notes_what_it_does_not_judge(tmp_path):
    """Only with --verbose."""
    (block,) = re.findall(r"```yaml graph\.yaml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "graph.yaml").write_text(
        block.replace("--tensor-parallel-size 8", "$FLAGS").replace("--max-model-length", "--max-model-len")
    )
    assert "DYN620" not in console.run("check", tmp_path / "graph.yaml").out
    assert "DYN620" in console.run("check", "--verbose", tmp_path / "graph.yaml").out


def test_diff_has_the_findings_about_command_lines(tmp_path):
    """A new mistake is an error of `diff`, an old one a warning about the old state."""
    (block,) = re.findall(r"```yaml graph\.yaml\n(.*?)```", TEXT, re.DOTALL)
    right = block.replace("--max-model-length", "--max-model-len").replace("size 8", "size 4")
    (tmp_path / "old.yaml").write_text(right)
    (tmp_path / "new.yaml").write_text(block)
    done = console.run("diff", "--old", tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert done.code == 1
    assert "new.yaml:18:15" in done.out + done.err
    assert "DYN600" in done.out + done.err
    back = console.run("diff", "--old", tmp_path / "new.yaml", tmp_path / "old.yaml")
    assert back.code == 0
    assert "DYN511" in back.out + back.err
