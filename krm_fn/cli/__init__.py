"""The commands people type: a file here is a verb, its `COMMAND` is what click runs.

Not its business: being a KRM function, which `krm-fn` without arguments is and which imports nothing from here. The verbs are thin:
they load, call the core and print.
"""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

import click

import krm_fn
from krm_fn import registry

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "krm-fn"
COMPLETE_VARIABLE = "_KRM_FN_COMPLETE"


class _Verbs(click.Group):
    """The files of this folder; only the one that runs is imported, and `--help` imports all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(registry.entries(sys.modules[__name__]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = registry.get(sys.modules[__name__], cmd_name).COMMAND
        return command


@click.group(cls=_Verbs, invoke_without_command=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(krm_fn.__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def group() -> None:
    """Turn NVIDIA Dynamo graphs into the native Kubernetes objects they stand for.

    Without a command, krm-fn is a KRM function: it reads a ResourceList on stdin and writes one to stdout, for
    kustomize, kpt and whatever else speaks the KRM Functions Specification. A graph becomes Deployments,
    Services, ServiceAccounts, Ingresses and so on, the same that the Dynamo operator would have made; every
    other item passes through as it came.

    \b
    In kustomize, list it in the outermost layer that sets a namespace or a name prefix:
      # kustomization.yaml
      namespace: prod
      resources: [graph.yaml]
      transformers: [render.yaml]
    \b
      # render.yaml
      apiVersion: dynamo.krm-fn.io/v1alpha1
      kind: DynamoRender
      metadata:
        name: render
        annotations:
          config.kubernetes.io/function: |
            exec: {path: krm-fn}
      spec:
        orchestrator: deployment
    \b
      kustomize build --enable-alpha-plugins --enable-exec .
    \b
    In kpt:
      kpt fn eval PACKAGE --exec krm-fn -- natsAddress=nats://nats:4222
    \b
    Without either:
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn check graph.yaml
    """  # noqa: D301 - click reads the backspace


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one verb and exit: 0, 1 where a finding is an error, 2 on wrong usage. A mistake of our own is an error too."""
    try:
        group.main(args=arguments, prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE)
    except Exception as problem:  # noqa: BLE001 - whatever it is, people get a sentence
        place = traceback.extract_tb(problem.__traceback__)[-1]
        said = f"{type(problem).__name__}: {problem} ({place.name}, line {place.lineno})"
        advice = f"this is a mistake in {PROGRAM} {krm_fn.__version__}, please report it with the input"
        click.echo(f"error DYN019 {said}; {advice}", err=True)
        sys.exit(1)
