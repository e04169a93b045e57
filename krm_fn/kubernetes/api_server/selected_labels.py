"""The labels that a label selector selects.

Follows LabelSelectorAsSelector of apimachinery `pkg/apis/meta/v1/helpers.go`, and `pkg/labels/selector.go`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Fields = Mapping[str, Any]


def matches(selector: Fields, labels: Fields) -> bool:
    """Returns true if a selector selects the labels. An empty selector selects all labels."""
    exact = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return exact and all(_fulfils(expression, labels) for expression in selector.get("matchExpressions") or ())


def _fulfils(expression: Fields, labels: Fields) -> bool:
    key, values = expression.get("key") or "", expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return True  # another rule reports an unknown operator
