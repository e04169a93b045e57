"""Turns errors of the YAML parser into findings with a fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yaml.error import MarkedYAMLError

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.results import Result

_ADVICE = {
    "mapping values are not allowed": "put text that contains a colon and a space in quotes, or correct the indentation",
    "could not find expected ':'": "write `key: value`, put text that goes over several lines in quotes, or correct the indentation",
    "did not find expected key": "give the line the indentation of its neighbours, and look for a quote that ends too early above it",
    "did not find expected '-' indicator": "give the line the indentation of its neighbours",
    "found unexpected end of stream": "close the quote",
    "did not find expected ','": "close the bracket or the brace, or put a comma between its entries",
    "did not find expected node content": "close the bracket or the brace",
    "did not find expected <document start>": "put a line `---` between two documents, or correct the indentation",
    "unknown escape character": "use single quotes, in which a backslash is an ordinary character",
    "found undefined tag handle": "remove the tag",
}


def finding(problem: Exception, text: str, file: str, lines: int) -> Result:
    """Returns the finding for an exception of the parser. `lines` is the number of lines before the text in its file."""
    if isinstance(problem, MarkedYAMLError) and problem.problem_mark:
        mark = problem.problem_mark
        if "unexpected end of stream" in str(problem.problem) and problem.context_mark:
            mark = problem.context_mark
        return results.error("DYN004", _message(problem, text, lines), file=file, line=lines + mark.line + 1, column=mark.column + 1)
    character = getattr(problem, "character", None)
    if isinstance(character, int):  # a ReaderError; its class depends on the loaded part of PyYAML
        return _forbidden(text, text.find(chr(character)), file, lines)
    if isinstance(problem, UnicodeEncodeError):
        return _forbidden(text, problem.start, file, lines)
    return results.error("DYN004", f"{problem}; correct the text", file=file)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Returns line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _forbidden(text: str, offset: int, file: str, lines: int) -> Result:
    line, column = line_and_column(text, offset)
    message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML; remove it, or write it as an escape in double quotes"
    return results.error("DYN003", message, file=file, line=lines + line, column=column)


def _message(problem: MarkedYAMLError, text: str, lines: int) -> str:
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
