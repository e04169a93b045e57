"""The edits of command lines in one step of an upgrade: flags with another name, and the transfer of key-value caches by vLLM.

A flag that is an item of a list is edited. In a line for a shell nothing is: the findings of the step name what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource, WordsField
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render.resolve import runtime_version
from krm_fn.review.arguments import command_line_parser, connector_flags, engine_commands, flag_tables, worker_modes
from krm_fn.review.arguments.command_line_parser import ParsedCommand, Use
from krm_fn.review.arguments.engine_commands import EngineCommand
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.shell_words import Word

_FLAG = re.compile(r"(--[a-z0-9-]+)(?: ([a-z0-9_-]+))?")
"""A replacement that is a flag, or a flag with its value."""
_FIELDS: tuple[WordsField, ...] = ("command", "args")
_Items = dict[tuple[WordsField, int], tuple[str, ...]]
"""The items that take the place of items of `command` and `args`."""


class _MovedCommand(NamedTuple):
    """A command line of a container whose image the step moves, as the old release reads it, and the flags of both releases."""

    at: Path
    container: Mapping[str, Any]
    command: EngineCommand
    parsed: ParsedCommand
    old: FlagTable
    new: FlagTable

    @property
    def mode(self) -> str:
        """The mode that the flags of a worker name; `agg` without one, and empty if it is not known."""
        return worker_modes.flagged_mode(self.command.words, self.parsed, self.old, self.container)

    @property
    def loses_connectors(self) -> bool:
        """True if the old release has a connector without a flag, and the new one refuses the flag of connectors."""
        return connector_flags.takes_connectors(self.old) and connector_flags.refuses_connectors(self.new)


def edits(resource: Resource, step: UpgradeStep) -> Iterator[FieldEdit]:
    """Yields the edits of the containers whose images the step moves to a newer release. Fields may have wrong types.

    An edit that changes the number of items is one of the whole list.
    """
    moved = [*_moved_commands(resource, step)] if not step.is_downgrade else []
    has_prefill = any(entry.loses_connectors and entry.mode == worker_modes.PREFILL for entry in moved)
    by_container: dict[Path, tuple[Mapping[str, Any], _Items]] = {}
    for entry in moved:
        _, items = by_container.setdefault(entry.at, (entry.container, {}))
        items |= _renamed_flags(entry)
        if entry.loses_connectors and not entry.command.is_in_shell and entry.parsed.is_complete:
            _move_transfer(entry, items, has_prefill=has_prefill)
    for at, (container, items) in by_container.items():
        for field in _FIELDS:
            of_field = {number: texts for (name, number), texts in items.items() if name == field}
            yield from _of_list((*at, field), container.get(field), of_field)


def _moved_commands(resource: Resource, step: UpgradeStep) -> Iterator[_MovedCommand]:
    for image in runtime_version.images(resource):
        at = image.path[:-1]
        container = paths.at(resource, at)
        if not isinstance(container, dict) or not image.version or not step.changes_version(image.version):
            continue
        for command in engine_commands.read(container).commands:
            old, new = (flag_tables.of_version(command.program, runtime) for runtime in (image.version, step.runtime))
            if old is not None and new is not None:
                parsed = command_line_parser.parse(command.words, old, command.start)
                yield _MovedCommand(at, container, command, parsed, old, new)


def _of_list(at: Path, listed: Any, items: Mapping[int, tuple[str, ...]]) -> Iterator[FieldEdit]:
    """Yields the edits of single items, or one edit of the whole list."""
    if all(len(texts) == 1 for texts in items.values()):
        for number, (text,) in items.items():
            yield FieldEdit((*at, number), listed[number], text, "image")
    else:
        new = [text for number, item in enumerate(listed) for text in items.get(number, (item,))]
        yield FieldEdit(at, listed, new, "image")


def _renamed_flags(entry: _MovedCommand) -> _Items:
    items: _Items = {}
    for use in entry.parsed.uses:
        item = entry.container[use.word.field][use.word.item]
        if item == use.word.text and item.partition("=")[0] == use.option and (names := _replace_flag(use, entry.old, entry.new)):
            items[use.word.field, use.word.item] = (names[0] + item.removeprefix(use.option), *names[1:])
    return items


def _replace_flag(use: Use, old: FlagTable, new: FlagTable) -> tuple[str, ...]:
    """Returns the new name of a flag with the same values, or the flag with the value that says the same; empty if there is none."""
    replacement = new.replacements.get(use.option)
    match = _FLAG.fullmatch(replacement.write) if replacement else None
    if use.option in new.flags or use.option not in old.flags or match is None or use.is_negated:
        return ()
    name, value = match.groups()
    flag = new.flags.get(name)
    if flag is None:
        return ()
    if value is not None:
        return (name, value) if use.flag.values == "0" and flag.values == "1" and value in flag.choices else ()
    is_same = (flag.values, flag.type, flag.action) == (use.flag.values, use.flag.type, use.flag.action)
    return (name,) if is_same and (not flag.choices or use.text in flag.choices) else ()


def _move_transfer(entry: _MovedCommand, items: _Items, *, has_prefill: bool) -> None:
    """Writes the transfer that a worker of vLLM has up to 0.9, by `--connector` or by its default, as later releases read it.

    With `has_prefill`, another worker of the resource sends its cache, so that all workers need the transfer.
    """
    use = entry.parsed.last(entry.old, connector_flags.CONNECTOR)
    transfer = connector_flags.transfer(entry.parsed, entry.old)
    if use is not None:
        _replace_connectors(entry, use, items, has_transfer=transfer is not None)
    elif transfer is None and (entry.mode in (worker_modes.PREFILL, worker_modes.DECODE) or (has_prefill and entry.mode)):
        last = entry.command.words[-1] if entry.command.words else entry.command.start
        before = items.get((last.field, last.item), (entry.container[last.field][last.item],))
        config = connector_flags.default_config(entry.mode, entry.new)
        items[last.field, last.item] = (*before, connector_flags.TRANSFER, config)


def _replace_connectors(entry: _MovedCommand, use: Use, items: _Items, *, has_transfer: bool) -> None:
    """Replaces the names of connectors with their configuration, or removes `--connector none`."""
    connectors = connector_flags.names(use)
    if connectors is None:
        return
    config = connector_flags.config(connectors, entry.mode, entry.new)
    if bool({*connectors}.difference(connector_flags.NONE)) != bool(config) or (config and has_transfer):
        return
    for word in _distinct((use.word, *use.values)):
        items[word.field, word.item] = ()
    if config:
        is_one = "=" in use.word.text
        items[use.word.field, use.word.item] = (f"{connector_flags.TRANSFER}={config}",) if is_one else (connector_flags.TRANSFER, config)


def _distinct(words: Sequence[Word]) -> Iterator[Word]:
    yield from {(word.field, word.item): word for word in words}.values()
