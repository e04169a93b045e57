"""`krm-fn crds`: the CustomResourceDefinitions of Dynamo's kinds. `krm_fn.generate.crds` makes them."""

from __future__ import annotations

import click

from krm_fn.cli import _output


@click.command()
@click.option(
    "--served",
    type=click.Choice(["v1alpha1", "v1beta1"]),
    default="v1alpha1",
    show_default=True,
    help="The version that the API server serves and stores.",
)
@click.option(
    "-o", "--output", "style", type=click.Choice(_output.FORMATS), default="yaml", help="Format; yaml by default, json is one List."
)
def crds(served: str, style: str) -> None:
    """Print the CustomResourceDefinitions of Dynamo's kinds.

    The API server then checks types, unknown fields and most rules without a webhook. They need Kubernetes 1.30 or newer and replace
    those of the Dynamo operator, which have the same names.

    They serve one version and list the other one without serving it. Two served versions would need a conversion webhook: without one,
    the API server drops the fields that the other version does not have. krm-fn converts before the cluster: krm-fn convert.

    \b
      krm-fn crds | kubectl apply -f -
      krm-fn crds --served v1beta1 | kubectl apply -f -
    """  # noqa: D301 - click reads the backspace
    from krm_fn.generate import crds as definitions  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file

    _output.write(_output.resources(definitions.definitions(served), style))


COMMAND = crds
