"""PyYAML's parser without libyaml: slow, and used only if the C extension is missing."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.events import ScalarEvent


class Parser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """Reads a text and returns its events."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def get_event(self) -> Any:
        """Returns the next event. Like libyaml, this parser refuses halves of surrogate pairs."""
        event: Any = super().get_event()  # type: ignore[no-untyped-call]
        if type(event) is ScalarEvent and any("\ud800" <= character <= "\udfff" for character in event.value):
            mark: Any = event.start_mark
            raise yaml.scanner.ScannerError(None, None, "found invalid Unicode character escape code", mark)
        return event
