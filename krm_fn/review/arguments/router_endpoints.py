"""Findings about the endpoint that a standalone router routes to.

`dynamo.router` splits the value of `--endpoint` at its dots and ends without three parts: namespace, component and endpoint
(`dynamo/router/__main__.py` and `args.py` of ai-dynamo 0.9.0 to 1.6.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krm_fn.base import codes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_PROGRAM, _FLAG = "dynamo.router", "--endpoint"
_NAMESPACE = re.compile(r"\$(?:\(DYN_NAMESPACE\)|\{DYN_NAMESPACE\}|DYN_NAMESPACE\b)", re.ASCII)
"""The variable with Dynamo's namespace, which has no dot."""
_PARTS = 3
_SPLIT = re.compile(r"[./:]+")


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each router with an endpoint that it cannot read. An endpoint in another variable is not known."""
    for judged in commands:
        use = judged.parsed.last(judged.table, _FLAG) if judged.command.program == _PROGRAM else None
        for word in use.values if use else ():
            value = f"{judged.container.fields[word.field][word.item]}" if not judged.command.is_in_shell else word.source or word.text
            value = value.removeprefix(f"{_FLAG}=").strip("\"'")
            plain = _NAMESPACE.sub("namespace", value)
            if "$" in plain or len(plain.split(".")) == _PARTS:
                continue
            parts = [part for part in _SPLIT.split(plain) if part]
            fix = "write the namespace, the component and the endpoint, such as $(DYN_NAMESPACE).prefill.generate"
            if len(parts) == _PARTS - 1 and value.startswith("$"):
                fix = f"write {_NAMESPACE.match(value)[0]}.{parts[1]}.generate"  # type: ignore[index]
            message = f"the router ends at its start, because `{value[:60]}` does not have the form namespace.component.endpoint; {fix}"
            yield WorkerFinding(judged, ArgumentFinding(codes.INVALID_ROUTER_ENDPOINT, "error", word, message, old=value))
