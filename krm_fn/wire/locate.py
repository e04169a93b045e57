"""Where in a text a field stands.

Not its business: values. A text is read again for this, which is only worth it when there is something to say about it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent

from krm_fn.wire import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.results import Path

_OPENING = (MappingStartEvent, SequenceStartEvent)
_CLOSING = (MappingEndEvent, SequenceEndEvent)


def position(text: str, path: Path) -> tuple[int, int]:
    r"""Line and column, both from 1, of a field in the first document of a text: those of its key, or of an entry of a list.

    Where the text has no such field (it is missing, or comes from an alias) they are those of its nearest ancestor.

    >>> position("a:\n  b: [x, y]\n", ("a", "b", 1))
    (2, 10)
    """
    walk = _Walk()
    with suppress(yaml.YAMLError, UnicodeEncodeError):
        walk.along(stream.events(text.removeprefix("\ufeff")), path)
    return walk.line, walk.column


class _Walk:
    """The way down a path; it stands where the last step led."""

    line = 1
    column = 1

    def along(self, following: Callable[[], Any], path: Path) -> None:
        """Goes as far down the path as there is something."""
        while type(event := following()) not in (ScalarEvent, StreamEndEvent, *_OPENING):
            pass
        self._at(event)
        for step in path:
            event = self._step(following, event, step)
            if event is None:
                return

    def _step(self, following: Callable[[], Any], event: Any, step: str | int) -> Any:
        """The event that begins the value of a key or entry, or None where there is none."""
        if type(event) is MappingStartEvent and isinstance(step, str):
            return self._entry(following, step)
        if type(event) is SequenceStartEvent and isinstance(step, int):
            return self._element(following, step)
        return None

    def _entry(self, following: Callable[[], Any], step: str) -> Any:
        while type(key := following()) is not MappingEndEvent:
            if type(key) is ScalarEvent and key.value == step:
                self._at(key)
                return following()
            _skip(following, key)
            _skip(following, following())
        return None

    def _element(self, following: Callable[[], Any], step: int) -> Any:
        while type(event := following()) is not SequenceEndEvent:
            if step == 0:
                self._at(event)
                return event
            step -= 1
            _skip(following, event)
        return None

    def _at(self, event: Any) -> None:
        self.line, self.column = event.start_mark.line + 1, event.start_mark.column + 1


def _skip(following: Callable[[], Any], event: Any) -> None:
    """Passes over the value that an event begins."""
    depth = 0
    while True:
        depth += (type(event) in _OPENING) - (type(event) in _CLOSING)
        if depth == 0:
            return
        event = following()
