"""`krm-fn prune`: removes generated objects whose graph was renamed or removed. The rules are in `krm_fn.repository.files.pruning`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from krm_fn.base import codes, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.repository.files import pruning, reading
from krm_fn.repository.files.reading import Source
from krm_fn.repository.states import RootFiles
from krm_fn.review.inputs import Inputs, repository_states


@click.command()
@partial(command_options.inputs, builds=False)
@click.option("--dry-run", is_flag=True, help="List the objects, and remove nothing.")
@click.pass_context
def prune(ctx: click.Context, *, given: Inputs, dry_run: bool) -> None:
    """Remove generated objects whose graph is gone.

    PATH is a file or a folder, for example a kpt package after a graph in it was renamed or removed. The default is the current folder.
    krm-fn reads the files as they are, because it changes them. It removes the objects that
    carry both of its marks, the label and the annotation of the owner, if none of their owners is among the files. It removes no other
    object and no Dynamo resource that you wrote, and lists what it removes.

    An object that a Kustomization of the folder renders stays. krm-fn removes nothing if a file cannot be read, if a Kustomization cannot
    be built, or if the files have no Dynamo resource: then the owners may be elsewhere.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn prune --dry-run package/
      krm-fn prune package/
    """  # noqa: D301 - click reads the backspace
    if reading.STDIN in given.paths:
        raise click.UsageError("krm-fn prune reads files and folders, not stdin")
    loaded = given.load()
    builds = [root for path in repository_states.folders(given._replace(is_built=True)) for root in _builds(path, given)]
    built = [source for root in builds for source in root.sources.resources]
    orphans = pruning.find(loaded.resources, loaded.default_namespace, built)
    errors = results.errors_of(loaded.locate(()))
    if orphans.files:
        unbuilt = [finding for root in builds if not root.is_known for finding in root.sources.results]
        errors += results.errors_of(unbuilt)
    if orphans.files and not orphans.graphs:
        message = "no Dynamo resource is among the files, so the owners of these objects may be elsewhere; name the folder with the graphs"
        errors.append(results.error(codes.OWNERS_NOT_IN_FILES, message, file=next(iter(orphans.files))))
    if errors:
        finding_formats.print_text(loaded.resources, errors)
        command_output.print_line("nothing is removed", err=True)
        ctx.exit(1)
    texts = {file: _text(file, objects) for file, objects in orphans.files.items()}
    for file, objects in orphans.files.items():
        if not dry_run:
            _remove(file, texts[file])
        for source in objects:
            command_output.print_line(f"{'would remove' if dry_run else 'removed'} {_name(source)} from {file}")
    if not orphans.files:
        command_output.print_line("every generated object has its owner; nothing to remove", err=True)


def _builds(path: str, given: Inputs) -> list[RootFiles]:
    """Returns the Kustomizations of a folder. kpt renders in place, so the objects of a package are in its files."""
    return [root for root in repository_states.read(path, given, None).new.roots if root.root.kind == "kustomize"]


def _text(file: str, objects: Sequence[Source]) -> str:
    """Returns the new text of a file. Raises click.ClickException if the file cannot be changed."""
    if Path(file).is_symlink():
        raise click.ClickException(f"{file} is a link; nothing is removed. Name its target")
    try:
        return pruning.without(file, objects)
    except ValueError as problem:
        raise click.ClickException(f"{file}: {problem}; nothing is removed. Remove the objects by hand") from problem


def _remove(file: str, text: str) -> None:
    try:
        pruning.remove(file, text)
    except OSError as problem:
        raise click.ClickException(f"cannot change {file}: {problem.strerror}") from problem


def _name(source: Source) -> str:
    address = source.address
    return f"{address.kind} {address.namespace}{'/' * bool(address.namespace)}{address.name}"


TOPIC = "operate"
COMMAND = prune
