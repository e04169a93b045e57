"""The YAML events of a text, from PyYAML's C parser if it is installed, otherwise from its Python parser."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def events(text: str) -> Callable[[], Any]:
    """Returns a function that returns the next event of a text. It raises yaml.error.YAMLError if the text is not YAML."""
    parser: Any = Parser(text)
    get_event: Callable[[], Any] = parser.get_event
    return get_event


try:
    from yaml._yaml import CParser as Parser
except ImportError:  # PyYAML was built without libyaml
    from krm_fn.base.yaml.python_parser import PythonParser as Parser  # type: ignore[assignment]
