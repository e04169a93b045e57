"""The stream of YAML events that a text is: PyYAML's, by libyaml where it is there.

Not its business: what the events mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import ScalarEvent

if TYPE_CHECKING:
    from collections.abc import Callable


class PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML without libyaml: slow, and only used where the C extension is missing."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def get_event(self) -> Any:
        """The next event; like libyaml, this parser refuses halves of surrogate pairs."""
        event: Any = super().get_event()  # type: ignore[no-untyped-call]
        if type(event) is ScalarEvent and any("\ud800" <= character <= "\udfff" for character in event.value):
            mark: Any = event.start_mark
            raise yaml.scanner.ScannerError(None, None, "found invalid Unicode character escape code", mark)
        return event


def events(text: str) -> Callable[[], Any]:
    """A function that returns the next event of a text; it raises yaml.YAMLError where the text is not YAML."""
    parser: Any = yaml.cyaml.CParser(text) if yaml.__with_libyaml__ else PythonParser(text)  # type: ignore[attr-defined]
    get_event: Callable[[], Any] = parser.get_event
    return get_event
