"""`krm-fn explain`: the page of a finding's code, without a browser. The texts are in `krm_fn.codes.pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from krm_fn import codes
from krm_fn.cli import _options, _output
from krm_fn.codes import pages

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _completed(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str | CompletionItem]:
    return [each for each in codes.TITLES if each.startswith(begun.upper())]


@click.command()
@click.argument("topic", metavar="CODE", shell_complete=_completed)
def explain(topic: str) -> None:
    """Explain the code of a finding and how to fix it.

    \b
      krm-fn explain DYN021
    """  # noqa: D301 - click reads the backspace
    _output.write(pages.markdown(_options.code(topic)))


COMMAND = explain
