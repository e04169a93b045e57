"""`krm-fn crds`: the CustomResourceDefinitions of Dynamo's kinds. `krm_fn.generate.crds` makes them."""

from __future__ import annotations

import click

from krm_fn.cli import _output


@click.command()
@click.option(
    "-o", "--output", "style", type=click.Choice(_output.FORMATS), default="yaml", help="Format; yaml by default, json is one List."
)
def crds(style: str) -> None:
    """Print the CustomResourceDefinitions of Dynamo's kinds.

    The API server then checks types, unknown fields and most rules without a webhook. They need Kubernetes 1.30 or newer and replace
    those of the Dynamo operator, which have the same names.

    \b
      krm-fn crds | kubectl apply -f -
    """  # noqa: D301 - click reads the backspace
    from krm_fn.generate import crds as definitions  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file

    _output.write(_output.resources(definitions.definitions(), style))


COMMAND = crds
