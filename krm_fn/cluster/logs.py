"""The log of the syncer: one line for each record on stderr, as text or as JSON.

A record carries no object, no token and no secret: only names, counts and the server's messages.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Hashable
from time import monotonic
from typing import Any, TextIO

from krm_fn.base import escaping
from krm_fn.cluster import timestamps

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
PERIOD = 60.0
"""Seconds between two lines about a problem that repeats."""
_ROOT = "krm_fn"
_MESSAGE_LIMIT = 4096
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
    """Returns the argument `extra` of a record: the fields that follow its message."""
    return {"fields": fields}


class Once:
    """Remembers logged topics, so that a lasting problem is one line in the log."""

    def __init__(self) -> None:
        self._logged: set[Hashable] = set()

    def first(self, topic: Hashable) -> bool:
        """Returns True at the first call for a topic, and at the first call after `forget`."""
        if topic in self._logged:
            return False
        self._logged.add(topic)
        return True

    def forget(self, topic: Hashable) -> bool:
        """Allows to log the topic again. Returns True if it was logged."""
        if topic not in self._logged:
            return False
        self._logged.discard(topic)
        return True


class Repeated:
    """Counts a problem that happens often, so that it is one line a minute in the log."""

    def __init__(self) -> None:
        self._count = 0
        self._next = 0.0

    def count(self) -> int:
        """Counts one occurrence. Returns the number since the last line, if a line is due now; else 0. The first line is due at once."""
        self._count += 1
        if monotonic() < self._next:
            return 0
        self._next = monotonic() + PERIOD
        count, self._count = self._count, 0
        return count


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {key}={_quote_value(value)}" for key, value in _fields(record).items())
        return f"{_time(record)} {record.levelname.lower():<7} {_message(record)}{fields}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "message": _message(record), **_fields(record)}
        return escaping.json_text(line)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _time(record: logging.LogRecord) -> str:
    return timestamps.millis(record.created)


def _message(record: logging.LogRecord) -> str:
    text = record.getMessage()
    shown = text if len(text) <= _MESSAGE_LIMIT else f"{text[:_MESSAGE_LIMIT]}…"
    if record.exc_info:  # the last lines of a traceback say the most
        shown = f"{shown}\n{logging.Formatter().formatException(record.exc_info)[-_MESSAGE_LIMIT:]}"
    return escaping.visible(shown)


def _quote_value(value: Any) -> str:
    text = str(value)
    is_plain = text and not any(character.isspace() or character in '"=' for character in text)
    return escaping.visible(text) if is_plain else escaping.json_text(text)
