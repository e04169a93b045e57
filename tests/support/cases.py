"""Tables of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def cases(names: str | Sequence[str], rows: Iterable[Sequence[Any]]) -> pytest.MarkDecorator:
    """Runs a test once for each row of a table. The first column has the reason of the row, which becomes the name of the case.

    `names` are the arguments of the other columns. If there is a name for each column, the first one is an argument too.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    rows = list(rows)
    values = [row if len(row) == len(names) else row[1 : 1 + len(names)] for row in rows]
    return pytest.mark.parametrize(names, values, ids=[row[0] for row in rows])
