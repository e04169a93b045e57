"""The help texts in docs/commands.md are those of the commands: `make generate` writes them."""

from __future__ import annotations

import help_texts

from krm_fn import cli


def test_the_page_has_the_present_help_texts():
    page = help_texts.PAGE.read_text()
    assert help_texts.text(page) == page


def test_a_changed_help_text_changes_the_page():
    page = help_texts.PAGE.read_text()
    assert help_texts.text(page.replace("Print a completion script", "Draw a completion script")) == page


def test_the_page_has_each_command():
    page = help_texts.PAGE.read_text()
    names = [name for name, command in cli.group.commands.items() if not command.hidden]
    assert [name for name in names if f"\n$ krm-fn {name} --help\n" not in page] == []
