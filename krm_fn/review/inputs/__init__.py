"""Loads what a command reads: files, roots of repositories, builds, revisions and exports of a cluster, in one state or in two.

`path_inputs` has the rule for the paths of a command. `compared_states` loads two states of plain files, `compared_roots` those of roots.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.render.rules import ignore_rules
from krm_fn.repository.build_cache import BuildCache
from krm_fn.repository.files import project_file, selection, sources
from krm_fn.repository.files.project_file import Project
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.tree import KPTFILE


class InputError(Exception):
    """The user named an input that cannot be used.

    `option` is the option that names it, such as `--old`; empty for a path, and None if several arguments do not fit together.
    """

    def __init__(self, message: str, option: str | None = "") -> None:
        super().__init__(message)
        self.option = option


class Inputs(NamedTuple):
    """The paths to read, and settings that override the configuration.

    `default_config` is the file with the configuration of files that have none: that of the project file, or one above the folder. Unless
    `is_built`, folders are read as plain files. `texts` are texts of files, by their names in findings, in place of those on disk.
    `cache` has builds of other runs.
    """

    paths: tuple[str, ...]
    config: str | None
    namespace: str | None
    exclude: tuple[str, ...] = ()
    default_config: str | None = None
    project: Project = Project()
    is_built: bool = True
    texts: Mapping[str, str] = {}
    cache: BuildCache | None = None

    def load(self, without: Path | None = None, *, tolerant: bool = False) -> Sources:
        """Reads the paths, except the folder `without`. `tolerant`: ignores mistakes in files of folders that name no Dynamo kind."""
        return sources.load(
            self.paths,
            self.config,
            without,
            self.exclude,
            namespace=self.namespace or "",
            tolerant=tolerant,
            default=self.default_config,
            texts=self.texts,
        )

    def of_path(self, path: str) -> Inputs:
        """Returns the inputs for one of several paths, each with its own default configuration."""
        return self._replace(paths=(path,), default_config=self.project.config or project_file.configuration_above(path))


class Policy(NamedTuple):
    """The findings that a command shows, and those with which it fails: the options --ignore, --strict and --quiet."""

    ignored: frozenset[str] = frozenset()
    strict: bool = False
    quiet: bool = False

    def without_ignored(self, findings: Iterable[Result], resources: Sequence[Resource]) -> list[Result]:
        """Returns the findings without ignored warnings and notes. Errors cannot be ignored."""
        return ignore_rules.apply(findings, resources, self.ignored)

    def failing(self, findings: Iterable[Result]) -> list[Result]:
        """Findings of the severities with which the command fails: errors, and with --strict also warnings."""
        severities = ("error", "warning") if self.strict else ("error",)
        return [result for result in findings if result.severity in severities]

    def visible_findings(self, findings: list[Result]) -> list[Result]:
        """Findings to print: with --quiet, only those that make the command fail."""
        return self.failing(findings) if self.quiet else findings


def revision_path(path: str) -> tuple[str, str] | None:
    """Returns the revision and the path in it, from the top of the repository; None for a path on disk.

    >>> revision_path("main:apps/prod"), revision_path("main:"), revision_path("apps/prod")
    (('main', 'apps/prod'), ('main', '.'), None)
    """
    revision, colon, name = path.partition(":")
    if not revision or not colon or os.path.lexists(path):
        return None
    return revision, os.path.normpath(name or ".")


def folder_of_root(path: str) -> str:
    """Returns the folder of a file that makes it a root, such as `prod/kustomization.yaml`; any other path as it is."""
    is_root = os.path.basename(path) in (*selection.KUSTOMIZATIONS, KPTFILE) and os.path.isfile(path)  # noqa: PTH113, PTH119
    return os.path.dirname(path) or "." if is_root else path  # noqa: PTH120
