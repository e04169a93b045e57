"""Reads the documents of a text in YAML or JSON, with a finding for every error.

Keys are strings. Values are the values that the API server sees (`krm_fn.yamlio.scalars`).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from yaml.error import YAMLError

from krm_fn import results
from krm_fn.records import NamedTuple
from krm_fn.yamlio import builder, scalars, syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from krm_fn.results import Result
    from krm_fn.yamlio.builder import Builder

BROKEN_DOCUMENTS = 20
T = TypeVar("T")

_MARKER = r"(?m)^---(?=\s|$)"  # compiled where it is used: only behind a broken document


class Document(NamedTuple):
    """One document of a text. `number` counts from 0; `start` and `end` are offsets of whole lines, `line` is the line of `start`."""

    value: Any
    file: str
    number: int
    line: int
    start: int
    end: int


def decode(data: bytes, file: str = "") -> tuple[str, list[Result]]:
    """Decodes UTF-8 and removes a byte order mark. The error for other bytes names the place of the first invalid byte."""
    try:
        return data.decode().removeprefix("\ufeff"), []
    except UnicodeDecodeError as problem:
        start = data.rfind(b"\n", 0, problem.start) + 1
        line, column = data.count(b"\n", 0, start) + 1, len(data[start : problem.start].decode()) + 1
        known = ", and the text looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        message = f"the byte 0x{data[problem.start]:02x} is not UTF-8{known}; save the text as UTF-8"
        return "", [results.error("DYN002", message, file=file, line=line, column=column)]


def read(text: str, file: str = "", literal: Collection[str] = ()) -> tuple[list[Document], list[Result]]:
    """Returns every document that is not empty, and all findings. After an invalid document, reading continues with the next one.

    `file` is the name that findings carry. Unquoted scalars in `literal` are strings. Never raises, whatever the text is.
    """
    if (value := json_value(text)) is not None:
        return [Document(value, file, 0, 1, 0, len(text))], []
    documents: list[Document] = []
    findings: list[Result] = []
    start: int | None = 1 if text.startswith("\ufeff") else 0
    while start is not None and len(findings) < BROKEN_DOCUMENTS:
        rest, lines = text[start:], text.count("\n", 0, start)
        done, wrong = attempt(partial(_documents, documents, file, start, lines), rest, file, lines, literal)
        findings.extend(wrong)
        start = None if done else _next_document(text, start, wrong[-1].line)
    return documents, sorted(findings, key=lambda result: (result.line, result.column))


def attempt(
    take: Callable[[Builder], T], text: str, file: str = "", lines: int = 0, literal: Collection[str] = ()
) -> tuple[T | None, list[Result]]:
    """Returns the value that `take` builds from a text's events, and the findings. The value is None if the text cannot be parsed."""
    findings: list[Result] = []
    try:
        return take(builder.Builder(text, findings, file, lines, literal)), findings
    except builder.Broken as broken:
        findings.append(broken.result)
    except (YAMLError, UnicodeEncodeError) as problem:
        findings.append(syntax.finding(problem, text, file, lines))
    return None, findings


def json_value(text: str) -> Any:
    """Returns the value of a JSON text, ten times as fast as the YAML parser.

    None for any difficulty (not JSON, a duplicate key, too deep): the YAML parser then gives the same value, or a finding with a place.
    """
    if not text.removeprefix("\ufeff").lstrip().startswith(("{", "[")):
        return None
    import json  # noqa: PLC0415 - orchestrators write YAML

    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_unique,
            parse_int=scalars.integer,
            parse_float=scalars.decimal,
            parse_constant=_refused,
        )
    except (ValueError, RecursionError):
        return None
    _, depth = builder.size(value, len(text))
    return value if depth <= builder.DEPTH and _encodable(text, value) else None


def _documents(documents: list[Document], file: str, start: int, lines: int, events: Builder) -> bool:
    """Adds the documents of a text that begins at offset `start`, after `lines` lines of its file."""
    while root := events.begin():
        mark = root.start_mark
        value, end = events.value(root), events.end()
        if value is not None:
            location = lines + mark.line + 1, start + mark.index - mark.column, start + end
            documents.append(Document(value, file, len(documents), *location))
    return True


def _next_document(text: str, start: int, line: int) -> int | None:
    """Returns the offset of the first document marker after a line, or None."""
    lines = 1 + text.count("\n", 0, start)
    for marker in re.compile(_MARKER).finditer(text, start + 1):
        lines += text.count("\n", start, marker.start())
        start = marker.start()
        if lines >= line:
            return start
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError
    return mapping


def _refused(name: str) -> float:
    raise ValueError(name)


def _encodable(text: str, value: Any) -> bool:
    """False if a string holds half of a surrogate pair, which only an escape can produce."""
    import json  # noqa: PLC0415 - see above

    try:
        return "\\u" not in text or bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False
