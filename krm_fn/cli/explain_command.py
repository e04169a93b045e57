"""`krm-fn explain`: prints the page of a finding's code, or the origins of each field of the generated objects."""

from __future__ import annotations

import difflib
import functools
import re
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from krm_fn import codes, results
from krm_fn.cli import command_options, command_output, explain_output, finding_formats
from krm_fn.cli.command_options import Inputs
from krm_fn.files import reading
from krm_fn.files.sources import Sources
from krm_fn.manifests import ownership
from krm_fn.results import Result
from krm_fn.review import affected_fields
from krm_fn.review import explain as explaining
from krm_fn.review.explain import Explained, Explanation

_CODE = re.compile(r"DYN[0-9]{3}", re.IGNORECASE)
_UNUSED = "DYN500"


class _Topic(click.Path):
    """The code of a finding, or a path."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The code or path as written. Raises click.BadParameter for an argument that is neither."""
        if _CODE.fullmatch(str(value)) or value == reading.STDIN or (value and Path(value).exists()):
            return value
        return self.fail(f"{value!r} is not the code of a finding, such as DYN021, and not a file or folder.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Codes that begin with the incomplete word. If there is none, files and folders."""
        items = [CompletionItem(code) for code in codes.names() if incomplete and code.startswith(incomplete.upper())]
        return items or super().shell_complete(ctx, param, incomplete)


@click.command()
@functools.partial(command_options.inputs, kind=_Topic(), name="CODE|PATH...")
@click.option("--object", "object_name", metavar="KIND/NAME", help="Explain only this object.")
@click.option("--field", metavar="PATH", help="Explain only this field and the fields below it, for example spec.replicas.")
@click.option("--from", "line", metavar="FILE:LINE", help="Show only the fields that this line of a graph or a configuration affects.")
@click.option("--unused", is_flag=True, help="Report fields of graphs that affect no object, as warnings.")
@click.option(
    "-o",
    "--output",
    "--format",
    "style",
    type=click.Choice(("text", "json", "yaml")),
    default="text",
    help="The format. The default is text.",
)
@click.pass_context
def explain(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, object_name: str | None, field: str | None, line: str | None, unused: bool, style: str
) -> None:
    """Explain the code of a finding, or the fields of generated objects.

    For a CODE, krm-fn prints the meaning of the finding and the fix.

    PATH is a file, a folder or stdin (-). For a PATH, krm-fn renders the graphs and prints the origins of each field of the generated
    objects. An origin is a field that the user wrote, a key of the configuration, or a rule of krm-fn. A value can have several origins.
    If krm-fn does not know the origin, it prints `unknown`.

    The format yaml prints the rendered objects with the origins as comments.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn explain DYN021
      krm-fn explain --object Deployment/chat-worker --field spec.replicas graph.yaml
      krm-fn explain --from graph.yaml:12 graph.yaml
      krm-fn explain --unused graphs/
    """  # noqa: D301 - click reads the backspace
    if code_arguments := [item for item in given.paths if _CODE.fullmatch(item)]:
        _check_codes(given, wants_fields=bool(object_name or field or line or unused))
        command_output.write("".join(codes.markdown(command_options.code(item)) for item in code_arguments))
        return
    if unused and (object_name or field or line or style == "yaml"):
        raise click.UsageError("--unused reports findings: use it without --object, --field, --from and --format yaml")
    loaded = given.load()
    loaded = loaded._replace(resources=[item for item in loaded.resources if not ownership.is_marked(item.value)])  # of an earlier render
    explanation = explaining.explain(loaded.values, loaded.config)
    failed = [item for item in [*loaded.results, *explanation.results] if item.severity == "error"]
    if failed:
        command_output.write(_findings(failed, loaded, err=True), err=True)
        ctx.exit(1)
    if unused:
        command_output.write(_findings(_reaching_nothing(explanation, loaded), loaded, style))
        return
    _check_selection(explanation.objects, object_name, field)
    sections = [explain_output.Section("", explanation.objects)] if line is None else _of_line(line, explanation, loaded)
    shown = [item._replace(objects=_selected(item.objects, object_name, field)) for item in sections]
    command_output.write(explain_output.write(style, shown, loaded))


def _check_codes(given: Inputs, *, wants_fields: bool) -> None:
    """Raises click.UsageError for codes among paths, or with options for paths."""
    if wants_fields or any(not _CODE.fullmatch(path) for path in given.paths):
        raise click.UsageError("Write a CODE without paths and without options.")


def _findings(findings: list[Result], loaded: Sources, style: str = "text", *, err: bool = False) -> str:
    located = reading.locate(findings, loaded.resources)
    return finding_formats.write(
        style, finding_formats.Checked(loaded.resources, located, loaded.stdin, colour=command_output.colours(err=err))
    )


def _reaching_nothing(explanation: Explanation, loaded: Sources) -> list[Result]:
    message = "the field reaches no generated object; remove it, or check its name and its place"
    unused = affected_fields.unused(explanation, loaded.values, loaded.config)
    return [results.warning(_UNUSED, message, loaded.resources[index].address, path) for index, path in unused]


def _check_selection(objects: list[Explained], object_name: str | None, field: str | None) -> None:
    """Raises click.BadParameter, with the nearest name, if no object has the name, or none of the objects of that name has the field."""
    if object_name is not None and not _selected(objects, object_name, None):
        names = {f"{explained.key.kind}/{explained.key.name}": None for explained in objects}
        raise click.BadParameter(f"no generated object is {object_name!r}{_nearest(object_name, names)}", param_hint="--object")
    if field is not None and not _selected(objects, object_name, field):
        known = {
            name: None for explained in _selected(objects, object_name, None) for entry in explained.fields for name in _above(entry.path)
        }
        raise click.BadParameter(f"no object has the field {field!r}{_nearest(field, known)}", param_hint="--field")


def _selected(objects: list[Explained], object_name: str | None, field: str | None) -> list[Explained]:
    """The objects of that kind and name, with that field and those below it only."""
    matches = [
        explained
        for explained in objects
        if object_name is None or f"{explained.key.kind}/{explained.key.name}".lower() == object_name.lower()
    ]
    if field is None:
        return matches
    narrowed = [
        explained._replace(fields=[entry for entry in explained.fields if _is_below(results.field(entry.path), field)])
        for explained in matches
    ]
    return [explained for explained in narrowed if explained.fields]


def _is_below(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _above(path: results.Path) -> list[str]:
    """A field and all fields above it."""
    return [results.field(path[:length]) for length in range(1, len(path) + 1)]


def _nearest(name: str, known: dict[str, None]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _of_line(line: str, explanation: Explanation, loaded: Sources) -> list[explain_output.Section]:
    """Fields that a line reaches, and other fields that it decides. Raises click.BadParameter for a line without a field."""
    file, _, line_text = line.rpartition(":")
    number, lines, settings = int(line_text) if line_text.isdecimal() else 0, *explain_output.fields_by_line(loaded, file)
    known = lines.keys() | settings.keys()
    if number not in known:
        near = (
            f"the nearest is {file}:{min(known, key=lambda line_number: (abs(line_number - number), line_number))}"
            if known and number
            else "write FILE:LINE"
        )
        raise click.BadParameter(
            f"{line!r} is not a line with a field of a Dynamo resource or of the configuration; {near}", param_hint="--from"
        )
    sourced: list[Explained] = []
    affected: list[Explained] = []
    for index, paths in lines.get(number, {}).items():
        sourced += affected_fields.from_fields(explanation, index, paths)
        affected += affected_fields.affected_by_fields(explanation, loaded.values, loaded.config, index, paths)
    for path in settings.get(number, ()):
        sourced += affected_fields.from_setting(explanation, path)
        affected += affected_fields.affected_by_setting(explanation, loaded.values, loaded.config, path)
    shown = {(explained.key, entry.path) for explained in sourced for entry in explained.fields}
    more = [
        explained._replace(fields=[entry for entry in explained.fields if (explained.key, entry.path) not in shown])
        for explained in affected
    ]
    return [
        explain_output.Section("reaches", sourced),
        explain_output.Section("decides", [explained for explained in more if explained.fields]),
    ]


COMMAND = explain
