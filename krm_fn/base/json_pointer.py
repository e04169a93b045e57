"""JSON pointers (RFC 6901), with which operations of JSON patches name fields."""

from __future__ import annotations


def steps(pointer: str) -> list[str]:
    """Returns the steps of a JSON pointer.

    >>> steps("/metadata/labels/app.kubernetes.io~1name/0")
    ['metadata', 'labels', 'app.kubernetes.io/name', '0']
    """
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def escape(step: str) -> str:
    """Returns a step as it is written in a pointer.

    >>> escape("nvidia.com/gpu")
    'nvidia.com~1gpu'
    """
    return step.replace("~", "~0").replace("/", "~1")
