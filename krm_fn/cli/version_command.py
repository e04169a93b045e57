"""`krm-fn version`: the version of krm-fn, and the versions of what it knows."""

from __future__ import annotations

import click

import krm_fn
from krm_fn import cli
from krm_fn.cli import command_options, command_output
from krm_fn.render import dynamo_api
from krm_fn.render.resolve import release_choice


@click.command()
@command_options.output_format(default=None, text="The format. The default is a text.")
def version(style: str | None) -> None:
    """Print the version, and the operator releases that it knows.

    \b
      krm-fn version -o json
    """  # noqa: D301 - click reads the backspace
    known = {
        "version": krm_fn.__version__,
        "releases": [*release_choice.RELEASES],
        "apiVersions": [f"{dynamo_api.GROUP}/{version}" for version in (dynamo_api.ALPHA1, dynamo_api.BETA1)],
    }
    text = f"{cli.PROGRAM} {known['version']}\nreleases: {', '.join(known['releases'])}\nAPI versions: {', '.join(known['apiVersions'])}\n"
    command_output.write(command_output.value(known, style) if style else text, style or "text")


TOPIC = "program"
COMMAND = version
