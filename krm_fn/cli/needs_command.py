"""`krm-fn needs`: lists the objects that must exist beside the graphs, such as Secrets, claims and definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from krm_fn.base import escaping, report, report_model, report_text, results
from krm_fn.base.report_model import ReportTable
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.repository.files import sources
from krm_fn.review import requirement_states
from krm_fn.review.inputs import Inputs, Policy, path_inputs, render_needs
from krm_fn.review.inputs.render_needs import RenderNeeds
from krm_fn.review.requirement_states import ExportedKeys, RequiredObject

_STYLES = ("json", "text")
_MISSING = 3
"""The exit code if the export lacks an object."""
_HEAD = ("Kind", "Name", "Keys", "State", "Named by")


@click.command()
@command_options.inputs
@command_options.live("An export of a cluster, or stdin (-). The list then says what is missing there.", "export")
@command_options.build_root("The list then has the lines of the files that kustomize (originAnnotations) or kpt names.")
@command_options.report_format(_STYLES)
@command_options.policy
@click.pass_context
def needs(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, policy: Policy, export: str | None, root: Path | None, style: str
) -> None:
    """List the objects that must exist beside the graphs.

    {paths}

    The list has Secrets and ConfigMaps with their keys, claims, accounts, roles, classes, queues, namespaces and the definitions of kinds,
    which the rendered objects name and which are not in the same root or among the same files. Each has the line that names it. Optional
    references are left out. Several roots have a list each.

    With --live, the list says which of them the cluster has. krm-fn reads only the names of the keys of Secrets, never their values. The
    state is unknown if the export has no object of the kind.

    Exit codes: 0 the list is printed; 1 errors; 2 wrong usage; 3 something is missing in the export.

    \b
      krm-fn needs graphs/
      kubectl get pvc,secrets,configmaps,sa -n team-a -o json | krm-fn needs --live - graphs/
    """  # noqa: D301 - click reads the backspace
    loaded = path_inputs.load(given._replace(is_built=given.is_built and root is None)).with_dynamo()
    loaded.results.extend(path_inputs.without_dynamo(loaded, given))
    exported = _read_export(export) if export else None
    renders = [render for part in loaded.roots for render in part.renders()]
    about = [*loaded.results, *(finding for part in loaded.roots for finding in part.errors(root))]
    findings = policy.without_ignored(about, [source.value for source in loaded.resources])
    finding_formats.print_text(loaded.resources, policy.visible_findings(findings), loaded.stdin)
    command_output.write(escaping.join_lines([] if policy.quiet or style == "json" else loaded.lines), err=True)
    is_named = len(loaded.roots) > 1
    listed = [render_needs.find(render, exported, root, is_named=is_named) for render in renders]
    if loaded.resources:
        command_output.write(_json(listed) if style == "json" else _table(listed), style)
    if exported and requirement_states.has_searches(exported.served) and not policy.quiet:
        command_output.print_line(f"warning: {requirement_states.KEEP_SEARCHES}", err=True)
    if policy.failing(findings):
        command_output.print_line(f"the list is not complete: {report.count(policy.failing(findings))}", err=True)
        ctx.exit(1)
    ctx.exit(_MISSING if any(entry.is_incomplete for entry in listed) else 0)


def _read_export(path: str) -> ExportedKeys:
    """Reads an export. Ends the program with the findings if it cannot be read."""
    loaded = sources.load((path,))
    if results.has_errors(loaded.results):
        # The lines of an export can be values of Secrets, so none of them is printed.
        finding_formats.print_text([], [finding._replace(line=0, column=0) for finding in loaded.results])
        raise click.ClickException(f"the export is not read: {report.count(loaded.results)}")
    return requirement_states.read(loaded.values)


def _table(listed: Sequence[RenderNeeds]) -> str:
    """Returns the table. With several roots, its first column has the root."""
    is_named = any(entry.root for entry in listed)
    rows = [(*((entry.root,) if is_named else ()), *row) for entry in listed for row in _rows(entry)]
    return report_text.block(ReportTable((*(("Root",) if is_named else ()), *_HEAD), rows, keeps_head=True))


def _rows(listed: RenderNeeds) -> Iterator[Sequence[str]]:
    for required in listed.objects:
        name = f"{required.key.namespace}/{required.key.name}" if required.key.namespace else required.key.name
        state = f"{required.state}: {', '.join(required.missing_keys)}" if required.missing_keys else required.state
        yield required.key.kind, name, ",".join(required.keys), state, _named_by(required, listed)
    for api_version, kind, state in listed.definitions:
        yield "CustomResourceDefinition", f"{kind} in {api_version}", "", state, ""


def _named_by(required: RequiredObject, listed: RenderNeeds) -> str:
    """Returns the line of the first use that has one, else the object and the field that name the object; and the number of other lines."""
    lines = list(dict.fromkeys(text for use in required.uses if (text := listed.locations[use.author].text())))
    use = required.uses[0]
    first = lines[0] if lines else f"{use.ref.kind} {use.ref.name} {results.field(use.path)}"
    return f"{first} and {len(lines) - 1} more" if len(lines) > 1 else first


def _json(listed: Sequence[RenderNeeds]) -> str:
    fields = {
        "objects": [{**_root(entry), **_json_object(required, entry)} for entry in listed for required in entry.objects],
        "definitions": [
            {**_root(entry), "apiVersion": api_version, "kind": kind, **({"state": state} if state else {})}
            for entry in listed
            for api_version, kind, state in entry.definitions
        ],
    }
    return report_model.document(fields)


def _root(listed: RenderNeeds) -> dict[str, str]:
    return {"root": listed.root} if listed.root else {}


def _json_object(required: RequiredObject, listed: RenderNeeds) -> dict[str, Any]:
    fields = {name: value for name, value in required.key._asdict().items() if value}
    uses = []
    for use in required.uses:
        location = {name: value for name, value in listed.locations[use.author]._asdict().items() if value}
        resource = {"apiVersion": use.ref.api_version, "kind": use.ref.kind, "namespace": use.ref.namespace, "name": use.ref.name}
        named_by = {"author": location} if location else {}
        uses.append({"resource": {name: value for name, value in resource.items() if value}, "field": results.field(use.path), **named_by})
    optional = {"keys": [*required.keys], "state": required.state, "missingKeys": [*required.missing_keys]}
    return {**fields, **{name: value for name, value in optional.items() if value}, "uses": uses}


TOPIC = "review"
COMMAND = needs
