"""`krm-fn crds`: the definitions of Dynamo's kinds, for an API server.

Not its business: what they say (`krm_fn.generate.crds`).
"""

from __future__ import annotations

import click


@click.command()
def crds() -> None:
    """Print the CustomResourceDefinitions of Dynamo's kinds.

    They check types, unknown fields and most rules when a resource is written, without a webhook, and need Kubernetes 1.29 or
    newer. Take them instead of those of the Dynamo operator, not beside them: the names are the same.

    \b
      krm-fn crds | kubectl apply -f -
    """  # noqa: D301 - click reads the backspace
    from krm_fn.generate import crds as definitions  # noqa: PLC0415 - pydantic is slow to import, and --help imports this file
    from krm_fn.yamlio import emitter  # noqa: PLC0415

    click.echo("---\n".join(emitter.text(definition) for definition in definitions.definitions()).encode(), nl=False)


COMMAND = crds
