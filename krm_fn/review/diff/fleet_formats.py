"""The comparisons of several roots as one report: one first line for all, and one block for roots with equal effects.

A reviewer of a fleet reads the first line, then each block once. Names, lines and details in a block are those of its first root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import escaping, report
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.review.diff import advice, alike_roots, headline, markdown_diff, text_diff
from krm_fn.review.diff.alike_roots import AlikeRoots, Names
from krm_fn.review.diff.diff_report import Report
from krm_fn.review.diff.headline import Verdict

_MOST_ROOTS = 8
_FINDINGS = 10_000  # characters of a comment


class RootReport(NamedTuple):
    """The comparison of a root, with its findings before and after the forecast.

    `root` is its folder, `old_root` the folder of the root that applied the objects before, if it is another one, and `clusters` are the
    names of the clusters, if they are known.
    """

    root: str
    content: Report
    findings: list[Result]
    forecast_findings: list[Result]
    old_root: str = ""
    clusters: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The folder of the root, with its folder before."""
        return f"{self.root} ({self.old_root} in {self.content.old})" if self.old_root else self.root


def verdict(roots: Sequence[RootReport]) -> Verdict:
    """Returns the sentences about all roots together."""
    return headline.verdict([root.content.diff for root in roots])


def groups(roots: Sequence[RootReport]) -> list[AlikeRoots]:
    """Returns the groups of roots with equal effects: first those that a reviewer must see, the roots without a change last."""
    alike = alike_roots.group([(root.root, root.content) for root in roots])
    return sorted(alike, key=lambda group: not roots[group.numbers[0]].content.diff.differing)


def text(roots: Sequence[RootReport], findings: Sequence[Result]) -> str:
    """Returns the report for a terminal."""
    colours = roots[0].content.colours
    blocks = [escaping.joined(text_diff.head_lines([root.content.diff for root in roots], colours=colours), colours=colours)]
    for group in groups(roots):
        first = roots[group.numbers[0]]
        note = [_names_note(roots, group)] if len(group.numbers) > 1 and first.content.diff.differing else []
        blocks.append(f"{escaping.joined([f'== {_titles(roots, group)}', *note])}{text_diff.block(_content(roots, group))}")
    return "\n".join([*blocks, *([escaping.joined(map(report.entry, findings))] if findings else [])])


def markdown(roots: Sequence[RootReport], findings: Sequence[Result]) -> str:
    """Returns the report as one comment. Beyond the limit of a comment, blocks have no details, and at last no table."""
    blocks = groups(roots)
    distinct = [roots[group.numbers[0]].content.diff for group in blocks]
    advices = advice.of([root.content.diff for root in roots], distinct)
    parts = [markdown_diff.head(verdict(roots)), markdown_diff.advice_lines(advices)]
    notes = markdown_diff.fitting(map(markdown_diff.finding, findings), _FINDINGS, "- and {} more findings\n")
    left = markdown_diff.LIMIT - sum(map(len, parts)) - len(notes)
    for group in blocks:
        title, content = f"#### {_markdown_titles(roots, group)}\n", _content(roots, group)
        if not content.diff.differing and not content.diff.failed and not content.findings:
            block = f"{title[5:].rstrip()}: no object changes.\n"
        elif not content.diff.differing:
            sentences = " ".join(sentence for sentence, _ in headline.verdict([content.diff]).sentences)
            block = f"{title}\n{markdown_diff.plain(sentences)}\n\n{markdown_diff.details(content, left)}"
        else:
            note = f"\n{markdown_diff.plain(_names_note(roots, group))}\n" if len(group.numbers) > 1 else ""
            head = f"{title}{note}\n{markdown_diff.changed_table(content)}"
            block = f"{head}{markdown_diff.details(content, left - len(head))}"
        parts.append(block if len(block) < left else title)
        left -= len(parts[-1]) + 1
    return "\n".join(part for part in [*parts, notes] if part)


def _content(roots: Sequence[RootReport], group: AlikeRoots) -> Report:
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


def _titles(roots: Sequence[RootReport], group: AlikeRoots) -> str:
    return _group_title(roots, group, [report.visible(roots[number].title) for number in group.numbers])


def _markdown_titles(roots: Sequence[RootReport], group: AlikeRoots) -> str:
    return _group_title(roots, group, [markdown_diff.code(roots[number].title) for number in group.numbers])


def _group_title(roots: Sequence[RootReport], group: AlikeRoots, titles: Sequence[str]) -> str:
    """Returns the names of the roots of a group, after their number if there are several."""
    effects = " with equal effects" if roots[group.numbers[0]].content.diff.differing else ""
    return titles[0] if len(titles) == 1 else f"{len(titles)} folders{effects}: {_listed(titles)}"


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(titles[:_MOST_ROOTS]) + (f" and {len(titles) - _MOST_ROOTS} more" if len(titles) > _MOST_ROOTS else "")


def _names_note(roots: Sequence[RootReport], group: AlikeRoots) -> str:
    """Returns the sentence that says what differs between the roots of a group."""
    first = group.names[0]
    sentences = [f"Names and lines are those of {report.visible(roots[group.numbers[0]].root)}."]
    for word, own, others in _differences(first, group.names[1:]):
        sentences.append(f"In the others, {word} {own} is {_listed(others)}.")
    return " ".join(sentences)


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
