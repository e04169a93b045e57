"""PyYAML's parser in Python, with the rules and messages of libyaml.

PyYAML has two parsers that should be one: its C extension is libyaml, and its Python parser an older copy of the same rules. Where they
differ (tabs, marks of the byte order, colons in brackets, messages), this module follows `src/scanner.c` of libyaml 0.2.6, so that the same
text gives the same values and the same findings with either parser; only messages about `%` directives differ. It is the parser of
WebAssembly, and of installations without libyaml.
"""

from __future__ import annotations

from string import ascii_letters, digits, hexdigits

import yaml
from yaml.error import Mark, MarkedYAMLError
from yaml.scanner import ScannerError
from yaml.tokens import ScalarToken, TagToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BREAKS = "\r\n\x85\u2028\u2029"
_BLANKS = " \t"
_ENDS = "\0" + _BLANKS + _BREAKS
_IN_QUOTES = _ENDS + "'\"\\"
_INDICATORS_IN_BRACKETS = ",[]{}"
_DEEPEST = 1000
_PLAIN = "while scanning a plain scalar"
_BLOCK = "while scanning a block scalar"
_TAG = "while scanning a tag"
_QUOTED = "while parsing a quoted scalar"
_WORD = ascii_letters + digits + "-_"
_URI = _WORD + ";/?:@&=+$.!~*'()%"

