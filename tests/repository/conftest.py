"""A clone as the current folder, with kustomize and kpt on the PATH."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.repository.clones import Clone

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: Path) -> Clone:
    """An empty repository, which is the current folder."""
    folder = tmp_path / "clone"
    folder.mkdir()
    return Clone(folder, monkeypatch)
