"""One report for people has two forms: tables, sections and findings on a terminal, and the same as Markdown within a limit."""

from __future__ import annotations

import json

from krm_fn.base import escaping, report_markdown, report_model, report_text, results
from krm_fn.base.report_model import Block, Line, Report, ReportFindings, ReportLines, ReportSection, ReportTable, Span
from tests.support.cases import cases

TABLE = ReportTable(("Name", Span("prod")), [(Span("a|b", "code"), ("2", ", ", Span("stuck", "bold"))), (Span("c", "code"), "")])
FINDING = results.error("DYN999", "a problem; a fix", file="graph.yaml", line=3)


def report(*, folded: bool = False) -> Report:
    """A report with one block of each kind."""
    blocks: list[Block] = [TABLE, ReportLines(["do <this>"], indent="  "), ReportFindings([(FINDING, 2)])]
    return Report("The title", ["One.", "Two."], [ReportSection("Part", blocks, is_folded=folded)])


def test_on_a_terminal_a_section_begins_with_its_title_and_a_table_has_columns() -> None:
    assert report_text.write(report()) == (
        "One.\nTwo.\n\n== Part\nNAME  prod\na|b   2, stuck\nc     -\n  do <this>\n"
        "graph.yaml:3: error DYN999 a problem; a fix and 2 more resources\n"
    )
    assert report_text.write(report()._replace(is_titled=True)).startswith("The title\nOne.\n")


def test_in_a_comment_names_are_code_and_lists_follow_each_other() -> None:
    assert report_markdown.write(report()) == (
        "### The title\n\nOne.  \nTwo.\n\n#### Part\n\n| Name | prod |\n|---|---|\n| `a\\|b` | 2, **stuck** |\n| `c` |  |\n\n"
        "- do \\<this\\>\n- **error** `graph.yaml:3` `DYN999 a problem; a fix` and 2 more\n"
    )
    assert "\n<details><summary>Part</summary>\n\n| Name" in report_markdown.write(report(folded=True))


@cases(
    ("keeps_head", "expected"),
    [
        ("a table without rows is left out", False, ""),
        ("a list of all objects shows its head", True, "NAME\n"),
    ],
)
def test_a_table_without_rows(keeps_head: bool, expected: str) -> None:
    table = ReportTable(("Name",), [], keeps_head=keeps_head)
    assert report_text.block(table) == expected
    assert report_markdown.block(table) == ""
    assert report_text.block(ReportSection("Part", [ReportTable(("Name",), [])])) == ""


@cases(
    ("line", "markdown", "coloured"),
    [
        ("a text has no effect", "*a* `b` | @c", r"\*a\* \`b\` \| @&#8288;c", "*a* `b` | @c"),
        ("a colour is one of a terminal", Span("a", colour=(31,)), "a", "\x1b[31ma\x1b[0m"),
        ("an escape of a name is no colour", Span("a\x1b[31m", "code"), r"`a\x1b[31m`", r"a\x1b[31m"),
        ("code has a longer fence", Span("a`b", "code"), "``a`b``", "a`b"),
        ("an empty name has no fence", ("a", Span("", "code")), "a", "a"),
    ],
)
def test_a_line_has_the_forms_of_its_spans(line: Line, markdown: str, coloured: str) -> None:
    assert report_markdown.line(line) == markdown
    assert report_text.line(line, colours=True) == coloured


def test_a_cell_is_padded_within_its_colour() -> None:
    table = ReportTable(("Effect", "Why"), [(Span("same", colour=(escaping.GREEN,)), "b")])
    assert report_text.block(table, colours=True) == "EFFECT  WHY\n\x1b[32msame  \x1b[0m  b\n"


def test_a_comment_counts_the_rows_and_sections_that_do_not_fit() -> None:
    rows = [(f"{number:04}", "x" * 90) for number in range(1_000)]
    table = report_markdown.block(ReportTable(("Name", "Why"), rows, limit=10_000, noun="names"))
    shown = table.count("\n| 0")
    assert table.endswith(f"| … | and {1_000 - shown} more names |\n")
    assert 9_000 < len(table) <= 10_000
    sections = [ReportSection(f"Part {number}", [ReportTable(("Name", "Why"), rows[:250], limit=30_000)]) for number in range(4)]
    text = report_markdown.write(Report("The title", ["One."], sections, [FINDING], noun="parts"))
    assert text.count("#### ") == 2
    assert text.endswith("and 2 more parts\n\n- **error** `graph.yaml:3` `DYN999 a problem; a fix`\n")
    assert len(text) <= report_markdown.LIMIT
    short = [section._replace(otherwise=f"No {section.title}.\n") for section in sections]
    assert report_markdown.write(Report("The title", ["One."], short)).endswith("\nNo Part 2.\n\nNo Part 3.\n")


def test_a_report_for_programs_begins_with_its_version_and_ends_with_its_findings() -> None:
    assert [*json.loads(report_model.document({"a": 1}, [FINDING]))] == ["formatVersion", "a", "findings"]
    assert report_model.document({"a": 1}) == '{\n  "formatVersion": 1,\n  "a": 1\n}\n'
