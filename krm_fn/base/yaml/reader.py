"""Reads the documents of a text in YAML or JSON, with a finding for every error.

Keys are strings. Values are the values that the API server sees (`krm_fn.base.yaml.scalars`).
"""

from __future__ import annotations

import re
from functools import partial

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import libyaml, scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, TypeVar

    from yaml.error import MarkedYAMLError

    from krm_fn.base.results import Result
    from krm_fn.base.yaml.builder import Builder

    T = TypeVar("T")

BROKEN_DOCUMENTS = 20

_MARKER = r"(?m)^---(?=\s|$)"  # compiled where it is used: only behind a broken document

_TOO_DEEP = "maximum nesting depth"
"""A part of the message of libyaml, from 0.2.6 on, for a text that is deeper than its own limit of 1,000 levels."""
_ADVICE = {
    "mapping values are not allowed": "put text that contains a colon and a space in quotes",
    "could not find expected ':'": "write `key: value`, put text that goes over several lines in quotes, or correct the indentation",
    "did not find expected key": "correct this line, or the one above it",
    "did not find expected '-' indicator": "correct this line, or the one above it",
    "found unexpected end of stream": "close the quote",
    "did not find expected ','": "close the bracket or the brace, or put a comma between its entries",
    "did not find expected node content": "close the bracket or the brace",
    "did not find expected <document start>": "put a line `---` between two documents, or correct the indentation",
    "unknown escape character": "use single quotes, in which a backslash is an ordinary character",
    "found undefined tag handle": "remove the tag",
}


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
        return "", [results.error(codes.TEXT_NOT_UTF8, message, file=file, line=line, column=column)]


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
    libyaml.prepare()
    from yaml.error import YAMLError  # noqa: PLC0415 - a ResourceList in block style is read without PyYAML

    from krm_fn.base.yaml import builder  # noqa: PLC0415 - as above

    findings: list[Result] = []
    try:
        return take(builder.Builder(text, findings, file, lines, literal)), findings
    except builder.Broken as broken:
        findings.append(broken.result)
    except (YAMLError, UnicodeEncodeError) as problem:
        findings.append(_syntax_error(problem, text, file, lines))
    return None, findings


def json_value(text: str) -> Any:
    """Returns the value of a JSON text, ten times as fast as the YAML parser.

    None for any difficulty (not JSON, a duplicate key, too deep): the YAML parser then gives the same value, or a finding with a place.
    """
    if not text.removeprefix("\ufeff").lstrip().startswith(("{", "[")):
        return None
    import json  # noqa: PLC0415 - orchestrators write YAML

    libyaml.prepare()
    from krm_fn.base.yaml import builder  # noqa: PLC0415 - as above

    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_unique,
            parse_int=scalars.integer,
            parse_float=scalars.decimal,
            parse_constant=_refuse_constant,
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


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _encodable(text: str, value: Any) -> bool:
    """False if a string holds half of a surrogate pair, which only an escape can produce."""
    import json  # noqa: PLC0415 - see above

    try:
        return "\\u" not in text or bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def _syntax_error(problem: Exception, text: str, file: str, lines: int) -> Result:
    """Returns the finding for an exception of the parser. `lines` is the number of lines before the text in its file."""
    from yaml.error import MarkedYAMLError  # noqa: PLC0415 - see `attempt`

    from krm_fn.base.yaml import builder  # noqa: PLC0415 - see `attempt`

    if isinstance(problem, MarkedYAMLError) and problem.problem_mark:
        mark = problem.problem_mark
        if "unexpected end of stream" in str(problem.problem) and problem.context_mark:
            mark = problem.context_mark
        location: dict[str, Any] = {"file": file, "line": lines + mark.line + 1, "column": mark.column + 1}
        if _TOO_DEEP in str(problem.problem):
            return results.error(codes.YAML_TOO_DEEP, builder.TOO_DEEP, **location)
        from krm_fn.base.yaml import syntax_causes  # noqa: PLC0415 - only a finding needs it

        if cause := syntax_causes.find(str(problem.problem), text, problem.problem_mark.index, lines):
            line, column = _line_and_column(text, cause.offset)
            return results.error(codes.INVALID_YAML, cause.message, file=file, line=lines + line, column=column)
        return results.error(codes.INVALID_YAML, _syntax_message(problem, text, lines), **location)
    character = getattr(problem, "character", None)
    if isinstance(character, int):  # a ReaderError; its class depends on the loaded part of PyYAML
        return _forbidden(text, text.find(chr(character)), file, lines)
    if isinstance(problem, UnicodeEncodeError):
        return _forbidden(text, problem.start, file, lines)
    return results.error(codes.INVALID_YAML, f"{problem}; correct the text", file=file)


def _forbidden(text: str, offset: int, file: str, lines: int) -> Result:
    line, column = _line_and_column(text, offset)
    message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML; remove it, or write it as an escape in double quotes"
    return results.error(codes.INVALID_YAML_CHARACTER, message, file=file, line=lines + line, column=column)


def _syntax_message(problem: MarkedYAMLError, text: str, lines: int) -> str:
    what = str(problem.problem)
    if "cannot start any token" in what:
        return _no_token(text[problem.problem_mark.index : problem.problem_mark.index + 1] if problem.problem_mark else "")
    since = (
        f" {problem.context} that begins on line {lines + problem.context_mark.line + 1}"
        if problem.context and problem.context_mark
        else ""
    )
    advice = next((words for start, words in _ADVICE.items() if start in what), "correct the line")
    return f"{what}{since}; {advice}"


def _no_token(character: str) -> str:
    if character == "\t":
        return "a tab is used for indentation, where YAML allows only spaces; indent with spaces"
    return f"unquoted text cannot begin with {character}; put it in quotes"


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Returns line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
