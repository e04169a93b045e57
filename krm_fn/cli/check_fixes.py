"""The options `--fix`, `--diff` and `--unsafe` of `krm-fn check`, and the output about edits. The edits are `krm_fn.migration.fixes`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from krm_fn.base import escaping, report
from krm_fn.base.results import Result
from krm_fn.cli import command_output
from krm_fn.repository.files import reading
from krm_fn.review.inputs import Inputs


class FixMode(NamedTuple):
    """What `--fix` does: it writes files, or prints a patch. `unsafe`: edits that only an author can judge are made, too."""

    is_patch: bool
    unsafe: bool


class Fixes(NamedTuple):
    """The state after the edits, the lines about edits, the edits for programs, the new texts of files, and the same as a patch.

    `unsafe` is the number of edits that need consent.
    """

    state: Any
    lines: list[str]
    edits: list[dict[str, Any]]
    texts: Mapping[str, str]
    patch: str
    mode: FixMode
    unsafe: int

    def prints_patch(self, style: str) -> bool:
        """Returns true if stdout gets the patch, so that the findings are on stderr."""
        return self.mode.is_patch and style == "text"

    def added_to(self, style: str, text: str, *, quiet: bool) -> str:
        """Returns the findings in a format with the edits: as lines before them, or in JSON as the field `edits`."""
        if style == "json":
            patch = {"patch": self.patch} if self.mode.is_patch else {}
            return escaping.json_text({**json.loads(text), "edits": self.edits, **patch}, 2) + "\n"
        return "".join(f"{line}\n" for line in self.lines) + text if style == "text" and not quiet else text

    def counts(self, findings: Sequence[Result]) -> list[str]:
        """Returns the numbers of edits for the summary, or why there is none. `findings` are those after the edits."""
        edits = f"{report.pluralize(len(self.edits), 'edit')} in {report.pluralize(len(self.texts), 'file')}"
        if not self.edits and not self.unsafe and any(finding.severity != "info" for finding in findings):
            edits = "no edit, because none of the findings has a certain fix: repair them by hand"
        left = f"{report.pluralize(self.unsafe, 'edit needs', 'edits need')} --unsafe" if self.unsafe and not self.mode.unsafe else ""
        return [part for part in (f"{edits}{' to be made' if self.mode.is_patch and self.edits else ''}", left) if part]


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as `mode`, None without --fix."""

    @click.option("--fix", is_flag=True, help="Write the fixes that are certain into the files, and check again.")
    @click.option("--diff", "is_patch", is_flag=True, help="With --fix: print the edits as a patch for git apply, and write nothing.")
    @click.option("--unsafe", is_flag=True, help="With --fix: also make edits that can change what runs today.")
    @functools.wraps(command)
    def run_with_fixes(*args: Any, fix: bool, is_patch: bool, unsafe: bool, **more: Any) -> Any:
        if not fix and (is_patch or unsafe):
            raise click.UsageError(f"{'--diff' if is_patch else '--unsafe'} needs --fix")
        return command(*args, mode=FixMode(is_patch, unsafe) if fix else None, **more)

    return run_with_fixes


def require_files(given: Inputs, root: Path | None) -> None:
    """Raises click.UsageError for inputs that are no files of an author."""
    if reading.STDIN in given.paths:
        raise click.UsageError("--fix cannot change stdin; name files or folders")
    if root is not None:
        raise click.UsageError("--fix cannot change the output of a build; leave out --root, and name the folder")


def fix(given: Inputs, judge: Callable[[Mapping[str, str]], Any], mode: FixMode) -> Fixes:
    """Fixes the inputs, and writes the files unless only a patch is wanted. Raises click.ClickException if a file cannot be written.

    `judge` checks the inputs with new texts of files.
    """
    from krm_fn.migration.edits import edited_files  # noqa: PLC0415 - a check without --fix starts without these modules
    from krm_fn.migration.fixes import finding_edits, fix_rounds  # noqa: PLC0415
    from krm_fn.migration.fixes.editable_files import EditableFiles, FileChangedError  # noqa: PLC0415

    files = EditableFiles(given)
    fixed = fix_rounds.fix(files, judge, unsafe=mode.unsafe)
    if not mode.is_patch:
        try:
            files.save(fixed.texts)
        except FileChangedError as problem:
            raise click.ClickException(str(problem)) from problem
        except OSError as problem:
            raise click.ClickException(f"cannot write {problem.filename}: {problem.strerror}") from problem
    lines = [finding_edits.describe_edit(entry) for entry in fixed.edits]
    listed = [finding_edits.json_fields(entry) for entry in fixed.edits]
    return Fixes(fixed.state, lines, listed, fixed.texts, edited_files.patch(files.texts(fixed.texts)), mode, fixed.unsafe)


def print_patch(fixes: Fixes) -> None:
    """Prints the patch to stdout, byte by byte, because a program reads it."""
    command_output.write(fixes.patch, "patch")
