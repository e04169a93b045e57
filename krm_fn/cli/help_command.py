"""`krm-fn help`: explains a command, a topic of commands, or the function in kustomize and kpt."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from krm_fn import cli
from krm_fn.base import spelling
from krm_fn.cli import command_output

_KUSTOMIZE = """\
krm-fn in kustomize. Add it to the outermost layer that sets a namespace or a name prefix:

  # kustomization.yaml
  namespace: prod
  resources: [graph.yaml]
  transformers: [render.yaml]

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

  kustomize build --enable-alpha-plugins --enable-exec .

Without --enable-exec, kustomize silently skips the function.
"""
_KPT = """\
krm-fn in kpt. Run it once, or add it to the pipeline of a package:

  kpt fn eval PACKAGE --exec krm-fn -- natsAddress=nats://nats:4222

  # Kptfile
  pipeline:
    mutators:
    - exec: krm-fn
      configPath: render.yaml

  kpt fn render PACKAGE --allow-exec
"""
_PAGES = {"kustomize": _KUSTOMIZE, "kpt": _KPT}


def _complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _names(ctx) if name.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, metavar="[TOPIC]", shell_complete=_complete)
@click.pass_context
def explain_topic(ctx: click.Context, topic: str | None) -> None:
    """Explain a command, a topic, or the function in kustomize.

    TOPIC is a command, or one of author, review, operate, migrate, program, kustomize and kpt.

    \b
      krm-fn help review
      krm-fn help kustomize
      krm-fn help diff
    """  # noqa: D301 - click reads the backspace
    root = ctx.find_root()
    if topic is None:
        command_output.write(root.get_help() + "\n")
    elif topic in _PAGES:
        command_output.write(_PAGES[topic])
    elif topic in cli.TOPICS:
        command_output.write(_page(topic))
    elif command := cli.group.get_command(root, topic):
        with click.Context(command, info_name=topic, parent=root) as context:
            command_output.write(command.get_help(context) + "\n")
    else:
        near = spelling.nearest(topic, _names(ctx))
        raise click.UsageError(
            f"there is no topic {topic!r}" + (f"; did you mean {near!r}?" if near else f"; write one of {', '.join(_names(ctx))}")
        )


def _names(ctx: click.Context) -> list[str]:
    return [*cli.TOPICS, *_PAGES, *cli.group.list_commands(ctx)]


def _page(topic: str) -> str:
    """Returns the commands of a topic with the whole first sentence of each."""
    commands = cli.summaries_of(topic)
    width = max(len(name) for name, _ in commands)
    lines = [f"  krm-fn {name:{width}}  {summary.text(1000)}" for name, summary in commands]
    return "\n".join([f"{cli.TOPICS[topic]}:", "", *lines, "", "krm-fn help COMMAND shows the options of a command and examples.", ""])


TOPIC = "program"
COMMAND = explain_topic
