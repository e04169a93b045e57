"""Findings about variables that Dynamo's programs read: misspelt names, and values that their flags do not have.

A variable is the default of a flag. The parser of Python does not compare a default with the choices of a flag (`argparse`, `choices`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

from krm_fn.base import codes, registry, results, spelling
from krm_fn.base.results import Ref, Result
from krm_fn.render.rules import field_origin
from krm_fn.review.arguments import flag_tables, message_parts
from krm_fn.review.arguments.judged_commands import JudgedCommand

_PREFIX = "DYN_"
_MOST = 20
"""The largest number of unknown names of one container that are compared with the known ones."""
HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""The variables with a token (`huggingface_hub/utils/_auth.py`)."""
_OF_HUB = {
    **dict.fromkeys(("HF_API_TOKEN", "HF_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HUGGINGFACE_TOKEN", "HUGGING_FACE_TOKEN"), "HF_TOKEN"),
    **dict.fromkeys(("HF_OFFLINE", "HUGGINGFACE_HUB_OFFLINE"), "HF_HUB_OFFLINE"),
    **dict.fromkeys(("HF_HUB_HOME", "HUGGINGFACE_HOME", "HUGGING_FACE_HOME"), "HF_HOME"),
}
"""Names that the Hub does not read (`huggingface_hub/constants.py` and `utils/_auth.py`), and the one that each means."""
_SLIPS_OF_HUB = ("HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_ENABLE_HF_TRANSFER", "HF_HUB_OFFLINE", "HF_TOKEN")
"""Variables of the Hub with names of which another one is a slip."""
_NATS, _SCHEME = "NATS_SERVER", "nats://"
"""Dynamo ends at an address of NATS without its scheme (`lib/runtime/src/transports/nats.rs`, `validate_nats_server`)."""
_ROUTER_MODE, _FLAG = "DYN_ROUTER_MODE", "--router-mode"
_REFUSES = (1, 5, 0)
"""The first release whose frontend ends at an unknown mode (`build_router_config`). Earlier ones route round-robin (`frontend/main.py`)."""


def check(commands: Iterable[JudgedCommand], ref: Ref) -> Iterator[Result]:
    """Yields the findings about the variables of the main containers of a graph, one for each entry that an author wrote."""
    paths = set()
    for judged in commands:
        found = (*_check_names(judged, ref), *_check_hub(judged, ref), *_check_router_mode(judged, ref), *_check_nats(judged, ref))
        for result in found:
            if result.path not in paths:
                paths.add(result.path)
                yield result


def _check_names(judged: JudgedCommand, ref: Ref) -> Iterator[Result]:
    """Reports names that differ in a letter or an underscore from that of a variable. A name in the command is the author's own."""
    words = [*(judged.container.fields.get("command") or ()), *(judged.container.fields.get("args") or ())]
    names = {name for entry in _variables(judged) if (name := f"{entry.get('name')}").startswith(_PREFIX)} - known_variables().keys()
    for name in islice(sorted(names), _MOST):
        near = _nearest(name)
        if near and not any(name in word for word in words):
            problem = f"Dynamo reads no variable {name}, but it reads {near}"
            message = f"{problem}; write {near}, or ignore {codes.MISSPELT_VARIABLE} if {name} is your own"
            path = field_origin.of_variable(judged.plan, name, "name")
            yield results.warning(codes.MISSPELT_VARIABLE, message, ref, path, current=name, proposed=near)


def _check_hub(judged: JudgedCommand, ref: Ref) -> Iterator[Result]:
    """Reports names that the Hugging Face Hub does not read, and that authors write for one that it does read."""
    fields = judged.container.fields
    words = [*(fields.get("command") or ()), *(fields.get("args") or ())]
    names = {f"{entry.get('name')}" for entry in _variables(judged)}
    meant = {name: right for name in names if (right := _OF_HUB.get(name) or _slip_of_hub(name))}
    for name, right in sorted(meant.items()):
        is_token = right in HUB_TOKENS and (not names.isdisjoint(HUB_TOKENS) or fields.get("envFrom"))
        if right not in names and not is_token and not any(name in word for word in words):
            problem = f"the Hugging Face Hub reads no variable {name}, but it reads {right}"
            message = f"{problem}; write {right}, or ignore {codes.MISSPELT_VARIABLE} if {name} is your own"
            path = field_origin.of_variable(judged.plan, name, "name")
            yield results.warning(codes.MISSPELT_VARIABLE, message, ref, path, current=name, proposed=right)


def _slip_of_hub(name: str) -> str:
    """Returns the variable of the Hub that a name is a slip for; empty without one."""
    is_other = not name.startswith("HF") or name in _SLIPS_OF_HUB
    return "" if is_other else next((right for right in _SLIPS_OF_HUB if spelling.is_slip(name, right.lower(), "_")), "")


def _check_nats(judged: JudgedCommand, ref: Ref) -> Iterator[Result]:
    """Reports an address of NATS with another scheme, or without one."""
    values = [entry.get("value") for entry in _variables(judged) if entry.get("name") == _NATS]
    address = f"{values[-1] or ''}" if values else ""
    host = address.rpartition("://")[2]
    if host and not address.startswith((_SCHEME, "$")) and "@" not in host:
        message = f"{address[:120]} is not an address of NATS, so Dynamo ends at its start; write {_SCHEME}{host}"
        path = field_origin.of_variable(judged.plan, _NATS, "value")
        yield results.warning(codes.ADDRESS_WITHOUT_SCHEME, message, ref, path, current=address, proposed=f"{_SCHEME}{host}")


@cache
def known_variables() -> dict[str, None]:
    """Returns the names of the variables of Dynamo 0.9.0 to 1.6.1, as the modules of its packages and the operator write them."""
    return dict.fromkeys(registry.data("review/arguments/variables.txt").decode().split())


@cache
def _nearest(name: str) -> str:
    """Returns the only variable that a name is a slip for; empty without one."""
    near = [other for other in known_variables() if abs(len(other) - len(name)) <= 1 and spelling.is_slip(name, other.lower(), "_")]
    return near[0] if len(near) == 1 else ""


def _check_router_mode(judged: JudgedCommand, ref: Ref) -> Iterator[Result]:
    """Reports a mode of the router that the release does not have. The flag counts before the variable."""
    flag, table = judged.table.flags.get(_FLAG), judged.table
    values = [entry.get("value") for entry in _variables(judged) if entry.get("name") == _ROUTER_MODE]
    text = values[-1] if values else None
    is_plain = isinstance(text, str) and text and "$(" not in text
    if not is_plain or flag is None or not flag.choices or text in flag.choices or judged.has(_FLAG) or not judged.parsed.is_complete:
        return
    ends = flag_tables.number(table.release) >= _REFUSES
    effect = "so the program ends at its start" if ends else "so requests go round-robin"
    first = f"{text}".replace("_", "-").partition("-")[0]
    near = first if first in flag.choices else spelling.nearest(f"{text}", flag.choices)
    program, value = message_parts.program(table), f"{text}"[:60]
    message = f"`{value}` is not a value of {_ROUTER_MODE} in {program}, which has {', '.join(flag.choices)}, {effect}"
    path = field_origin.of_variable(judged.plan, _ROUTER_MODE, "value")
    severity = results.error if ends and table.is_exact and judged.is_known else results.warning
    yield severity(codes.UNKNOWN_FLAG_VALUE, f"{message}; write {near or 'one of these values'}", ref, path, proposed=near or None)


def _variables(judged: JudgedCommand) -> Iterable[Mapping[str, Any]]:
    return judged.container.fields.get("env") or ()
