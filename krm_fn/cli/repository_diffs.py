"""Compares both states of each root of a repository, and writes the comparisons as one report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from krm_fn import report
from krm_fn.cli import repository_states
from krm_fn.cli.command_options import Inputs
from krm_fn.cli.compared_states import LoadedState
from krm_fn.config import Config
from krm_fn.expand import KnownItems
from krm_fn.files.sources import Sources
from krm_fn.repositories.states import RootState
from krm_fn.results import Result
from krm_fn.review.diff import json_diff, markdown_diff, rendered_state
from krm_fn.review.diff.diff_report import Report


class StatePair(NamedTuple):
    """Both states of a root. `root` is its folder; empty if a command compares paths and not roots.

    `is_unchanged`: the root is not rendered, because all of its inputs are the same in both states.
    """

    root: str
    new: LoadedState
    old: LoadedState
    is_unchanged: bool = False


class ComparedStates(NamedTuple):
    """The states of all roots, findings about the repository, and one line for each root, which says how it was read."""

    pairs: list[StatePair]
    results: list[Result]
    lines: list[str]


class RootReport(NamedTuple):
    """The comparison of a root, with its findings before and after the forecast."""

    root: str
    content: Report
    findings: list[Result]
    forecast_findings: list[Result]


def load(given: Inputs, old: str, *, skips: bool) -> ComparedStates:
    """Reads both states of all roots of a folder. A root that is in one state only has an empty other state.

    `skips`: roots whose inputs are the same in both states are not rendered.
    """
    read = repository_states.read(given.paths[0], given, old, unchanged="skip" if skips else "build")
    new_roots = {state.path: state for state in read.new.roots}
    old_roots = {state.path: state for state in read.old.roots} if read.old else {}
    pairs, lines = [], []
    for path in dict.fromkeys((*new_roots, *old_roots)):
        new_root, old_root = new_roots.get(path), old_roots.get(path)
        name = new_root.name if new_root else path
        if new_root and old_root and new_root.is_unchanged:
            pairs.append(StatePair(name, _unchanged("the working tree", new_root), _unchanged(old, old_root), is_unchanged=True))
            continue
        known_items = KnownItems()
        new_state = _rendered("the working tree", new_root, known_items)
        old_state = _rendered(old, old_root, known_items)
        old_state = old_state._replace(results=[*rendered_state.old_findings(old_state.results)])
        pairs.append(StatePair(name, new_state, old_state))
        how = new_root.how if new_root else f"only in {old}"
        lines.append(f"{report.visible(name)}: {report.visible(how)}{'' if old_root else f'; not in {report.visible(old)}'}")
    lines += _skipped(pairs, old)
    known = {_identity(result) for result in (read.old.results if read.old else ())}
    findings = [result for result in read.new.results if result.severity == "error" or _identity(result) not in known]
    return ComparedStates(pairs, findings, lines)


def _identity(result: Result) -> tuple[str, str, object]:
    return result.code, result.message, result.ref


def _rendered(name: str, state: RootState | None, known: KnownItems) -> LoadedState:
    files = state.sources if state else Sources([], [], Config(), [])
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results, known)
    return LoadedState(name, rendered, files, files.located(rendered.findings))


def _unchanged(name: str, state: RootState) -> LoadedState:
    """Returns a state without objects. Of plain files, it has the findings about the files."""
    rendered = rendered_state.render((), state.sources.config)
    return LoadedState(name, rendered, state.sources._replace(resources=[]), state.sources.located(()))


def _skipped(pairs: Sequence[StatePair], old: str) -> list[str]:
    """Returns the line that counts the roots that are not rendered."""
    count = sum(pair.is_unchanged for pair in pairs)
    reason = f"their inputs are the same as in {report.visible(old)}, so they are not rendered (--all renders them)"
    return [f"{count} of {len(pairs)} roots are unchanged: {reason}"] if count else []


def write(formats: Mapping[str, Callable[[Report], str]], style: str, reports: Sequence[RootReport], findings: list[Result]) -> str:
    """Returns the report in a format. Comparisons of several roots are one after the other, each with the name of its root."""
    if len(reports) == 1:
        (only,) = reports
        return formats[style](only.content._replace(findings=[*findings, *only.content.findings]))
    texts = [(report.visible(entry.root), formats[style](entry.content)) for entry in reports]
    if style == "json":
        return _json(texts, findings)
    if style == "markdown":
        return _markdown(texts, findings)
    parts = [f"== {name}\n{text}" for name, text in texts]
    return "\n".join([*parts, "".join(f"{report.entry(result)}\n" for result in findings)] if findings else parts)


def _markdown(texts: Sequence[tuple[str, str]], findings: list[Result]) -> str:
    """Returns the comparisons as one comment. Beyond the limit of a comment, only the verdict of a root is shown."""
    notes = "".join(map(markdown_diff.finding, findings))[: markdown_diff.LIMIT // 4]
    verdicts = [f"## `{name}`\n\n{_verdict(text)}" for name, text in texts]
    left = markdown_diff.LIMIT - len(notes) - sum(map(len, verdicts))
    parts = []
    for (name, text), verdict in zip(texts, verdicts, strict=True):
        whole = f"## `{name}`\n\n{text}"
        fits = len(whole) - len(verdict) < left
        left -= len(whole) - len(verdict) if fits else 0
        parts.append(whole if fits else f"{verdict}\nA comment has a limit, so the details of this root are left out.\n")
    return "\n".join([*parts, notes] if notes else parts)


def _verdict(text: str) -> str:
    return "\n\n".join(text.split("\n\n")[:2]).rstrip() + "\n"


def _json(texts: Sequence[tuple[str, str]], findings: list[Result]) -> str:
    roots = [{"root": name, **json.loads(text)} for name, text in texts]
    document = {"formatVersion": json_diff.FORMAT_VERSION, "roots": roots, "findings": [report.json_fields(result) for result in findings]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
