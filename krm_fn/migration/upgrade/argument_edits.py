"""The edits of command lines in one step of an upgrade: a flag that has another name in the new release.

`krm_fn.review.arguments.tables` names the replacement of each removed flag, with its source. Only a flag with the same values is edited, in
a plain list of arguments. The findings about command lines name all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.version import Version
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render.resolve import runtime_version
from krm_fn.review.arguments import command_line_parser, engine_commands, flag_tables
from krm_fn.review.arguments.command_line_parser import Use
from krm_fn.review.arguments.engine_commands import EngineCommand
from krm_fn.review.arguments.flag_tables import FlagTable

_NAME = re.compile(r"--[a-z0-9-]+")


def of_resource(resource: Resource, step: UpgradeStep) -> Iterator[FieldEdit]:
    """Yields the edits of the containers whose images the step moves to a newer release. Fields may have wrong types."""
    for image in runtime_version.images(resource) if not step.is_downgrade else ():
        container = paths.at(resource, image.path[:-1])
        if isinstance(container, dict) and image.version and step.changes_version(image.version):
            for command in engine_commands.read(container)[0]:
                yield from _of_command(command, container, image.path[:-1], image.version, step)


def _of_command(command: EngineCommand, container: Mapping[str, Any], at: Path, version: Version, step: UpgradeStep) -> Iterator[FieldEdit]:
    old, new = (flag_tables.of_version(command.program, runtime) for runtime in (version, step.runtime))
    if old is None or new is None:
        return
    for use in command_line_parser.parse(command.words, old, command.start).uses:
        item = container[use.word.field][use.word.item]
        if item == use.word.text and item.partition("=")[0] == use.option and (name := _renamed(use, old, new)):
            yield FieldEdit((*at, use.word.field, use.word.item), item, name + item.removeprefix(use.option), "image")


def _renamed(use: Use, old: FlagTable, new: FlagTable) -> str:
    """Returns the new name of a flag with the same values; empty if it has no other name, or if its values are others."""
    replacement = new.replacements.get(use.option)
    if use.option in new.flags or use.option not in old.flags or replacement is None or not _NAME.fullmatch(replacement.write):
        return ""
    flag = new.flags.get(replacement.write)
    is_same = flag is not None and (flag.values, flag.type, flag.action) == (use.flag.values, use.flag.type, use.flag.action)
    accepts = flag is not None and (not flag.choices or use.text in flag.choices)
    return replacement.write if is_same and accepts and not use.is_negated else ""
