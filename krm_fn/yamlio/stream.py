"""The YAML events of a text, from PyYAML's C parser if it is installed, otherwise from its Python parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def events(text: str) -> Callable[[], Any]:
    """Returns a function that returns the next event of a text. It raises yaml.error.YAMLError if the text is not YAML."""
    parser: Any = Parser(text)
    get_event: Callable[[], Any] = parser.get_event
    return get_event


def python_parser() -> Any:
    """Returns the class of PyYAML's parser without libyaml. It is slow, and needs all of PyYAML."""
    import yaml  # noqa: PLC0415 - its import takes longer than the render of a small list
    from yaml.events import ScalarEvent  # noqa: PLC0415

    class PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
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

    return PythonParser


try:
    from yaml._yaml import CParser as Parser
except ImportError:  # PyYAML was built without libyaml
    Parser = python_parser()  # type: ignore[misc]
