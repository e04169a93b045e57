"""`krm-fn schema`: the schemas of Dynamo's kinds for editors and kustomize, which `krm_fn.schemas.generate` makes, and those of reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from krm_fn.base import registry, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.render.config import Config
from krm_fn.repository.files import sources

_REPORTS = ("diff", "explain", "images", "needs", "upgrade", "verify")
"""The commands whose JSON output has a schema."""


@click.command()
@click.argument("paths", metavar="[GRAPH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--for",
    "reader",
    type=click.Choice(["editor", "kustomize", "names", *_REPORTS]),
    default="editor",
    show_default=True,
    help="The use: an editor, kustomize (field openapi), names (field configurations), or the JSON output of a command.",
)
@command_options.output_format(default=None, text="The format. The default is yaml for names, and json for all others.")
def schema(paths: tuple[str, ...], reader: str, style: str | None) -> None:
    """Print a schema for editors, kustomize or JSON output.

    The schema for editors describes Dynamo's kinds and DynamoRender in JSON Schema. An editor with the YAML language server completes and
    checks a file that begins with this line:

    \b
      # yaml-language-server: $schema=dynamo.schema.json

    The schema for kustomize lists the fields that a patch merges by name (components, containers, env, envs, pvcs, volumeMounts). Without
    it, a patch replaces these lists. It replaces the schema built into kustomize, so it also includes the kinds of Kubernetes.

    The schema for names lists the fields that contain names of other objects. With it, kustomize also adds name prefixes and hashes to
    these fields, and changes the images of v1alpha1 services. Its paths contain the names of these services: pass the graphs as GRAPH, and
    print it again when you add a service.

    The schemas for diff, explain, images, needs, upgrade and verify describe the output of these commands with --format json.

    \b
      krm-fn schema > dynamo.schema.json
      krm-fn schema --for kustomize > openapi.json        # openapi: {path: openapi.json}
      krm-fn schema --for names graph.yaml > names.yaml   # configurations: [names.yaml]
    """  # noqa: D301 - click reads the backspace
    if paths and reader != "names":
        raise click.UsageError("GRAPH needs --for names")
    if reader == "names":
        command_output.write(command_output.value(_names(paths), style or "yaml"), style or "yaml")
    else:
        command_output.write(_schema(reader, style or "json"), style or "json")


def _schema(reader: str, style: str) -> str:
    if reader in _REPORTS:
        return command_output.value(json.loads(registry.data(f"review/schemas/{reader}.json")), style)
    with command_options.needed_packages("schema", command_options.MODEL_PACKAGES):
        from krm_fn.schemas import generate  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file
        from krm_fn.schemas.generate import editor, kustomize_files  # noqa: PLC0415

    content = kustomize_files.schema() if reader == "kustomize" else editor.schema()
    return generate.text(content) if style == "json" else command_output.value(content, style)


def _names(paths: tuple[str, ...]) -> Any:
    """The references, also those in the services of the graphs. Ends the program if a file cannot be read."""
    with command_options.needed_packages("schema", command_options.MODEL_PACKAGES):
        from krm_fn.schemas.generate import kustomize_files  # noqa: PLC0415

    loaded = sources.load(paths) if paths else sources.Sources([], [], Config(), [])
    if results.has_errors(loaded.results):
        finding_formats.print_text(loaded.resources, loaded.results, loaded.stdin)
        sys.exit(1)
    return kustomize_files.references(sorted({*_services(loaded.values)}))


def _services(resources: Iterable[Any]) -> Iterator[str]:
    """The keys of `spec.services` of the graphs; invalid graphs are skipped."""
    for resource in resources:
        spec = resource.get("spec") if resource.get("kind") == "DynamoGraphDeployment" else None
        services = spec.get("services") if isinstance(spec, dict) else None
        yield from services if isinstance(services, dict) else ()


TOPIC = "author"
COMMAND = schema
