"""`krm-fn crds`: the CustomResourceDefinitions of Dynamo's kinds (`krm_fn.schemas.generate.crds`)."""

from __future__ import annotations

import click

from krm_fn.cli import command_options, command_output

_DEFAULT = "v1alpha1"
_EXCHANGE = f"""\
warning: an API server serves one version. If your cluster serves {_DEFAULT}, applying these definitions takes that version away.
Exchange it in this order (docs/upgrades.md, "Exchange the served version"):
  1. Convert the graphs in Git with krm-fn convert, and render them again.
  2. Suspend Argo CD or Flux, stop the syncer, and copy the resources: kubectl get dgd,dcd,dgdr,dgdsa -A -o yaml > before.yaml
  3. Apply these definitions, and then: krm-fn convert before.yaml | kubectl replace -f -
  4. Apply the converted resources, and start the syncer.
A cluster without Dynamo's resources needs only the definitions."""


@click.command()
@click.option(
    "--served",
    type=click.Choice(["v1alpha1", "v1beta1"]),
    default=_DEFAULT,
    show_default=True,
    help="The version that the API server serves and stores.",
)
@command_options.output_format()
def crds(served: str, style: str) -> None:
    """Print the CustomResourceDefinitions of Dynamo's kinds.

    With these definitions, the API server checks types, unknown fields and most rules without a webhook. They need Kubernetes 1.30 or
    newer. They have the same names as the definitions of the Dynamo operator and replace them.

    The definitions list both versions and serve one of them. Two served versions would need a conversion webhook, because without it the
    API server drops the fields that the other version does not have. Convert resources with krm-fn convert before you apply them.

    The definition of requests does not have v1beta2 of Dynamo 1.7. In a cluster with such requests, keep the definition of Dynamo 1.7: this
    one would take v1beta2 away. krm-fn needs --live and krm-fn upgrade say whether a cluster serves it.

    \b
      krm-fn crds | kubectl apply -f -
      krm-fn crds --served v1beta1 | kubectl apply -f -
    """  # noqa: D301 - click reads the backspace
    with command_options.needed_packages("crds", command_options.MODEL_PACKAGES):
        from krm_fn.schemas.generate import crds as definitions  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file

    command_output.write(command_output.resources(definitions.definitions(served), style), style)
    if served != _DEFAULT:
        command_output.write(_EXCHANGE, err=True)


TOPIC = "operate"
COMMAND = crds
