"""Findings about two servers of one container on the same port: the second one ends with "Address already in use".

Sources: `dynamo/vllm/args.py` and `backend_args.py` (which compares some of these ports itself), `vllm/config/kv_events.py`, and
`lib/runtime/src/config.rs` of Dynamo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.command_line_parser import Use
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_FLAGS = {"--kv-events-config": 5557, "--disaggregation-bootstrap-port": 8998, "--http-port": 8000, "--data-parallel-rpc-port": 29550}
"""Flags with a port on which a program listens, and the port to write in its place."""
_VARIABLES = ("DYN_SYSTEM_PORT", "DYN_HTTP_PORT", "VLLM_NIXL_SIDE_CHANNEL_PORT", "DYN_FORWARDPASS_METRIC_PORT", "DYN_TCP_RPC_PORT")
_FRONTEND = "dynamo.frontend"
_UNREAD = {_FRONTEND: ("DYN_SYSTEM_PORT", "VLLM_NIXL_SIDE_CHANNEL_PORT", "DYN_FORWARDPASS_METRIC_PORT")}
"""The variables that a program does not read (`dynamo/frontend/main.py`)."""
_ONLY = {"DYN_HTTP_PORT": _FRONTEND}
_ENDPOINT = re.compile(r"tcp://[^:]*:([0-9]{1,5})", re.ASCII)
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)
_STEP = 100


class _Server(NamedTuple):
    """A port, the flag or the variable that names it, and the use of the flag."""

    port: int
    name: str
    use: Use | None = None


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each flag of a main container whose port another server has."""
    for judged in commands:
        main = next(judged.container.rendered_containers(), judged.container.fields)
        servers = [*_of_variables(judged, main), *_of_flags(judged)]
        known: dict[int, _Server] = {}
        for server in servers:
            other = known.setdefault(server.port, server)
            if server.use and other.name != server.name:
                yield WorkerFinding(judged, _finding(server.use, server, other, {entry.port for entry in servers}))


def _of_variables(judged: JudgedCommand, main: Mapping[str, Any]) -> Iterator[_Server]:
    program = judged.command.program
    values = {f"{entry.get('name')}": entry.get("value") for entry in main.get("env") or ()}
    for name in _VARIABLES:
        is_read = name not in _UNREAD.get(program, ()) and _ONLY.get(name, program) == program
        if is_read and _PORT.fullmatch(f"{values.get(name)}") and not (name == "DYN_HTTP_PORT" and judged.has("--http-port")):
            yield _Server(int(f"{values[name]}"), name)


def _of_flags(judged: JudgedCommand) -> Iterator[_Server]:
    for flag in _FLAGS:
        use = judged.parsed.last(judged.table, flag)
        port = _port(use) if use else 0
        if port:
            yield _Server(port, flag, use)


def _port(use: Use) -> int:
    """Returns the port in the value of a flag: a number, or a document with an endpoint; 0 without one."""
    if use.text and _PORT.fullmatch(use.text):
        return int(use.text)
    endpoint = (use.document or {}).get("endpoint")
    match = _ENDPOINT.fullmatch(endpoint) if isinstance(endpoint, str) else None
    return int(match[1]) if match else 0


def _finding(use: Use, server: _Server, other: _Server, used: set[int]) -> ArgumentFinding:
    """Returns the finding about the use of a flag. `used` has the ports of all servers of the container."""
    free = next(port for port in range(_FLAGS[server.name], 1 << 16, _STEP) if port not in used)
    text = use.text or ""
    right = text.replace(f":{server.port}", f":{free}") if ":" in text else f"{free}"
    message = f"{server.name} and {other.name} have the same port {server.port}, so the second server cannot listen; write {right}"
    return ArgumentFinding(codes.PORT_TAKEN_TWICE, "warning", use.values[0], message, old=text)
