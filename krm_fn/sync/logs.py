"""The log of the syncer: one line for each record on stderr, as text or as JSON.

A record carries no object, no token and no secret: only names, counts and the server's messages.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TextIO

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
_ROOT = "krm_fn"
_LONGEST = 4096
"""Characters of a message. A server's message can hold a whole object."""


def configure(style: str, level: str, stream: TextIO | None = None) -> None:
    """Sends the records of this package to stderr. `style` is one of `FORMATS`, `level` one of `LEVELS`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if style == "json" else _Text())
    logger = logging.getLogger(_ROOT)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def about(**fields: Any) -> dict[str, Any]:
    """The argument `extra` of a record: the fields that follow its message."""
    return {"fields": fields}


class Once:
    """Remembers what was said, so that a lasting problem is one line in the log."""

    def __init__(self) -> None:
        self._said: set[Hashable] = set()

    def first(self, topic: Hashable) -> bool:
        """True at the first call for a topic, and at the first call after `forget`."""
        if topic in self._said:
            return False
        self._said.add(topic)
        return True

    def forget(self, topic: Hashable) -> bool:
        """Lets the topic be said again. True if it was said."""
        if topic not in self._said:
            return False
        self._said.discard(topic)
        return True


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {key}={_quoted(value)}" for key, value in _fields(record).items())
        return f"{_time(record)} {record.levelname.lower():<7} {_message(record)}{fields}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "message": _message(record), **_fields(record)}
        return json.dumps(line, ensure_ascii=False, default=str)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    text = record.getMessage()
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    if record.exc_info:  # the last lines of a traceback say the most
        cut = f"{cut}\n{logging.Formatter().formatException(record.exc_info)[-_LONGEST:]}"
    return cut.replace("\n", "\\n")


def _quoted(value: Any) -> str:
    text = str(value)
    plain = text and not any(character.isspace() or character in '"=' for character in text)
    return text if plain else json.dumps(text, ensure_ascii=False)
