"""The extra `sync`: packages that only the verbs need that speak to a cluster."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGES = ("aiohttp", "prometheus_client")


@contextlib.contextmanager
def needed(verb: str) -> Iterator[None]:
    """Around imports of `krm_fn.sync`: ends the program with code 2 and the command that installs the extra, if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in _PACKAGES:
            raise
        click.echo(f"error: krm-fn {verb} needs more packages; run: pip install 'dynamo-krm-fn[sync]'", err=True)
        sys.exit(2)
