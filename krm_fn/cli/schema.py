"""`krm-fn schema`: the schemas of Dynamo's kinds for editors and for kustomize, which `krm_fn.generate` makes, and those of reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krm_fn import results, review
from krm_fn.cli import _formats, _output
from krm_fn.config import Config
from krm_fn.files import sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REPORTS = {path.stem: path for path in sorted((Path(review.__path__[0]) / "schemas").glob("*.json"))}
"""The schemas of what verbs print as JSON, by verb."""


@click.command()
@click.argument("paths", metavar="[GRAPH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--for",
    "reader",
    type=click.Choice(["editor", "kustomize", "names", *_REPORTS]),
    default="editor",
    show_default=True,
    help="The reader: an editor, kustomize's field openapi or configurations, or a program that reads the JSON of a verb.",
)
@click.option("-o", "--output", "style", type=click.Choice(_output.FORMATS), help="Format; by default yaml for names, otherwise json.")
def schema(paths: tuple[str, ...], reader: str, style: str | None) -> None:
    """Print a schema for editors or for kustomize.

    It describes Dynamo's kinds and the function's settings. For an editor it is a JSON Schema. Editors with the YAML language server
    complete and check files that begin with

    \b
      # yaml-language-server: $schema=dynamo.schema.json

    For kustomize it says which lists a patch merges by name (components, containers, env, envs, pvcs, volumeMounts) instead of replacing
    them. It replaces the schema built into kustomize, so it includes Kubernetes' own kinds.

    For names it says which fields hold names of other objects, so that kustomize changes them with name prefixes and with the hashes of
    generated names. The paths contain the names of v1alpha1 services: pass the graphs, and print it again when you add a service.

    For the name of a verb it is the JSON Schema of what the verb prints with --format json.

    \b
      krm-fn schema > dynamo.schema.json
      krm-fn schema --for kustomize > openapi.json        # openapi: {path: openapi.json}
      krm-fn schema --for names graph.yaml > names.yaml   # configurations: [names.yaml]
    """  # noqa: D301 - click reads the backspace
    if paths and reader != "names":
        raise click.UsageError("GRAPH needs --for names")
    if reader == "names":
        _output.write(_output.value(_names(paths), style or "yaml"))
    else:
        _output.write(_schema(reader, style or "json"))


def _schema(reader: str, style: str) -> str:
    if reader in _REPORTS:
        return _output.value(json.loads(_REPORTS[reader].read_text("utf-8")), style)
    from krm_fn import generate  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file
    from krm_fn.generate import editor, kustomize_merge  # noqa: PLC0415

    made = kustomize_merge.schema() if reader == "kustomize" else editor.schema()
    return generate.text(made) if style == "json" else _output.value(made, style)


def _names(paths: tuple[str, ...]) -> Any:
    """The references, also those in the services of the graphs. Ends the program if a file cannot be read."""
    from krm_fn.generate import kustomize_names  # noqa: PLC0415

    loaded = sources.load(paths) if paths else sources.Sources([], [], Config(), [])
    if results.failed(loaded.results):
        checked = _formats.Checked(loaded.resources, loaded.results, loaded.stdin, colour=_output.colours(err=True))
        _output.write(_formats.write("text", checked), err=True)
        sys.exit(1)
    return kustomize_names.references(sorted({*_services(loaded.values)}))


def _services(resources: Iterable[Any]) -> Iterator[str]:
    """The keys of `spec.services` of the graphs; invalid graphs are skipped."""
    for resource in resources:
        spec = resource.get("spec") if resource.get("kind") == "DynamoGraphDeployment" else None
        services = spec.get("services") if isinstance(spec, dict) else None
        yield from services if isinstance(services, dict) else ()


COMMAND = schema
