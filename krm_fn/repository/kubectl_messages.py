"""Takes the error of kustomize out of the log line in which kubectl prints it.

kubectl quotes the error as a text of Go, or indents its lines if it has several (`klog/v2/internal/serialize` in `k8s.io/klog`).
"""

from __future__ import annotations

import json
import re

_LOGGED = re.compile(
    r'^E[0-9]{4} [^\n]*\] "command failed" err=(?:(?P<quoted>"(?:[^"\\\n]|\\.)*")|<\n(?P<lines>(?:\t[^\n]*\n)*) >)$', re.MULTILINE
)


def plain(messages: str) -> str:
    r"""Returns the messages of kubectl as kustomize prints them. Other messages stay as they are.

    >>> plain('E1130 20:51:13.392656   32391 run.go:72] "command failed" err="json: unknown field \\"tag\\""')
    'Error: json: unknown field "tag"'
    """
    return _LOGGED.sub(lambda match: f"Error: {_unquote(match['quoted']) if match['quoted'] else _unindent(match['lines'])}", messages)


def _unquote(text: str) -> str:
    try:
        return f"{json.loads(text)}"
    except ValueError:  # an escape that only Go has
        return text


def _unindent(lines: str) -> str:
    return re.sub(r"^\t", "", lines, flags=re.MULTILINE).rstrip("\n")
