"""Findings that a patch causes which changes another part of a graph than its author meant: they are left out, or name the patch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krm_fn.base import codes
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.repository import patch_operations
from krm_fn.repository.files.reading import Source
from krm_fn.review.inputs import replaced_arguments

_CAUSE = codes.PATCH_REPLACES_COMPONENTS
_COLLISION = codes.COMPONENT_NAMES_COLLIDE
_NO_VALUE = codes.UNREAD_WORD
"""The code of words that are not the value of a flag."""
_CAUSED = (_COLLISION, codes.CONTAINER_WITHOUT_IMAGE, codes.MISSING_MAIN_CONTAINER)
"""The codes of components whose names collide, and of those without an image or without a container `main`."""
_CHANGES = (codes.SERVICE_ADDED_OR_REMOVED, codes.CHANGE_REFUSED_BY_OPERATOR)


def judge_patches(findings: Sequence[Result], sources: Sequence[Source]) -> list[Result]:
    """Returns the findings about resources, without those that a patch causes, and with the flags that a patch replaced."""
    judged = without_consequences(findings)
    causes = without_emptied(without_changes(judged, judged), sources)
    return with_replaced_flags(replaced_arguments.explain_replaced(causes, sources), sources)


def without_emptied(findings: Sequence[Result], sources: Iterable[Source]) -> list[Result]:
    """Returns the findings without those about a null that an operation without a value wrote, which has a finding of its own."""
    if not any(finding.code == codes.NULL_FIELD for finding in findings):
        return [*findings]
    emptied = {source.address: patch_operations.emptied_fields(source.patches) for source in sources if source.patches}
    return [
        finding
        for finding in findings
        if finding.code != codes.NULL_FIELD
        or not finding.ref
        or not patch_operations.is_emptied(finding.path, emptied.get(finding.ref, set()))
    ]


def without_consequences(findings: Sequence[Result]) -> list[Result]:
    """Returns the findings without those that such a patch causes. If an error was among them, the finding about the patch is one."""
    causes: dict[Ref | None, list[Path]] = {}
    for finding in findings:
        if finding.code == _CAUSE:
            causes.setdefault(finding.ref, []).append(finding.path)
    caused = [finding.code in _CAUSED and _is_below(finding, causes.get(finding.ref, ())) for finding in findings]
    failed = {finding.ref for finding, is_caused in zip(findings, caused, strict=True) if is_caused and finding.severity == "error"}
    return [
        finding._replace(severity="error") if finding.code == _CAUSE and finding.ref in failed else finding
        for finding, is_caused in zip(findings, caused, strict=True)
        if not is_caused
    ]


def without_changes(changes: Iterable[Result], findings: Iterable[Result]) -> list[Result]:
    """Returns the findings about changes of graphs, without those of a graph to which a patch adds a component by mistake.

    `findings` are those about the new state. The new component comes first, so each other one differs from the one that had its place.
    """
    refs = {finding.ref for finding in findings if finding.code == _CAUSE and finding.severity == "error"}
    return [change for change in changes if change.code not in _CHANGES or change.ref not in refs]


def with_replaced_flags(findings: Sequence[Result], sources: Iterable[Source]) -> list[Result]:
    """Returns the findings with the cause of a word that is not the value of a flag: a patch wrote it in place of the flag.

    The value of the flag then is such a word, too, and has no finding of its own.
    """
    built = {source.address: source for source in sources if source.unbuilt is not None}
    explained: dict[tuple[Ref | None, Path], Result] = {}
    for finding in findings if built else ():
        source = built.get(finding.ref) if finding.code == _NO_VALUE and finding.ref else None
        flag = _replaced_flag(source, finding.path) if source else ""
        if flag:
            message = f"a patch writes this word in place of the flag {flag}; write the index of the value of {flag} in its path"
            explained[finding.ref, finding.path] = finding._replace(message=message, edit=None)
    values = {(ref, _next(path)) for ref, path in explained}
    return [
        explained.get((finding.ref, finding.path), finding) if finding.code == _NO_VALUE else finding
        for finding in findings
        if finding.code != _NO_VALUE or (finding.ref, finding.path) not in values
    ]


def _replaced_flag(source: Source, path: Path) -> str:
    """Returns the flag that had the place of the only word of a list which a build replaced; empty without one."""
    old, new = (paths.at(value, path[:-1]) for value in (source.unbuilt, source.value))
    if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return ""
    replaced = [before for before, after in zip(old, new, strict=True) if before != after]
    word = paths.at(source.unbuilt, path)
    return word.partition("=")[0] if replaced == [word] and isinstance(word, str) and word.startswith("--") else ""


def _next(path: Path) -> Path:
    """Returns the path of the entry behind one of a list."""
    return (*path[:-1], path[-1] + 1) if path and isinstance(path[-1], int) else ()


def _is_below(finding: Result, parents: Sequence[Path]) -> bool:
    """True for a finding about a component that a patch added, or about one of a list that it replaced. A collision names either name."""
    return any(finding.code == _COLLISION or finding.path[: len(parent)] == parent for parent in parents)
