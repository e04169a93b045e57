"""The option `--budget` of two commands. Other commands do not import what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from krm_fn.base import escaping, report
from krm_fn.cli import command_output
from krm_fn.review.inputs import Inputs, budget_files
from krm_fn.review.inputs.budget_files import BudgetFile


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--budget`; the command receives the path as `budget`."""
    text = "The limits for GPUs, a DynamoBudget. Prints the GPUs in use, and fails above a limit."
    return click.option("--budget", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help=text)(command)


def read(path: str | None, given: Inputs) -> BudgetFile | None:
    """Reads the file of `--budget` or of the project file; None without one. An error in it ends the program with code 1."""
    path = path or given.project.budget
    if path is None:
        return None
    limits, findings = budget_files.read(path)
    if findings:
        command_output.write(escaping.join_lines(map(report.entry, findings)), err=True)
        click.get_current_context().exit(1)
    return limits