_MESSAGES = (
    ("sequence entries are not allowed here", "block sequence entries are not allowed in this context"),
    ("mapping keys are not allowed here", "mapping keys are not allowed in this context"),
    ("mapping values are not allowed here", "mapping values are not allowed in this context"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("expected the node content", "did not find expected node content"),
    ("expected ',' or ']'", "did not find expected ',' or ']'"),
    ("expected ',' or '}'", "did not find expected ',' or '}'"),
    ("expected alphabetic or numeric character", "did not find expected alphabetic or numeric character"),
    ("expected a comment or a line break", "did not find expected comment or line break"),
    ("expected chomping or indentation indicators", "did not find expected comment or line break"),
    ("expected indentation indicator in the range", "found an indentation indicator equal to 0"),
    ("expected URI escape sequence", "did not find URI escaped octet"),
    ("expected URI", "did not find expected tag URI"),
    ("expected '>'", "did not find the expected '>'"),
    ("expected '!'", "did not find expected '!'"),
    ("expected ' '", "did not find expected whitespace or line break"),
    ("found unexpected document separator", "found unexpected document indicator"),
    ("found undefined tag handle", "found undefined tag handle"),
    ("found duplicate YAML directive", "found duplicate %YAML directive"),
    ("duplicate tag handle", "found duplicate %TAG directive"),
    ("found incompatible YAML document", "found incompatible YAML document"),
)
"""The beginnings of PyYAML's messages, and the messages of libyaml."""
_OF_BLOCKS = {
    "while parsing a block collection": "did not find expected '-' indicator",
    "while parsing a block mapping": "did not find expected key",
}


class PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """Reads a text and returns its events."""

    def __init__(self, text: str) -> None:
        if "\ufeff" in text:  # PyYAML's own method does not count these marks as columns
            self.forward = self._forward_with_marks  # type: ignore[method-assign]
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def get_event(self) -> Any:
        """Returns the next event. Raises yaml.error.YAMLError with the message and the position of libyaml."""
        try:
            event: Any = super().get_event()  # type: ignore[no-untyped-call]
        except MarkedYAMLError as problem:
            problem.problem = _message(problem)
            raise
        return event

    def _forward_with_marks(self, length: int = 1) -> None:
        for _ in range(length):
            is_mark = self.peek() == "\ufeff"
            super().forward(1)
            self.column += is_mark

    def scan_line_break(self) -> str:
        """Skips a line break and returns it; an empty text if there is none."""
        return str(super().scan_line_break())  # type: ignore[no-untyped-call]

    def fetch_stream_end(self) -> None:
        """Ends the text. The end is at the beginning of a line, also if the last line has no line break."""
        if self.column:
            self.line, self.column = self.line + 1, 0
        self.stale_possible_simple_keys()  # a key without its colon, outside of brackets that are not closed
        super().fetch_stream_end()

    def scan_to_next_token(self) -> None:
        """Skips blanks, comments and line breaks. A tab is a blank where no key can begin, and a line can begin with a byte order mark."""
        while True:
            if self.column == 0 and self.peek() == "\ufeff":
                self.forward()
            blanks = _BLANKS if self.flow_level or not self.allow_simple_key else " "
            while self.peek() in blanks:
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0" + _BREAKS:
                    self.forward()
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 - PyYAML's name
        """Begins a list or mapping in brackets. Refuses more levels than libyaml reads."""
        if self.flow_level >= _DEEPEST:
            mark = self.get_mark()
            raise ScannerError("while increasing flow level", mark, "exceeded maximum nesting depth", mark)
        super().fetch_flow_collection_start(TokenClass)

    def scan_tag(self) -> Any:
        """Scans a tag as its handle and suffix. In brackets, a comma can follow it."""
        start = self.get_mark()
        if self.peek(1) == "<":
            self.forward(2)
            tag: tuple[str | None, str] = None, self._tag_uri(start, _URI + ",[]")
            if not tag[1]:
                raise ScannerError("while parsing a tag", start, "did not find expected tag URI", self.get_mark())
            if self.peek() != ">":
                raise ScannerError(_TAG, start, "did not find the expected '>'", self.get_mark())
            self.forward()
        else:
            length = 1
            while self.peek(length) in _WORD:
                length += 1
            handle = self.prefix(length + 1) if self.peek(length) == "!" else "!"
            self.forward(len(handle))
            suffix = self._tag_uri(start, _URI)
            if not suffix and handle != "!":
                raise ScannerError("while parsing a tag", start, "did not find expected tag URI", self.get_mark())
            tag = (handle, suffix) if suffix else (None, "!")
        if self.peek() not in _ENDS and not (self.flow_level and self.peek() == ","):
            raise ScannerError(_TAG, start, "did not find expected whitespace or line break", self.get_mark())
        return TagToken(tag, start, self.get_mark())

    def _tag_uri(self, start: Mark, characters: str) -> str:
        parts: list[str] = []
        while (character := self.peek()) in characters:
            if character == "%":
                parts.append(self.scan_uri_escapes("tag", start))
                continue
            parts.append(character)
            self.forward()
        return "".join(parts)

    def scan_uri_escapes(self, name: str, start_mark: Mark) -> Any:
        """Scans characters of a tag that are written as `%` and two digits."""
        mark = self.get_mark()
        if any(digit not in hexdigits for digit in (self.peek(1), self.peek(2))):
            raise ScannerError(f"while parsing a {name}", start_mark, "did not find URI escaped octet", mark)
        return super().scan_uri_escapes(name, start_mark)

    def scan_plain(self) -> Any:
        """Scans a scalar without quotes. Tabs separate its words, but do not indent its lines."""
        start = end = self.get_mark()
        words: list[str] = []
        blanks, is_new_line = "", False
        while not self._is_document_mark() and self.peek() != "#":
            if length := self._plain_length(start):
                words += (blanks, self.prefix(length))
                self.forward(length)
                end, is_new_line = self.get_mark(), False
            if self.peek() not in _BLANKS + _BREAKS:
                break
            blanks, is_new_line = self._plain_blanks(start)
            if not self.flow_level and self.column <= self.indent:
                break
        self.allow_simple_key = is_new_line
        return ScalarToken("".join(words), True, start, end)

    def _is_document_mark(self) -> bool:
        return bool(self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _ENDS)

    def _plain_length(self, start: Mark) -> int:
        """Returns the length of the next word of a plain scalar."""
        length = 0
        while (character := self.peek(length)) not in _ENDS:
            if character == ":":
                following = self.peek(length + 1)
                if self.flow_level and following in _INDICATORS_IN_BRACKETS + "?":
                    self.forward(length)
                    raise ScannerError(_PLAIN, start, "found unexpected ':'", self.get_mark())
                if following in _ENDS:
                    break
            elif self.flow_level and character in _INDICATORS_IN_BRACKETS:
                break
            length += 1
        return length

    def _plain_blanks(self, start: Mark) -> tuple[str, bool]:
        """Skips blanks and line breaks in a plain scalar. Returns the text between its words, and True after a line break."""
        blanks = first = others = ""
        while (character := self.peek()) in _BLANKS + _BREAKS:
            if character in _BREAKS:
                if first:
                    others += self.scan_line_break()
                else:
                    first = self.scan_line_break()
                continue
            if first and character == "\t" and self.column <= self.indent:
                raise ScannerError(_PLAIN, start, "found a tab character that violates indentation", self.get_mark())
            blanks += character
            self.forward()
        if not first:
            return blanks, False
        return (others or " ") if first == "\n" else first + others, True

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Mark) -> list[str]:
        """Scans a scalar in quotes up to a blank or its end. Returns its parts."""
        parts: list[str] = []
        while True:
            length = 0
            while self.peek(length) not in _IN_QUOTES:
                length += 1
            parts.append(self.prefix(length))
            self.forward(length)
            character = self.peek()
            if double and character == "\\":
                parts.append(self._read_escape(start_mark))
            elif not double and character == "'" and self.peek(1) == "'":
                parts.append("'")
                self.forward(2)
            elif character == ("'" if double else '"') or (not double and character == "\\"):
                parts.append(character)
                self.forward()
            else:
                return parts

    def _read_escape(self, start: Mark) -> str:
        """Returns the text of a backslash and the characters behind it."""
        mark, character = self.get_mark(), self.peek(1)
        if character in _BREAKS:
            self.forward()
            self.scan_line_break()
            return "".join(self.scan_flow_scalar_breaks(True, start))
        if character in self.ESCAPE_REPLACEMENTS:
            self.forward(2)
            return str(self.ESCAPE_REPLACEMENTS[character])
        if character not in self.ESCAPE_CODES:
            raise ScannerError(_QUOTED, start, "found unknown escape character", mark)
        self.forward(2)
        length, mark = self.ESCAPE_CODES[character], self.get_mark()
        if any(self.peek(offset) not in hexdigits for offset in range(length)):
            raise ScannerError(_QUOTED, start, "did not find expected hexdecimal number", mark)
        code = int(self.prefix(length), 16)
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise ScannerError(_QUOTED, start, "found invalid Unicode character escape code", mark)
        self.forward(length)
        return chr(code)

    def scan_block_scalar_indicators(self, start_mark: Mark) -> Any:
        """Scans the marks behind `|` or `>`, and blanks. Tabs are blanks too."""
        character = self.peek()
        chomping, increment = None, None
        for _ in range(2):
            if character in "+-" and chomping is None:
                chomping = character == "+"
            elif character in "0123456789" and increment is None:
                increment = int(character)
                if increment == 0:
                    raise ScannerError(_BLOCK, start_mark, "found an indentation indicator equal to 0", self.get_mark())
            else:
                break
            self.forward()
            character = self.peek()
        while self.peek() in _BLANKS:
            self.forward()
        return chomping, increment

    def scan_block_scalar_indentation(self) -> Any:
        """Skips the empty lines at the beginning of a block scalar. Returns the line breaks, the indentation and the end."""
        chunks: list[str] = []
        deepest, end = 0, self.get_mark()
        while True:
            while self.peek() == " ":
                self.forward()
            deepest = max(deepest, self.column)
            self._refuse_tab()
            if self.peek() not in _BREAKS:
                return chunks, deepest, end
            chunks.append(self.scan_line_break())
            end = self.get_mark()

    def scan_block_scalar_breaks(self, indent: int) -> Any:
        """Skips the empty lines in a block scalar, and the indentation of the next line. Returns the line breaks and the end."""
        chunks: list[str] = []
        end = self.get_mark()
        while True:
            while self.column < indent and self.peek() == " ":
                self.forward()
            if self.column < indent:
                self._refuse_tab()
            if self.peek() not in _BREAKS:
                return chunks, end
            chunks.append(self.scan_line_break())
            end = self.get_mark()

    def _refuse_tab(self) -> None:
        if self.peek() == "\t":
            raise ScannerError(_BLOCK, self._block_mark, "found a tab character where an indentation space is expected", self.get_mark())

    def scan_block_scalar(self, style: str) -> Any:
        """Scans a block scalar."""
        self._block_mark = self.get_mark()
        return super().scan_block_scalar(style)


def _message(problem: MarkedYAMLError) -> str:
    """Returns the message that libyaml has for a problem."""
    text = str(problem.problem)
    if text.startswith("expected <block end>"):
        return _OF_BLOCKS[str(problem.context)]
    if problem.context == "while scanning a directive" and text.startswith("expected alphabetic"):
        return "could not find expected directive name"
    return next((message for beginning, message in _MESSAGES if text.startswith(beginning)), text)
