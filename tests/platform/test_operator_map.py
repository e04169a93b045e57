"""The page about the operator's settings names existing keys and parts, and all keys."""

from __future__ import annotations

import re

from krm_fn.cli import sync_command
from krm_fn.render import config, operator_config
from tests.platform import pages

PAGE = (pages.DOCS / "operator-map.md").read_text()
SECTIONS = dict(part.partition("\n")[::2] for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:])
FILE = "The file of operators from 1.0 on"
ALONE = "Settings that only krm-fn has"


def rows(text):
    """The cells of every row that names something."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if re.match(r"\| .*`|\| Secrets", line)]


def keys(settings, prefix=""):
    """Every key of the configuration, with dots."""
    for field in settings._fields:
        value, name = getattr(settings, field), prefix + config.key(field)
        yield from keys(value, f"{name}.") if hasattr(value, "_fields") else [name]


def named(text):
    """The texts in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def test_what_changes_objects_is_a_key_or_nothing():
    """Every key in the section exists."""
    cells = [row[-1] for row in rows(SECTIONS["Settings that change the objects"])]
    assert len(cells) > 20
    assert [cell for cell in cells if not cell.startswith(("`", "nothing: "))] == []
    assert [cell for cell in cells if cell.startswith("`") and named(cell)[0] not in {*keys(config.Config())}] == []


def test_what_is_installed_is_a_part_or_is_explained():
    """Another test checks the links of all pages."""
    cells = [row[-1] for row in rows(SECTIONS["Parts of the installation"])]
    assert len(cells) > 12
    assert [cell for cell in cells if "](" not in cell and len(cell.split()) < 4] == []


def test_what_the_syncer_has_is_a_flag_or_a_patch():
    """Every flag in the section exists."""
    flags = {flag for option in sync_command.COMMAND.params for flag in option.opts}
    cells = [row[-1] for row in rows(SECTIONS["Settings of the syncer"])]
    assert len(cells) >= 5
    assert [cell for cell in cells if "platform/syncer" not in cell and not {*named(cell)} <= flags] == []


def test_what_is_not_needed_says_why():
    reasons = [row[-1] for row in rows(SECTIONS["Settings that are not necessary"])]
    assert len(reasons) > 8
    assert [reason for reason in reasons if named(reason) or len(reason.split()) < 4] == []


def test_every_key_of_the_configuration_is_on_the_page():
    assert [key for key in keys(config.Config()) if f"`{key}`" not in PAGE] == []


def test_keys_without_a_counterpart_have_none():
    elsewhere = {key for heading, text in SECTIONS.items() if heading != ALONE for key in named(text)}
    elsewhere -= {".".join(path) for path in operator_config.IGNORED}  # keys of the operator with the same names
    assert {*named(SECTIONS[ALONE])} == {*keys(config.Config())} - elsewhere


def test_the_file_of_an_operator_stands_for_the_keys_on_the_page():
    """The table and the reader of the file agree, key by key, also about the keys that a build ignores."""
    told = {name: row[-1] for row in rows(SECTIONS[FILE]) for name in named(row[0])}
    read = {".".join(path): ".".join(target) for path, target in operator_config.KEYS.items()}
    ignored = {".".join(path) for path in operator_config.IGNORED}
    assert {name: named(cell)[0] for name, cell in told.items() if not cell.startswith("nothing: ")} == read
    assert {name for name, cell in told.items() if cell.startswith("nothing: ")} == {*ignored, "checkpoint"}


def test_no_flag_is_explained_twice():
    flags = [flag for row in rows(PAGE) for flag in named(row[0]) if flag.startswith("--")]
    assert len(flags) > 25
    assert sorted({flag for flag in flags if flags.count(flag) > 1}) == []
