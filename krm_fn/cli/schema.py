"""`krm-fn schema`: what the kinds look like, for editors and for kustomize.

Not its business: what the schemas say (`krm_fn.generate`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from krm_fn import results
from krm_fn.cli import _formats
from krm_fn.config import Config
from krm_fn.files import sources
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@click.command()
@click.argument("paths", metavar="[GRAPH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--for",
    "reader",
    type=click.Choice(["editor", "kustomize", "names"]),
    default="editor",
    show_default=True,
    help="Who reads it: an editor, kustomize's openapi field, or its configurations field.",
)
def schema(paths: tuple[str, ...], reader: str) -> None:
    """Print a schema of Dynamo's kinds and of the function's settings.

    For editors it is a JSON Schema: editors with the YAML language server complete fields and show mistakes in files that begin with

    \b
      # yaml-language-server: $schema=dynamo.schema.json

    For kustomize it says which lists patches merge by name (env, envs, pvcs, volumeMounts, containers) instead of replacing
    them. It replaces the schema that kustomize brings along, so Kubernetes' own kinds are in it. As names, it says where Dynamo's
    kinds name other objects, so that prefixes and the hashes of generated names reach them; since kustomize's paths have to
    spell the services of a graph, hand it the graphs, and write it anew when a service comes.

    \b
      krm-fn schema > dynamo.schema.json
      krm-fn schema --for kustomize > openapi.json        # openapi: {path: openapi.json}
      krm-fn schema --for names graph.yaml > names.yaml   # configurations: [names.yaml]
    """  # noqa: D301 - click reads the backspace
    if paths and reader != "names":
        raise click.UsageError("GRAPHs are read with --for names only")
    click.echo((_names(paths) if reader == "names" else _schema(reader)).encode(), nl=False)


def _schema(reader: str) -> str:
    from krm_fn import generate  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file
    from krm_fn.generate import editor, kustomize_merge  # noqa: PLC0415

    return generate.text(kustomize_merge.schema() if reader == "kustomize" else editor.schema())


def _names(paths: tuple[str, ...]) -> str:
    """The references, those in the services of graphs too. Ends the program where the files cannot be read."""
    from krm_fn.generate import kustomize_names  # noqa: PLC0415

    loaded = sources.load(paths) if paths else sources.Sources([], [], Config(), [])
    if results.failed(loaded.results):
        checked = _formats.Checked(loaded.resources, loaded.results, loaded.stdin)
        click.echo(_formats.write("text", checked).encode(errors="backslashreplace"), nl=False, err=True)
        sys.exit(1)
    return emitter.text(kustomize_names.references(sorted({*_services(loaded.values)})))


def _services(resources: Iterable[Any]) -> Iterator[str]:
    """The keys under which graphs list their services, of whatever can be read."""
    for resource in resources:
        spec = resource.get("spec") if resource.get("kind") == "DynamoGraphDeployment" else None
        services = spec.get("services") if isinstance(spec, dict) else None
        yield from services if isinstance(services, dict) else ()


COMMAND = schema
