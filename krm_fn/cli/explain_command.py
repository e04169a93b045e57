"""`krm-fn explain`: prints the page of a finding's code, or the origins of each field of the generated objects."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from krm_fn.base import codes, escaping, results
from krm_fn.base.results import Result
from krm_fn.cli import command_options, command_output, explain_output, finding_formats
from krm_fn.repository.files import reading
from krm_fn.review.inputs import InputError, Inputs, explained_roots, path_inputs, revision_path
from krm_fn.review.inputs.path_inputs import LoadedRoots
from krm_fn.schemas import finding_pages

_CODE = re.compile(r"DYN[0-9]{3}", re.IGNORECASE)


def _is_code(text: str) -> bool:
    """Tells if an argument is a code, also one that does not exist, or the name of one. A file with such a name is a path."""
    if _CODE.fullmatch(text):
        return True
    try:
        return bool(finding_pages.find(text)) and not Path(text).exists()
    except KeyError:
        return False


class _Topic(command_options.InputPath):
    """The code of a finding, its name, or a path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The code or path as written. Raises click.BadParameter for an argument that is neither."""
        if _is_code(str(value)) or value == reading.STDIN or (value and Path(value).exists()) or revision_path(str(value)):
            return value
        return self.fail(f"{value!r} is not the code of a finding, such as {codes.WRONG_TYPE}, and not a file or folder.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Codes that begin with the incomplete word. If there is none, files and folders."""
        items = [CompletionItem(code) for code in finding_pages.CONSTANTS if incomplete and code.startswith(incomplete.upper())]
        return items or super().shell_complete(ctx, param, incomplete)


@click.command()
@functools.partial(command_options.inputs, kind=_Topic(), name="CODE|PATH...")
@click.option("--object", "object_name", metavar="KIND/NAME", help="Explain only this object.")
@click.option(
    "--field",
    metavar="PATH",
    help="Explain only this field and the fields below it, for example spec.replicas, or what this field of a graph affects.",
)
@click.option("--from", "line", metavar="FILE:LINE", help="Show only the fields that this line of a graph or a configuration affects.")
@click.option("--unused", is_flag=True, help="Report fields of graphs that affect no object, as warnings.")
@command_options.report_format(("text", "json", "yaml"))
@click.pass_context
def explain(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, object_name: str | None, field: str | None, line: str | None, unused: bool, style: str
) -> None:
    """Explain a finding, or each field of the objects.

    For a CODE, krm-fn prints the meaning of the finding and the fix. The name of a finding, such as unknown-field, is also a CODE.

    {paths}

    For a PATH, krm-fn renders the graphs and prints the origins of each field of the generated objects, for each root. An origin is a field
    that the user wrote, a key of the configuration, or a rule of krm-fn. A value can have several origins. If krm-fn does not know the
    origin, it prints `unknown`.

    --object and --field take names as krm-fn diff prints them, for example 'Deployment prod/chat-decode' and spec.components[0].replicas. A
    list entry has its index or its name, as in spec.components[Decode].replicas. For a field of a graph, krm-fn prints the fields of
    objects that it affects.

    The format yaml prints the rendered objects with the origins as comments.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn explain DYN021
      krm-fn explain --object Deployment/chat-worker --field spec.replicas graph.yaml
      krm-fn explain --from graph.yaml:12 graph.yaml
      krm-fn explain --unused graphs/
    """  # noqa: D301 - click reads the backspace
    if code_arguments := [item for item in given.paths if _is_code(item)]:
        _check_codes(given, wants_fields=bool(object_name or field or line or unused))
        command_output.write("".join(finding_pages.markdown(command_options.code(item)) for item in code_arguments))
        return
    if unused and (object_name or field or line or style == "yaml"):
        raise click.UsageError("--unused reports findings: use it without --object, --field, --from and --format yaml")
    loaded = path_inputs.load(given).with_dynamo()
    roots = [explained_roots.ExplainedRoot(render) for part in loaded.roots for render in part.renders()]
    loaded.results.extend([*path_inputs.without_dynamo(loaded, given), *path_inputs.without_graphs(loaded)])
    failed = results.errors_of([*loaded.results, *(item for root in roots for item in root.failed)])
    if failed:
        command_output.write(_findings(failed, loaded, err=True), err=True)
    known = [root for root in roots if not root.is_unknown(given)]
    if failed and not known:
        ctx.exit(1)
    command_output.write(escaping.join_lines(loaded.lines if style == "text" else ()), err=True)
    if unused:
        command_output.write(_findings(explained_roots.warn_of_unused(known), loaded, style), style)
        ctx.exit(int(bool(failed)))
    try:
        shown = explained_roots.select(known, object_name, field, line)
    except InputError:
        if failed:  # the object or the line is probably one of a graph with an error
            ctx.exit(1)
        raise
    for part in explain_output.write(style, shown):
        command_output.write(part, style)
    ctx.exit(int(bool(failed)))


def _check_codes(given: Inputs, *, wants_fields: bool) -> None:
    """Raises click.UsageError for codes among paths, or with options for paths."""
    if wants_fields or any(not _is_code(path) for path in given.paths):
        raise click.UsageError("Write a CODE without paths and without options.")


def _findings(findings: list[Result], loaded: LoadedRoots, style: str = "text", *, err: bool = False) -> str:
    colour, columns = command_output.colours(err=err), command_output.columns(err=err)
    checked = finding_formats.Checked(loaded.resources, sorted(findings, key=results.order), loaded.stdin, colour, columns)
    return finding_formats.write(style, checked)


TOPIC = "author"
COMMAND = explain
