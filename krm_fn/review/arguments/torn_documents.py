"""Finds JSON documents whose quotes a shell takes out: `--kv-transfer-config {"kv_connector": "NixlConnector"}` without single quotes.

The shell reads the double quotes of such a document as its own, and ends the word at a blank. Bash also replaces braces with several words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments.flag_tables import Flag, FlagTable
from krm_fn.review.arguments.shell_words import Word

_MOST_WORDS = 60
"""The largest number of words of a torn document."""
_OPENING, _CLOSING = ("{", "["), ("}", "]", '}"', ']"')


class TornDocument(NamedTuple):
    """A document as its author wrote it, and its flag. `word` has the text that a program would get with the right quotes."""

    flag: Flag
    option: str
    word: Word


def rejoin(words: Sequence[Word], table: FlagTable) -> tuple[list[Word], list[TornDocument]]:
    """Returns the words with each torn document in one word, and the torn documents."""
    whole: list[Word] = []
    torn: list[TornDocument] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        option, equals, _ = (word.text if word.is_known else word.source).partition("=")
        name = f"{option[:2]}{option[2:].replace('_', '-')}"
        flag = table.flags.get(option) or table.flags.get(name)
        if flag is None or not flag.takes_json or (not equals and position == len(words)):
            whole.append(word)
            continue
        first = position - 1 if equals else position
        document = _document(words[first : first + _MOST_WORDS], word.source.partition("=")[2] if equals else words[first].source)
        if document is None:
            whole.append(word)
            continue
        text, count = document
        joined = words[first]._replace(text=text, is_single=True)
        torn.append(TornDocument(flag, option, joined))
        whole += [word._replace(text=f"{option}={text}")] if equals else [word, joined]
        position = first + count
    return whole, torn


def _document(words: Sequence[Word], source: str) -> tuple[str, int] | None:
    """Returns the document that begins with the first word, and the number of its words. None without one, and for one that stays whole."""
    if not source.removeprefix('"').startswith(_OPENING) or '"' not in source:
        return None
    parts: list[str] = []
    for count, word in enumerate(words, 1):
        part = source if count == 1 else word.source
        if not part:
            return None
        parts.append(part)
        if not part.endswith(_CLOSING):
            continue
        text = " ".join(parts)
        for document in (text, text[1:-1] if text[0] == text[-1] == '"' else ""):
            if _is_document(document):
                return document, count
    return None


def _is_document(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_int=str), dict | list) and '"' in text
    except (ValueError, RecursionError):
        return False
