"""`krm-fn comment`: writes a text as the one comment on the pull request of a CI job. The work is in `krm_fn.cli.comments`."""

from __future__ import annotations

import os
import re

import click

from krm_fn.cli import command_output, comments
from krm_fn.repository.files import reading

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def _check_name(_ctx: click.Context, _param: click.Parameter, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not a name of letters, digits, dots and dashes.")
    return name


@click.command()
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--name",
    metavar="NAME",
    default="diff",
    callback=_check_name,
    help="The name of the comment, if a pull request has several. The default is diff.",
)
@click.option("--existing", is_flag=True, help="Only replace an existing comment. Do not write a new one.")
def comment(*, path: str, name: str, existing: bool) -> None:
    """Write FILE as the comment on a pull request.

    FILE is a Markdown file or stdin (-). The command replaces an earlier comment with the same name, so that a pull request has one comment
    for each name.

    In GitHub Actions, set the environment variable GITHUB_TOKEN, and give the job the permission pull-requests: write. In GitLab CI, set
    GITLAB_TOKEN. The CI system sets all other variables.

    Exit codes: 0 the comment is written, or --existing finds no earlier comment; 1 errors; 2 wrong usage.

    \b
      krm-fn diff --old "$BASE" --format markdown graphs/ > comment.md
      krm-fn comment comment.md
    """  # noqa: D301 - click reads the backspace
    try:
        text = reading.data(path).decode(errors="replace")
        if not text.strip():
            raise click.ClickException("the text is empty, so no comment is written")
        outcome, address = comments.write(text, name, os.environ, existing=existing)
    except (reading.UnreadableError, comments.ForgeError) as problem:
        raise click.ClickException(str(problem)) from problem
    command_output.print_line(f"comment {outcome}{f': {address}' if address else ''}")


TOPIC = "review"
COMMAND = comment
