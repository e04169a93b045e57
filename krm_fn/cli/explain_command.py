"""`krm-fn explain`: prints the page of a finding's code, or the origins of each field of the generated objects."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from krm_fn import codes, function_config, results
from krm_fn.cli import command_options, command_output, explain_output, finding_formats
from krm_fn.cli.command_options import Inputs
from krm_fn.files import reading
from krm_fn.files.sources import Sources
from krm_fn.kube.types import Resource
from krm_fn.manifests import ownership
from krm_fn.results import Result
from krm_fn.review import affected_fields
from krm_fn.review import explain as explaining
from krm_fn.review.explain import Explained, Explanation, Renderable

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
    rendered = explaining.renderable(loaded.values, loaded.config)
    failed = [item for item in [*loaded.results, *rendered.results] if item.severity == "error"]
    if failed:
        command_output.write(_findings(failed, loaded, err=True), err=True)
    if failed and (not rendered.objects or any(_is_about_configuration(item, loaded, given) for item in failed)):
        ctx.exit(1)
    loaded = loaded._replace(resources=[loaded.resources[index] for index in rendered.resources])
    rendered = rendered._replace(resources=dict(enumerate(rendered.resources.values())))
    if unused:
        command_output.write(_findings(_reaching_nothing(_explanation(rendered, loaded), loaded), loaded, style), style)
        ctx.exit(int(bool(failed)))
    try:
        _check_selection(rendered.objects, object_name, field)
        objects = explaining.explained(rendered, _named(rendered.objects, object_name), loaded.config)
        sections = [explain_output.Section("", objects)] if line is None else _of_line(line, _explanation(rendered, loaded), loaded)
    except click.BadParameter:
        if failed:  # the object or the line is probably one of a graph with an error
            ctx.exit(1)
        raise
    shown = [item._replace(objects=_selected(item.objects, object_name, field)) for item in sections]
    for part in explain_output.write(style, shown, loaded):
        command_output.write(part, style)
    ctx.exit(int(bool(failed)))


def _is_about_configuration(result: Result, loaded: Sources, given: Inputs) -> bool:
    """True for an error that leaves the configuration unknown, and so every object."""
    files = {given.config, loaded.settings.file if loaded.settings else None}
    return bool(result.ref and function_config.is_config(result.ref)) or (bool(result.file) and result.file in files)


def _explanation(rendered: Renderable, loaded: Sources) -> Explanation:
    return Explanation([*explaining.explained(rendered, rendered.objects, loaded.config)], rendered.results)


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


def _check_selection(objects: list[Resource], object_name: str | None, field: str | None) -> None:
    """Raises click.BadParameter, with the nearest name, if no object has the name, or none of the objects of that name has the field."""
    named = _named(objects, object_name)
    if object_name is not None and not named:
        names = {_object_name(resource): None for resource in objects}
        raise click.BadParameter(f"no generated object is {object_name!r}{_nearest(object_name, names)}", param_hint="--object")
    if field is not None:
        known = {name: None for resource in named for path, _ in explaining.fields_of(resource) for name in _above(path)}
        if not any(_is_below(name, field) for name in known):
            raise click.BadParameter(f"no object has the field {field!r}{_nearest(field, known)}", param_hint="--field")


def _object_name(resource: Resource) -> str:
    ref = results.ref(resource)
    return f"{ref.kind}/{ref.name}"


def _named(objects: list[Resource], object_name: str | None) -> list[Resource]:
    """The objects of that kind and name."""
    return [resource for resource in objects if object_name is None or _object_name(resource).lower() == object_name.lower()]


def _selected(objects: Iterable[Explained], object_name: str | None, field: str | None) -> Iterator[Explained]:
    """The objects of that kind and name, with that field and those below it only."""
    for explained in objects:
        if object_name is not None and not _named([explained.resource], object_name):
            continue
        fields = [entry for entry in explained.fields if field is None or _is_below(results.field(entry.path), field)]
        if fields or field is None:
            yield explained._replace(fields=fields)


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
