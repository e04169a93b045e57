"""Fixes findings in rounds: all edits at once, then the check again, and fewer edits if the result is not better.

Edits are kept only if their findings are gone, no other finding came, and no pod of an untouched component changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from krm_fn.base.results import Path, Ref, Result
from krm_fn.migration.edits import edited_files
from krm_fn.migration.fixes import finding_edits, untouched_pods
from krm_fn.migration.fixes.editable_files import EditableFiles
from krm_fn.migration.fixes.finding_edits import EditIdentity, FindingEdit
from krm_fn.review.inputs.checked_inputs import CheckedInputs

_ROUNDS = 10
"""The largest number of rounds. A round can show mistakes that others hid."""
_DEPTH = 4
"""The largest number of steps in one attempt: edits, those of findings that they bring to light, and so on."""


class Judged(Protocol):
    """The inputs of a check, and all findings about them."""

    @property
    def inputs(self) -> CheckedInputs:
        """The inputs."""

    @property
    def findings(self) -> list[Result]:
        """The findings with their locations."""


State = TypeVar("State", bound=Judged)


class Fixed(NamedTuple, Generic[State]):
    """The state after the edits, the new texts of files, and the edits in the order of their files. `unsafe` edits are left."""

    state: State
    texts: dict[str, str]
    edits: list[FindingEdit]
    unsafe: int


def fix(
    files: EditableFiles, check: Callable[[Mapping[str, str]], State], *, unsafe: bool, only: Collection[EditIdentity] | None = None
) -> Fixed[State]:
    """Fixes findings. `check` judges the inputs with new texts of files. `unsafe`: edits that only an author can judge are made, too.

    With `only`, these edits are made, in one round, and those of findings that they bring to light.
    """
    fixer = _Fixer(files, check, unsafe=unsafe)
    if only is not None:
        fixer.attempt([*only])
    for _ in range(_ROUNDS if only is None else 0):
        if not fixer.attempt([entry.identity for entry in fixer.wanted_edits()]):
            break
    edits = sorted(fixer.edits, key=lambda entry: (entry.file, entry.results[0].line, entry.results[0].column))
    left = finding_edits.of(fixer.state.findings, files, fixer.texts)
    return Fixed(fixer.state, fixer.texts, edits, sum(not entry.is_safe for entry in left))


class _Fixer(Generic[State]):
    """The state of the files between two attempts."""

    def __init__(self, files: EditableFiles, check: Callable[[Mapping[str, str]], State], *, unsafe: bool) -> None:
        self.files, self.check, self.unsafe = files, check, unsafe
        self.texts: dict[str, str] = {}
        self.edits: list[FindingEdit] = []
        self.state = check(self.texts)
        self._pods = untouched_pods.of(self.state.inputs)

    def wanted_edits(self) -> list[FindingEdit]:
        """Returns the edits of the findings of now."""
        listed = finding_edits.of(self.state.findings, self.files, self.texts)
        return [entry for entry in listed if self._is_wanted(entry)]

    def _is_wanted(self, entry: FindingEdit) -> bool:
        return entry.is_safe or self.unsafe

    def attempt(self, identities: Sequence[EditIdentity]) -> bool:
        """Makes some edits, or else those of the first half and those of the second half. Returns true if it made one of them."""
        chosen = self._choose(identities)
        if not chosen:
            return False
        if self._make(chosen):
            return True
        if len(chosen) == 1:
            return False
        middle = len(chosen) // 2
        halves = [[entry.identity for entry in half] for half in (chosen[:middle], chosen[middle:])]
        successes = [self.attempt(half) for half in halves]  # both: the second half is tried after a success of the first, too
        return any(successes)

    def _choose(self, identities: Collection[EditIdentity]) -> list[FindingEdit]:
        listed = {*identities}
        return sorted((entry for entry in self.wanted_edits() if entry.identity in listed), key=lambda entry: entry.file)

    def _make(self, chosen: Sequence[FindingEdit]) -> bool:
        """Makes edits if the result is better, together with the edits of findings that they bring to light."""
        texts, edits, more = self.texts, list[FindingEdit](), [*chosen]
        for _ in range(_DEPTH):
            new, failed = edited_files.edit_texts(finding_edits.documents(more), texts)
            if failed or not new:
                return False
            texts = {**texts, **{file: text.new for file, text in new.items()}}
            state = self.check(texts)
            edits += more
            if _is_better(self.state.findings, state.findings, chosen):
                return self._keep(texts, state, edits)
            known = {*map(_address, self.state.findings)}
            listed = finding_edits.of(state.findings, self.files, texts)
            more = [entry for entry in listed if self._is_wanted(entry) and known.isdisjoint(map(_address, entry.results))]
            if not more:
                return False
        return False

    def _keep(self, texts: dict[str, str], state: State, edits: Sequence[FindingEdit]) -> bool:
        """Makes a state that of the files, unless pods of untouched components differ."""
        pods = untouched_pods.of(state.inputs)
        if not untouched_pods.are_equal(self._pods, pods, (result for entry in edits for result in entry.results)):
            return False
        self.texts, self.state, self._pods = texts, state, pods
        self.edits += edits
        return True


def _address(result: Result) -> tuple[str, Ref | None, Path]:
    return result.code, result.ref, result.path


def _is_better(before: Sequence[Result], after: Sequence[Result], chosen: Sequence[FindingEdit]) -> bool:
    """True if each edit has removed its finding, and no file has another error or warning than before."""
    old, new = (Counter((result.file, result.code) for result in findings) for findings in (before, after))
    severe = Counter((result.file, result.code) for result in after if result.severity != "info")
    wanted = Counter((entry.file, entry.results[0].code) for entry in chosen)
    return all(old[key] - new[key] >= number for key, number in wanted.items()) and all(count <= old[key] for key, count in severe.items())
