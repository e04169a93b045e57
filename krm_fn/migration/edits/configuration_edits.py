"""Finds the release that a configuration names inside of a Kustomization or of a Kptfile, for the edits of an upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.migration.edits.edit_locations import DocumentEdit
from krm_fn.migration.upgrade import resource_edits
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render import function_config
from krm_fn.repository import kustomizations
from krm_fn.repository.files.reading import Source
from krm_fn.repository.tree import KPTFILE

_PACKAGE_FUNCTIONS: tuple[Path, ...] = tuple(
    ("pipeline", name, paths.EVERY, "configMap", "behaviour") for name in ("mutators", "validators")
)


class ConfigurationEdit(NamedTuple):
    """An edit of a configuration in another document, and the edits of that document; none if the text is not known."""

    edit: FieldEdit
    documents: tuple[DocumentEdit, ...]


def edits(source: Source, step: UpgradeStep) -> Iterator[ConfigurationEdit]:
    """Yields the edits of the configurations that a Kustomization or a Kptfile contains. `source` is the document as it is in its file."""
    for path, written in paths.find(source.value, _PACKAGE_FUNCTIONS) if source.address.kind == KPTFILE else ():
        config, _ = function_config.read({"apiVersion": "v1", "kind": "ConfigMap", "data": {"behaviour": written}})
        new = resource_edits.settings_after(config, step).behaviour
        if new != config.behaviour:
            edit = FieldEdit(path, written, new, "release")
            yield ConfigurationEdit(edit, (DocumentEdit(source, (*source.at, *path), new),))
    for inline in kustomizations.inline_plugins(source.value) if isinstance(source.value, dict) else ():
        if isinstance(inline, dict) and function_config.is_config(results.ref(inline)):
            yield from _inline(source, inline, step)


def _inline(source: Source, inline: dict[str, object], step: UpgradeStep) -> Iterator[ConfigurationEdit]:
    """Yields the edits of a function that is written inside of a Kustomization."""
    config, _ = function_config.read(inline)
    for edit in resource_edits.edits(inline, config, step).fields:
        old, new = (f"{edit.path[-1]}: {value}" for value in (edit.old, edit.new))
        documents = (DocumentEdit(source, (), new, old),) if old in source.text else ()
        yield ConfigurationEdit(edit._replace(path=("transformers", *edit.path)), documents)
