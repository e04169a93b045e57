"""The comparisons of several roots as one report: one first line for all, and one block for roots with equal effects.

A reviewer of a fleet reads the first line, then each block once. Names, lines and details in a block are those of its first root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import report, report_markdown, report_text
from krm_fn.base.records import NamedTuple
from krm_fn.base.report_model import Block, Line, ReportLines, ReportSection, Span
from krm_fn.base.results import Result
from krm_fn.review.diff import advice, alike_roots, diff_blocks, diff_report, headline, markdown_diff, text_diff
from krm_fn.review.diff.alike_roots import AlikeRoots, Names
from krm_fn.review.diff.diff_report import DiffReport
from krm_fn.review.diff.headline import Verdict

_MOST_ROOTS = 8
_FINDINGS = 10_000  # characters of a comment


class ChangeReport(NamedTuple):
    """The comparison of a root, with its findings before and after the forecast.

    `root` is its folder, `old_root` the folder of the root that applied the objects before, if it is another one, and `clusters` are the
    names of the clusters, if they are known.
    """

    root: str
    content: DiffReport
    findings: list[Result]
    forecast_findings: list[Result]
    old_root: str = ""
    clusters: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The folder of the root, with its folder before."""
        return f"{self.root} ({self.old_root} in {self.content.old})" if self.old_root else self.root


def verdict(roots: Sequence[ChangeReport]) -> Verdict:
    """Returns the sentences about all roots together."""
    return headline.verdict([root.content.diff for root in roots])


def groups(roots: Sequence[ChangeReport]) -> list[AlikeRoots]:
    """Returns the groups of roots with equal effects: first those that a reviewer must see, the roots without a change last."""
    alike = alike_roots.group([(root.root, root.content) for root in roots])
    return sorted(alike, key=lambda group: not roots[group.numbers[0]].content.diff.differing)


def text(roots: Sequence[ChangeReport], findings: Sequence[Result]) -> str:
    """Returns the report for a terminal."""
    blocks: list[Block] = [text_diff.head([root.content.diff for root in roots])]
    for group in groups(roots):
        content = _content(roots, group)
        verdict = ReportLines(diff_blocks.sentences(diff_report.verdict(content)))
        blocks += [ReportSection(_title(roots, group), [ReportLines(_note(roots, group)), verdict]), *text_diff.parts(content)]
    return report_text.blocks([*blocks, diff_blocks.findings(findings)], colours=roots[0].content.colours)


def markdown(roots: Sequence[ChangeReport], findings: Sequence[Result]) -> str:
    """Returns the report as one comment. Beyond the limit of a comment, blocks have no details, and at last no table."""
    blocks = groups(roots)
    distinct = [roots[group.numbers[0]].content.diff for group in blocks]
    advices = advice.of([root.content.diff for root in roots], distinct)
    parts = [markdown_diff.head(verdict(roots)), markdown_diff.advice_lines(advices)]
    notes = report_markdown.block(diff_blocks.findings(findings, _FINDINGS))
    left = report_markdown.LIMIT - sum(map(len, parts)) - len(notes)
    for group in blocks:
        block = _block(_title(roots, group), _note(roots, group), _content(roots, group), left)
        parts.append(block if len(block) < left else f"#### {report_markdown.line(_title(roots, group))}\n")
        left -= len(parts[-1]) + 1
    return "\n".join(filter(None, [*parts, notes]))


def _block(title: Line, note: Sequence[Line], content: DiffReport, limit: int) -> str:
    """Returns a group of roots for a comment: the services that change, the number of the others, and the details as far as they fit."""
    if not content.diff.differing and not content.diff.failed and not content.findings:
        return f"{report_markdown.line(title)}: no object changes.\n"
    blocks: list[Block] = [ReportLines([" ".join(sentence for sentence, _ in diff_report.verdict(content).sentences)], "lines")]
    if content.diff.differing:
        rows = diff_report.rows(content)
        changed = [row for row in rows if row.effect != "same"]
        same = len(rows) - len(changed)
        others = [f"{report.pluralize(same, 'service stays', 'services stay')} the same."] if same else []
        blocks = [ReportLines(note, "lines"), diff_blocks.services(changed, "→"), ReportLines(others, "lines")]
    head = report_markdown.block(ReportSection(title, blocks))
    return "\n".join(filter(None, (head, markdown_diff.details(content, limit - len(head)))))


def _content(roots: Sequence[ChangeReport], group: AlikeRoots) -> DiffReport:
    """Returns the comparison of the first root of a group, with the findings of the others that it does not have."""
    first = roots[group.numbers[0]].content
    known = {_finding_key(result, group.names[0]) for result in first.findings}
    others = [
        result
        for number, names in zip(group.numbers[1:], group.names[1:], strict=True)
        for result in roots[number].content.findings
        if _finding_key(result, names) not in known
    ]
    return first._replace(findings=[*first.findings, *others])


def _finding_key(result: Result, names: Names) -> tuple[object, ...]:
    """Returns what identifies a finding in all roots of a group."""
    message = result.message
    for affix in (names.prefix, names.suffix, *names.namespaces):
        message = message.replace(affix, "") if affix else message
    return result.severity, result.code, result.path, message


def _title(roots: Sequence[ChangeReport], group: AlikeRoots) -> Line:
    """Returns the names of the roots of a group, after their number if there are several."""
    names = [Span(roots[number].title, "code") for number in group.numbers]
    if len(names) == 1:
        return names[0]
    effects = " with equal effects" if roots[group.numbers[0]].content.diff.differing else ""
    listed = [part for name in names[:_MOST_ROOTS] for part in (", ", name)][1:]
    return f"{len(names)} folders{effects}: ", *listed, f" and {len(names) - _MOST_ROOTS} more" * (len(names) > _MOST_ROOTS)


def _note(roots: Sequence[ChangeReport], group: AlikeRoots) -> list[Line]:
    """Returns the sentences that say what differs between the roots of a group; empty for one root, and without a change."""
    first = roots[group.numbers[0]]
    if len(group.numbers) == 1 or not first.content.diff.differing:
        return []
    sentences = [f"Names and lines are those of {report.visible(first.root)}."]
    for word, own, others in _differences(group.names[0], group.names[1:]):
        sentences.append(f"In the others, {word} {own} is {report.list_first(others, _MOST_ROOTS)}.")
    return [" ".join(sentences)]


def _differences(first: Names, others: Sequence[Names]) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the affixes and namespaces of the first root that differ in others, with those of the others."""
    rows = [("the prefix", first.prefix, [names.prefix for names in others])]
    rows.append(("the suffix", first.suffix, [names.suffix for names in others]))
    rows += [
        ("the namespace", namespace, [names.namespaces[number] for names in others]) for number, namespace in enumerate(first.namespaces)
    ]
    for word, own, values in rows:
        if different := [*dict.fromkeys(report.visible(value) or "empty" for value in values if value != own)]:
            yield word, report.visible(own) or "(none)", different
